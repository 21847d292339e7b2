package inbox

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// errCancelled is why a request of a server ends that it has cancelled.
var errCancelled = errors.New("the server has cancelled its request")

// ask answers a request on a goroutine of its own. It can be cancelled from the moment
// that ask returns.
func (in *Inbox) ask(f rpc.Frame) {
	ctx, cancel := context.WithCancelCause(in.o.Life.Context())
	room, ok := in.admit(f, cancel)
	if !ok || !in.o.Life.Start(func(context.Context) { in.serve(ctx, f, room, cancel) }) {
		cancel(nil)
	}
}

// admit counts a request, unless ok is false: too many are under way. Room is for one that
// is answered, which cancel ends then; the others are refused.
func (in *Inbox) admit(f rpc.Frame, cancel context.CancelCauseFunc) (room, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.asked >= MaxAsked+in.o.Refused {
		if !in.busy {
			in.o.Log.Warn().Str("method", f.Method).Msg("the server asks more than can be answered")
		}
		in.busy = true
		return false, false
	}
	room = in.asked < MaxAsked
	if in.asked++; room {
		in.open[string(f.ID)] = cancel
	}
	return room, true
}

// serve answers a request, unless the server cancels it. Where there is no room for it, it
// is refused.
func (in *Inbox) serve(ctx context.Context, f rpc.Frame, room bool, cancel context.CancelCauseFunc) {
	defer cancel(nil)
	defer func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.asked--
	}()
	if !room {
		in.answer(ctx, f.ID, nil, &transport.Error{Code: transport.CodeInternal, Message: "too many requests at a time"})
		return
	}
	result, err := in.result(ctx, f)
	if in.settle(ctx, f) {
		in.answer(ctx, f.ID, result, err)
	}
}

// settle ends the time in which a request can be cancelled, and reports whether it was not.
// One that was has left its id to the next.
func (in *Inbox) settle(ctx context.Context, f rpc.Frame) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	delete(in.open, string(f.ID))
	return true
}

func (in *Inbox) result(ctx context.Context, f rpc.Frame) (json.RawMessage, error) {
	if f.Method == "ping" {
		return json.RawMessage(`{}`), nil
	}
	result, err := in.o.Handler.Request(ctx, f.Method, f.Params)
	if err == nil && result == nil {
		result = json.RawMessage(`{}`)
	}
	return result, err
}

// answer sends the answer to a request.
func (in *Inbox) answer(ctx context.Context, id, result json.RawMessage, err error) {
	if err == nil {
		result, err = rpc.OneLine(result)
	}
	message := rpc.Message(id, "", "result", result)
	if err != nil {
		message = rpc.Message(id, "", "error", rpc.EncodeFault(err))
	}
	in.o.Reply(ctx, message)
}

// cancel ends the request that the parameters of notifications/cancelled name.
func (in *Inbox) cancel(params json.RawMessage) {
	id := rpc.Cancelled(params)
	in.mu.Lock()
	defer in.mu.Unlock()
	if cancel := in.open[id]; cancel != nil {
		cancel(errCancelled)
		delete(in.open, id)
	}
}
