package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

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
				must(t, s.AddWorkspace(t.Context(), place.Workspace{ID: id, Title: id}), s.AddItem(t.Context(), id, key, place.ItemEdit{}))
				away = append(away, func() error { return s.DeleteWorkspace(t.Context(), id) })
			}
			return away
		},
		"an item and a message": func(t *testing.T, s *store.Store, key string) []func() error {
			must(t, s.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}), s.AddItem(t.Context(), "w", key, place.ItemEdit{}),
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
				alter(t, where, "UPDATE documents SET kept = 1")
				must(t, s.AddWorkspace(t.Context(), place.Workspace{ID: "last", Title: "x"}), s.DeleteWorkspace(t.Context(), "last"),
					onlyNone(s.DeleteWorkspace(t.Context(), "w")))
			})
		}
	})
}

// A sweep looks at what something has referred to that is gone, and at no other content,
// also if it was cut off before.
func TestASweepLooksAtWhatWasDropped(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		one, two := keep(t, s, "one").Key, keep(t, s, "two").Key
		check := func(what string, loose, files int) {
			t.Helper()
			if got, has := store.Loose(t, s), len(stored(t, dir)); got != loose || has != files {
				t.Errorf("%s: %d contents to look at and %d files, want %d and %d", what, got, has, loose, files)
			}
		}
		check("kept for what comes", 2, 2)
		err := errors.Join(s.Create(t.Context(), "a", thread.Created{}, said(one, two)), s.Create(t.Context(), "b", thread.Created{}),
			s.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}), s.AddItem(t.Context(), "w", one, place.ItemEdit{}))
		if err != nil {
			t.Fatal(err)
		}
		check("referred to", 0, 2)
		if err := s.DropItem(t.Context(), "w", one); err != nil {
			t.Fatal(err)
		}
		check("something else refers to it", 0, 2)
		inTheWay := filepath.Join(dir, "documents", "databases", "x")
		if err := os.Mkdir(inTheWay, 0o700); err != nil { // nobody can tell which databases there are
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		check("a sweep that was cut off", 2, 2)
		if err := errors.Join(os.Remove(inTheWay), s.Delete(t.Context(), "b")); err != nil {
			t.Fatal(err)
		}
		check("the next one", 0, 0)
	})
}

// Many that are dropped at once are dropped in several steps.
func TestMuchIsDropped(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		const many = 500
		dir := private(t)
		s := openWith(t, where, store.Options{Files: dir})
		d := keep(t, s, "x")
		err := errors.Join(s.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "w"}), s.AddItem(t.Context(), "w", d.Key, place.ItemEdit{}))
		if err != nil {
			t.Fatal(err)
		}
		hashes := store.FillWorkspace(t, s, "w", many, 1)
		for _, hash := range hashes {
			path := files.Dir(filepath.Join(dir, "documents")).Path(hash)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			write("x")(t, path)
		}
		if err := s.DeleteWorkspace(t.Context(), "w"); err != nil {
			t.Fatal(err)
		}
		r, err := store.Look(t.Context(), where, store.Options{Files: dir})
		if left := stored(t, dir); err != nil || r.Documents != 0 || len(left) != 0 {
			t.Errorf("Look = %+v (%v), and %d files are left; want none", r, err, len(left))
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
		alter(t, where, "UPDATE documents SET kept = 1")
		keep(t, s, "new") // again
		sweep()
		if got := stored(t, dir); len(got) != 1 || got[files.Hash([]byte("new"))] != "new" {
			t.Errorf("there are %q, want the one that was kept again", got)
		}
	})
}

// sweep has s drop what nothing refers to, however new it is.
func sweep(t *testing.T, s *store.Store, where string) {
	t.Helper()
	alter(t, where, "UPDATE documents SET kept = 1")
	if err := errors.Join(s.Create(t.Context(), "a", thread.Created{}), s.Delete(t.Context(), "a")); err != nil {
		t.Fatal(err)
	}
}

