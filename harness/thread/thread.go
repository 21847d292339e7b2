// Package thread is the record of a conversation: an append-only log of
// entries, and the conversation as a fold over it. Nothing in the log is ever
// rewritten, so replay, recovery after a crash and the provider's prefix cache
// need nothing else (R-STORE-02).
package thread

import (
	"encoding/json"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools"
)

// An Entry is a fact of a thread. Body is one of the types below.
type Entry struct {
	Seq  int64 // from 1, dense, given by the store
	Time time.Time
	Body Body
}

// A Body is what an entry says.
type Body interface{ isBody() }

// Created opens every thread.
type Created struct {
	Cwd    string
	Roots  []string // further directories
	Parent string   // thread that this one was forked from; "" is none
}

// Moved tells that the session works in other directories from here on. The
// model is told too, since what it remembers of files was said of the old ones
// (R-ACP-15).
type Moved struct {
	Cwd   string
	Roots []string
}

// Bound tells that the session belongs to a project and to a workspace of
// documents from here on; "" is the project of its directory, and no workspace.
type Bound struct {
	Project   string
	Workspace string
}

// User is a message of the user: Blocks is what is displayed, Sent what the
// model was sent for it, byte for byte, so that later requests repeat it
// (R-PROMPT-33).
type User struct {
	MessageID string
	Blocks    []event.Block
	Sent      []Part
	Attached  []Attached // what its attachments can be read by
	Told      []string   // what else Sent tells the model once, such as the advice of a server, by keys of the teller
}

// An Attached is an attachment by its key.
type Attached struct {
	Key  string // resource:<id> or document:<id>
	Name string
	URI  string
	Type string // media type; "" is unknown
}

// Assistant is one answer of the model, complete or, after a cancel, as far as
// it came.
type Assistant struct {
	MessageID string
	Parts     []Part
	Usage     model.Usage // where it is not known, what is likely
	Stop      model.Stop
	Model     string          // PROVIDER/MODEL
	Partial   bool            // cut by a cancel or a failure
	Void      bool            // shown, but given anew by what follows: no part of the conversation (R-HARN-28)
	Meta      json.RawMessage // sources, mcpTools (R-HARN-29)
}

// A Part is a piece of a message in the thread's own format: text, reasoning, a
// call or a picture. It outlives a change of provider.
type Part struct {
	ID        string       `json:"id,omitempty"` // message id of a shown segment
	Text      string       `json:"text,omitempty"`
	Signed    *Signed      `json:"signed,omitempty"` // comes with text, which may be empty then
	Reasoning *Reasoning   `json:"reasoning,omitempty"`
	Call      *Call        `json:"call,omitempty"`
	Image     *tools.Image `json:"image,omitempty"`
	Name      string       `json:"name,omitempty"` // of a picture, if it has one
}

// Signed is what a model wants back with a text of its own.
type Signed struct {
	Provider string          `json:"provider,omitempty"` // provider and model that made it
	Content  json.RawMessage `json:"content,omitempty"`  // opaque
}

// Reasoning is a block of thought, as [model.Reasoning] but with its fields in
// JSON: the embedded part of that type would encode itself alone.
type Reasoning struct {
	Text      string `json:"text,omitempty"`
	Provider  string `json:"provider,omitempty"` // provider and model that made it
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
	Field     string `json:"field,omitempty"`
}

// A Call is a tool call of the model.
type Call struct {
	ID       string          `json:"id"`   // ours, unique in the thread
	WireID   string          `json:"wire"` // goes back to the provider: its own id, or ours where that is empty or not unique
	Name     string          `json:"name"`
	Args     string          `json:"args"` // as the model wrote them
	Provider string          `json:"provider,omitempty"`
	Extra    json.RawMessage `json:"extra,omitempty"` // opaque data that goes back with the call
}

// Result is the result of a call, and the call as the client last saw it.
type Result struct {
	CallID  string
	Text    string
	IsError bool
	Images  []tools.Image
	Shown   event.ToolCall
	Answers []tools.Answer // of the user, to questions of this call
	Told    []string       // files of instructions that Text ends with, by their absolute paths
	Usage   model.Usage    // of the requests that a server made of the model during the call
}

// Note is a message of the program to the model, such as a nudge. It is never
// displayed.
type Note struct{ Text string }

// Withdrawn takes the last message of the user back from the model, because its
// turn failed before there was an answer: the user was told, and a message that a
// provider cannot take must not fail every request after it. It stays displayed.
type Withdrawn struct{}

// Retried tells that the last message of the user is answered anew. Once there is
// another answer, what follows that message up to here is replaced: it stays in
// the log, but neither the model nor the client sees it any more (R-HARN-26). As
// long as there is none, because the model failed or the process died, the answer
// before holds, and what was sent for it. It also revives a message that was
// withdrawn.
type Retried struct {
	User     int64      // Seq of the message of the user
	Sent     []Part     // what the model is sent for that message from here on, the pictures of the user without their data; none is as before
	Attached []Attached // with Sent
	Told     []string   // with Sent
}

// Archived hides the thread from lists, or brings it back.
type Archived struct{ On bool }

// Options are those of the session's options that were chosen; what they do not name
// stays as it was, since another process may have chosen it.
type Options struct{ Values map[string]string }

// Title is the title of the thread.
type Title struct {
	Text string
	User bool // set by the user, never overwritten
}

func (Created) isBody()   {}
func (Moved) isBody()     {}
func (Bound) isBody()     {}
func (Retried) isBody()   {}
func (Archived) isBody()  {}
func (User) isBody()      {}
func (Assistant) isBody() {}
func (Result) isBody()    {}
func (Note) isBody()      {}
func (Withdrawn) isBody() {}
func (Options) isBody()   {}
func (Title) isBody()     {}
