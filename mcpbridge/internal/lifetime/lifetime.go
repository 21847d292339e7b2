// Package lifetime bounds what a connection has started: nothing of it begins after the
// connection has ended, and whoever ends it can wait for what is under way.
package lifetime

import (
	"context"
	"sync"
)

// A Lifetime is a context together with what must not outlive it: goroutines, and the
// requests of callers. It is safe for concurrent use.
type Lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	left   chan struct{} // closed when it has ended and so have they

	mu      sync.Mutex // guards the fields below
	running int
	ended   bool
}

// New returns a lifetime with the values of ctx, whose end it does not share.
func New(ctx context.Context) *Lifetime {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	return &Lifetime{ctx: ctx, cancel: cancel, left: make(chan struct{})}
}

// Context returns the context that ends with l.
func (l *Lifetime) Context() context.Context { return l.ctx }

// Start runs f, which must return soon after its context has ended. After the end it
// does nothing, and reports so.
func (l *Lifetime) Start(f func(context.Context)) bool {
	if !l.Enter() {
		return false
	}
	go func() {
		defer l.Leave()
		f(l.ctx)
	}()
	return true
}

// Enter counts something that calls Leave soon after l has ended. It reports whether l
// lasts; where it does not, nothing is counted.
func (l *Lifetime) Enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.running++
	}
	return !l.ended
}

// Leave ends what Enter has counted.
func (l *Lifetime) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 && l.ended {
		close(l.left)
	}
}

// Within returns a context that ends with ctx or with l, and has the values of l. Detach
// leaves the end of ctx aside, and reports whether that had not come; cancel ends the
// context itself, and must be called.
func (l *Lifetime) Within(ctx context.Context) (joint context.Context, detach func() bool, cancel context.CancelFunc) {
	joint, end := context.WithCancel(l.ctx)
	detach = context.AfterFunc(ctx, end)
	return joint, detach, func() { detach(); end() }
}

// End ends l; the first cause counts, nil is [context.Canceled]. It does not wait: some
// that run may be waiting for the caller.
func (l *Lifetime) End(cause error) {
	l.cancel(cause)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	if l.running == 0 {
		close(l.left)
	}
}

// Left is closed when l has ended and nothing of it is left.
func (l *Lifetime) Left() <-chan struct{} { return l.left }

// Wait waits until nothing of l is left, as long as ctx lasts.
func (l *Lifetime) Wait(ctx context.Context) error {
	select {
	case <-l.left:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-l.left: // both came
		return nil
	default:
		return ctx.Err()
	}
}
