// Package inbox hands to a handler what a server sends of its own accord, so that whoever
// reads it never waits, whatever carries the messages.
package inbox

import (
	"context"
	"sync"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// What may wait for the handler. Notifications that say more than how far something is get
// twice the room.
const (
	MaxNotes = 1024    // notifications
	MaxBytes = 4 << 20 // of them together
	MaxAsked = 128     // requests that are answered at a time
)

// Options set an inbox up. All are required.
type Options struct {
	Handler transport.Handler
	Life    *lifetime.Lifetime // of the connection
	// Reply sends the answer to a request, which is one line.
	Reply   func(ctx context.Context, message []byte)
	Refused int // requests that are at least refused beside those that are answered; what comes then is dropped
	Log     zerolog.Logger
}

// An Inbox takes the messages of a server that are no answers. It is safe for concurrent
// use.
type Inbox struct {
	o    Options
	wake chan struct{} // holds a token when there is something to look at

	mu    sync.Mutex // guards the fields below
	notes []rpc.Frame
	bytes int                                // of notes
	full  bool                               // notifications have been dropped
	deaf  bool                               // nobody wants to hear any
	asked int                                // requests that are being answered, or refused
	busy  bool                               // requests have been dropped
	open  map[string]context.CancelCauseFunc // of those that are being answered, by id
}

// New returns an inbox. Its notifications are handed over until its life ends, and then
// those that wait.
func New(o Options) *Inbox {
	in := &Inbox{o: o, wake: make(chan struct{}, 1), open: make(map[string]context.CancelCauseFunc)}
	o.Life.Start(in.run)
	return in
}

// Put takes a message that is no answer. It does not wait.
func (in *Inbox) Put(f rpc.Frame) {
	switch {
	case f.HasID():
		in.ask(f)
	case f.Method == "notifications/cancelled":
		in.cancel(f.Params)
	default:
		in.note(f)
	}
}

// Drop drops the notifications that wait, and those that come: nobody wants to hear any.
func (in *Inbox) Drop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.notes, in.bytes, in.deaf = nil, 0, true
}

// note takes a notification, or drops it where too many wait. A list that has changed must
// not go under in a flood of what says less.
func (in *Inbox) note(f rpc.Frame) {
	room := 2
	if f.Method == "notifications/message" || f.Method == "notifications/progress" {
		room = 1
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.deaf {
		return
	}
	if len(in.notes) >= room*MaxNotes || len(in.notes) > 0 && in.bytes+size(f) > room*MaxBytes {
		if !in.full {
			in.o.Log.Warn().Str("method", f.Method).Msg("notifications come faster than they are handled and are dropped")
		}
		in.full = true
		return
	}
	in.notes, in.bytes = append(in.notes, f), in.bytes+size(f)
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

func size(f rpc.Frame) int { return len(f.Method) + len(f.Params) }

// run hands the notifications to the handler.
func (in *Inbox) run(ctx context.Context) {
	for {
		over := ctx.Err() != nil // what came before is handed over still
		f, ok := in.next()
		switch {
		case ok:
			in.o.Handler.Notify(f.Method, f.Params)
		case over:
			return
		default:
			select {
			case <-in.wake:
			case <-ctx.Done():
			}
		}
	}
}

// next takes the notification that has waited longest.
func (in *Inbox) next() (f rpc.Frame, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.notes) == 0 {
		return rpc.Frame{}, false
	}
	f, in.notes[0] = in.notes[0], rpc.Frame{}
	if in.notes = in.notes[1:]; len(in.notes) == 0 {
		in.notes = nil // a flood keeps no memory
	}
	in.bytes -= size(f)
	return f, true
}
