package prompt

import "fmt"

// Fault is what is wrong with a contribution or an assembly.
type Fault string

// The faults.
const (
	Malformed Fault = "malformed" // braces that are no placeholder
	Unknown   Fault = "unknown"   // a variable, tool, note or scope that nobody registered
	Valueless Fault = "valueless" // a registered variable without a value here
	Varying   Fault = "varying"   // a stable section refers to a volatile variable
	UserLast  Fault = "user last" // user-controlled text would end the stable part
	Duplicate Fault = "duplicate" // a name is taken in its layer
	Invalid   Fault = "invalid"   // a name, an order or a list that can never work
	Provider  Fault = "provider"  // code of a contributor returned an error
	Disposed  Fault = "disposed"  // the scope is gone
)

// An Error is a mistake in a contribution, found when it is registered or when a
// prompt is assembled. The turn that needed the prompt ends before any model is
// asked (R-PROMPT-17).
type Error struct {
	Fault    Fault
	Section  string // name of the section at fault, if it is one
	Variable string // name of the variable at fault, if it is one
	Key      string // configuration key at fault, such as "tool_order", if it is one
	At       string // FILE:LINE of the text or the list at fault, if its owner has said
	Detail   string // the rest of the sentence
	Err      error  // what a contributor returned
}

// Error returns one line that names the place and a way out.
func (e *Error) Error() string {
	s := "prompt"
	switch {
	case e.Section != "":
		s = fmt.Sprintf("prompt section %q", e.Section)
	case e.Key != "":
		s = fmt.Sprintf("configuration key %q", e.Key)
	case e.Variable != "":
		s = fmt.Sprintf("prompt variable %q", e.Variable)
	}
	if e.At != "" {
		s = e.At + ": " + s
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the error of the contributor.
func (e *Error) Unwrap() error { return e.Err }
