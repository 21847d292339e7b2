// Package client speaks MCP to one server, of every revision from 2024-11-05 to
// 2026-07-28: it finds out which of them the server knows, and gives lists and
// results without loss, whatever their form.
//
// The types of mcp-go are used where decoding them keeps what was said. Its client is
// not: package server comes along with it, whose schema library works for 5 ms in each
// start of the program, longer than everything else together; and it would lose lists
// and results of servers that are a little off (see the tests that hold it beside).
package client

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// An Era is one of the two ways to begin.
type Era string

// The eras.
const (
	Unknown   Era = ""
	Handshake Era = "initialize" // revisions up to 2025-11-25
	Stateless Era = "discover"   // 2026-07-28
)

// Options set a connection up.
type Options struct {
	Name, Version string        // of this program
	Era           Era           // as remembered of this server; Unknown asks
	Probe         time.Duration // how long a server may think about server/discover; default 5 s
	Host          server.Host   // answers the server; nil offers nothing
	Label         string        // what Host is told that the server is called
	// Changed is called when the server says that its tools, prompts or resources
	// are others now. It must not block.
	Changed func(Kind)
	Log     zerolog.Logger
}

// A Kind is what a server has lists of.
type Kind string

// The kinds.
const (
	Tools     Kind = "tools"
	Prompts   Kind = "prompts"
	Resources Kind = "resources"
)

// About is what a server says of itself.
type About struct {
	Name, Title, Version string
	Instructions         string
	Era                  Era
	Revision             string // such as 2025-11-25
	Has                  []Kind // which lists it has
	Icon                 string // URL; "" is none
}

// A Tool is a tool as the server describes it. What is wrong with a part of it costs
// no more than that part.
type Tool struct {
	Name        string
	Title       string
	Description string
	Input       json.RawMessage // schema, as it came; nil is none
	Output      json.RawMessage // schema, as it came; nil is none
	Hints       Hints
	Icon        string
	Task        bool // can only be called as a task (2025-11-25)
}

// Hints are what a server says of a tool and nobody has checked. Nil is not said.
type Hints struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// CallOptions say how a tool is called.
type CallOptions struct {
	Timeout  time.Duration // without any sign of progress; 0 is none
	Limit    time.Duration // in all; 0 is none
	Progress func(Progress)
}

// Progress is how far a call is.
type Progress struct {
	Done, Total float64 // Total 0 is unknown
	Message     string
}

// A Result is the result of a call, with nothing lost.
type Result struct {
	Blocks     []Block
	Structured json.RawMessage // nil is none
	IsError    bool
}

// A Block is a piece of a result.
type Block struct {
	Type        string // text, image, audio, resource_link, resource; another one has Raw alone
	Text        string // of a text, or of a resource that is one
	Data        []byte // of an image, an audio, or a resource that is no text
	MIME        string
	URI         string // of a link or a resource
	Name        string // of a link
	Description string // of a link
	Raw         json.RawMessage
}

// A Dial returns a transport that has not been started. It is called again where a
// server ends because it does not know the question that was asked first.
type Dial func() transport.Transport

// A Peer is the connection to one server; [Connect] makes it. The interface stands
// here for those who hold one.
type Peer interface {
	About() About
	// List methods read all pages, within limits, and drop what cannot be read.
	Tools(ctx context.Context) ([]Tool, error)
	Prompts(ctx context.Context) ([]Prompt, error)
	Resources(ctx context.Context) ([]server.Resource, error) // templates too
	// Call calls a tool by the server's own name; arguments nil is {}.
	Call(ctx context.Context, t Tool, arguments json.RawMessage, o CallOptions) (Result, error)
	Prompt(ctx context.Context, name string, arguments map[string]string) ([]server.Part, error)
	Read(ctx context.Context, uri string) ([]server.Part, error)
	Done() <-chan struct{}
	Err() error
	Close(ctx context.Context) error
}

// A Prompt is a prompt as the server describes it.
type Prompt struct {
	Name, Title, Description string
	Arguments                []server.Argument
}
