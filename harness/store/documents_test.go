package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// alter runs a statement on a database without the program.
func alter(t *testing.T, where, statement string) {
	t.Helper()
	if strings.HasPrefix(where, "postgres") {
		execute(t, where, statement)
	} else {
		change(t, where, statement)
	}
}

// keep keeps a content and returns its document.
func keep(t *testing.T, s *store.Store, content string) place.Document {
	t.Helper()
	d, err := s.Keep(t.Context(), "a name", "text/plain", []byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// kept returns where the content of a document is below a directory.
func kept(dir, content string) string {
	hash := files.Hash([]byte(content))
	return filepath.Join(dir, "documents", hash[:2], hash)
}

// stored returns the contents below a directory by their hashes, and fails where one
// has another hash, or where something stands that has no place.
func stored(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := filepath.Join(dir, "documents")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "databases":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		hash := files.Hash(content)
		if rel := filepath.Join(hash[:2], hash); path != filepath.Join(root, rel) {
			return fmt.Errorf("%s holds what belongs to %s", path, rel)
		}
		all[hash] = string(content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Contents are files beside the database, for their owner alone, each once.
func TestContentsAreFiles(t *testing.T) {
	path := file(t)
	dir := filepath.Dir(path)
	s := open(t, path)
	if left := stored(t, dir); len(left) != 0 {
		t.Errorf("before there is a document, there are %q", left)
	}
	for range 2 { // the second time what was made is too open
		for _, content := range []string{"one", "two", "one"} {
			keep(t, s, content)
		}
		if got := stored(t, dir); len(got) != 2 {
			t.Errorf("%d files, want 2", len(got))
		}
		for name, want := range map[string]fs.FileMode{
			filepath.Join(dir, "documents"): fs.ModeDir | 0o700, filepath.Dir(kept(dir, "one")): fs.ModeDir | 0o700, kept(dir, "one"): 0o600,
			filepath.Join(dir, "documents", "new"): fs.ModeDir | 0o700,
		} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
			}
			if info.IsDir() {
				if err := os.Chmod(name, 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.Remove(kept(dir, "one")); err != nil { // kept again below
			t.Fatal(err)
		}
	}
}

// A file that is not what was kept is one error, which goes away when it is kept again.
func TestAContentThatIsDamaged(t *testing.T) {
	at := func(dir string) string { return kept(dir, "as it was") }
	tests := []struct {
		name  string
		spoil func(path string) error
		want  string
	}{
		{"missing", os.Remove, "is missing, or on another machine; attach the document again, or restore a copy"},
		{"changed", func(path string) error { return os.WriteFile(path, []byte("as it w@s"), 0o600) }, "is damaged; attach the document again, or restore a copy (its content has changed)"},
		{"cut", func(path string) error { return os.Truncate(path, 3) }, "is damaged; attach the document again, or restore a copy (its content has changed, it has 3 bytes and had 9)"},
		{"a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, "is damaged; attach the document again, or restore a copy (its content has changed, it is no regular file)"},
		{"a broken link", func(path string) error { return errors.Join(os.Remove(path), os.Symlink("nowhere", path)) }, "is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			where, dir := file(t), private(t)
			s := openWith(t, where, store.Options{Files: dir})
			d := keep(t, s, "as it was")
			if err := tt.spoil(at(dir)); err != nil {
				t.Fatal(err)
			}
			content, err := s.Content(t.Context(), d.Key)
			if err == nil {
				t.Fatalf("Content = %q, want an error", content)
			}
			if want := "the file " + at(dir) + " of document " + d.Key + " (a name) " + tt.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error = %v\nwant %s", err, want)
			}
			forUser(t, err)
			if got, err := s.Document(t.Context(), d.Key); err != nil || got != d {
				t.Errorf("Document = %+v (%v), want %+v", got, err, d)
			}
			r, err := store.Look(t.Context(), where, store.Options{Files: dir})
			if want := []string{d.Key}; err != nil || r.Documents != 1 || tt.name != "changed" && !slices.Equal(r.Lost, want) {
				t.Errorf("Look = %+v (%v), want that %q is lost", r, err, want)
			}
			if tt.name == "a directory" {
				if err := os.Remove(at(dir)); err != nil {
					t.Fatal(err)
				}
			}
			keep(t, s, "as it was")
			if content, err := s.Content(t.Context(), d.Key); err != nil || string(content) != "as it was" {
				t.Errorf("kept again: Content = %q (%v)", content, err)
			}
		})
	}
}

// Whatever cannot be kept leaves nothing, and says why.
func TestAContentThatCannotBeKept(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		blocked := filepath.Join(dir, "documents", files.Hash([]byte("two"))[:2])
		keep(t, s, "one")
		write("in the way")(t, blocked)
		_, err := s.Keep(t.Context(), "x", "", []byte("two"))
		if err == nil || !strings.HasPrefix(err.Error(), "a document cannot be kept in "+filepath.Join(dir, "documents")+", permit lorimer to write there, or name another state directory (") {
			t.Errorf("error = %v", err)
		}
		forUser(t, err)
		if err := os.Remove(blocked); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, dir); len(got) != 1 {
			t.Errorf("there are %q, want what was kept before", got)
		}
		if r, err := store.Look(t.Context(), where, store.Options{Files: dir}); err != nil || r.Documents != 1 || len(r.Lost) != 0 {
			t.Errorf("Look = %+v (%v), want the one document", r, err)
		}
		keep(t, s, "two")

		alter(t, where, "UPDATE documents SET hash = 'another', size = 1 WHERE size = 3")
		if _, err := s.Keep(t.Context(), "x", "", []byte("two")); err == nil || !strings.Contains(err.Error(), "another content has the key document:") {
			t.Errorf("two contents of one key: error = %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Keep(ctx, "x", "", []byte("three")); !errors.Is(err, context.Canceled) || len(stored(t, dir)) != 2 {
			t.Errorf("after giving up: error = %v, and %q", err, stored(t, dir))
		}
	})
}

// A database that cannot take the row has no use for the file.
func TestAContentWithoutARow(t *testing.T) {
	path := filled(t)
	dir := filepath.Dir(path)
	s := open(t, path)
	keep(t, s, "one")
	alter(t, path, "CREATE TABLE later (x REFERENCES documents (key) DEFERRABLE INITIALLY DEFERRED);"+
		"CREATE TRIGGER refuse AFTER INSERT ON documents BEGIN INSERT INTO later VALUES ('nothing'); END") // fails at the commit
	if d, err := s.Keep(t.Context(), "x", "", []byte("two")); err == nil {
		t.Fatalf("Keep = %+v, want an error", d)
	}
	if got := stored(t, dir); len(got) != 1 {
		t.Errorf("there are %q, want what was kept before", got)
	}
	if _, err := s.Keep(t.Context(), "x", "", []byte("one")); err != nil { // no new row
		t.Error(err)
	}
}

func TestPostgresNeedsADirectory(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		if !strings.HasPrefix(where, "postgres") {
			return
		}
		s := open(t, where)
		_, err := s.Keep(t.Context(), "x", "", []byte("x"))
		if err == nil || !strings.Contains(err.Error(), "name a state directory") {
			t.Errorf("error = %v, want that a directory is needed", err)
		}
		if err := s.Delete(t.Context(), "nope"); err == nil {
			t.Error("something was deleted")
		}
	})
}

