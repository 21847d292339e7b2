package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func TestLookAtNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%?#.db")
	if _, err := store.Look(t.Context(), path, store.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v, want ErrNotExist", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := store.Look(t.Context(), path, store.Options{})
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
				r, err := store.Look(t.Context(), at, store.Options{})
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

// contents returns the files of a directory with what is in them.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		p, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(p)
	}
	return all
}

// A look leaves nothing behind, and one that finds changes beside the file sees them.
func TestLookLeavesNothing(t *testing.T) {
	path := filled(t)
	dir := filepath.Dir(path)
	look := func(want int) {
		t.Helper()
		if r, err := store.Look(t.Context(), path, store.Options{}); err != nil || r.Threads != want {
			t.Errorf("Look = %+v (%v), want %d threads", r, err, want)
		}
	}
	before := contents(t, dir)
	look(1)
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("the files have changed (-before +after):\n%.2000s", diff)
	}

	s := open(t, path)
	if err := s.Create(t.Context(), "b", thread.Created{Cwd: "/w"}); err != nil {
		t.Fatal(err)
	}
	look(2)
	killed := contents(t, dir)
	delete(killed, filepath.Base(path)+"-shm")
	path = filepath.Join(t.TempDir(), filepath.Base(path))
	for name, content := range killed {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look(2)
	after := contents(t, filepath.Dir(path))
	if info, err := os.Stat(path + "-shm"); err == nil && info.Mode().Perm() != 0o600 {
		t.Errorf("the index has the mode %v", info.Mode())
	}
	delete(after, filepath.Base(path)+"-shm")
	if diff := cmp.Diff(killed, after); diff != "" {
		t.Errorf("what a killed program left has changed (-before +after):\n%.2000s", diff)
	}
}

// What is refused leaves nothing behind either.
func TestARefusalLeavesNothing(t *testing.T) {
	for _, statement := range []string{"PRAGMA user_version = 99", "PRAGMA application_id = 7"} {
		path := filled(t)
		change(t, path, statement)
		before := contents(t, filepath.Dir(path))
		if _, err := store.Open(t.Context(), path, store.Options{}); err == nil {
			t.Errorf("after %s the database was opened", statement)
		}
		if _, err := store.Look(t.Context(), path, store.Options{}); err == nil {
			t.Errorf("after %s the database was looked at", statement)
		}
		if diff := cmp.Diff(before, contents(t, filepath.Dir(path))); diff != "" {
			t.Errorf("after %s the files have changed (-before +after):\n%.2000s", statement, diff)
		}
	}
}

func TestLookAtSomethingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	const other = "this is no database at all, but a text of some length"
	if err := os.WriteFile(path, []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := store.Look(t.Context(), path, store.Options{}); err == nil {
		t.Errorf("Look = %+v, want an error", r)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != other {
		t.Errorf("the file was changed: %q (%v)", got, err)
	}
}

// Look refuses what Open refuses, at the end of a link as well.
func TestLookAtTheEndOfALink(t *testing.T) {
	shared, own := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(shared, "x.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	loop, link := filepath.Join(own, "loop.db"), filepath.Join(own, "link.db")
	for link, end := range map[string]string{loop: loop, link: filepath.Join(shared, "x.db")} {
		if err := os.Symlink(end, link); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		link: "directory " + shared + " is not yours alone", loop: "database " + loop + " cannot be opened; name another file",
	} {
		if _, err := store.Look(t.Context(), path, store.Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Look at %s: error = %v, want %s", path, err, want)
		}
	}
}
