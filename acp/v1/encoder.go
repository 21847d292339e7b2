package v1

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness/event"
)

// Namespace is the key under which our data stands in a _meta object
// (R-ACP-24).
const Namespace = "lorimer.dev"

// methodUpdate is the notification that carries all of it.
const methodUpdate = "session/update"

// An Out takes what the client is told, in order. Its methods may block while
// the client is slow, and so slow the turn. [wire.Conn] is one.
type Out interface {
	Send(f wire.Frame) error
	Notify(method string, params any) error
}

// Options says what an encoder is for, and what its client understands.
type Options struct {
	Session  string
	Dir      string // absolute directory of the session
	Notices  bool   // takes the update "notice" (session.notices)
	Terminal bool   // shows live output of commands (_meta.terminal_output)
}

// An Encoder tells a client about the turns of one session. It is safe for
// concurrent use, as are its turns.
type Encoder struct {
	out     Out
	o       Options
	text    []byte // heads of chunks
	thought []byte

	timers sync.WaitGroup // flushes of live output that are scheduled

	// mu guards the fields below. Unlike other locks it is held while sending:
	// the order in which updates are sent is what it protects, since late output
	// of a tool must not overtake the end of its call.
	mu      sync.Mutex
	calls   map[string]*call // announced in turns that have not ended, by id
	message string           // id of the message text was told of last, "" after its end
	err     error            // of a flush, for the next event
}

// A Turn is the sink of one turn, or of a replay of the turns that were.
type Turn struct {
	e      *Encoder
	replay bool // the messages of the user are told too

	// Guarded by e.mu.
	ids   []string // of the calls announced in this turn, in order
	ended bool
}

var _ event.Sink = (*Turn)(nil)

// New returns an encoder. It sends nothing.
func New(out Out, o Options) *Encoder {
	return &Encoder{
		out:     out,
		o:       o,
		text:    chunkHead(o.Session, "agent_message_chunk"),
		thought: chunkHead(o.Session, "agent_thought_chunk"),
		calls:   make(map[string]*call),
	}
}

// Turn returns the sink for one turn.
func (e *Encoder) Turn() *Turn { return &Turn{e: e} }

// Replay returns the sink for what happened before the client came: unlike in a
// turn, it has not seen the messages of the user (R-ACP-15). No turn runs beside
// it.
func (e *Encoder) Replay() *Turn { return &Turn{e: e, replay: true} }

// errEnded means a bug of a caller.
var errEnded = errors.New("turn has ended")

// Emit implements [event.Sink]. After End it tells nothing and is an error.
func (t *Turn) Emit(ev event.Event) error {
	e := t.e
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case t.ended:
		return errEnded
	case e.err != nil:
		return e.err
	}
	switch ev := ev.(type) {
	case event.Text:
		e.message = ev.MessageID
		return e.chunk(e.text, ev.MessageID, ev.Text)
	case event.Thought:
		return e.chunk(e.thought, ev.MessageID, ev.Text)
	case event.Done:
		return e.done(ev)
	case event.ToolCall:
		return e.toolCall(t, ev)
	case event.Output:
		return e.output(ev)
	case event.Title:
		return e.update(Title{"session_info_update", ev.Text, ev.Updated.UTC().Format(time.RFC3339)})
	case event.Usage:
		return e.usage(ev)
	case event.Notice:
		return e.notice(ev.Severity, ev.Text)
	case event.Retry:
		return e.notice(event.Warning, retryText(ev))
	case event.User:
		if t.replay {
			return e.user(ev)
		}
		return nil // the client shows what its user wrote
	}
	return nil
}

// End ends the turn, before its response is sent: nothing of it is told
// afterwards (R-ACP-20), and a call that the turn left open is told as failed, so
// that no client shows it running for ever (R-ACP-23).
func (t *Turn) End() error {
	e := t.e
	e.mu.Lock()
	var errs []error
	for _, id := range t.ids {
		errs = append(errs, e.toolCall(t, event.ToolCall{ID: id, Status: event.Failed}))
		delete(e.calls, id)
	}
	t.ids, t.ended = nil, true
	e.mu.Unlock()
	e.timers.Wait()
	return errors.Join(errs...)
}

// chunk tells text, which may be a whole message, in chunks of a moderate length.
func (e *Encoder) chunk(head []byte, id, text string) error {
	for text != "" {
		n := piece(text)
		if err := e.out.Send(&chunk{head: head, id: id, text: text[:n], size: n}); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// usage tells what the conversation holds. The protocol has no word for a number
// that nobody has counted.
func (e *Encoder) usage(ev event.Usage) error {
	u := usageUpdate{Kind: "usage_update", Used: max(0, ev.Used), Size: max(0, ev.Size)}
	if ev.Estimated {
		u.Meta = map[string]any{Namespace: map[string]any{"estimated": true}}
	}
	return e.update(u)
}

// done tells the metadata of a message in an empty chunk that ends it. A message
// that had no text has no place for them. A turn may end messages before its
// last one, which did not hold.
func (e *Encoder) done(ev event.Done) error {
	kind, told := "agent_thought_chunk", true
	if !ev.Thought {
		kind, told = "agent_message_chunk", e.message != ""
		if ev.MessageID == e.message {
			e.message = ""
		}
	}
	if !told || !isObject(ev.Meta) {
		return nil
	}
	return e.update(chunkUpdate{
		Kind:      kind,
		MessageID: ev.MessageID,
		Content:   textBlock{"text", ""},
		Meta:      map[string]any{Namespace: ev.Meta},
	})
}

// notice tells something about the program. Where the client has no notices it
// is told as a thought of its own: the text of the answer stays the model's
// (R-ACP-22).
func (e *Encoder) notice(s event.Severity, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if !e.o.Notices {
		return e.chunk(e.thought, "notice-"+rand.Text(), text+"\n")
	}
	if s == "" {
		s = event.Info
	}
	title, rest, _ := strings.Cut(text, "\n")
	return e.update(noticeUpdate{"notice", s, title, strings.TrimSpace(rest)})
}

func retryText(ev event.Retry) string {
	reason := strings.TrimRight(ev.Reason, ". ")
	if reason == "" {
		reason = "The model did not answer"
	}
	return fmt.Sprintf("%s; asking again in %s (repeat %d)", reason, ev.Wait.Round(100*time.Millisecond), ev.Attempt)
}

// update sends a session/update.
func (e *Encoder) update(u any) error {
	return e.out.Notify(methodUpdate, Update{e.o.Session, u})
}

// isObject reports whether raw is a JSON object.
func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) && json.Valid(raw)
}
