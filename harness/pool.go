package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A harness is a model set up for one thread, with the conversation that it has
// in front of it. One turn uses it at a time.
type harness struct {
	model model.Streamer
	conv  *thread.Conversation
	gauge gauge
	mark  string // of the thread, which tells it from another of the same name
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

// What changed where a harness is rebuilt although its signature is the same.
const (
	changedIdle  = "idle"  // nobody had used it for a while (R-HARN-13)
	changedStore = "store" // what it knows of the thread may not be what is stored
)

// A pool keeps at most one harness per thread (R-HARN-01). What it keeps is the
// build, under way or done, so that sends which arrive together share it; a
// build that fails is forgotten (R-HARN-05). A harness that nobody uses for
// a while is given up.
type pool struct {
	idle time.Duration // how long that is; 0 is for ever
	log  zerolog.Logger

	mu     sync.Mutex // guards the fields below and what they hold
	builds map[string]*build
	gone   map[string]remains // of threads without a build
	parted map[*build]bool    // builds under way that are no thread's any more
}

// Remains are what is known of a harness that was given up.
type remains struct {
	sig Signature
	why string
}

// A build is a harness from the moment somebody wants it.
type build struct {
	sig     Signature
	cancel  context.CancelCauseFunc
	done    chan struct{} // closed when h and err are set
	h       *harness
	err     error
	waiting int         // callers that would take it
	aborted bool        // nobody waited any more
	users   int         // callers that have it, or wait for it
	unused  time.Time   // when the last of them left
	expiry  *time.Timer // runs while there are none
}

// A lease is what a send got from the pool. It is given back with release.
type lease struct {
	*harness
	how     string   // built, reused or rebuilt
	changed []string // for rebuilt
	id      string   // of the thread
	from    *build
}

// get returns the harness of thread id for sig: the live one if its signature
// is the same, otherwise a new one made by open. The old one is given up first,
// and its build, if under way, is aborted and awaited. Open runs until nobody
// waits for it any more; the end of one caller's ctx ends only its own wait.
func (p *pool) get(ctx context.Context, id string, sig Signature, open func(context.Context) (*harness, error)) (lease, error) {
	p.mu.Lock()
	old := p.builds[id]
	gone, dropped := p.gone[id]
	b, how := old, reused
	var changed []string
	switch {
	case old == nil && dropped:
		b, how, changed = p.start(ctx, id, sig, old, open), rebuilt, append(sig.Changed(gone.sig), gone.why)
	case old == nil || old.aborted:
		b, how = p.start(ctx, id, sig, old, open), built
	case old.sig != sig:
		b, how, changed = p.start(ctx, id, sig, old, open), rebuilt, sig.Changed(old.sig)
	}
	b.waiting++
	b.users++
	b.rest()
	p.mu.Unlock()

	l := lease{how: how, changed: changed, id: id, from: b}
	select {
	case <-b.done:
		p.leave(b)
		if b.err != nil {
			p.release(l)
			return lease{}, b.err
		}
		l.harness = b.h
		return l, nil
	case <-ctx.Done():
		p.leave(b)
		p.release(l)
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
	if old != nil {
		old.rest()
	}
	p.builds[id] = b
	delete(p.gone, id)
	go func() { // drop or close waits for it
		if old != nil {
			old.end()
		}
		h, err := p.open(ctx, id, open)
		p.mu.Lock()
		defer p.mu.Unlock()
		if err == nil {
			err = context.Cause(ctx) // aborted too late for open to notice
		}
		b.h, b.err = h, err
		if err != nil && p.builds[id] == b {
			delete(p.builds, id)
		}
		delete(p.parted, b)
		cancel(nil)
		close(b.done)
	}()
	return b
}

// open calls f. A panic in it is the error of this build and ends nothing else.
func (p *pool) open(ctx context.Context, id string, f func(context.Context) (*harness, error)) (h *harness, err error) {
	defer func() {
		if v := recover(); v != nil {
			p.log.Error().Str("session", id).Interface("panic", v).Bytes("stack", debug.Stack()).Msg("building a harness panicked")
			h, err = nil, fmt.Errorf("setting the model up broke off because of a mistake in lorimer (%v); choose another model, or send the message again", v)
		}
	}()
	return f(ctx)
}

// release gives a lease back. The zero lease is none.
func (p *pool) release(l lease) {
	b := l.from
	if b == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b.users--
	if b.users > 0 || p.idle == 0 || p.builds[l.id] != b || !b.finished() {
		return
	}
	b.unused = time.Now()
	b.expiry = time.AfterFunc(p.idle, func() { p.expire(l.id, b) })
}

// expire gives b up, unless somebody has come for it while its timer ran out.
func (p *pool) expire(id string, b *build) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.builds[id] == b && b.users == 0 && time.Since(b.unused) >= p.idle {
		p.discard(id, b, changedIdle)
	}
}

// part gives the harness of thread id up if somebody uses it, or waits for it. The
// caller has the lock of the thread: whoever that is has lost it, and may not have
// noticed yet. A build under way goes on, for them alone.
func (p *pool) part(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.builds[id]
	if b == nil || b.users == 0 {
		return
	}
	p.discard(id, b, changedStore)
	if !b.finished() {
		if p.parted == nil {
			p.parted = make(map[*build]bool)
		}
		p.parted[b] = true
	}
}

// forget gives the harness of thread id up, so that the next send reads the
// thread anew. Whoever has it keeps it. A build under way goes on.
func (p *pool) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.builds[id]; b != nil && b.finished() {
		p.discard(id, b, changedStore)
	}
}

// discard takes a build out and notes why. The caller holds the lock.
func (p *pool) discard(id string, b *build, why string) {
	b.rest()
	delete(p.builds, id)
	if p.gone == nil {
		p.gone = make(map[string]remains)
	}
	p.gone[id] = remains{b.sig, why}
}

// rest stops the timer of b.
func (b *build) rest() {
	if b.expiry != nil {
		b.expiry.Stop()
		b.expiry = nil
	}
}

// close gives up everything that no session has dropped, and returns when no build
// runs, or with ctx's error before that.
func (p *pool) close(ctx context.Context) error {
	p.mu.Lock()
	running := slices.Collect(maps.Keys(p.parted))
	for id, b := range p.builds {
		b.rest()
		if b.finished() {
			delete(p.builds, id)
			continue
		}
		running = append(running, b)
	}
	clear(p.gone)
	p.mu.Unlock()
	for _, b := range running {
		b.cancel(errAborted)
	}
	for _, b := range running {
		select {
		case <-b.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
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

// drop forgets that thread id has had a harness and returns when no build of it runs,
// or with ctx's error before that.
func (p *pool) drop(ctx context.Context, id string) error {
	p.mu.Lock()
	b := p.builds[id]
	delete(p.gone, id)
	if b != nil && b.finished() {
		b.rest()
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