func TestContentsAreNotKeptWhereOthersWrite(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	s := openWith(t, file(t), store.Options{Files: shared})
	_, err := s.Keep(t.Context(), "x", "", []byte("x"))
	if err == nil || !strings.HasPrefix(err.Error(), "directory "+shared+" is not yours alone") {
		t.Errorf("error = %v, want a complaint of %s", err, shared)
	}
}

// TestKilledKeeperLeavesNothingHalf kills a program that keeps contents, again and
// again: what it has told of is there, and nothing is there in part.
func TestKilledKeeperLeavesNothingHalf(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		for round := range 10 {
			for _, key := range kill(t, program(t, "keep", where, dir), 1+round*3%7) {
				content, err := s.Content(t.Context(), key)
				if err != nil || len(content) < 100_000 {
					t.Fatalf("round %d: %d bytes (%v), want what was kept", round, len(content), err)
				}
			}
		}
		age(t, dir)
		if err := errors.Join(s.Create(t.Context(), "a", thread.Created{}), s.Delete(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
		r, err := store.Look(t.Context(), where, store.Options{Files: dir})
		if n := len(stored(t, dir)); err != nil || r.Documents == 0 || len(r.Lost) != 0 || n != r.Documents {
			t.Errorf("Look = %+v (%v), and %d files; want documents that are all there, and nothing else", r, err, n)
		}
	})
}

