package acp

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	acpsdk "github.com/coder/acp-go-sdk"
	"golang.org/x/sync/errgroup"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// A conn is the state of a connection. It implements [wire.Handler].
type conn struct {
	o     Options
	wire  *wire.Conn
	ready chan struct{} // closed when initialize has been answered
	start starter

	mu       sync.Mutex // guards the fields below
	client   *client    // nil before initialize
	closed   bool       // no session is opened any more
	sessions map[string]*session
	admitted map[*wire.Request]admission // requests between Admit and Serve
}

func newConn(o Options) *conn {
	return &conn{
		o:        o,
		ready:    make(chan struct{}),
		start:    starter{start: o.Start, gate: make(chan struct{}, 1)},
		sessions: make(map[string]*session),
		admitted: make(map[*wire.Request]admission),
	}
}

func (c *conn) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	rest := c.o.Grace / 10 // what has ended its requests closes in no time
	c.wire = wire.New(in, out, c, wire.Options{Log: c.o.Log, Drain: c.o.Drain, Grace: c.o.Grace - rest})
	err := c.wire.Serve(ctx)
	unfinished := errors.Is(err, wire.ErrUnfinished)
	if unfinished {
		rest = 0 // it has been waited for
	}
	c.closeSessions(ctx, rest)
	switch {
	case errors.Is(err, wire.ErrWrite):
		return err
	case unfinished:
		c.o.Log.Warn().Err(err).Msg("left with requests open")
		return nil
	case errors.Is(err, wire.ErrClosed), ctx.Err() != nil:
		c.o.Log.Debug().Err(err).Msg("connection ended")
		return nil
	}
	return err
}

// closeSessions closes what the client left open, in at most the time limit.
func (c *conn) closeSessions(ctx context.Context, limit time.Duration) {
	c.mu.Lock()
	open := slices.Collect(maps.Values(c.sessions))
	clear(c.sessions)
	c.closed = true
	c.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	var g errgroup.Group
	for _, s := range open {
		g.Go(func() error { return s.close(ctx) })
	}
	if err := g.Wait(); err != nil {
		c.o.Log.Warn().Err(err).Msg("sessions did not close in order")
	}
}

// Serve implements [wire.Handler].
func (c *conn) Serve(ctx context.Context, r *wire.Request) (any, error) {
	c.mu.Lock()
	a := c.admitted[r]
	delete(c.admitted, r)
	c.mu.Unlock()
	if a.claims {
		defer c.release(a.s)
	}
	if a.turn != nil {
		r.After(func() { c.answered(a.s, a.turn) })
	}
	result, err := c.handle(ctx, r, a)
	if err != nil {
		return nil, c.fail(ctx, r, a.s, err)
	}
	return result, nil
}

func (c *conn) handle(ctx context.Context, r *wire.Request, a admission) (any, error) {
	if a.err != nil {
		return nil, a.err
	}
	if r.Method == acpsdk.AgentMethodInitialize {
		r.After(c.begin)
		return initializeResult(c.o), nil
	}
	if err := c.awaitReady(ctx); err != nil {
		return nil, err
	}
	if serve, ok := connMethods[r.Method]; ok {
		return serve(c, ctx, r, a)
	}
	serve, ok := sessionMethods[r.Method]
	if !ok {
		return nil, wire.MethodNotFound(r.Method)
	}
	if a.s == nil || a.s.h == nil {
		return nil, noSession(r.Params)
	}
	return serve(a.s, ctx, r, a.turn)
}

// begin lets the connection begin, once initialize has been answered.
func (c *conn) begin() {
	defer close(c.ready)
	if c.o.Ready != nil {
		c.o.Ready()
	}
}

// awaitReady waits for the answer to initialize, before which nothing else is
// answered. Once that is out, the end of ctx is for the request to deal with.
func (c *conn) awaitReady(ctx context.Context) error {
	select {
	case <-c.ready:
		return nil
	default:
	}
	select {
	case <-c.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Methods that the library does not have.
const (
	methodArchive   = "session/archive"
	methodUnarchive = "session/unarchive"
	methodStatus    = "session/status"
	methodSetTitle  = "session/set_title"
)

// connMethods are the requests that need no open session.
var connMethods = map[string]func(*conn, context.Context, *wire.Request, admission) (any, error){
	acpsdk.AgentMethodAuthenticate:  (*conn).authenticate,
	acpsdk.AgentMethodSessionNew:    (*conn).newSession,
	acpsdk.AgentMethodSessionLoad:   (*conn).load,
	acpsdk.AgentMethodSessionResume: (*conn).resume,
	acpsdk.AgentMethodSessionFork:   (*conn).fork,
	acpsdk.AgentMethodSessionList:   (*conn).list,
	acpsdk.AgentMethodSessionDelete: (*conn).delete,
	methodArchive:                   (*conn).archive,
	methodUnarchive:                 (*conn).unarchive,
	methodStatus:                    (*conn).status,
	methodSetTitle:                  (*conn).setTitle,
}

// sessionMethods are the requests that concern an open session.
var sessionMethods = map[string]func(*session, context.Context, *wire.Request, *turn) (any, error){
	acpsdk.AgentMethodSessionPrompt:          (*session).prompt,
	acpsdk.AgentMethodSessionClose:           (*session).serveClose,
	acpsdk.AgentMethodSessionSetMode:         (*session).setMode,
	acpsdk.AgentMethodSessionSetConfigOption: (*session).setOption,
	methodPromptRender:                       (*session).promptRender,
	methodMCPStatus:                          (*session).mcpStatus,
}

// answered notes that the response to a prompt has been written.
func (c *conn) answered(s *session, t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.turns = slices.DeleteFunc(s.turns, func(o *turn) bool { return o == t })
	close(t.done)
}

// A starter makes the backend when it is needed first.
type starter struct {
	start func(context.Context) (*Backend, error)
	gate  chan struct{} // holds the one who starts, or looks
	b     *Backend      // belongs to the holder of the gate
}

func (s *starter) get(ctx context.Context) (*Backend, error) {
	select {
	case s.gate <- struct{}{}:
		defer func() { <-s.gate }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.b != nil {
		return s.b, nil
	}
	b, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	s.b = b
	return b, nil
}
