package web

import (
	"context"
	"sync"
)

// A lifetime is a context together with what must not outlive it: goroutines, and
// requests of callers.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelFunc
	left   chan struct{} // closed when it has ended and so have they

	mu      sync.Mutex // guards the fields below
	running int
	ended   bool
}

// newLifetime returns a lifetime with the values of ctx, whose end it does not share.
func newLifetime(ctx context.Context) *lifetime {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &lifetime{ctx: ctx, cancel: cancel, left: make(chan struct{})}
}

// start runs f, which must return soon after its context has ended. After the end it
// does nothing, and reports so.
func (l *lifetime) start(f func(context.Context)) bool {
	if !l.enter() {
		return false
	}
	go func() {
		defer l.leave()
		f(l.ctx)
	}()
	return true
}

// enter counts something that leaves soon after l has ended. It reports whether l lasts.
func (l *lifetime) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.running++
	}
	return !l.ended
}

func (l *lifetime) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 && l.ended {
		close(l.left)
	}
}

// within returns a context that ends with ctx or with l. Stop leaves the end of ctx
// aside; cancel ends the context itself.
func (l *lifetime) within(ctx context.Context) (joint context.Context, stop func() bool, cancel context.CancelFunc) {
	joint, cancel = context.WithCancel(l.ctx)
	return joint, context.AfterFunc(ctx, cancel), cancel
}

// end ends l, more than once too. It does not wait: some that run may be waiting for
// the caller.
func (l *lifetime) end() {
	l.cancel()
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
