package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// Info returns what a list says of a thread.
func (t *Threads) Info(ctx context.Context, id string) (thread.Info, error) {
	if err := ctx.Err(); err != nil {
		return thread.Info{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.find(id)
	if err != nil {
		return thread.Info{}, err
	}
	return l.info, nil
}

// Copy makes a thread from a part of another.
func (t *Threads) Copy(ctx context.Context, from string, last int64, id string, c thread.Created, more ...thread.Body) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	source, err := t.find(from)
	if err != nil {
		return err
	}
	if t.threads[id] != nil {
		return fmt.Errorf("thread %s: %w", id, harness.ErrTaken)
	}
	l := &log{info: thread.Info{ID: id}}
	l.append(t.now(), []thread.Body{c})
	created := l.info.Created
	for _, e := range source.entries {
		if e.Seq > 1 && e.Seq <= last {
			l.entries = append(l.entries, e)
			l.info.Add(e)
		}
	}
	l.append(t.now(), more)
	l.info.Updated = created // a copy is as new as the copying
	t.threads[id] = l
	return nil
}

// Restore makes a thread from entries as they are.
func (t *Threads) Restore(ctx context.Context, id string, entries []thread.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.threads[id] != nil {
		return fmt.Errorf("thread %s: %w", id, harness.ErrTaken)
	}
	l := &log{info: thread.Info{ID: id}, entries: slices.Clone(entries)}
	for _, e := range entries {
		l.info.Add(e)
	}
	t.threads[id] = l
	return nil
}

// Delete deletes a thread.
func (t *Threads) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.find(id)
	if err != nil {
		return err
	}
	if l.held(t.now()) {
		return &harness.LockedError{Holder: l.holder}
	}
	delete(t.threads, id)
	return nil
}

// Lock takes the turn of a thread, or renews it.
func (t *Threads) Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l, err := t.find(id)
	if err != nil {
		return err
	}
	now := t.now()
	if l.held(now) && l.holder.Token != h.Token {
		return &harness.LockedError{Holder: l.holder}
	}
	l.holder, l.until = h, now.Add(ttl)
	return nil
}

// held reports whether somebody has the turn.
func (l *log) held(now time.Time) bool { return l.holder.Token != "" && now.Before(l.until) }

// Unlock gives the turn up.
func (t *Threads) Unlock(ctx context.Context, id, token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.threads[id]; l != nil && l.holder.Token == token {
		l.holder = thread.Holder{}
	}
	return nil
}

// List returns a page of threads.
func (t *Threads) List(ctx context.Context, q thread.Query) (thread.Page, error) {
	return thread.Page{}, fmt.Errorf("not there: %v", q)
}

// Search returns the places where all words occur.
func (t *Threads) Search(ctx context.Context, s thread.Search) ([]thread.Hit, error) {
	return nil, fmt.Errorf("not there: %v", s)
}

var _ = cmp.Compare[int]
var _ = slices.Sort[[]int]
var _ = strings.ToLower
