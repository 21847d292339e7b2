package stdio

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// Options say what is run, and how. Command is required.
type Options struct {
	Command string   // a name in the PATH of Env, or a path; one that is relative is so to Dir
	Args    []string // without the command
	Env     []string // the whole environment, as NAME=value; nothing is inherited (R-MCP-22)
	Dir     string   // working directory; "" is that of this process

	MaxLine      int           // bytes of a message; one that is longer ends the program; default 64 MiB
	WriteTimeout time.Duration // how long the program may leave its input unread; default 10 s

	Label   string   // of the server, in the log
	Secrets []string // values that must not stand in what an error quotes; those below 6 bytes are too short to be found
	Log     zerolog.Logger
}

// Errors that are the cause of a [transport.GoneError].
var (
	errClosed = errors.New("it was closed")
	errOutput = errors.New("it closed its standard output")
	errInput  = errors.New("it closed its standard input")
	errHalf   = errors.New("it stopped reading in the middle of a message")
	errLine   = errors.New("it wrote a line that is too long")
	errLeft   = errors.New("it left a process behind that held its output; the command must be the server itself")
)

// errUnread is for a message of which nothing was taken in time.
var errUnread = errors.New("the program does not read its input")

// A Transport is a program and the messages that are exchanged with it. It
// implements [transport.Transport].
type Transport struct {
	o    Options
	done chan struct{} // closed when the program is gone, or there will be none

	mu      sync.Mutex // guards the fields below
	started bool
	closed  bool
	program *process // nil before Start, and when that had no success
	conn    *conn    // with program
	err     error    // why done is closed
}

var _ transport.Transport = (*Transport)(nil)

// New returns a transport to the program of o, which Start starts.
func New(o Options) *Transport {
	o.MaxLine = cmp.Or(o.MaxLine, 64<<20)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 10*time.Second)
	o.Log = o.Log.With().Str("server", o.Label).Logger()
	return &Transport{o: o, done: make(chan struct{})}
}

// Start starts the program. Its error says in one line what the user can do where
// the command is wrong. The end of ctx ends nothing that was started (R-MCP-23); it
// can be called once.
func (t *Transport) Start(ctx context.Context, h transport.Handler) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return t.err
	case t.started:
		return errors.New("the program was started before")
	}
	t.started = true
	path, err := preflight(t.o)
	if err != nil {
		return err
	}
	p, err := startProcess(path, t.o)
	if err != nil {
		return err
	}
	t.program, t.conn = p, newConn(context.WithoutCancel(ctx), t.o, p.in, h, p.end)
	go t.tend(p, t.conn)
	return nil
}

// tend reads what the program writes until it is gone. Close waits for it.
func (t *Transport) tend(p *process, c *conn) {
	gone := p.tend(c.read)
	if gone.Stderr == "" && gone.Cause == nil { // some say on their output why they end
		gone.Stderr = c.junk.text.String()
	}
	t.mu.Lock()
	t.err = gone
	t.mu.Unlock()
	c.end(gone)
	close(t.done)
}

// connected returns the messages of a program that was started.
func (t *Transport) connected() (*conn, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.conn != nil:
		return t.conn, nil
	case t.err != nil:
		return nil, transport.Unsent(t.err)
	}
	return nil, transport.Unsent(errors.New("the program was not started"))
}

// Call sends a request and returns the result. Of r only the method and the
// parameters are used.
func (t *Transport) Call(ctx context.Context, r transport.Request) (json.RawMessage, error) {
	c, err := t.connected()
	if err != nil {
		return nil, err
	}
	return c.call(ctx, r.Method, r.Params)
}

// Notify sends a notification.
func (t *Transport) Notify(ctx context.Context, method string, params json.RawMessage) error {
	c, err := t.connected()
	if err != nil {
		return err
	}
	return c.notify(ctx, method, params)
}

// Negotiated does nothing: the lines are the same in every revision.
func (t *Transport) Negotiated(string) {}

// Done is closed when the program has been reaped and all it wrote was read, or when
// Close came before Start.
func (t *Transport) Done() <-chan struct{} { return t.done }

// Err returns why Done is closed, a [*transport.GoneError], and nil before.
func (t *Transport) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Close ends the program: it closes its input, after 2 s asks its group to end, and
// after another 2 s kills it. Where ctx has less time each step has less, and when
// it ends the kill comes at once. Close returns when everything is gone, the calls of
// the handler too; so the handler must not call it. An error names what is left.
func (t *Transport) Close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	p, c := t.program, t.conn
	if p == nil && t.err == nil {
		t.err = &transport.GoneError{Cause: errClosed}
		close(t.done)
	}
	t.mu.Unlock()
	if p == nil {
		return nil
	}
	c.close()
	if !p.leave(ctx, t.done) {
		return errors.New("the program does not end, even when it is killed")
	}
	if !within(reaping, c.life.Left()) {
		return errors.New("a request of the server is still being answered")
	}
	return nil
}
