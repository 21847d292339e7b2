package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store/internal/words"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// What a page of a log has at most: rows, and bytes of bodies unless the first
// is larger.
const (
	pageRows  = 256
	pageBytes = 1 << 20
)

// Create makes a thread whose first entry is c.
func (s *Store) Create(ctx context.Context, id string, c thread.Created, more ...thread.Body) error {
	return s.change(ctx, func(t tx) error {
		l := newLog(t, id)
		if err := l.create(ctx); err != nil {
			return err
		}
		if _, err := l.append(ctx, s.time(), append([]thread.Body{c}, more...)); err != nil {
			return err
		}
		return l.save(ctx)
	})
}

// Append adds entries in one step.
func (s *Store) Append(ctx context.Context, id, turn string, bodies ...thread.Body) ([]thread.Entry, error) {
	var added []thread.Entry
	err := s.change(ctx, func(t tx) error {
		l, err := openLog(ctx, t, id)
		if err != nil {
			return err
		}
		if err := l.fence(ctx, turn); err != nil {
			return err
		}
		if len(bodies) == 0 {
			return nil // only the fence was asked
		}
		if added, err = l.append(ctx, s.time(), bodies); err != nil {
			return err
		}
		return l.save(ctx)
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// Read calls f with each entry after seq, as they stood when it was called.
func (s *Store) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	info, err := s.Info(ctx, id)
	if err != nil {
		return err
	}
	for after < info.Last {
		var page []stored
		err := s.view(ctx, func(t tx) (err error) {
			page, err = t.page(ctx, id, after, info.Last)
			return err
		})
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return fmt.Errorf("thread %s was deleted while it was read: %w", id, harness.ErrNotFound)
		}
		for _, r := range page {
			if err := ctx.Err(); err != nil {
				return err
			}
			e, err := r.entry(id)
			if err != nil {
				return err
			}
			if err := f(e); err != nil {
				return err
			}
		}
		after = page[len(page)-1].seq
	}
	return nil
}

// time returns the time of an entry that is written now.
func (s *Store) time() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// A stored is a row of entries.
type stored struct {
	id, seq, time int64
	kind          string
	body          []byte
}

// entry returns the entry of thread.
func (r stored) entry(id string) (thread.Entry, error) {
	b, err := thread.Decode(r.kind, r.body)
	if err != nil {
		return thread.Entry{}, &fault{
			fmt.Sprintf("session %s is damaged at entry %d: %v; what comes before it can be forked", id, r.seq, err), err,
		}
	}
	return thread.Entry{Seq: r.seq, Time: time.UnixMicro(r.time).UTC(), Body: b}, nil
}

// page reads the next entries of a thread after a number, up to last.
func (t tx) page(ctx context.Context, id string, after, last int64) ([]stored, error) {
	var rows []stored
	size := 0
	query, args := t.d.page(id, after, last)
	err := t.all(ctx, query, args, func(row scan) error {
		var r stored
		if err := row(&r.id, &r.seq, &r.time, &r.kind, &r.body); err != nil {
			return err
		}
		rows = append(rows, r)
		if size += len(r.body); size >= pageBytes {
			return errEnough
		}
		return nil
	})
	return rows, err
}

// A log is a thread that is written to in a transaction.
type log struct {
	t    tx
	info thread.Info
}

func newLog(t tx, id string) *log { return &log{t, thread.Info{ID: id, Mark: rand.Text()}} }

// openLog returns the log of a thread, and keeps other writers out of it.
func openLog(ctx context.Context, t tx, id string) (*log, error) {
	info, err := t.info(ctx, id, "NO KEY UPDATE")
	if err != nil {
		return nil, err
	}
	return &log{t, info}, nil
}

// create makes the row of the thread, which save completes.
func (l *log) create(ctx context.Context) error {
	if err := l.t.d.here(); err != nil {
		return err
	}
	made, err := l.t.get(ctx, "INSERT INTO threads (id, cwd, updated, archived, info)"+
		" VALUES ($1, '', 0, $2, '') ON CONFLICT (id) DO NOTHING RETURNING id", []any{l.info.ID, false}, new(string))
	if err == nil && !made {
		err = fmt.Errorf("thread %s: %w", l.info.ID, harness.ErrTaken)
	}
	return err
}

// save writes the row of the thread.
func (l *log) save(ctx context.Context) error {
	data, err := thread.EncodeInfo(l.info)
	if err != nil {
		return err
	}
	return l.t.exec(ctx, "UPDATE threads SET cwd = $1, updated = $2, archived = $3, info = $4 WHERE id = $5",
		plain(l.info.Cwd), l.info.Updated.UnixMicro(), l.info.Archived, string(data), l.info.ID)
}

// fence fails unless the turn is the one that may write. What no turn writes must
// find the database in its place.
func (l *log) fence(ctx context.Context, turn string) error {
	if turn == "" {
		return l.t.d.here()
	}
	h, _, err := l.t.holder(ctx, l.info.ID)
	if err == nil && h.Token != plain(turn) {
		err = fmt.Errorf("thread %s: %w", l.info.ID, harness.ErrLost)
	}
	return err
}

// append adds entries after the last.
func (l *log) append(ctx context.Context, now time.Time, bodies []thread.Body) ([]thread.Entry, error) {
	added := make([]thread.Entry, len(bodies))
	for i, b := range bodies {
		added[i] = thread.Entry{Seq: l.info.Last + 1, Time: now, Body: b}
		if err := l.insert(ctx, added[i]); err != nil {
			return nil, err
		}
	}
	return added, l.settle(ctx, bodies)
}

// insert adds an entry as it is.
func (l *log) insert(ctx context.Context, e thread.Entry) error {
	kind, body, err := thread.Encode(e.Body)
	if err != nil {
		return err
	}
	var row int64
	_, err = l.t.get(ctx, "INSERT INTO entries (thread, seq, time, kind, body) VALUES ($1, $2, $3, $4, $5) RETURNING id",
		[]any{l.info.ID, e.Seq, e.Time.UnixMicro(), kind, body}, &row)
	if err != nil {
		return err
	}
	return l.add(ctx, row, e)
}

// add brings what is said of the thread, and the words of it, up to date with an
// entry that stands in row.
func (l *log) add(ctx context.Context, row int64, e thread.Entry) error {
	named, retried := l.info.Named, l.info.Retried
	l.info.Add(e)
	if err := l.refer(ctx, e.Body); err != nil {
		return err
	}
	const forget = "DELETE FROM words WHERE rowid IN (SELECT id FROM entries WHERE thread = $1 AND "
	switch b := e.Body.(type) {
	case thread.Assistant:
		if retried == 0 || l.info.Retried != 0 {
			break
		}
		// The title of the thread stays, wherever it was given.
		if err := l.t.exec(ctx, forget+"seq > $2 AND seq < $3 AND kind <> 'title')", l.info.ID, l.info.User, retried); err != nil {
			return err
		}
	case thread.Title:
		if named && !b.User {
			return nil
		}
		if err := l.t.exec(ctx, forget+"seq < $2 AND kind = 'title')", l.info.ID, e.Seq); err != nil {
			return err
		}
	}
	_, text := words.Searched(e.Body)
	var list []string
	for w := range words.Of(text) {
		list = append(list, w.Text)
	}
	if len(list) == 0 {
		return nil
	}
	return l.t.exec(ctx, "INSERT INTO words (rowid, text) VALUES ($1, $2)", row, l.t.d.document(list))
}

// plain returns s as both databases take a text: UTF-8, without the character 0.
func plain(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\uFFFD"), "\uFFFD")
}
