package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/internal/cursor"
	"github.com/lorimer-dev/lorimer/harness/store/internal/words"
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
	l, err := t.vacant(id)
	if err != nil {
		return err
	}
	now := precise(t.now())
	l.append(now, []thread.Body{c})
	for _, e := range source.entries {
		if e.Seq > 1 && e.Seq <= last {
			l.entries = append(l.entries, e)
			l.info.Add(e)
		}
	}
	l.append(now, more)
	l.info.Updated = now // a copy is as new as the copying
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
	l, err := t.vacant(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		e.Time = precise(e.Time)
		l.entries = append(l.entries, e)
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

// List returns a page of threads, the last updated first.
func (t *Threads) List(ctx context.Context, q thread.Query) (thread.Page, error) {
	if err := ctx.Err(); err != nil {
		return thread.Page{}, err
	}
	after, err := cursor.Parse(q.After)
	if err != nil {
		return thread.Page{}, err
	}
	var page thread.Page
	for _, i := range t.infos() {
		if !q.All && i.Archived != q.Archived || q.Cwd != "" && i.Cwd != q.Cwd || !cursor.Of(i).Below(after) {
			continue
		}
		if n := len(page.Threads); n == q.Size() {
			page.Next = cursor.Of(page.Threads[n-1]).String()
			break
		}
		page.Threads = append(page.Threads, i)
	}
	return page, nil
}

// infos returns all threads, the last updated first.
func (t *Threads) infos() []thread.Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]thread.Info, 0, len(t.threads))
	for _, l := range t.threads {
		all = append(all, l.info)
	}
	slices.SortFunc(all, func(a, b thread.Info) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(b.ID, a.ID))
	})
	return all
}

// Search returns the messages and titles where all words occur.
func (t *Threads) Search(ctx context.Context, s thread.Search) ([]thread.Hit, error) {
	q := words.Parse(s.Words)
	type scored struct {
		thread.Hit
		score float64
	}
	var found []scored
	for _, i := range t.infos() {
		if s.Cwd != "" && i.Cwd != s.Cwd {
			continue
		}
		titled := false
		for _, e := range slices.Backward(t.entries(i.ID)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			role, text := words.Searched(e.Body)
			if role == "title" {
				if text != i.Title || titled {
					continue // another is the title
				}
				titled = true
			} else if i.Hidden(e.Seq) {
				continue
			}
			if score := q.Score(text); score > 0 {
				found = append(found, scored{q.Hit(i, e), score})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.Time.Compare(a.Time))
	})
	var hits []thread.Hit
	for _, f := range found[:min(len(found), s.Size())] {
		hits = append(hits, f.Hit)
	}
	return hits, ctx.Err()
}

// entries returns the entries of a thread as they stand, none without a thread.
func (t *Threads) entries(id string) []thread.Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l := t.threads[id]; l != nil {
		return l.entries
	}
	return nil
}
