package harness

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A harness is a model set up for one thread, with the conversation that it has
// in front of it. One turn uses it at a time.
type harness struct {
	model model.Streamer
	conv  *thread.Conversation
}

// What became of the harness at the start of a send (R-HARN-11).
const (
	built   = "built"
	reused  = "reused"
	rebuilt = "rebuilt"
)

// errAborted ends a build that nobody waits for, or whose signature is
// outdated.
var errAborted = errors.New("harness is not wanted any more")

// A pool keeps at most one harness per thread (R-HARN-01). What it keeps is the
// build, under way or done, so that sends which arrive together share it; a
// build that fails is forgotten (R-HARN-05).
type pool struct {
	mu     sync.Mutex // guards the map and the builds in it
	builds map[string]*build
}

// A build is a harness from the moment somebody wants it.
type build struct {
	sig     Signature
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when h and err are set
	h       *harness
	err     error
	waiting int  // callers that would take it
	aborted bool // nobody waited any more
}

// A lease is what a send got from the pool.
type lease struct {
	*harness
	how     string   // built, reused or rebuilt
	changed []string // for rebuilt
}

// get returns the harness of thread id for sig: the live one if its signature
// is the same, otherwise a new one made by open. The old one is given up first,
// and its build, if under way, is aborted and awaited. Open runs until nobody
// waits for it any more; the end of one caller's ctx ends only its own wait.
func (p *pool) get(ctx context.Context, id string, sig Signature, open func(context.Context) (*harness, error)) (lease, error) {
	p.mu.Lock()
	old := p.builds[id]
	b, how := old, reused
	var changed []string
	switch {
	case old == nil || old.aborted:
		b, how = p.start(ctx, id, sig, old, open), built
	case old.sig != sig:
		b, how, changed = p.start(ctx, id, sig, old, open), rebuilt, sig.Changed(old.sig)
	}
	b.waiting++
	p.mu.Unlock()

	select {
	case <-b.done:
		p.leave(b)
		return lease{harness: b.h, how: how, changed: changed}, b.err
	case <-ctx.Done():
		p.leave(b)
		return lease{}, context.Cause(ctx)
	}
}

// start begins a build in place of old. The caller holds the lock.
func (p *pool) start(ctx context.Context, id string, sig Signature, old *build, open func(context.Context) (*harness, error)) *build {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	b := &build{sig: sig, cancel: cancel, done: make(chan struct{})}
	if p.builds == nil {
		p.builds = make(map[string]*build)
	}
	p.builds[id] = b
	go func() { // drop waits for it
		if old != nil {
			old.end()
		}
		h, err := open(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil {
			err = context.Cause(ctx) // aborted too late for open to notice
		}
		b.h, b.err = h, err
		if err != nil && p.builds[id] == b {
			delete(p.builds, id)
		}
		cancel(nil)
		close(b.done)
	}()
	return b
}

// leave ends a caller's wait. The last one to leave a build that still runs
// aborts it; it stays the thread's build until it has ended.
func (p *pool) leave(b *build) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.waiting--
	if b.waiting == 0 && !b.finished() {
		b.aborted = true
		b.cancel(errAborted)
	}
}

// drop forgets the harness of thread id and returns when no build of it runs,
// or with ctx's error before that.
func (p *pool) drop(ctx context.Context, id string) error {
	p.mu.Lock()
	b := p.builds[id]
	if b != nil && b.finished() {
		delete(p.builds, id)
		b = nil
	}
	p.mu.Unlock()
	if b == nil {
		return nil
	}
	b.cancel(errAborted)
	select {
	case <-b.done: // forgotten, as every build that fails
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end aborts the build and waits for it, not longer than the grace.
func (b *build) end() {
	b.cancel(errAborted)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-b.done:
	case <-timer.C:
	}
}

// finished reports whether the build has ended.
func (b *build) finished() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}
