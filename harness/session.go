package harness

import (
	"context"
	"errors"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// A Session is an open conversation: a thread, the tools that it works with and
// the options that its user has chosen. It is safe for concurrent use.
type Session struct {
	id     string
	e      *Engine
	spec   Spec
	rules  *approve.Rules
	seen   workspace.Seen
	change chan struct{}   // holds a token while an option is being changed
	told   map[string]bool // notices that were told; the running turn's
	serves bool            // there are MCP servers

	looking   chan struct{} // holds a token while the skills are being looked at
	unwatch   func()        // ends that, and waits for it
	unwatched chan struct{} // closed when it has ended

	mu      sync.Mutex // guards the fields below
	choice  Choice
	models  []model.Descriptor
	skills  []Command  // those there are, as far as is known
	prompts []Command  // of the servers, as far as is known
	running []*running // calls of servers' tools, in the order of their start
	queue   []*Slot    // the first one's turn it is
	closed  bool
	idle    chan struct{} // closed when the session is and the queue has emptied
}

// place is where the session is at work.
func (s *Session) place() Place {
	p := s.spec.Place
	p.Session, p.Dir = s.id, s.spec.FS.Dir()
	return p
}

// ID returns the id of the session and of its thread.
func (s *Session) ID() string { return s.id }

// Close ends the session: it cancels what runs and what waits, closes the MCP servers,
// and returns when all of it has ended, or with ctx's error before that (R-HARN-10,
// R-MCP-23). Closing twice is harmless.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		if len(s.queue) == 0 {
			close(s.idle)
		}
		go func() { // whoever closes waits for it
			s.unwatch()
			close(s.unwatched)
		}()
	}
	for _, sl := range s.queue {
		if sl.cancel != nil {
			sl.cancel(ErrClosed)
		}
	}
	s.mu.Unlock()

	served := make(chan error, 1) // beside the rest, since a program takes its time to end
	go func() { served <- s.unserve(ctx) }()
	err := s.ended(ctx)
	return errors.Join(err, <-served)
}

// ended waits until what the session had has ended.
func (s *Session) ended(ctx context.Context) error {
	for _, ended := range []chan struct{}{s.idle, s.unwatched} {
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := s.e.pool.drop(ctx, s.id); err != nil {
		return err
	}
	s.e.forget(s)
	return nil
}
