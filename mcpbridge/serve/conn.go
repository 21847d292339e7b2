package serve

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// goneInterval is how often the output is asked whether somebody reads it, while
	// requests are waited for after the end of the input.
	goneInterval = 250 * time.Millisecond

	// parting is how long a Read or a Write may take to return once what is read or
	// written has been closed.
	parting = 100 * time.Millisecond
)

// errEnd is why requests are cancelled when their time after the end of the input is
// over.
var errEnd = errors.New("the input has ended")

// A conn is one client.
type conn struct {
	s       *Server
	out     *writer
	running chan struct{} // holds a token for each request that is worked on
	lists   *lists

	idle chan struct{} // closed when no request is open and none can come

	mu       sync.Mutex // guards the fields below
	open     map[string]*request
	count    int    // of requests that have not ended, cancelled ones too
	stopped  bool   // none is admitted any more
	revision string // of the handshake; "" before
	level    Level  // from which on the client hears messages
}

func newConn(s *Server, out io.Writer) *conn {
	c := &conn{
		s: s, out: newWriter(out, s.o.Output), running: make(chan struct{}, s.o.Running),
		idle: make(chan struct{}), open: make(map[string]*request), level: Info,
	}
	c.lists = newLists(c)
	return c
}

// serve is [Server.Serve].
func (c *conn) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reader := begin(func() error { return c.read(ctx, in) })
	writer := begin(func() error { c.out.run(); return nil })
	watcher := begin(func() error { c.lists.watch(ctx); return nil })

	err := c.attend(ctx, reader)
	c.stop()
	cancel(errEnd)
	grace, done := context.WithTimeout(context.WithoutCancel(ctx), c.s.o.Grace)
	defer done()
	if !c.leave(grace, in, reader, writer, watcher) {
		err = errors.Join(err, ErrUnfinished)
	}
	return err
}

// attend returns when requests are not waited for any longer.
func (c *conn) attend(ctx context.Context, reader *task) error {
	select {
	case <-reader.done:
		c.drain(ctx)
		return reader.err
	case <-ctx.Done():
		return nil
	case <-c.out.dead:
		return nil
	}
}

// drain waits for open requests after the end of the input, as long as there is
// somebody who reads the answers.
func (c *conn) drain(ctx context.Context) {
	c.stop()
	limit := time.NewTimer(c.s.o.Drain)
	defer limit.Stop()
	look := time.NewTicker(goneInterval)
	defer look.Stop()
	for {
		select {
		case <-c.idle:
			return
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		case <-c.out.dead:
			return
		case <-look.C:
			if c.s.o.Gone != nil && c.s.o.Gone() {
				c.out.fail(errShut)
				return
			}
		}
	}
}

// leave waits for the requests, which have been cancelled, and for the goroutines of
// serve. When ctx has ended it closes what they wait for. It reports whether all
// requests have ended and all answers are written, as far as somebody reads them.
func (c *conn) leave(ctx context.Context, in io.Reader, reader, writer, watcher *task) bool {
	if !reader.ended() {
		c.shut(in)
	}
	await(ctx, c.idle)
	await(ctx, watcher.done)
	c.out.close()
	await(ctx, writer.done)
	slow := !writer.ended()
	c.out.fail(errShut) // frees those who wait for room
	if slow {
		c.shut(c.out.out)
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	left := await(end, c.idle) && await(end, watcher.done)
	await(end, writer.done)
	await(end, reader.done)
	return left && !slow
}

// shut closes f if it can be closed.
func (c *conn) shut(f any) {
	closer, ok := f.(io.Closer)
	if !ok {
		return
	}
	if err := closer.Close(); err != nil {
		c.s.o.Log.Debug().Err(err).Msg("closing to leave in time")
	}
}

// stop admits no more requests, and ends those that would last as long as the
// connection.
func (c *conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	c.stopped = true
	for _, r := range c.open {
		if r.listens {
			r.cancel(errEnd)
		}
	}
	if c.count == 0 {
		close(c.idle)
	}
}

// A task is a goroutine of serve, which waits for it.
type task struct {
	done chan struct{}
	err  error // set when done is closed
}

func begin(f func() error) *task {
	t := &task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = f()
	}()
	return t
}

// ended reports whether t has ended.
func (t *task) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// await waits for done or for the end of ctx, and reports whether it was done.
func await(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select { // both may be true
	case <-done:
		return true
	default:
		return false
	}
}
