// Package memory keeps threads for as long as the process lives. It is what
// sessions run on without a database, and the reference for the suite in
// storetest.
package memory

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// Threads is a store of threads. It is safe for concurrent use. Bodies are
// kept as they are given; their owner does not change them afterwards.
type Threads struct {
	now func() time.Time

	mu      sync.Mutex // guards the map and its slices
	threads map[string][]thread.Entry
}

var _ harness.Threads = (*Threads)(nil)

// New returns an empty store that takes the time of an entry from now; nil is
// [time.Now].
func New(now func() time.Time) *Threads {
	if now == nil {
		now = time.Now
	}
	return &Threads{now: now, threads: make(map[string][]thread.Entry)}
}

// Create makes a thread whose first entry is c.
func (t *Threads) Create(ctx context.Context, id string, c thread.Created) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.threads[id]; ok {
		return fmt.Errorf("thread %s: %w", id, harness.ErrTaken)
	}
	t.threads[id] = []thread.Entry{{Seq: 1, Time: t.now(), Body: c}}
	return nil
}

// Append adds entries in one step.
func (t *Threads) Append(ctx context.Context, id string, bodies ...thread.Body) ([]thread.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	log, ok := t.threads[id]
	if !ok {
		return nil, fmt.Errorf("thread %s: %w", id, harness.ErrNotFound)
	}
	now, from := t.now(), len(log)
	for _, b := range bodies {
		log = append(log, thread.Entry{Seq: int64(len(log)) + 1, Time: now, Body: b})
	}
	t.threads[id] = log
	return slices.Clone(log[from:]), nil
}

// Read calls f with each entry after seq, as they stood when it was called.
func (t *Threads) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	t.mu.Lock()
	log, ok := t.threads[id]
	t.mu.Unlock()
	if !ok {
		return fmt.Errorf("thread %s: %w", id, harness.ErrNotFound)
	}
	for _, e := range log[min(max(after, 0), int64(len(log))):] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}
