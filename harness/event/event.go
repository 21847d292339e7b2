// Package event is what a turn tells its watcher.
//
// Events carry ids and are upserts: the first one with an id creates, the next
// ones change, and a field that is nil or empty stays as it was. ACP version 1
// and 2 are two encoders of this one vocabulary, `lorimer run` is a third.
package event

import (
	"encoding/json"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Sink hears the events of one turn, in order, from one goroutine at a time.
// Emit may block while the watcher is slow, and so slows the turn. An error
// means that nobody watches any more; it ends the turn.
type Sink interface {
	Emit(Event) error
}

// SinkFunc is a function as a [Sink].
type SinkFunc func(Event) error

// Emit calls f.
func (f SinkFunc) Emit(e Event) error { return f(e) }

// An Event is one of the types of this package.
type Event interface{ isEvent() }

// User is the message of the user, as stored.
type User struct {
	MessageID string
	Blocks    []Block
}

// A Block is a piece of a user's message, for display.
type Block struct {
	Text string // for a text block
	MIME string // for a picture or a file
	Data []byte // of a picture
	Name string // of a resource
	URI  string // of a resource

	// Embedded tells a resource whose content came along, but is empty, from a
	// link. Where there is a content, Text or Data is it.
	Embedded bool
}

// Title is what a thread is called from now on. A turn tells the one that its message
// has given.
type Title struct {
	Text    string    // one line
	Updated time.Time // of the thread
}

// Text is a piece of the answer. The pieces of one message id, joined, are the
// message.
type Text struct {
	MessageID string
	Text      string
}

// Thought is a piece of reasoning.
type Thought struct {
	MessageID string
	Text      string
}

// Done closes a message with its metadata (R-CITE-08, R-ACP-24). Meta is an
// object, or nil when there is nothing to say. A message whose Meta says
// "replaced": true did not hold: the model was asked again and answered
// otherwise, in a message of another id (R-HARN-28).
type Done struct {
	MessageID string
	Thought   bool // it is a thought, not a part of the answer
	Meta      json.RawMessage
}

// Replaced reports whether the message did not hold.
func (d Done) Replaced() bool {
	var m struct {
		Replaced bool `json:"replaced"`
	}
	return json.Unmarshal(d.Meta, &m) == nil && m.Replaced
}

// Status is the state of a tool call.
type Status string

// The states; a call reaches exactly one of the last two (R-ACP-23).
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// ToolCall creates or changes a tool call.
type ToolCall struct {
	ID        string
	New       bool   // this event creates the call
	Name      string // of the tool
	Title     string
	Kind      tools.Kind
	Status    Status
	Input     json.RawMessage
	Locations []tools.Location
	Diffs     []tools.Diff
	Text      string          // content shown
	Images    []tools.Image   // content shown, with the final state; a thread keeps those of the result instead
	Output    any             // rawOutput
	Meta      json.RawMessage // an object: mcpTool and the like
}

// Output is live output of a running tool call: what came since the last.
type Output struct {
	ID   string // of the tool call
	Data string // valid UTF-8
}

// Usage tells what the conversation holds after a model request.
type Usage struct {
	Used      int  // tokens in the window
	Size      int  // of the window; 0 is unknown
	Estimated bool // nobody has counted Used
}

// Retry tells that a request failed and is sent again after Wait.
type Retry struct {
	Reason  string // one line for people
	Wait    time.Duration
	Attempt int
}

// Severity is how much a notice matters.
type Severity string

// The severities, as in ACP.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
)

// Notice tells the user something about the program, not part of the answer.
type Notice struct {
	Severity Severity
	Text     string
}

func (User) isEvent()     {}
func (Title) isEvent()    {}
func (Text) isEvent()     {}
func (Thought) isEvent()  {}
func (Done) isEvent()     {}
func (ToolCall) isEvent() {}
func (Output) isEvent()   {}
func (Usage) isEvent()    {}
func (Retry) isEvent()    {}
func (Notice) isEvent()   {}
