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
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/event"
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

// said is a message with attachments.
func said(keys ...string) thread.User {
	u := thread.User{Blocks: []event.Block{{Text: "hi"}}}
	for _, k := range keys {
		u.Attached = append(u.Attached, thread.Attached{Key: k})
	}
	return u
}

// A content stays as long as a thread or a workspace refers to it, and goes with the
// last of them.
func TestContentsGoWithWhatRefersToThem(t *testing.T) {
	must := func(t *testing.T, errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	item := func(key string) place.Item { return place.Item{Document: place.Document{Key: key}} }
	const workspaces = 2
	// Each has something refer to the content of a key, and returns what takes that
	// away.
	holders := map[string]func(t *testing.T, s *store.Store, key string) []func() error{
		"a message": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.Create(t.Context(), "a", thread.Created{}, said("resource:x", key, key)))
			return []func() error{func() error { return s.Delete(t.Context(), "a") }}
		},
		"an appended message": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.Create(t.Context(), "a", thread.Created{}))
			_, err := s.Append(t.Context(), "a", "", said(key), said(key))
			must(t, err)
			return []func() error{func() error { return s.Delete(t.Context(), "a") }}
		},
		"a message that was answered anew": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.Create(t.Context(), "a", thread.Created{}, said(), thread.Retried{User: 2, Attached: said(key).Attached}))
			return []func() error{func() error { return s.Delete(t.Context(), "a") }}
		},
		"a thread and its copy": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.Create(t.Context(), "a", thread.Created{}, said(key)), s.Copy(t.Context(), "a", 2, "b", thread.Created{Parent: "a"}))
			return []func() error{
				func() error { return s.Delete(t.Context(), "a") }, func() error { return s.Delete(t.Context(), "b") },
			}
		},
		"a restored thread": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.Restore(t.Context(), "a", []thread.Entry{
				{Seq: 1, Time: time.Now(), Body: thread.Created{}}, {Seq: 2, Time: time.Now(), Body: said(key, "document:of-another-machine", "document:\x00")},
			}))
			return []func() error{func() error { return s.Delete(t.Context(), "a") }}
		},
		"workspaces": func(t *testing.T, s *store.Store, key string) (away []func() error) {
			for i := range workspaces {
				id := fmt.Sprint("w", i)
				must(t, s.AddWorkspace(t.Context(), place.Workspace{ID: id, Title: id}), s.SetItem(t.Context(), id, item(key)))
				away = append(away, func() error { return s.DeleteWorkspace(t.Context(), id) })
			}
			return away
		},
		"an item and a message": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}), s.SetItem(t.Context(), "w", item(key)),
				s.Create(t.Context(), "a", thread.Created{}, said(key)))
			return []func() error{
				func() error { return s.Delete(t.Context(), "a") }, func() error { return s.DropItem(t.Context(), "w", key) },
			}
		},
	}
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		for name, refer := range holders {
			t.Run(name, func(t *testing.T) {
				d := keep(t, s, name)
				away := refer(t, s, d.Key)
				for i, take := range away {
					if content, err := s.Content(t.Context(), d.Key); err != nil || string(content) != name {
						t.Errorf("with %d left: Content = %q (%v)", len(away)-i, content, err)
					}
					must(t, take())
				}
				if _, err := s.Content(t.Context(), d.Key); !errors.Is(err, place.ErrNone) {
					t.Errorf("at the end: error = %v, want ErrNone", err)
				}
				if got := stored(t, dir); len(got) != 0 {
					t.Errorf("there are still %q", got)
				}
				keep(t, s, name)
				alter(t, where, "UPDATE documents SET kept = 0")
				must(t, s.AddWorkspace(t.Context(), place.Workspace{ID: "last", Title: "x"}), s.DeleteWorkspace(t.Context(), "last"),
					onlyNone(s.DeleteWorkspace(t.Context(), "w")))
			})
		}
	})
}

// onlyNone returns err unless it says that there is none.
func onlyNone(err error) error {
	if errors.Is(err, place.ErrNone) {
		return nil
	}
	return err
}

