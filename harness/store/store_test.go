package store_test

import (
	"path/filepath"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
)

func TestSQLite(t *testing.T) {
	storetest.TestThreads(t, func(t *testing.T) harness.Threads { return openSQLite(t) })
}

func TestPostgres(t *testing.T) {
	storetest.Postgres(t) // says so once where there is none
	storetest.TestThreads(t, func(t *testing.T) harness.Threads { return open(t, storetest.Postgres(t)) })
}

func openSQLite(t testing.TB) *store.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "state", "lorimer.db"))
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
