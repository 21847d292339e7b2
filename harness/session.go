package harness

import (
	"context"
	"sync"
)

// A Session is an open conversation: a thread, the tools that it works with and
// the options that its user has chosen. It is safe for concurrent use.
type Session struct {
	id string

	mu     sync.Mutex // guards the fields below
	choice Choice
}

// ID returns the id of the session and of its thread.
func (s *Session) ID() string { return s.id }

// Close ends the session: it cancels what runs and what waits, and returns when
// all of it has ended, or with ctx's error before that.
func (s *Session) Close(ctx context.Context) error { return nil }
