package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func TestLookAtNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%?#.db")
	if _, err := store.Look(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := store.Look(t.Context(), path)
	if err != nil || r.Schema != 0 || r.Known < 1 || r.Threads != 0 {
		t.Errorf("Look at an empty file = %+v (%v), want no tables", r, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the file was changed: %v (%v)", info, err)
	}
}

// TestLook: what is looked at is counted, open or not, and stays as it is.
func TestLook(t *testing.T) {
	for name, where := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "a b%?#.db") },
		"PostgreSQL": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			at := where(t)
			s, err := store.Open(t.Context(), at, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"a", "b"} {
				if err := s.Create(t.Context(), id, thread.Created{Cwd: "/w"}); err != nil {
					t.Fatal(err)
				}
			}
			want := func() {
				t.Helper()
				r, err := store.Look(t.Context(), at)
				if err != nil || r.Threads != 2 || r.Schema != r.Known || r.Damage != "" {
					t.Errorf("Look = %+v (%v), want two threads and no damage", r, err)
				}
			}
			want()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			want()
		})
	}
}

func TestLookAtSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	const other = "this is no database at all, but a text of some length"
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := store.Look(t.Context(), path); err == nil {
		t.Errorf("Look = %+v, want an error", r)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != other {
		t.Errorf("the file was changed: %q (%v)", got, err)
	}
}
