package stdio

import (
	"context"
	"sync"
)

// A lifetime is a context together with the goroutines that must not outlive it.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelFunc
	left   chan struct{} // closed when it has ended and so have they

	mu      sync.Mutex // guards the fields below
	running int
	ended   bool
}

func newLifetime(ctx context.Context) *lifetime {
	ctx, cancel := context.WithCancel(ctx)
	return &lifetime{ctx: ctx, cancel: cancel, left: make(chan struct{})}
}

// start runs f, which must return soon after its context has ended. After the end it
// does nothing.
func (l *lifetime) start(f func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.running++
	go func() {
		defer l.done()
		f(l.ctx)
	}()
}

func (l *lifetime) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 && l.ended {
		close(l.left)
	}
}

// end ends l, once. It does not wait: some that run may be waiting for the caller.
func (l *lifetime) end() {
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.running == 0 {
		close(l.left)
	}
}
