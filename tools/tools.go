// Package tools is what a model can do: the tools, the registry that offers
// them, and the gate that withholds them.
//
// A call goes through three steps, each visible to its caller: [Registry.Check]
// reads the input against the schema, [Tool.Plan] says what would happen
// without doing it, so that a person can be asked, and [Tool.Run] does it.
//
// The package is a leaf: it knows nothing of turns, models or editors.
package tools

import (
	"context"
	"encoding/json"
)

// An Effect is what running a tool can do to the world. A tool may have several.
type Effect uint8

// The effects, from the harmless to the unknown.
const (
	Reads    Effect = 1 << iota // looks at the workspace
	Fetches                     // asks the network, changing nothing there
	Edits                       // changes files of the workspace
	Executes                    // runs a program
	Acts                        // changes something elsewhere, or nobody knows what
)

// Mutates reports whether e includes an effect that changes anything. Zero, the
// effect that nobody declared, counts as one.
func (e Effect) Mutates() bool { return e == 0 || e&(Edits|Executes|Acts) != 0 }

// A Kind groups tools for display. Its values are those of ACP's tool kinds.
type Kind string

// The kinds.
const (
	KindRead    Kind = "read"
	KindEdit    Kind = "edit"
	KindDelete  Kind = "delete"
	KindMove    Kind = "move"
	KindSearch  Kind = "search"
	KindExecute Kind = "execute"
	KindThink   Kind = "think"
	KindFetch   Kind = "fetch"
	KindOther   Kind = "other"
)

// Info describes a tool: to the model by name, description and schema, to the
// client by verb and kind, to the gate by its effect (R-TOOLS-01).
type Info struct {
	Name        string
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the input, an object
	Verb        string          // shown while it runs; {param} stands for an input (R-TOOLS-02)
	Kind        Kind            // zero value: other
	Effect      Effect          // all that a call may do
	Cacheable   bool            // equal calls of one turn may share a result
	Guidance    string          // habits across calls, for the system prompt; usually empty
	Limit       int             // calls allowed in one turn; 0 is no limit (R-TOOLS-30)
	Origin      *Origin         // the MCP server that has the tool; nil is this program
}

// An Origin says whose tool a tool is (R-MCP-07).
type Origin struct {
	Server  string `json:"server"`         // name, as configured
	Prefix  string `json:"prefix"`         // that the name of the tool begins with
	Address string `json:"address"`        // command line or URL, without secrets
	Icon    string `json:"icon,omitempty"` // URL; "" is unknown
	Tool    string `json:"tool"`           // the server's own name of it
}

// A Tool is something that a model can call.
type Tool interface {
	Info() Info

	// Plan says what Run would do with in, which has passed the schema. It
	// changes nothing. An error is what the model is told instead of a result,
	// in the words of [ErrorText].
	Plan(ctx context.Context, in json.RawMessage) (Plan, error)

	// Run does it. Failure that the model can act on is a Result with IsError
	// set; an error is a fault behind the tool, whose text is cleaned before
	// the model reads it. Run returns soon after ctx ends, leaving no process.
	Run(ctx context.Context, call Call) (Result, error)
}

// A Call is one request to run a tool.
type Call struct {
	ID     string          // unique in the session
	Input  json.RawMessage // an object that has passed the schema
	Output func(p []byte)  // takes live output as it comes; nil when nobody watches
}

// A Plan is what a call would do.
type Plan struct {
	Title     string     // one line: the command, the path; "" leaves it to the verb
	Effect    Effect     // of this very call; zero is the effect of the tool
	Locations []Location // the files it concerns, for the editor to follow
	Diffs     []Diff     // the changes it would make
	Command   string     // the shell command it would run, if it runs one
	Always    Grant      // what an "always" would allow; zero offers none
	Caution   string     // why to ask although the effect is harmless, such as a file of secrets; "" is no reason
}

// A Grant is the scope of an answer "always" (R-ACP-41).
type Grant struct {
	Key   string // equal keys are the same permission
	Label string // the scope in words for the user, under 80 characters
}

// A Location is a place in a file.
type Location struct {
	Path string // absolute
	Line int    // from 1; 0 is the whole file
}

// A Diff is a change of one file.
type Diff struct {
	Path string  // absolute
	Old  *string // nil for a file that does not exist yet
	New  string
}

// A Result is what a call gave.
type Result struct {
	Text      string     // what the model reads
	IsError   bool       // the call failed, and Text says why
	Images    []Image    // what the model sees, if it can
	Locations []Location // nil leaves those of the plan
	Diffs     []Diff     // what was changed, shown instead of Text
	Display   string     // what the client shows instead of Text; "" is Text
	Raw       any        // for the client as rawOutput; nil is Text
	Answers   []Answer   // what the user said to questions, in their order
}

// An Answer is what the user said to a question of the model.
type Answer struct {
	Question string   `json:"question"`
	Chosen   []string `json:"chosen,omitempty"` // none is no response
}

// An Image is a picture for the model.
type Image struct {
	MIME string
	Data []byte
}

// A Set is a source of tools whose members change between sends, such as the
// tools of MCP servers.
type Set interface {
	// Tools returns the tools to offer now, in their merge order. It may wait a
	// bounded time for those who are about to have some; tell hears at once what
	// the user should know of that, and may be nil.
	Tools(ctx context.Context, tell func(notice string)) ([]Tool, error)
	// Known reports the names that may come back although they are not offered
	// now, and what the names of those begin with that nobody has seen yet, so
	// that an order that lists them stays valid (R-MCP-16).
	Known() (names, prefixes []string)
}