// A directory that another database keeps contents in as well loses none.
func TestDatabasesMayShareADirectory(t *testing.T) {
	dir := private(t)
	tests := []struct {
		name  string
		where func(t *testing.T) (string, string)
	}{
		{"two files", func(t *testing.T) (string, string) { return file(t), filepath.Join(t.TempDir(), "other.db") }},
		{"two of one name", func(t *testing.T) (string, string) { return file(t), file(t) }},
		{"one of them beside the contents", func(t *testing.T) (string, string) { return filepath.Join(dir, "lorimer.db"), file(t) }},
		{"two schemas of one database", func(t *testing.T) (string, string) {
			server := storetest.Postgres(t)
			return schema(t, server), schema(t, server)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			where, other := tt.where(t)
			one, two := openWith(t, where, store.Options{Files: dir}), openWith(t, other, store.Options{Files: dir})
			d := keep(t, one, "common")
			if _, err := two.Content(t.Context(), d.Key); !errors.Is(err, place.ErrNone) {
				t.Errorf("what the other has kept: error = %v, want ErrNone", err)
			}
			keep(t, two, "common")
			sweep(t, one, where)
			if _, err := one.Content(t.Context(), d.Key); !errors.Is(err, place.ErrNone) {
				t.Errorf("what nothing refers to: error = %v, want ErrNone", err)
			}
			if content, err := two.Content(t.Context(), d.Key); err != nil || string(content) != "common" {
				t.Errorf("what the other has: Content = %q (%v)", content, err)
			}
		})
	}
}

// A database that was moved, alone or with its contents, is no other than before.
func TestAMovedDatabase(t *testing.T) {
	tests := []struct {
		name  string
		alone bool // the contents stay where they are
	}{{"with its contents", false}, {"without them", true}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := private(t)
			where := filepath.Join(dir, "lorimer.db")
			s, err := store.Open(t.Context(), where, store.Options{Files: dir})
			if err != nil {
				t.Fatal(err)
			}
			d := keep(t, s, "x")
			from, to := dir, private(t)
			if tt.alone {
				from, to = where, file(t)
				err = os.Mkdir(filepath.Dir(to), 0o700)
			}
			if err = errors.Join(err, s.Close(), os.Rename(from, to)); err != nil {
				t.Fatal(err)
			}
			if where = to; !tt.alone {
				dir, where = to, filepath.Join(to, "lorimer.db")
			}
			s = openWith(t, where, store.Options{Files: dir})
			if content, err := s.Content(t.Context(), d.Key); err != nil || string(content) != "x" {
				t.Errorf("Content = %q (%v)", content, err)
			}
			keep(t, s, "more")
			sweep(t, s, where)
			if got := stored(t, dir); len(got) != 0 {
				t.Errorf("there are still %q", got)
			}
		})
	}
}

// Those who share a server each drop what they have, whoever deletes what has referred
// to it.
func TestAnotherMachineDropsItsOwn(t *testing.T) {
	where := schema(t, storetest.Postgres(t))
	mine, theirs := private(t), private(t)
	here, there := openWith(t, where, store.Options{Files: mine}), openWith(t, where, store.Options{Files: theirs})
	d := keep(t, there, "of the other machine")
	if err := here.Create(t.Context(), "b", thread.Created{}, said(d.Key, keep(t, here, "ours").Key)); err != nil {
		t.Fatal(err)
	}
	if err := here.Delete(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, mine); len(got) != 0 {
		t.Errorf("here there are still %q", got)
	}
	if content, err := there.Content(t.Context(), d.Key); err != nil || string(content) != "of the other machine" {
		t.Errorf("before the other machine deletes something: Content = %q (%v)", content, err)
	}
	sweep(t, there, where)
	if r, err := store.Look(t.Context(), where, store.Options{}); err != nil || r.Documents != 0 || len(stored(t, theirs)) != 0 {
		t.Errorf("afterwards: Look = %+v (%v), and there are %q, want none", r, err, stored(t, theirs))
	}
}

// Where the contents are gone, a database in a file forgets them; those of a server may
// be on another machine, which forgets them.
func TestForgettingWhatIsNotHere(t *testing.T) {
	both(t, func(t *testing.T, where string) {
		dir := private(t)
		keep(t, openWith(t, where, store.Options{Files: dir}), "x")
		if err := os.RemoveAll(filepath.Join(dir, "documents")); err != nil {
			t.Fatal(err)
		}
		sweep(t, openWith(t, where, store.Options{Files: dir}), where)
		want := 0
		if strings.HasPrefix(where, "postgres") {
			want = 1
		}
		if r, err := store.Look(t.Context(), where, store.Options{Files: dir}); err != nil || r.Documents != want {
			t.Errorf("Look = %+v (%v), want %d documents", r, err, want)
		}
	})
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
			alter(t, where, "UPDATE documents SET kept = 1")
		}
		wg.Wait()
		r, err := store.Look(t.Context(), where, store.Options{Files: dir})
		if err != nil || len(r.Lost) != 0 || len(stored(t, dir)) != r.Documents {
			t.Errorf("Look = %+v (%v), and %d files; want a file for each document", r, err, len(stored(t, dir)))
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
