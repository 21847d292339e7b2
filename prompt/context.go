package prompt

import (
	"bytes"
	"encoding/json"
)

// A Context is what one assembly is for. Every field may be empty, and every
// provider must cope with that: an assembly of the empty context works
// (R-PROMPT-60).
type Context struct {
	Scope string       // key of the scope to assemble for; "" is no scope
	Agent any          // whoever asks, for providers that know it; needs a Scope
	Model string       // display name of the active model
	Cwd   string       // working directory of the session, absolute
	Tools []ToolSchema // installed at the start of the send, in any order (R-PROMPT-24)
	Known []string     // further tool names that a tool order may list, such as withheld ones
	// Prefixes are what names begin with that nobody has seen yet, because their
	// server was never reached: a tool order may list those too (R-MCP-16).
	Prefixes []string
	// Servers are the MCP servers whose tools are among Tools, in the order of
	// their prefixes.
	Servers   []Server
	Citations Citations
	Facts     Facts
	Values    Values // of other packages
}

// A ToolSchema is a tool as the model is told of it.
type ToolSchema struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema,omitempty"` // JSON Schema of the input, an object
	// Guidance is what a description cannot carry: habits across calls. It is a
	// template and becomes the section "tool:<name>". Usually empty.
	Guidance string `json:"guidance,omitempty"`
}

// clone returns a copy that shares no memory with t.
func (t ToolSchema) clone() ToolSchema {
	t.Schema = bytes.Clone(t.Schema)
	return t
}

// A Server is an MCP server as the model is told of it.
type Server struct {
	Prefix string // that the names of its tools begin with
	Tools  int    // how many of them are merged
}

// Citations is how an answer names its sources (R-CITE-20). Its values are those
// of the session option "citations".
type Citations string

// The citation modes. The empty one is [CiteRegistry].
const (
	CiteRegistry Citations = "registry" // bare markers like [1] in the text
	CiteLinked   Citations = "linked"   // numbered links, and a list of sources at the end
)

// A Client is the program at the other end of the connection, as it names
// itself.
type Client struct{ Name, Version string }

// Facts is what the configuration says, read anew for each send. The zero value
// is a configuration that says nothing.
type Facts struct {
	Persona   *string   // template of deployment:persona; nil keeps that of the registry
	ToolOrder *[]string // nil keeps that of the registry (R-PROMPT-20)
	Volatile  Placement // where the date goes in the harness shape

	// FILE:LINE of the two, for errors; "" is nowhere that can be named.
	PersonaAt, ToolOrderAt string

	Name     string // how the user likes to be called
	Location string // where the user is, in words
	// Latitude and Longitude are degrees; a location has both or is told
	// without them.
	Latitude, Longitude *float64
	Units               string // preferred units, in words
	Time                string // preferred time format, in words
	Currency            string // preferred currency
	Locale              string // language tag, as "de", "pt-BR" or "zh_TW"; "" is English
	Integrations        Integrations

	Project      *Project      // that the session belongs to; nil is none
	Instructions []Instruction // of the workspace, from the outermost directory to the nearest
	Workspace    *Workspace    // nil tells of none
	Skills       []Skill       // the enabled ones, in any order
	Profile      Profile       // of the active model

	Extras []Extra // sections, variables and hooks that the configuration declares (R-CMD-10)
}

// An Extra is a group of contributions to one layer for one assembly. Its
// entries stand behind the registered ones of that layer and must not repeat
// their names.
type Extra struct {
	Scope     string // "" is the global layer
	Sections  []Section
	Variables []Variable
	Hooks     []Hook
}

// Values carries values of other packages, at most one of each type, past a
// registry that does not know them (R-PROMPT-60). The zero value is empty. It
// never changes: [With] returns a new one.
type Values struct{ last *value }

type value struct {
	v    any
	prev *value
}

// With returns v together with x, which takes the place of a value of its type.
func With[T any](v Values, x T) Values {
	return Values{&value{v: &x, prev: v.last}}
}

// ValueOf returns the value of type T in v, and whether there is one.
func ValueOf[T any](v Values) (T, bool) {
	for e := v.last; e != nil; e = e.prev {
		if x, ok := e.v.(*T); ok {
			return *x, true
		}
	}
	var none T
	return none, false
}
