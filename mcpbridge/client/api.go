package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// ErrTimeout tells that a request took longer than it may: longer than
// CallOptions.Timeout without a sign of life, than CallOptions.Limit in all, or than
// the bound of a request that has no options. The server was told that nobody waits
// any more. It does not mean that the server is gone.
var ErrTimeout = errors.New("the server took too long")

// An UnansweredError tells that a request has no result because the server asked for
// something meanwhile that it did not get: the user has refused, or it is not offered. The
// connection is as good as before.
type UnansweredError struct {
	Method string // that the server asked by
	Err    error
}

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("the server asks for %s: %v", cut(e.Method, maxName), e.Err)
}

func (e *UnansweredError) Unwrap() error { return e.Err }

// An Era is one of the two ways to begin.
type Era string

// The eras.
const (
	Unknown   Era = ""
	Handshake Era = "initialize" // revisions up to 2025-11-25
	Stateless Era = "discover"   // 2026-07-28
)

// Options set a connection up. The zero value is right but for Name and Version.
type Options struct {
	Name, Version string        // of this program
	Era           Era           // as remembered of this server; Unknown asks, a wrong one is corrected
	Probe         time.Duration // how long the server alone is asked in the newer way; default 5 s
	HTTP          bool          // the transport has headers, so that tools whose x-mcp-header is wrong are dropped
	Host          server.Host   // answers the server; nil offers nothing
	Label         string        // what Host is told that the server is called
	// Changed is called when the tools, prompts or resources of the server are others
	// now, or may be, possibly before Connect has returned. It must not block.
	Changed func(Kind)
	// Hide returns a text without what is secret in it; nil hides nothing. What a
	// server says goes through it before it is logged (R-MCP-19).
	Hide func(string) string
	// Quit is closed when the caller may be about to end: a server that is being closed
	// then, because it did not connect, is not waited for. Nil never is.
	Quit <-chan struct{}
	Log  zerolog.Logger
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
	Instructions         string // at any length
	Era                  Era
	Revision             string // such as 2025-11-25
	Has                  []Kind // which lists it has
	Icon                 string // URL of https; "" is none
}

// A Tool is a tool as the server describes it. What is wrong with a part of it costs
// no more than that part.
type Tool struct {
	Name        string          // not empty; one of a kind in its list
	Title       string          // one line; "" is none
	Description string          // cut at 4 KiB
	Input       json.RawMessage // schema, an object, as it came; nil is none that can be used
	Output      json.RawMessage // like Input
	Hints       Hints
	Icon        string // URL of https; "" is none
	Task        bool   // can only be called as a task (2025-11-25)
}

// Hints are what a server says of a tool and nobody has checked. Nil is not said.
type Hints struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// CallOptions say how a tool is called.
type CallOptions struct {
	Timeout  time.Duration  // without a sign of life; progress is one, and time in which Host is asked does not count. 0 is none
	Limit    time.Duration  // in all; 0 is none
	Progress func(Progress) // called by the goroutine that called Call; nil for nobody
}

// Progress is how far a call is.
type Progress struct {
	Done, Total float64 // Total 0 is unknown
	Message     string  // one line; "" is none
}

// A Result is the result of a call, with nothing lost.
type Result struct {
	Blocks     []Block
	Structured json.RawMessage // any JSON value; nil is none
	IsError    bool
}

// A Block is a piece of a result.
type Block struct {
	Type        string // text, image, audio, resource_link, resource, or what the server calls it
	Text        string // of a text, or of a resource that is one
	Data        []byte // of an image, an audio, or a resource that is no text
	MIME        string // "" is not said
	URI         string // of a link or a resource
	Name        string // of a link; "" is none
	Description string // of a link
	// Raw is the block as it came where it is of another type, or says nothing that
	// could be read. Otherwise it is nil.
	Raw json.RawMessage
}

// A Dial returns a transport that has not been started. It is called again where a
// server ends because it does not know the question that was asked first.
type Dial func() transport.Transport

// A Peer is the connection to one server; [Connect] makes it. The interface stands
// here for those who hold one. It is safe for concurrent use.
//
// An error of a request is an [*transport.Error] where the server answered with one,
// an [ErrTimeout], an [*UnansweredError], one of package transport, or that of ctx.
type Peer interface {
	About() About
	// List methods read all pages, within limits, and drop what cannot be read.
	// A server that has no such list has an empty one.
	Tools(ctx context.Context) ([]Tool, error)
	Prompts(ctx context.Context) ([]Prompt, error)
	Resources(ctx context.Context) ([]server.Resource, error) // templates too
	// Call calls a tool by the server's own name; arguments nil is {}. What the
	// server asks for meanwhile is answered. When ctx ends first the server is told.
	Call(ctx context.Context, t Tool, arguments json.RawMessage, o CallOptions) (Result, error)
	Prompt(ctx context.Context, name string, arguments map[string]string) ([]server.Part, error)
	Read(ctx context.Context, uri string) ([]server.Part, error)
	// Done is closed when the server is gone or Close was called; Err says why.
	Done() <-chan struct{}
	Err() error
	// Close ends the contact within ctx, and waits for what was started for it.
	Close(ctx context.Context) error
}

// A Prompt is a prompt as the server describes it.
type Prompt struct {
	Name, Title, Description string // Title and Description are one line
	Arguments                []server.Argument
}
