// Package model is the seam between a turn and a language model.
//
// Its messages and parts are those of langchaingo's llms package, so that every
// model of that library is one adapter away; what llms lacks is added beside it:
// typed events while the answer streams, reasoning and tool results as parts,
// exact usage, errors that say whether to repeat. A [Streamer] is a provider or
// a wrapper around one; each wrapper has one concern and a package of its own.
package model

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// A Streamer answers requests.
//
// Stream calls sink from the goroutine that called Stream and never after it
// has returned. An error of sink ends the request and is returned as it is.
// A cancelled ctx closes the connection to the provider; the error then is a
// [*Error] of [Canceled]. With an error the Reply holds what had arrived, or is
// nil.
type Streamer interface {
	llms.Model
	Stream(ctx context.Context, req *Request, sink func(Event) error) (*Reply, error)
}

// A Request is one request to a model. Streamers do not change it.
type Request struct {
	Kind      string // "main", or the kind of a task call
	Session   string // id of the thread; also the key for the provider's cache routing
	Signature string // digest of the harness that asks, for the trace
	System    string
	Messages  []llms.MessageContent // human, ai and tool; never system
	Tools     []Tool                // in wire order
	Callable  []string              // names that would run now; nil is all of Tools
	NoTools   bool                  // tool choice "none": the tools stay on the wire
	MaxTokens int                   // of the answer; 0 is the provider's default
	Effort    Effort
	// Temperature is sent only where the model allows one; nil is not sent.
	Temperature *float64
	JSON        bool // ask for a JSON object
}

// LastText returns the text of the last message, tool results included, a line
// for each part; "" without a message.
func (r *Request) LastText() string {
	if len(r.Messages) == 0 {
		return ""
	}
	var parts []string
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		switch p := p.(type) {
		case llms.TextContent:
			parts = append(parts, p.Text)
		case SignedText:
			parts = append(parts, p.Text)
		case llms.ToolCallResponse:
			parts = append(parts, p.Content)
		case ToolResult:
			parts = append(parts, p.Content)
		}
	}
	return strings.Join(parts, "\n")
}

// A Tool is a tool as the model is told of it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // compact, keys in their given order
}

// Effort is how much a model is to think. The values are those of the session
// option "thinking".
type Effort string

// The efforts in their order; the empty one leaves it to the provider. Few models
// know those beside off, low, medium and high.
const (
	EffortDefault Effort = ""
	EffortOff     Effort = "off"
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
	EffortXHigh   Effort = "xhigh"
	EffortMax     Effort = "max"
)

// An Event is something that happens while an answer streams.
type Event interface{ isEvent() }

// The events of a stream.
type (
	// Text is a piece of the answer.
	Text string
	// Think is a piece of the model's reasoning.
	Think string
	// ToolStart tells that a call has begun, as soon as its name is known. The
	// index counts the calls of this answer from 0.
	ToolStart struct {
		Index    int
		ID, Name string
	}
	// ToolArgs is a piece of the arguments of call Index.
	ToolArgs struct {
		Index    int
		Fragment string
	}
	// Retrying tells that the request is sent again after Wait. What follows is
	// a whole answer: it does not go on where the attempt before it ended.
	Retrying struct {
		Err     error
		Wait    time.Duration
		Attempt int   // 1 for the first repeat
		Partial bool  // events of the attempt that failed have been delivered
		Usage   Usage // what it cost, as far as the provider said so
	}
)

func (Text) isEvent()      {}
func (Think) isEvent()     {}
func (ToolStart) isEvent() {}
func (ToolArgs) isEvent()  {}
func (Retrying) isEvent()  {}

// A Reply is a whole answer.
type Reply struct {
	// Parts are the answer in order, ready to be the ai message of the next
	// request: llms.TextContent, [SignedText], [Reasoning], llms.ToolCall, [Extra].
	Parts     []llms.ContentPart
	Stop      Stop
	RawStop   string // the provider's own word
	Usage     Usage
	Model     string // as the provider names it; may be empty
	RequestID string
}

// Stop is why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "stop"
	StopTools   Stop = "tool_calls"
	StopLength  Stop = "length"  // the limit of output tokens
	StopContext Stop = "context" // the window is full
	StopRefusal Stop = "refusal" // the model or a filter refused
	StopPause   Stop = "pause"   // the provider wants the answer sent back to go on
)

// Usage counts tokens. Input is the whole prompt, cached or not; Reasoning is
// part of Output.
type Usage struct {
	Input, Output         int
	CacheRead, CacheWrite int
	Reasoning             int
	Known                 bool // the provider reported it
}

// maxTokens is more than any request has, and little enough to add up.
const maxTokens = 1 << 30

