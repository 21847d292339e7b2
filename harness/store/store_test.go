package store_test

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crypto/rand"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func TestSQLite(t *testing.T) {
	storetest.TestThreads(t, func(t *testing.T) harness.Threads { return openSQLite(t) })
}

func TestPostgres(t *testing.T) {
	server := storetest.Postgres(t)
	storetest.TestThreads(t, func(t *testing.T) harness.Threads { return open(t, schema(t, server)) })
}

func TestPlacesOnSQLite(t *testing.T) {
	storetest.TestPlaces(t, func(t *testing.T, now func() time.Time) place.Places {
		return openWith(t, file(t), store.Options{Now: now})
	})
}

func TestPlacesOnPostgres(t *testing.T) {
	server := storetest.Postgres(t)
	storetest.TestPlaces(t, func(t *testing.T, now func() time.Time) place.Places {
		return openWith(t, schema(t, server), store.Options{Now: now, Files: private(t)})
	})
}

// both runs f on a store in each database that there is, and on where it is.
func both(t *testing.T, f func(t *testing.T, where string)) {
	t.Run("sqlite", func(t *testing.T) { f(t, file(t)) })
	t.Run("postgres", func(t *testing.T) { f(t, schema(t, storetest.Postgres(t))) })
}

// file returns the path of a database that is not there yet.
func file(t testing.TB) string { return filepath.Join(t.TempDir(), "state", "lorimer.db") }

// schema returns the URL of an empty place in a database, which is made faster
// than a database.
func schema(t testing.TB, server string) string {
	t.Helper()
	name := "s_" + strings.ToLower(rand.Text())
	execute(t, server, "CREATE SCHEMA "+name)
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// execute runs a statement of a test on a server.
func execute(t testing.TB, server, statement string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, err := storetest.Connect(server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func openSQLite(t testing.TB) *store.Store {
	t.Helper()
	return open(t, file(t))
}

func open(t testing.TB, where string) *store.Store {
	t.Helper()
	return openWith(t, where, store.Options{})
}

// private returns a directory for contents that is not there yet.
func private(t testing.TB) string { return filepath.Join(t.TempDir(), "state") }

func openWith(t testing.TB, where string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), where, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// No thread hides others: those that are damaged are missing in pages and hits, and
// what looks at the database names them.
func TestDamagedThreadsHideNoOthers(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		const threads, whole = 50, 5
		s, err := store.Open(t.Context(), where, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		store.Fill(t, s, threads)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		const damage = "UPDATE threads SET info = '[]' WHERE id NOT LIKE '%7'"
		if strings.HasPrefix(where, "postgres") {
			execute(t, where, damage)
		} else {
			change(t, where, damage)
		}
		s = open(t, where)
		var got []string
		for q := (thread.Query{Limit: 2}); ; {
			page, err := s.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Threads {
				got = append(got, i.ID)
			}
			if q.After = page.Next; q.After == "" {
				break
			}
			if len(page.Threads) != 2 {
				t.Errorf("a page before the last has %d threads, want 2", len(page.Threads))
			}
		}
		want := []string{"thread-00047", "thread-00037", "thread-00027", "thread-00017", "thread-00007"}
		if !slices.Equal(got, want) {
			t.Errorf("List = %q, want %q", got, want)
		}
		for limit, n := range map[int]int{1: 1, 100: 2 * whole} {
			hits, err := s.Search(t.Context(), thread.Search{Words: "subject", Limit: limit})
			if err != nil || len(hits) != n {
				t.Errorf("%d hits (%v), want %d", len(hits), err, n)
			}
		}
		r, err := store.Look(t.Context(), where, store.Options{})
		if err != nil || r.Threads != threads || len(r.Broken) != threads-whole || r.Broken[0] != "thread-00000" {
			t.Errorf("Look = %+v (%v), want %d threads, all but %d damaged", r, err, threads, whole)
		}
	})
}
