package web

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

const (
	waitingNotes = 1024 // notifications that may wait for the handler; twice that for those that say more than how far something is
	maxAsked     = 128  // requests of a server that are answered at a time
	maxRefused   = 128  // that are at least refused beside; what comes then is dropped
)

// errCancelled is why a request of a server ends that it has cancelled.
var errCancelled = errors.New("the server has cancelled its request")

// An inbox hands to the handler what the server sends of its own accord, so that whoever
// reads it never waits.
type inbox struct {
	h     transport.Handler
	reply func(ctx context.Context, answer []byte) // sends an answer
	life  *lifetime.Lifetime
	log   zerolog.Logger
	wake  chan struct{} // holds a token when notes may have some

	mu      sync.Mutex // guards the fields below
	notes   []rpc.Frame
	dropped bool
	asked   int                                // requests that are being answered
	open    map[string]context.CancelCauseFunc // of them by id
}

func newInbox(h transport.Handler, life *lifetime.Lifetime, log zerolog.Logger, reply func(context.Context, []byte)) *inbox {
	in := &inbox{
		h: h, reply: reply, life: life, log: log,
		wake: make(chan struct{}, 1), open: make(map[string]context.CancelCauseFunc),
	}
	life.Start(in.run)
	return in
}

// put takes a message that is no answer.
func (in *inbox) put(f rpc.Frame) {
	switch {
	case f.HasID():
		in.ask(f)
	case f.Method == "notifications/cancelled":
		in.cancel(f.Params)
	default:
		in.note(f)
	}
}

// note takes a notification, or drops it where too many wait. A list that has changed
// must not go under in a flood of what says less.
func (in *inbox) note(f rpc.Frame) {
	room := waitingNotes
	if f.Method != "notifications/message" && f.Method != "notifications/progress" {
		room *= 2
	}
	in.mu.Lock()
	full := len(in.notes) >= room
	first := full && !in.dropped
	in.dropped = in.dropped || full
	if !full {
		in.notes = append(in.notes, f)
	}
	in.mu.Unlock()
	if first {
		in.log.Warn().Str("method", f.Method).Msg("notifications come faster than they are handled and are dropped")
	}
	select {
	case in.wake <- struct{}{}:
	default:
	}
}

// run hands the notifications to the handler until ctx ends.
func (in *inbox) run(ctx context.Context) {
	for {
		select {
		case <-in.wake:
		case <-ctx.Done():
			return
		}
		in.mu.Lock()
		batch := in.notes
		in.notes = nil
		in.mu.Unlock()
		for _, n := range batch {
			if ctx.Err() != nil {
				return
			}
			in.h.Notify(n.Method, n.Params)
		}
	}
}

// ask answers a request on a goroutine of its own. It can be cancelled from the moment
// that ask returns.
func (in *inbox) ask(f rpc.Frame) {
	ctx, cancel := context.WithCancelCause(in.life.Context())
	in.mu.Lock()
	n := in.asked
	if n < maxAsked+maxRefused {
		in.asked++
	}
	if n < maxAsked {
		in.open[string(f.ID)] = cancel
	}
	in.mu.Unlock()
	if n >= maxAsked+maxRefused || !in.life.Start(func(context.Context) { in.serve(ctx, f, n < maxAsked, cancel) }) {
		in.log.Debug().Str("method", f.Method).Msg("a request of the server is dropped")
		cancel(nil)
	}
}

// serve answers a request, unless the server cancels it. Where there is no room for it, it
// is refused.
func (in *inbox) serve(ctx context.Context, f rpc.Frame, room bool, cancel context.CancelCauseFunc) {
	defer cancel(nil)
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.asked--
	}()
	if !room {
		in.answer(ctx, f, nil, &transport.Error{Code: transport.CodeInternal, Message: "too many requests at a time"})
		return
	}
	result, err := in.result(ctx, f)
	in.mu.Lock()
	delete(in.open, string(f.ID))
	in.mu.Unlock()
	if ctx.Err() == nil {
		in.answer(ctx, f, result, err)
	}
}

func (in *inbox) result(ctx context.Context, f rpc.Frame) (json.RawMessage, error) {
	if f.Method == "ping" {
		return json.RawMessage(`{}`), nil
	}
	result, err := in.h.Request(ctx, f.Method, f.Params)
	if err == nil && result == nil {
		result = json.RawMessage(`{}`)
	}
	return result, err
}

// cancel ends the request that the parameters of notifications/cancelled name.
func (in *inbox) cancel(params json.RawMessage) {
	id := rpc.Cancelled(params)
	in.mu.Lock()
	defer in.mu.Unlock()
	if cancel := in.open[id]; cancel != nil {
		cancel(errCancelled)
	}
}

// answer sends the answer to a request.
func (in *inbox) answer(ctx context.Context, f rpc.Frame, result json.RawMessage, err error) {
	if err == nil {
		in.reply(ctx, rpc.Message(f.ID, "", "result", result))
		return
	}
	in.reply(ctx, rpc.Message(f.ID, "", "error", rpc.EncodeFault(err)))
}
