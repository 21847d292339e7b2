package harness

import "context"

// An Engine opens sessions and runs their turns. It is safe for concurrent use.
type Engine struct{ o Options }

// New returns an engine. It reads nothing and starts nothing.
func New(o Options) *Engine { return &Engine{o: o} }

// Open opens a new session. It fails with [ErrBadID] or [ErrTaken] for a wished
// id, the former before anything else is done with it (R-HARN-01).
func (e *Engine) Open(ctx context.Context, sp Spec) (*Session, error) { return nil, ErrClosed }

// Close closes all sessions: it cancels their turns and waits for them, not
// longer than ctx (R-HARN-10).
func (e *Engine) Close(ctx context.Context) error { return nil }
