package app

import (
	"context"
	"errors"
	"sync"

	"github.com/lorimer-dev/lorimer/harness"
)

// A lazy database is opened when a thread or a place is first asked for (R-STORE-03):
// once, however many ask at the same time. An opening that fails is told to all who
// waited for it, and tried again at the next use. It is safe for concurrent use.
type lazy struct {
	open func(context.Context) (database, error)

	mu      sync.Mutex // guards the fields below
	store   database   // nil until it is open
	opening *opening   // under way
	closed  bool
}

// An opening is one attempt to open the store.
type opening struct {
	done  chan struct{} // closed when the fields below are set
	store database
	err   error
}

// get returns the store, which the first caller opens while the others wait.
func (l *lazy) get(ctx context.Context) (database, error) {
	for {
		l.mu.Lock()
		switch {
		case l.closed:
			l.mu.Unlock()
			return nil, harness.ErrClosed
		case l.store != nil:
			s := l.store
			l.mu.Unlock()
			return s, nil
		case l.opening == nil:
			o := &opening{done: make(chan struct{})}
			l.opening = o
			l.mu.Unlock()
			l.try(ctx, o)
			return o.store, o.err
		}
		o := l.opening
		l.mu.Unlock()
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !left(o.err) {
			return o.store, o.err
		}
	}
}

// left reports whether an opening ended because its caller did, which says nothing
// to those who waited with it.
func left(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// errPanicked is the error of an opening that did not return. Whoever called it
// recovers from that, and the program goes on.
var errPanicked = errors.New("opening the database broke off because of a mistake in lorimer; try it again")

// try is the attempt o.
func (l *lazy) try(ctx context.Context, o *opening) {
	o.err = errPanicked
	defer l.settle(o)
	o.store, o.err = l.open(ctx)
}

// settle ends the attempt o. What it has opened too late is closed again.
func (l *lazy) settle(o *opening) {
	defer close(o.done)
	l.mu.Lock()
	l.opening = nil
	late := l.closed && o.err == nil
	if o.err == nil && !late {
		l.store = o.store
	}
	l.mu.Unlock()
	if late {
		o.err = errors.Join(harness.ErrClosed, o.store.Close())
		o.store = nil
	}
}

// close closes what was opened. Nobody uses the store any more, but for an
// opening that was left behind, which is waited for as long as ctx allows.
func (l *lazy) close(ctx context.Context) error {
	l.mu.Lock()
	o, store := l.opening, l.store
	l.closed, l.store = true, nil
	l.mu.Unlock()
	if o != nil {
		select {
		case <-o.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if store == nil {
		return nil
	}
	return store.Close()
}
