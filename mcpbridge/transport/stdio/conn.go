package stdio

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/inbox"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// maxRefused is how many requests of a program are at least refused, where it asks more
// than is answered at a time.
const maxRefused = 1024

// A conn is the messages that are exchanged with a program, whatever carries them.
type conn struct {
	o     Options
	out   *writer
	kill  func(cause error) // ends the program; the first cause counts
	inbox *inbox.Inbox
	junk  *junk
	life  *lifetime.Lifetime
	done  chan struct{} // closed when no answer will come any more

	mu     sync.Mutex // guards the fields below
	err    error      // why done is closed
	closed bool       // by this side: nothing more is sent
	last   uint64     // id of a call
	calls  map[uint64]*call
}

// A call is a request that waits for its answer.
type call struct {
	method string
	got    chan rpc.Frame // has room for the one that comes
}

// newConn returns the messages of a program whose input is in. Kill ends it. What
// conn starts ends with end.
func newConn(ctx context.Context, o Options, in sink, h transport.Handler, kill func(error)) *conn {
	c := &conn{
		o: o, out: newWriter(in, o.WriteTimeout), kill: kill, life: lifetime.New(ctx),
		junk: newJunk(o.Log, newSecrets(o.Secrets)),
		done: make(chan struct{}), calls: make(map[uint64]*call),
	}
	c.inbox = inbox.New(inbox.Options{Handler: h, Life: c.life, Reply: c.reply, Refused: maxRefused, Log: o.Log})
	return c
}

// read reads what the program writes, until the end of r, and ends the program where
// that is a line without an end.
func (c *conn) read(r io.Reader) {
	d := &decoder{max: c.o.MaxLine, message: c.heard, junk: c.junk.note}
	ls := newLines(r, c.o.MaxLine)
	for {
		line, err := ls.next()
		d.line(line)
		switch {
		case err == nil:
			continue
		case errors.Is(err, errLine):
			c.o.Log.Error().Int("limit", c.o.MaxLine).Msg("a line has no end")
			c.kill(err)
		}
		d.end()
		return
	}
}

// heard handles a message. It never waits.
func (c *conn) heard(f rpc.Frame) {
	switch {
	case f.Method == "":
		c.answered(f)
	case c.isEcho(f):
		c.o.Log.Debug().Str("method", f.Method).Msg("the program repeats what it was sent")
	default:
		c.inbox.Put(f)
	}
}

// isEcho reports whether f is a request of ours that has come back, as from a program
// that logs what it reads to its output.
func (c *conn) isEcho(f rpc.Frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.calls[f.Number()]
	return open != nil && open.method == f.Method && f.Method != "ping"
}

// answered hands an answer to the call that waits for it.
func (c *conn) answered(f rpc.Frame) {
	c.mu.Lock()
	id := f.Number()
	if !f.HasID() && len(c.calls) == 1 {
		for id = range c.calls { // there is no other that it could be about
		}
	}
	open := c.calls[id]
	delete(c.calls, id)
	c.mu.Unlock()
	if open == nil {
		c.o.Log.Debug().Uint64("id", id).Bool("error", f.Error != nil).Msg("an answer to what nobody waits for")
		return
	}
	open.got <- f
}

// call is [Transport.Call].
func (c *conn) call(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	params, err := rpc.OneLine(params)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	id, open, err := c.open(method)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	defer c.forget(id)
	if err := c.send(ctx, rpc.Message(rpc.ID(id), method, "params", params)); err != nil {
		return nil, err
	}
	select {
	case f := <-open.got:
		return f.Outcome()
	case <-c.done:
		select {
		case f := <-open.got: // it answered, and then it was gone
			return f.Outcome()
		default:
			return nil, c.failure()
		}
	case <-ctx.Done():
		c.abandon(id, method)
		return nil, ctx.Err()
	}
}

// open notes a call, unless none can be answered any more.
func (c *conn) open(method string) (uint64, *call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.deadLocked(); err != nil {
		return 0, nil, err
	}
	c.last++
	open := &call{method: method, got: make(chan rpc.Frame, 1)}
	c.calls[c.last] = open
	return c.last, open, nil
}

// dead returns why nothing can be sent, and nil while it can.
func (c *conn) dead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.deadLocked()
}

func (c *conn) deadLocked() error {
	switch {
	case c.err != nil:
		return c.err
	case c.closed:
		return &transport.GoneError{Cause: errClosed}
	}
	return nil
}

func (c *conn) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// abandon tells the program that nobody waits for a call any more. The requests that
// begin a connection cannot be cancelled, and there are programs which a notification
// before the handshake ends.
func (c *conn) abandon(id uint64, method string) {
	if method == "initialize" || method == "server/discover" {
		return
	}
	c.life.Start(func(ctx context.Context) {
		if err := c.notify(ctx, "notifications/cancelled", rpc.Abandoned(id)); err != nil {
			c.o.Log.Debug().Err(err).Msg("a cancellation was not sent")
		}
	})
}

// notify is [Transport.Notify].
func (c *conn) notify(ctx context.Context, method string, params json.RawMessage) error {
	params, err := rpc.OneLine(params)
	if err != nil {
		return transport.Unsent(err)
	}
	if err := c.dead(); err != nil {
		return transport.Unsent(err)
	}
	return c.send(ctx, rpc.Message(nil, method, "params", params))
}

// reply sends the answer to a request of the program.
func (c *conn) reply(ctx context.Context, message []byte) {
	if err := c.send(ctx, message); err != nil {
		c.o.Log.Debug().Err(err).Msg("an answer was not sent")
	}
}

// send writes a message, as a line. A program that got half of one, or has closed its input, is
// of no use any more.
func (c *conn) send(ctx context.Context, message []byte) error {
	n, err := c.out.write(ctx, c.done, append(message, '\n'))
	if err == nil {
		return nil
	}
	if err = c.unwritten(ctx, n, err); n == 0 {
		err = transport.Unsent(err)
	}
	return err
}

// unwritten returns why only n bytes of a message were written, and ends the program
// where it must.
func (c *conn) unwritten(ctx context.Context, n int, err error) error {
	slow := ctx.Err() != nil || errors.Is(err, errUnread)
	switch {
	case errors.Is(err, errGone):
		return c.failure()
	case errors.Is(err, os.ErrClosed): // by close, or a moment before end
		if err := c.dead(); err != nil {
			return err
		}
	case slow && n == 0:
		return err
	case slow:
		c.kill(errHalf)
	case !soon(ctx, mute, c.done): // mostly it has ended
		c.kill(errInput)
	}
	select { // its last words are worth more than the error of a pipe
	case <-c.done:
		return c.failure()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failure returns why done is closed.
func (c *conn) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// close sends no more, and tells the program that nothing more comes.
func (c *conn) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.inbox.Drop()
	c.out.close()
}

// end fails what is open: the program is gone.
func (c *conn) end(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.done)
	c.out.close()
	c.life.End(nil)
}
