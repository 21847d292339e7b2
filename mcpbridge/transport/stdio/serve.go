package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

const (
	// maxServed is how many requests of a server the handler answers at a time.
	maxServed = 128

	// maxRefused is how many beside are at least refused. What comes then is dropped.
	maxRefused = 1024
)

// errCancelled is why a request of a server ends that it has cancelled.
var errCancelled = errors.New("the server has cancelled its request")

// Serves are the requests of the server that are being answered.
type serves struct {
	c *conn
	h transport.Handler

	mu      sync.Mutex // guards the fields below
	count   int
	open    map[string]context.CancelCauseFunc // by id
	dropped int
}

func newServes(c *conn, h transport.Handler) *serves {
	return &serves{c: c, h: h, open: make(map[string]context.CancelCauseFunc)}
}

// begin answers a request on a goroutine of its own. It can be cancelled from the moment
// that begin returns.
func (s *serves) begin(f rpc.Frame) {
	ctx, cancel := context.WithCancelCause(s.c.life.Context())
	s.mu.Lock()
	n := s.count
	switch {
	case n < maxServed:
		s.open[string(f.ID)] = cancel
	case n >= maxServed+maxRefused:
		if s.dropped++; s.dropped == 1 {
			s.c.o.Log.Warn().Str("method", f.Method).Msg("the server asks more than can be answered")
		}
		s.mu.Unlock()
		cancel(nil)
		return
	}
	s.count++
	s.mu.Unlock()
	s.c.life.Start(func(context.Context) {
		defer cancel(nil)
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.count--
		}()
		if n >= maxServed {
			s.reply(ctx, f.ID, nil, &transport.Error{Code: transport.CodeInternal, Message: "too many requests at a time"})
			return
		}
		s.serve(ctx, f)
	})
}

// serve answers a request, unless the server cancels it.
func (s *serves) serve(ctx context.Context, f rpc.Frame) {
	result, err := s.result(ctx, f)
	s.mu.Lock()
	delete(s.open, string(f.ID))
	s.mu.Unlock()
	if context.Cause(ctx) != errCancelled {
		s.reply(ctx, f.ID, result, err)
	}
}

func (s *serves) result(ctx context.Context, f rpc.Frame) (json.RawMessage, error) {
	if f.Method == "ping" {
		return json.RawMessage(`{}`), nil
	}
	result, err := s.h.Request(ctx, f.Method, f.Params)
	if err == nil && result == nil {
		result = json.RawMessage(`{}`)
	}
	return result, err
}

// cancel ends the request that the parameters of notifications/cancelled name.
func (s *serves) cancel(params json.RawMessage) {
	id := rpc.Cancelled(params)
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.open[id]; cancel != nil {
		cancel(errCancelled)
	}
}

// reply sends the answer to a request.
func (s *serves) reply(ctx context.Context, id, result json.RawMessage, err error) {
	if err == nil {
		result, err = oneLine(result)
	}
	line := rpc.Message(id, "", "result", result)
	if err != nil {
		line = rpc.Message(id, "", "error", rpc.EncodeFault(err))
	}
	if err := s.c.send(ctx, line); err != nil {
		s.c.o.Log.Debug().Err(err).Msg("an answer was not sent")
	}
}
