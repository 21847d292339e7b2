// Package server is what the MCP servers of a session give beside their tools, and
// what they may ask of it. It declares the two sides of that seam, so that those who
// run a session need not know how servers are reached.
package server

import (
	"context"
	"encoding/json"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Set is the MCP servers of one session. It is safe for concurrent use.
type Set interface {
	tools.Set

	// Begin starts the contact with the servers in the background, once. Tools
	// does it where nobody has (R-ACP-13). It never waits.
	Begin()
	// Advice returns the instructions that connected servers give on their use, in
	// the order of the servers. They are data of strangers.
	Advice() []Advice
	// Prompts lists the prompts of connected servers by their commands.
	Prompts() []Prompt
	// Prompt fills a prompt in; command is that of a [Prompt]. Its error is public
	// where the user can act on it.
	Prompt(ctx context.Context, command string, arguments map[string]string) ([]Part, error)
	// Resources lists the resources of connected servers.
	Resources() []Resource
	// Read reads a resource by its address, from the server that lists it, else
	// from the first whose templates it fits; owned is false where none does.
	Read(ctx context.Context, uri string) (parts []Part, owned bool, err error)
	// Status tells how each server stands, in their order, the disabled ones too
	// (R-MCP-20).
	Status() []Status
	// Watch calls changed after what Prompts says may have changed, until stop is
	// called, which waits for it.
	Watch(changed func()) (stop func())
	// Close ends the contact and every process within ctx. Calls that run get an
	// error.
	Close(ctx context.Context) error
}

// Advice is what a server says on how to use it.
type Advice struct {
	Server string // name
	Prefix string
	Text   string // cut at 2048 characters
}

// A Prompt is a prompt of a server, which the user asks for by a command.
type Prompt struct {
	Command     string // without the slash; legal and distinct like the name of a tool
	Server      string // name
	Name        string // the server's own
	Description string // one line
	Arguments   []Argument
}

// An Argument is what a prompt is filled in with.
type Argument struct {
	Name        string
	Description string
	Required    bool
}

// A Part is a piece of what a prompt or a resource holds. It is Text, or Data of a
// media type.
type Part struct {
	Role string // user or assistant, of a prompt; "" of a resource
	URI  string // of a resource; "" is none
	MIME string // "" is plain text
	Text string
	Data []byte
}

// A Resource is something that a server can be asked to read.
type Resource struct {
	Server      string // name
	URI         string
	Name        string
	Description string // one line
	MIME        string // "" is unknown
	Template    bool   // URI is a template (RFC 6570)
}

// A State is how a server stands.
type State string

// The states.
const (
	Connected  State = "connected"
	Connecting State = "connecting"  // for the first time, or again after an outage
	Failed     State = "failed"      // no attempt runs; the next send makes one
	NeedsLogin State = "needs-login" // as Failed, until somebody has logged in (R-MCP-19)
	Disabled   State = "disabled"    // by the configuration, or not approved; never contacted
)

// A Status is how one server stands.
type Status struct {
	Name      string   `json:"name"`
	Prefix    string   `json:"prefix"`
	State     State    `json:"state"`
	Kind      string   `json:"kind"`              // stdio, http or sse
	Address   string   `json:"address"`           // command line or URL, without secrets
	Source    string   `json:"source"`            // who declared it
	Attempts  int      `json:"attempts"`          // to connect in this outage; 0 while connected
	LastError string   `json:"lastError"`         // "" is none; one line, without secrets
	Stderr    string   `json:"stderr,omitempty"`  // the last lines of a program that failed, without secrets
	Program   string   `json:"program,omitempty"` // name and version that the server tells
	Revision  string   `json:"revision,omitempty"`
	Tools     []string `json:"tools"` // names as the model sees them, merged ones alone
	Prompts   int      `json:"prompts"`
	Resources int      `json:"resources"`
}

// A Host answers what servers ask of a session. Server is the name of the one that
// asks. An error of [ErrRefused] tells the server that the user did not allow it.
type Host interface {
	// Roots returns the directories of the session, absolute.
	Roots() []string
	// Offers reports what the host can do, before a server is told of it.
	Offers() Offers
	// Elicit asks the user to fill in a form, or to open an address.
	Elicit(ctx context.Context, server string, e Elicitation) (Reply, error)
	// Sample has the model of the session answer, if the user allows it.
	Sample(ctx context.Context, server string, s Sampling) (Sampled, error)
}

// Offers is what a [Host] can do.
type Offers struct {
	Form, URL bool // kinds of elicitation
	Sampling  bool
}

// An Elicitation is a question of a server. It has a Schema or a URL.
type Elicitation struct {
	Message string
	Schema  json.RawMessage // flat object of primitive fields
	URL     string
	ID      string // of the one with a URL
}

// A Reply is what the user did with an [Elicitation].
type Reply struct {
	Action  string          // accept, decline or cancel
	Content json.RawMessage // an object; nil unless accepted
}

// A Sampling is a request for a completion.
type Sampling struct {
	System   string
	Messages []Part // each with a Role
	Limit    int    // tokens of the answer; 0 does not say
}

// A Sampled is the completion.
type Sampled struct {
	Model string
	Text  string
	Stop  string // endTurn or maxTokens
}
