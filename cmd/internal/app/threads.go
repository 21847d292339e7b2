package app

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A database is an open store of threads and places.
type database interface {
	harness.Threads
	place.Places
	io.Closer
}

// threads is a database that is opened at its first use (R-STORE-03): once, however
// many ask for it at the same time. An opening that fails is told to all who
// waited for it, and tried again at the next use. It is safe for concurrent use.
type threads struct {
	open func(context.Context) (database, error)

	mu      sync.Mutex // guards the fields below
	store   database   // nil until it is open
	opening *opening   // under way
	closed  bool
}

var _ harness.Threads = (*threads)(nil)

// An opening is one attempt to open the store.
type opening struct {
	done  chan struct{} // closed when the fields below are set
	store database
	err   error
}

// get returns the store, which the first caller opens while the others wait.
func (t *threads) get(ctx context.Context) (database, error) {
	for {
		t.mu.Lock()
		switch {
		case t.closed:
			t.mu.Unlock()
			return nil, harness.ErrClosed
		case t.store != nil:
			s := t.store
			t.mu.Unlock()
			return s, nil
		case t.opening == nil:
			o := &opening{done: make(chan struct{})}
			t.opening = o
			t.mu.Unlock()
			t.try(ctx, o)
			return o.store, o.err
		}
		o := t.opening
		t.mu.Unlock()
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
func (t *threads) try(ctx context.Context, o *opening) {
	o.err = errPanicked
	defer t.settle(o)
	o.store, o.err = t.open(ctx)
}

// settle ends the attempt o. What it has opened too late is closed again.
func (t *threads) settle(o *opening) {
	defer close(o.done)
	t.mu.Lock()
	t.opening = nil
	late := t.closed && o.err == nil
	if o.err == nil && !late {
		t.store = o.store
	}
	t.mu.Unlock()
	if late {
		o.err = errors.Join(harness.ErrClosed, o.store.Close())
		o.store = nil
	}
}

// close closes what was opened. Nobody uses the store any more, but for an
// opening that was left behind, which is waited for as long as ctx allows.
func (t *threads) close(ctx context.Context) error {
	t.mu.Lock()
	o, store := t.opening, t.store
	t.closed, t.store = true, nil
	t.mu.Unlock()
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

func (t *threads) Create(ctx context.Context, id string, c thread.Created, more ...thread.Body) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Create(ctx, id, c, more...)
}

func (t *threads) Append(ctx context.Context, id, turn string, bodies ...thread.Body) ([]thread.Entry, error) {
	s, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Append(ctx, id, turn, bodies...)
}

func (t *threads) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Read(ctx, id, after, f)
}

func (t *threads) Info(ctx context.Context, id string) (thread.Info, error) {
	s, err := t.get(ctx)
	if err != nil {
		return thread.Info{}, err
	}
	return s.Info(ctx, id)
}

func (t *threads) List(ctx context.Context, q thread.Query) (thread.Page, error) {
	s, err := t.get(ctx)
	if err != nil {
		return thread.Page{}, err
	}
	return s.List(ctx, q)
}

func (t *threads) Search(ctx context.Context, q thread.Search) ([]thread.Hit, error) {
	s, err := t.get(ctx)
	if err != nil {
		return nil, err
	}
	return s.Search(ctx, q)
}

func (t *threads) Copy(ctx context.Context, from string, last int64, id string, c thread.Created, more ...thread.Body) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Copy(ctx, from, last, id, c, more...)
}

func (t *threads) Restore(ctx context.Context, id string, entries []thread.Entry) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Restore(ctx, id, entries)
}

func (t *threads) Delete(ctx context.Context, id string) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Delete(ctx, id)
}

func (t *threads) Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Lock(ctx, id, h, ttl)
}

func (t *threads) Unlock(ctx context.Context, id, token string) error {
	s, err := t.get(ctx)
	if err != nil {
		return err
	}
	return s.Unlock(ctx, id, token)
}