// Plausible returns u, or no usage if what a provider reported as such cannot
// be: fewer than no tokens, or more than exist. Parts are at most their whole.
func (u Usage) Plausible() Usage {
	if min(u.Input, u.Output) < 0 || max(u.Input, u.Output) > maxTokens {
		return Usage{}
	}
	part := func(n, whole int) int { return max(0, min(n, whole)) }
	u.CacheRead = part(u.CacheRead, u.Input)
	u.CacheWrite = part(u.CacheWrite, u.Input-u.CacheRead)
	u.Reasoning = part(u.Reasoning, u.Output)
	return u
}

// Add returns the sum of u and v, known if both are.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output,
		CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Reasoning: u.Reasoning + v.Reasoning, Known: u.Known && v.Known,
	}
}

// Reasoning is a block of thought that goes back to the model that made it,
// byte for byte, and to no other (R-HARN-31). As an llms part it is its text.
type Reasoning struct {
	llms.TextContent
	Provider  string // provider and model that made it
	Signature string // opaque proof of the provider
	Redacted  string // opaque data in place of the text
	Field     string // the field it came in, for servers that want it back there
}

// ToolResult is the result of a call, with the two things that
// llms.ToolCallResponse lacks.
type ToolResult struct {
	llms.ToolCallResponse
	IsError bool
	Images  []llms.BinaryContent
}

// Extra is a tool call with the provider's opaque data, such as the thought
// signature of Gemini, which goes back with it.
type Extra struct {
	llms.ToolCall
	Provider string
	Content  json.RawMessage
}

// SignedText is text of an answer with the provider's opaque data, such as the
// phase of a message or the thought signature of Gemini, which goes back with it
// to the same model. To every other it is its text.
type SignedText struct {
	llms.TextContent
	Provider string // provider and model that made it
	Content  json.RawMessage
}

// An Author begins what one model wrote of an ai message. It is for wrappers that
// have to know whose words they carry (R-TASK-40); normalise takes it out, and no
// provider sees it. As an llms part it is an empty text.
type Author struct {
	llms.TextContent
	Ref string // PROVIDER/MODEL
}

// A Picture is a picture of the user's that has a name, so that a model which
// cannot see it can be told which one it was (R-HARN-32). Like [Author] it is for
// wrappers: normalise makes it llms.BinaryContent or a line that names it.
type Picture struct {
	llms.BinaryContent
	Name string // on one line
}

var (
	_ llms.ContentPart = Author{}
	_ llms.ContentPart = Picture{}
	_ llms.ContentPart = SignedText{}
	_ llms.ContentPart = Reasoning{}
	_ llms.ContentPart = ToolResult{}
	_ llms.ContentPart = Extra{}
)

// A Descriptor says which model a harness talks to and what that model can do.
type Descriptor struct {
	Kind      string // protocol: openai-chat, openai-responses, anthropic, gemini, ollama, langchain/NAME, script, offline
	Provider  string // name of the provider in the configuration
	ID        string // the model's id at the provider
	Name      string // for people; "" is the ID
	BaseURL   string
	KeyDigest string // of the API key, hashed; "" without a key
	Setup     string // of all else that it is set up with, hashed, such as headers and certificates; "" is nothing
	Window    int    // context window in tokens; 0 is unknown
	Assumed   bool   // the window is a guess, since nobody knows the model
	Unsure    bool   // so is what it can do, until its server is asked, which a message does
	Output    int    // the most tokens of one answer; 0 is unknown
	Images    bool   // takes pictures
	NoTools   bool   // cannot call tools
	Thinks    bool   // has an effort to set
	// Efforts are the efforts that it knows beside off, weakest first; nil is
	// low, medium and high for a model that thinks.
	Efforts []Effort
}

// Ref returns the name under which a user chooses the model: PROVIDER/MODEL.
func (d Descriptor) Ref() string {
	if d.Provider == "" {
		return d.ID
	}
	return d.Provider + "/" + d.ID
}

// PictureType returns the media type of a picture as its bytes show it, or as
// it was declared if they show none. Providers reject a picture whose bytes are
// of another type, and then every later request with it.
func PictureType(declared string, data []byte) string {
	if found := http.DetectContentType(data); strings.HasPrefix(found, "image/") {
		return found
	}
	return declared
}

// Sees reports whether the model sees data of the media type mime. Models that
// see at all take the same four types (R-HARN-32), but for Google, which takes no
// GIF in its own protocol.
func (d Descriptor) Sees(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/webp":
		return d.Images
	case "image/gif":
		return d.Images && d.Kind != "gemini"
	}
	return false
}
