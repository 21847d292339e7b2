package mcpbridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

var (
	// errDown tells that a request was not sent, because the server is not connected.
	errDown = errors.New("not connected")
	// errAnew tells that a request was not run, because its session had expired, and
	// that there is another session now (C089).
	errAnew = errors.New("the session had expired, and there is another one now")
)

// do runs f, one request, with the connection to the server. What finds the connection
// broken starts the one reconnect that all wait for, and is not repeated, unless again
// says that it may be, or nothing of it was sent (R-MCP-24, C091).
func (l *link) do(ctx context.Context, again bool, f func(context.Context, client.Peer) error) error {
	ctx, stop := l.b.within(ctx)
	defer stop()
	c, err := l.connected(ctx)
	if err != nil {
		return err
	}
	if err = request(ctx, f, c); !broken(err) {
		return err
	}
	l.lose(c, err)
	unsent := errors.Is(err, transport.ErrUnsent)
	again = again || unsent
	if !again && !errors.Is(err, transport.ErrSession) {
		return err
	}
	c, late := l.connected(ctx)
	switch {
	case late != nil && (unsent || ctx.Err() != nil):
		return late
	case late != nil:
		return err
	case !again:
		return errAnew
	}
	if err = request(ctx, f, c); broken(err) {
		l.lose(c, err)
	}
	return err
}

// within returns a context that ends with ctx or with b. Stop releases it.
func (b *Bridge) within(ctx context.Context) (joint context.Context, stop func()) {
	life := b.life.Context()
	joint, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	return joint, func() { unhook(); cancel(nil) }
}

// request runs f. Its error is why ctx has ended where that is what ended it.
func request(ctx context.Context, f func(context.Context, client.Peer) error, c *conn) error {
	err := f(ctx, c.peer)
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}
	return err
}

// ended returns why ctx has ended: the bridge was closed, or what [context.Context] says.
func ended(ctx context.Context) error {
	if context.Cause(ctx) == errClosed {
		return errClosed
	}
	return ctx.Err()
}

// connected returns the connection, for which it waits as long as a send would.
func (l *link) connected(ctx context.Context) (c *conn, err error) {
	bounded, cancel := context.WithTimeout(ctx, l.b.pool.o.Wait)
	defer cancel()
	var state server.State
	var why string
	late := l.b.until(bounded, func() bool {
		c, state, why = l.conn, l.state, l.why
		return c != nil || state != server.Connecting || l.b.closed
	})
	switch {
	case ctx.Err() != nil:
		return nil, ended(ctx)
	case late == nil && c != nil:
		return c, nil
	case state == server.NeedsLogin:
		return nil, fmt.Errorf("%w: it needs a login", errDown)
	case why == "":
		return nil, errDown
	}
	return nil, fmt.Errorf("%w: %s", errDown, why)
}

// broken reports whether a request that failed with err has shown that the connection is
// of no use any more. An answer that is an error, or none in time, has not: the server
// may be busy with something else, or has not got what it asked for.
func broken(err error) bool {
	if err == nil || errors.Is(err, client.ErrTimeout) || errors.Is(err, errClosed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if _, ok := errors.AsType[*client.UnansweredError](err); ok {
		return false
	}
	if errors.Is(err, transport.ErrGone) || errors.Is(err, transport.ErrSession) || errors.Is(err, transport.ErrUnsent) {
		return true
	}
	if _, ok := errors.AsType[*transport.Error](err); ok {
		return false
	}
	if status, ok := errors.AsType[*transport.StatusError](err); ok {
		return status.Status == 401 || status.Status >= 500
	}
	return true
}