// keepUntilKilled keeps contents, and prints the key of each.
func keepUntilKilled(where string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, where, store.Options{Files: os.Getenv("STORE_TEST_FILES")})
	if err != nil {
		return err
	}
	for {
		content := fmt.Append(bytes.Repeat([]byte("filling "), 1<<14), time.Now().UnixNano())
		d, err := s.Keep(ctx, "x", "", content)
		if err != nil {
			return err
		}
		fmt.Println(d.Key)
	}
}

// age makes what waits for its place, and the marks, older than a sweep leaves alone.
func age(t *testing.T, dir string) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "documents", "new", "*"))
	old := time.Now().Add(-2 * store.Grace)
	for _, path := range left {
		err = errors.Join(err, os.Chtimes(path, old, old))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a killed program has left behind goes when something else goes: what found no
// place, and a file without a row.
func TestLeftoversAreTidied(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		keep(t, s, "noted")
		mark := func(content string) string {
			return filepath.Join(dir, "documents", "new", files.Hash([]byte(content)))
		}
		unknown, err := files.Dir(filepath.Join(dir, "documents")).Stage([]byte("unknown"))
		if err != nil {
			t.Fatal(err)
		}
		if err := unknown.Place(); err != nil {
			t.Fatal(err)
		}
		half := filepath.Join(dir, "documents", "new", "1234")
		write("half")(t, half)
		write("")(t, mark("noted"))
		unmarked := kept(dir, "of a database that was moved away")
		if err := os.MkdirAll(filepath.Dir(unmarked), 0o700); err != nil {
			t.Fatal(err)
		}
		write("of a database that was moved away")(t, unmarked)
		forget := func(what string, want map[string]bool) {
			t.Helper()
			if err := errors.Join(s.Create(t.Context(), "a", thread.Created{}), s.Delete(t.Context(), "a")); err != nil {
				t.Fatal(err)
			}
			for path, want := range want {
				if _, err := os.Stat(path); (err == nil) != want {
					t.Errorf("%s: %s is there: %v (%v), want %v", what, path, err == nil, err, want)
				}
			}
		}
		forget("while it may be wanted", map[string]bool{
			half: true, kept(dir, "unknown"): true, mark("unknown"): true, kept(dir, "noted"): true, mark("noted"): true, unmarked: true,
		})
		age(t, dir)
		forget("later", map[string]bool{
			half: false, kept(dir, "unknown"): false, mark("unknown"): false, kept(dir, "noted"): true, mark("noted"): false, unmarked: true,
		})
	})
}

// A file that got its place and was not made durable is taken back.
func TestAContentThatIsNotDurable(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		keep(t, s, "one")
		in := filepath.Dir(kept(dir, "two"))
		if err := os.Mkdir(in, 0o300); err != nil { // takes files, and cannot be opened
			t.Fatal(err)
		}
		if f, err := os.Open(in); err == nil {
			f.Close()
			t.Skip("who runs this may open everything")
		}
		d, err := s.Keep(t.Context(), "x", "", []byte("two"))
		if err == nil {
			t.Fatalf("Keep = %+v, want an error", d)
		}
		if err := os.Chmod(in, 0o700); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, dir); len(got) != 1 {
			t.Errorf("there are %q, want what was kept before", got)
		}
	})
}
