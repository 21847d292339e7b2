package serve

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// ErrNone tells that there is no tool, prompt or resource of that name. It is the
// client's mistake, and answered as an error of the protocol.
var ErrNone = errors.New("there is none")

// A Desk is the tools that are served. It is safe for concurrent use.
type Desk interface {
	// Tools lists what is on offer; equal sets are in the same order.
	Tools(ctx context.Context) ([]Tool, error)
	// Call runs a tool and returns soon after ctx has ended. Unless the error is
	// [ErrNone] the model is told of it, in the words of [tools.ErrorText]; so it is
	// when the arguments do not fit.
	Call(ctx context.Context, c Call) (Result, error)
}

// A Prompter has prompts. It is safe for concurrent use.
type Prompter interface {
	// Prompts lists them; equal sets are in the same order.
	Prompts(ctx context.Context) ([]Prompt, error)
	// Prompt fills one in. Its error is [ErrNone], or a [tools.PublicError] where
	// the client has to do something else.
	Prompt(ctx context.Context, name string, arguments map[string]string) ([]server.Part, error)
}

// A Library has resources. It is safe for concurrent use.
type Library interface {
	// Resources lists them and the templates; equal sets are in the same order.
	Resources(ctx context.Context) ([]server.Resource, error)
	// Read reads one. Its errors are as those of a [Prompter].
	Read(ctx context.Context, uri string) ([]server.Part, error)
}

// A Tool is a tool as clients are told of it.
type Tool struct {
	Name        string
	Title       string // for people; "" is none
	Description string // for the model
	Input       json.RawMessage
	Output      json.RawMessage // schema of the structured content; nil is none
	Effect      tools.Effect    // what clients are told by hints
}

// A Call is one request to run a tool.
type Call struct {
	Tool      string
	Arguments json.RawMessage // an object
	// Progress tells the client how far the call is, which is let through a few times
	// a second and only until the call has ended. It never blocks and is never nil.
	Progress func(Progress)
	// Log tells the client something that is no part of the result, if it wants to
	// hear of things of that weight. It never blocks and is never nil.
	Log func(Level, string)
}

// Progress is how far a call is.
type Progress struct {
	Done, Total float64 // Total 0 is unknown
	Message     string
}

// A Level is the weight of a message to the client.
type Level string

// The levels that are used here, a few of those of RFC 5424.
const (
	Debug   Level = "debug"
	Info    Level = "info"
	Warning Level = "warning"
	Error   Level = "error"
)

// A Result is what a call gave.
type Result struct {
	Blocks     []Block
	Structured json.RawMessage // fits Tool.Output; nil is none
	IsError    bool
}

// A Block is a piece of a result.
type Block struct {
	Type        BlockType
	Text        string // of a text, or of a resource that is one
	Data        []byte // of an image, a sound, or a resource that is no text
	MIME        string
	URI         string // of a resource or a link
	Name        string // of a link
	Description string // of a link
}

// A BlockType is what a [Block] is.
type BlockType string

// The types of blocks.
const (
	Text     BlockType = "text"
	Image    BlockType = "image"
	Audio    BlockType = "audio"
	Link     BlockType = "resource_link"
	Resource BlockType = "resource"
)

// A Prompt is a prompt as clients are told of it.
type Prompt struct {
	Name        string
	Title       string // for people; "" is none
	Description string
	Arguments   []server.Argument
}
