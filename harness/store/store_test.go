package store_test

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"crypto/rand"

	"github.com/jackc/pgx/v5"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.TestThreads(t, func(t *testing.T) harness.Threads { return openSQLite(t) })
}

func TestPostgres(t *testing.T) {
	server := storetest.Postgres(t)
	storetest.TestThreads(t, func(t *testing.T) harness.Threads { return open(t, schema(t, server)) })
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
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func openSQLite(t testing.TB) *store.Store {
	t.Helper()
	return open(t, file(t))
}

func open(t testing.TB, where string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), where, store.Options{})
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
