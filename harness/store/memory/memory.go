// Package memory keeps threads for as long as the process lives. It is what
// sessions run on that leave nothing behind, and the reference for the suite in
// storetest.
package memory

import (
	"context"
	"crypto/rand"
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

	mu      sync.Mutex // guards the map and what it holds
	threads map[string]*log
}

// A log is a thread.
type log struct {
	info    thread.Info
	entries []thread.Entry
	holder  thread.Holder
	until   time.Time // the holder's time
}

var _ harness.Threads = (*Threads)(nil)

// New returns an empty store that takes the time of an entry from now; nil is
// [time.Now].
func New(now func() time.Time) *Threads {
	if now == nil {
		now = time.Now
	}
	return &Threads{now: now, threads: make(map[string]*log)}
}

// Create makes a thread whose first entry is c.
func (t *Threads) Create(ctx context.Context, id string, c thread.Created, more ...thread.Body) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.vacant(id)
	if err != nil {
		return err
	}
	l.append(precise(t.now()), append([]thread.Body{c}, more...))
	t.threads[id] = l
	return nil
}

// vacant returns the log of a thread that is to be made. The caller holds the lock.
func (t *Threads) vacant(id string) (*log, error) {
	if t.threads[id] != nil {
		return nil, fmt.Errorf("thread %s: %w", id, harness.ErrTaken)
	}
	return &log{info: thread.Info{ID: id, Mark: rand.Text()}}, nil
}

// Append adds entries in one step.
func (t *Threads) Append(ctx context.Context, id, turn string, bodies ...thread.Body) ([]thread.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.find(id)
	if err != nil {
		return nil, err
	}
	if turn != "" && l.holder.Token != turn {
		return nil, fmt.Errorf("thread %s: %w", id, harness.ErrLost)
	}
	return slices.Clone(l.append(precise(t.now()), bodies)), nil
}

// append adds entries and returns them.
func (l *log) append(now time.Time, bodies []thread.Body) []thread.Entry {
	from := len(l.entries)
	for _, b := range bodies {
		e := thread.Entry{Seq: l.info.Last + 1, Time: now, Body: b}
		l.entries = append(l.entries, e)
		l.info.Add(e)
	}
	return l.entries[from:]
}

// precise returns a time as a database keeps it.
func precise(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// find returns thread id. The caller holds the lock.
func (t *Threads) find(id string) (*log, error) {
	if l := t.threads[id]; l != nil {
		return l, nil
	}
	return nil, fmt.Errorf("thread %s: %w", id, harness.ErrNotFound)
}

// Read calls f with each entry after seq, as they stood when it was called.
func (t *Threads) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	t.mu.Lock()
	l, err := t.find(id)
	var entries []thread.Entry
	if err == nil {
		entries = l.entries
	}
	t.mu.Unlock()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Seq <= after {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f(e); err != nil {
			return err
		}
	}
	return nil
}