// What was kept a moment ago waits for the message that it is for.
func TestANewContentIsNotSwept(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		sweep := func() {
			t.Helper()
			if err := errors.Join(s.Create(t.Context(), "a", thread.Created{}), s.Delete(t.Context(), "a")); err != nil {
				t.Fatal(err)
			}
		}
		for content, age := range map[string]time.Duration{"new": 0, "nearly": store.Grace / 2, "over": store.Grace * 2} {
			d := keep(t, s, content)
			alter(t, where, fmt.Sprintf("UPDATE documents SET kept = kept - %d WHERE key = '%s'", age.Microseconds(), d.Key))
		}
		sweep()
		got := stored(t, dir)
		if _, over := got[files.Hash([]byte("over"))]; len(got) != 2 || over {
			t.Errorf("there are %q, want all but the one that is over", got)
		}
		alter(t, where, "UPDATE documents SET kept = 0")
		keep(t, s, "new") // again
		sweep()
		if got := stored(t, dir); len(got) != 1 || got[files.Hash([]byte("new"))] != "new" {
			t.Errorf("there are %q, want the one that was kept again", got)
		}
	})
}

// A directory that another database keeps contents in as well loses none.
func TestDatabasesMayShareADirectory(t *testing.T) {
	dir := private(t)
	where, other := file(t), filepath.Join(t.TempDir(), "other.db")
	one, two := openWith(t, where, store.Options{Files: dir}), openWith(t, other, store.Options{Files: dir})
	d := keep(t, one, "common")
	if _, err := two.Content(t.Context(), d.Key); !errors.Is(err, place.ErrNone) {
		t.Errorf("what the other has kept: error = %v, want ErrNone", err)
	}
	keep(t, two, "common")
	alter(t, where, "UPDATE documents SET kept = 0")
	if err := errors.Join(one.Create(t.Context(), "a", thread.Created{}), one.Delete(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Content(t.Context(), d.Key); !errors.Is(err, place.ErrNone) {
		t.Errorf("what nothing refers to: error = %v, want ErrNone", err)
	}
	if content, err := two.Content(t.Context(), d.Key); err != nil || string(content) != "common" {
		t.Errorf("what the other has: Content = %q (%v)", content, err)
	}
}

// Some keep while others forget: whatever has a row has a file.
func TestKeepingBesideForgetting(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		const rounds = 20
		dir := private(t)
		var wg sync.WaitGroup
		for n := range 2 {
			s := openWith(t, where, store.Options{Files: dir})
			id := fmt.Sprint("w", n)
			wg.Go(func() {
				for i := range rounds {
					_, err := s.Keep(t.Context(), "x", "", fmt.Append(nil, i%2))
					if err != nil {
						t.Error(err)
					}
				}
			})
			wg.Go(func() {
				for range rounds {
					err := errors.Join(s.AddWorkspace(t.Context(), place.Workspace{ID: id, Title: id}), s.DeleteWorkspace(t.Context(), id))
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		for range rounds {
			alter(t, where, "UPDATE documents SET kept = 0")
		}
		wg.Wait()
		r, err := store.Look(t.Context(), where, store.Options{Files: dir})
		if err != nil || len(r.Lost) != 0 || len(stored(t, dir)) != r.Documents {
			t.Errorf("Look = %+v (%v), and %d files; want a file for each document", r, err, len(stored(t, dir)))
		}
	})
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
			if err := os.RemoveAll(filepath.Join(dir, "documents", "new")); err != nil { // what has no place yet may be half
				t.Fatal(err)
			}
			stored(t, dir)
		}
		r, err := store.Look(t.Context(), where, store.Options{Files: dir})
		if err != nil || r.Documents == 0 || len(r.Lost) != 0 {
			t.Errorf("Look = %+v (%v), want documents that are all there", r, err)
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

// What a killed program has left behind goes when something else goes.
func TestLeftoversAreTidied(t *testing.T) {
	path := file(t)
	s := open(t, path)
	keep(t, s, "x")
	left := filepath.Join(filepath.Dir(path), "documents", "new", "1234")
	write("half")(t, left)
	forget := func() {
		t.Helper()
		keep(t, s, "x")
		alter(t, path, "UPDATE documents SET kept = 0")
		if err := errors.Join(s.Create(t.Context(), "a", thread.Created{}), s.Delete(t.Context(), "a")); err != nil {
			t.Fatal(err)
		}
	}
	forget()
	if _, err := os.Stat(left); err != nil {
		t.Errorf("what may still be wanted is gone: %v", err)
	}
	old := time.Now().Add(-2 * store.Grace)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	forget()
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left is still there (%v)", err)
	}
}

// TestFormerDatabase: one of the first schema keeps its threads, and takes places.
func TestFormerDatabase(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		former := store.OpenFormer(t, where, 1)
		bodies := []thread.Body{
			said(), thread.Assistant{MessageID: "m", Parts: []thread.Part{{Text: "an answer"}}}, thread.Title{Text: "apple", User: true},
			thread.Options{Values: map[string]string{"mode": "auto"}}, thread.Retried{User: 2},
		}
		for _, id := range []string{"a", "b"} {
			if err := former.Create(t.Context(), id, thread.Created{Cwd: "/w", Roots: []string{"/x"}}, bodies...); err != nil {
				t.Fatal(err)
			}
		}
		read := func(s *store.Store) (all []any) {
			t.Helper()
			for _, id := range []string{"a", "b"} {
				info, err := s.Info(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, info)
				if err := s.Read(t.Context(), id, 0, func(e thread.Entry) error { all = append(all, e); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			hits, err := s.Search(t.Context(), thread.Search{Words: "apple"})
			if err != nil || len(hits) != 2 {
				t.Errorf("%d hits (%v), want 2", len(hits), err)
			}
			return append(all, hits[0].Snippet)
		}
		before := read(former)
		if err := former.Close(); err != nil {
			t.Fatal(err)
		}
		look := func(schema int) {
			t.Helper()
			r, err := store.Look(t.Context(), where, store.Options{Files: dir})
			want := store.Report{Schema: schema, Known: 2, Threads: 2}
			if schema == 2 {
				want.Projects, want.Workspaces, want.Documents = 1, 1, 1
			}
			if diff := cmp.Diff(want, r); err != nil || diff != "" {
				t.Errorf("Look (%v) (-want +got):\n%s", err, diff)
			}
		}
		look(1)
		s := openWith(t, where, store.Options{Files: dir})
		if diff := cmp.Diff(before, read(s)); diff != "" {
			t.Errorf("the threads have changed (-before +after):\n%s", diff)
		}
		d := keep(t, s, "x")
		err := errors.Join(
			s.AddProject(t.Context(), place.Project{ID: "p", Name: "p"}), s.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}),
			s.SetItem(t.Context(), "w", place.Item{Document: d}),
		)
		if _, failed := s.Append(t.Context(), "a", "", thread.Bound{Project: "p", Workspace: "w"}, said(d.Key)); errors.Join(err, failed) != nil {
			t.Fatal(err, failed)
		}
		look(2)
		info, err := s.Info(t.Context(), "a")
		if err != nil || info.Project != "p" || info.Bound != "w" {
			t.Errorf("Info = %+v (%v), want the project and the workspace", info, err)
		}
		if err := s.Delete(t.Context(), "b"); err != nil {
			t.Error(err)
		}
	})
}

// Messages with the same attachments in other orders do not wait for each other for
// ever.
func TestMessagesShareContents(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		s := openWith(t, where, store.Options{Files: private(t)})
		var keys []string
		for i := range 30 {
			keys = append(keys, keep(t, s, fmt.Sprint("content ", i)).Key)
		}
		var wg sync.WaitGroup
		for n := range 4 {
			keys := slices.Clone(keys)
			if n%2 == 0 {
				slices.Reverse(keys)
			}
			wg.Go(func() {
				for i := range 3 {
					if err := s.Create(t.Context(), fmt.Sprint("thread", n, i), thread.Created{}, said(keys...)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}
