package mcpbridge

import (
	"context"
	"sync"
)

// A lifetime is a context together with the goroutines that must not outlive it.
type lifetime struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
}

// newLifetime returns a lifetime with the values of ctx, whose end it does not share.
func newLifetime(ctx context.Context) *lifetime {
	l := &lifetime{}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return l
}

// start runs f until it returns; f must return soon after its context ends.
func (l *lifetime) start(f func(context.Context)) { l.wg.Go(func() { f(l.ctx) }) }

// end cancels l and waits for its goroutines, as long as ctx lasts.
func (l *lifetime) end(ctx context.Context, cause error) error {
	l.cancel(cause)
	return wait(ctx, &l.wg)
}

// within returns a context that ends with ctx or with l. Stop releases it.
func (l *lifetime) within(ctx context.Context) (joint context.Context, stop func()) {
	joint, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	return joint, func() { unhook(); cancel(nil) }
}

// wait waits for the goroutines of wg, as long as ctx lasts.
func wait(ctx context.Context, wg *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }() // ends with the last of them
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
