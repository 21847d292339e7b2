package store

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// LimitPages limits the size of a SQLite database, as a full disk does.
func LimitPages(t *testing.T, s *Store, pages int) {
	t.Helper()
	err := s.view(t.Context(), func(t tx) error {
		return t.exec(context.Background(), fmt.Sprintf("PRAGMA max_page_count = %d", pages))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Migrations are the scripts, for a test that none is edited.
var Migrations = migrations

// Schema is the version that a database is brought to.
func Schema(t testing.TB) int {
	t.Helper()
	names, err := scripts("sqlite")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// Grace is how long a content is kept to which nothing refers yet.
const Grace = grace

// Loose returns how many contents a sweep may look at.
func Loose(t testing.TB, s *Store) (n int) {
	t.Helper()
	err := s.view(t.Context(), func(t tx) error {
		_, err := t.get(context.Background(), "SELECT count(*) FROM documents WHERE kept > 0", nil, &n)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// OpenFormer opens a database as a program did that knew no later schema than the
// one of that number.
func OpenFormer(t testing.TB, where string, schema int) *Store {
	t.Helper()
	s := &Store{now: time.Now}
	err := func() error {
		if isURL(where) {
			db, d, err := dialPostgres(where)
			if err != nil {
				return err
			}
			d.scripts = d.scripts[:schema]
			s.db, s.d = db, d
			return d.migrate(t.Context(), db)
		}
		names, err := scripts("sqlite")
		if err != nil {
			return err
		}
		d := &sqlite{path: where, scripts: names[:schema]}
		if err := d.prepare(); err != nil {
			return err
		}
		c, err := newConnector(d)
		if err != nil {
			return err
		}
		s.db, s.d = sql.OpenDB(c), d
		s.db.SetMaxOpenConns(1)
		return d.migrate(t.Context(), s.db)
	}()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Fill makes threads with a message and a title each, in one step.
func Fill(t testing.TB, s *Store, threads int) {
	t.Helper()
	err := s.change(t.Context(), func(t tx) error {
		ctx := context.Background()
		for i := range threads {
			l := newLog(t, fmt.Sprintf("thread-%05d", i))
			if err := l.create(ctx); err != nil {
				return err
			}
			cwd, at := fmt.Sprint("/w/", i%10), time.Unix(int64(i/2), 0)
			subject := fmt.Sprintf("subject %d of thread %d", i%10, i)
			_, err := l.append(ctx, at, []thread.Body{
				thread.Created{Cwd: cwd}, thread.User{Blocks: []event.Block{{Text: "what about " + subject}}}, thread.Title{Text: subject},
			})
			if err != nil {
				return err
			}
			if err := l.save(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Panic appends to a thread and panics before it is committed.
func Panic(ctx context.Context, s *Store, id string) {
	_ = s.change(ctx, func(t tx) error { // does not return
		l, err := openLog(ctx, t, id)
		if err == nil {
			_, err = l.append(ctx, s.time(), []thread.Body{thread.Note{Text: "lost"}})
		}
		panic(err)
	})
}

// FillWorkspace puts documents without files into a workspace, in one step: each in one
// of some collections, and every tenth pinned. It returns their hashes.
func FillWorkspace(t testing.TB, s *Store, id string, documents, collections int) (hashes []string) {
	t.Helper()
	err := s.change(t.Context(), func(t tx) error {
		ctx := context.Background()
		for i := range documents {
			key := fmt.Sprintf("document:%s-%d", id, i)
			hashes = append(hashes, files.Hash([]byte(key)))
			err := t.exec(ctx, "INSERT INTO documents (key, hash, size, name, type, kept) VALUES ($1, $2, 1, $3, 'text/plain', 0)", key, hashes[i], key)
			if err != nil {
				return err
			}
			err = t.exec(ctx, "INSERT INTO items (workspace, document, name, collection, pinned, added) VALUES ($1, $2, $3, $4, $5, 1)",
				id, key, key, fmt.Sprint("collection ", i%collections), i%10 == 0)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return hashes
}

// Sleep has the server of a PostgreSQL database wait within ctx, and returns how many
// statements of this program it is running afterwards.
func Sleep(ctx context.Context, t testing.TB, s *Store) (running int) {
	t.Helper()
	if err := s.view(ctx, func(x tx) error { return x.exec(ctx, "SELECT pg_sleep($1)", 60) }); err == nil {
		t.Fatal("the statement came to its end")
	}
	err := s.view(t.Context(), func(x tx) error {
		_, err := x.get(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"+
			" AND state = 'active' AND pid <> pg_backend_pid()", nil, &running)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return running
}
