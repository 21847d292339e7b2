package client

import (
	"context"
	"sync"
)

// A lifetime is a context together with the goroutines that must not outlive it.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex // guards the fields below
	over   bool
	wg     sync.WaitGroup
}

// begin makes l usable. It has the values of ctx and does not share its end.
func (l *lifetime) begin(ctx context.Context) {
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
}

// start runs f until it returns, unless l has ended; f must return soon after its
// context ends.
func (l *lifetime) start(f func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.over {
		l.wg.Go(func() { f(l.ctx) })
	}
}

// end cancels l. After it nothing is started.
func (l *lifetime) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	l.cancel()
}

// wait waits for what was started, as long as ctx lasts.
func (l *lifetime) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { l.wg.Wait(); close(done) }() // ends with the last of them
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
