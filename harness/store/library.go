package store

import (
	"context"
	"fmt"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/internal/cursor"
	"github.com/lorimer-dev/lorimer/harness/store/internal/words"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// Info returns what a list says of a thread.
func (s *Store) Info(ctx context.Context, id string) (info thread.Info, err error) {
	err = s.view(ctx, func(t tx) error {
		info, err = t.info(ctx, id, "")
		return err
	})
	return info, err
}

// info reads what the row of a thread says.
func (t tx) info(ctx context.Context, id, mode string) (thread.Info, error) {
	data, err := t.row(ctx, id, mode)
	if err != nil {
		return thread.Info{}, err
	}
	return readInfo(id, data)
}

// row reads the row of a thread, and keeps others from it as [dialect.lock] says
// of mode; "" keeps nobody.
func (t tx) row(ctx context.Context, id, mode string) (info []byte, err error) {
	query := "SELECT info FROM threads WHERE id = $1"
	if mode != "" {
		query += t.d.lock(mode)
	}
	found, err := t.get(ctx, query, []any{id}, &info)
	if err == nil && !found {
		err = fmt.Errorf("thread %s: %w", id, harness.ErrNotFound)
	}
	return info, err
}

func readInfo(id string, data []byte) (thread.Info, error) {
	info, err := thread.DecodeInfo(data)
	if err != nil {
		return thread.Info{}, &fault{
			fmt.Sprintf("session %s is damaged: %v; delete it, or restore a copy of the database", id, err), err,
		}
	}
	return info, nil
}

// List returns a page of threads, the last updated first. Those that are damaged are
// left out: whoever opens one is told.
func (s *Store) List(ctx context.Context, q thread.Query) (thread.Page, error) {
	after, err := cursor.Parse(q.After)
	if err != nil {
		return thread.Page{}, err
	}
	var page thread.Page
	for more := true; more; {
		if after, more, err = s.list(ctx, q, after, &page); err != nil {
			return thread.Page{}, err
		}
	}
	return page, nil
}

// list adds to a page what one query finds after a place. It returns the place of the
// last row, and whether rows after it may still belong to the page.
func (s *Store) list(ctx context.Context, q thread.Query, after cursor.Cursor, page *thread.Page) (end cursor.Cursor, more bool, err error) {
	args := []any{after.Updated, after.ID}
	query := "SELECT id, updated, info FROM threads WHERE (updated, id) < ($1, $2)"
	if !q.All {
		args = append(args, q.Archived)
		query += fmt.Sprintf(" AND archived = $%d", len(args))
	}
	if q.Cwd != "" {
		args = append(args, plain(q.Cwd))
		query += fmt.Sprintf(" AND cwd = $%d", len(args))
	}
	limit := q.Size() + 1
	args = append(args, limit) // SQLite counts parameters as they appear
	query += fmt.Sprintf(" ORDER BY updated DESC, id DESC LIMIT $%d", len(args))
	rows := 0
	err = s.view(ctx, func(t tx) error {
		return t.all(ctx, query, args, func(row scan) error {
			rows++
			var data []byte
			if err := row(&end.ID, &end.Updated, &data); err != nil {
				return err
			}
			info, err := readInfo(end.ID, data)
			if err != nil {
				return nil // no thread hides others
			}
			if n := len(page.Threads); n == q.Size() {
				page.Next = cursor.Of(page.Threads[n-1]).String()
				return errEnough
			}
			page.Threads = append(page.Threads, info)
			return nil
		})
	})
	return end, rows == limit && page.Next == "", err
}

// Search returns the messages and titles where all words occur, without those of
// threads that are damaged.
func (s *Store) Search(ctx context.Context, q thread.Search) ([]thread.Hit, error) {
	query := words.Parse(q.Words)
	if len(query) == 0 {
		return nil, ctx.Err()
	}
	for limit := q.Size(); ; limit *= 2 {
		hits, rows, err := s.search(ctx, query, q, limit)
		if err != nil {
			return nil, err
		}
		if len(hits) == q.Size() || rows < limit {
			return hits, nil
		}
	}
}

// search returns the hits among the best rows, and how many rows it looked at.
func (s *Store) search(ctx context.Context, query words.Query, q thread.Search, limit int) (hits []thread.Hit, rows int, err error) {
	args := []any{s.d.match(query), plain(q.Cwd), limit}
	err = s.view(ctx, func(t tx) error {
		return t.all(ctx, t.d.search(), args, func(row scan) error {
			rows++
			var r stored
			var id string
			var data []byte
			if err := row(&r.seq, &r.time, &r.kind, &r.body, &id, &data); err != nil {
				return err
			}
			info, err := readInfo(id, data)
			if err != nil {
				return nil // no thread hides others
			}
			// The kinds of what is searched are the roles.
			hit := thread.Hit{Thread: info, Seq: r.seq, Time: time.UnixMicro(r.time).UTC(), Role: r.kind}
			if e, err := r.entry(id); err == nil { // a damaged one is found, but not shown
				hit = query.Hit(info, e)
			}
			if hits = append(hits, hit); len(hits) == q.Size() {
				return errEnough
			}
			return nil
		})
	})
	return hits, rows, err
}

// Copy makes a thread from a part of another.
func (s *Store) Copy(ctx context.Context, from string, last int64, id string, c thread.Created, more ...thread.Body) error {
	return s.change(ctx, func(t tx) error {
		// What is copied is never written to, so a turn of the thread goes on.
		if _, err := t.row(ctx, from, "KEY SHARE"); err != nil {
			return err
		}
		l, now := newLog(t, id), s.time()
		if err := l.create(ctx); err != nil {
			return err
		}
		if _, err := l.append(ctx, now, []thread.Body{c}); err != nil {
			return err
		}
		err := t.exec(ctx, "INSERT INTO entries (thread, seq, time, kind, body)"+
			" SELECT $1, seq, time, kind, body FROM entries WHERE thread = $2 AND seq > 1 AND seq <= $3", id, from, last)
		if err != nil {
			return err
		}
		if err := l.adopt(ctx, from, last); err != nil {
			return err
		}
		if _, err := l.append(ctx, now, more); err != nil {
			return err
		}
		l.info.Updated = now // a copy is as new as the copying
		return l.save(ctx)
	})
}

// adopt adds the entries that stand in the table already, up to last. They are those
// of thread from, which is at fault where one cannot be read.
func (l *log) adopt(ctx context.Context, from string, last int64) error {
	for {
		page, err := l.t.page(ctx, l.info.ID, l.info.Last, last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			e, err := r.entry(from)
			if err != nil {
				return err
			}
			if err := l.add(ctx, r.id, e); err != nil {
				return err
			}
		}
	}
}

// Restore makes a thread from entries as they are.
func (s *Store) Restore(ctx context.Context, id string, entries []thread.Entry) error {
	return s.change(ctx, func(t tx) error {
		l := newLog(t, id)
		if err := l.create(ctx); err != nil {
			return err
		}
		bodies := make([]thread.Body, len(entries))
		for i, e := range entries {
			if err := l.insert(ctx, e); err != nil {
				return err
			}
			bodies[i] = e.Body
		}
		if err := l.settle(ctx, bodies); err != nil {
			return err
		}
		return l.save(ctx)
	})
}

// Delete deletes a thread, also one that is damaged.
func (s *Store) Delete(ctx context.Context, id string) error {
	err := s.change(ctx, func(t tx) error {
		if _, err := t.row(ctx, id, "UPDATE"); err != nil {
			return err
		}
		if _, err := s.free(ctx, t, id, ""); err != nil {
			return err
		}
		err := t.exec(ctx, "DELETE FROM words WHERE rowid IN (SELECT id FROM entries WHERE thread = $1)", id)
		if err != nil {
			return err
		}
		if err := t.loosen(ctx, "SELECT document FROM thread_documents WHERE thread = $1", id); err != nil {
			return err
		}
		return t.exec(ctx, "DELETE FROM threads WHERE id = $1", id) // and what refers to it
	})
	if err != nil {
		return err
	}
	s.sweep(ctx)
	return nil
}
