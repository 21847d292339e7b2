package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// raw opens the file of a database without the program.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := driver.Open(path, func(c *sqlite3.Conn) error { return fts5.Register(c) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// change runs statements on the file of a database, and closes it.
func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := raw(t, path)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// filled returns the path of a closed database with a thread "a" of many entries.
func filled(t *testing.T) string {
	t.Helper()
	path := file(t)
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bodies := make([]thread.Body, 200)
	for i := range bodies {
		bodies[i] = thread.Note{Text: fmt.Sprint(i, strings.Repeat(" filling", 100))}
	}
	if err := s.Create(t.Context(), "a", thread.Created{Cwd: "/w"}, bodies...); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesAreOfTheirOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "state")
	path := filepath.Join(dir, "odd name?x=%41#.db")
	for range 2 { // the second time they are there, and too open
		s, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]fs.FileMode{
			path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, dir: 0o700 | fs.ModeDir, filepath.Dir(dir): 0o700 | fs.ModeDir,
		} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*-*")); err != nil || len(left) > 0 {
			t.Errorf("left after Close: %q (%v)", left, err)
		}
		if err := os.Chmod(path, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALinkIsFollowed(t *testing.T) {
	end := filepath.Join(t.TempDir(), "end.db")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(end, link); err != nil {
		t.Fatal(err)
	}
	open(t, link)
	for _, name := range []string{end, end + "-wal", end + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v (%v), want -rw-------", name, info, err)
		}
	}
}

func TestDirectoriesOfOthersAreRefused(t *testing.T) {
	shared := t.TempDir()
	if err := os.Chmod(shared, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	mine, open := filepath.Join(shared, "mine"), filepath.Join(shared, "open")
	for _, dir := range []string{mine, filepath.Join(open, "below")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o770); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(open, link); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		mine: "", filepath.Join(shared, "new"): "", shared: shared, open: open, filepath.Join(open, "below"): open, link: open,
	} {
		s, err := store.Open(t.Context(), filepath.Join(dir, "x.db"), store.Options{})
		if err == nil {
			s.Close()
		}
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", dir, err)
		case want != "" && (err == nil || !strings.HasPrefix(err.Error(), "directory "+want+" is not yours alone")):
			t.Errorf("%s: error = %v, want a complaint of %s", dir, err, want)
		}
	}
}

func TestBadFilesAreLeftAlone(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, path string)
		want  string
	}{
		{"text", write("a text that is no database, and a rather long one " + strings.Repeat("at that ", 500)), "is damaged, or no database; nothing was changed"},
		{"a short text", write("no"), "is damaged, or no database; nothing was changed"},
		{"zeroes", write(strings.Repeat("\x00", 8192)), "is damaged, or no database; nothing was changed"},
		{"a header alone", cut(50), "is damaged"},
		{"half a file", cut(4096), "is damaged; nothing was changed"},
		{"a page of the schema", scratch(100), "is damaged; nothing was changed"},
		{"a newer schema", run("PRAGMA user_version = 7"), fmt.Sprintf("was written by a newer lorimer (schema 7, this one knows %d); use that one", store.Schema(t))},
		{"a schema that cannot be", run("PRAGMA user_version = -1"), "is damaged, there is no schema -1; nothing was changed"},
		{"another program's", run("PRAGMA application_id = 1"), "belongs to another program; name another file"},
		{"another program's without a mark", func(t *testing.T, path string) {
			write("")(t, path)
			run("CREATE TABLE x (y)")(t, path)
		}, "belongs to another program; name another file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filled(t)
			tt.spoil(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(t.Context(), path, store.Options{})
			if err == nil {
				s.Close()
				t.Fatal("it was opened")
			}
			if !strings.HasPrefix(err.Error(), "database "+path+" "+tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error = %v\nwant database %s %s", err, path, tt.want)
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was changed (%v)", err)
			}
		})
	}
}

// write returns a function that replaces a file.
func write(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// cut returns a function that cuts a file.
func cut(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

// scratch returns a function that overwrites a part of a file.
func scratch(at int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, 3000), at)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// run returns a function that changes a database.
func run(statement string) func(*testing.T, string) {
	return func(t *testing.T, path string) { change(t, path, statement) }
}

func TestDamageIsToldWhereItIsFound(t *testing.T) {
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	path, empty := filled(t), file(t)
	if err := open(t, empty).Close(); err != nil {
		t.Fatal(err)
	}
	for at := size(empty); at < size(path); at += 4096 { // behind the schema
		scratch(at)(t, path)
	}
	s := open(t, path)
	err := s.Read(t.Context(), "a", 0, func(thread.Entry) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "database "+path+" is damaged; ") {
		t.Errorf("error = %v, want one that says it is damaged", err)
	}
}

// forUser checks that an error is one that a user is shown as it is (R-ACP-15).
func forUser(t *testing.T, err error) {
	t.Helper()
	e, ok := errors.AsType[harness.UserError](err)
	if !ok || e.UserText() != err.Error() {
		t.Errorf("error %v is not in words for the user", err)
	}
}

func TestADamagedEntryIsNamed(t *testing.T) {
	path := filled(t)
	change(t, path, "UPDATE entries SET body = CAST('{\"text\":' AS BLOB) WHERE seq = 100", "UPDATE entries SET kind = 'poem' WHERE seq = 150")
	s := open(t, path)
	for after, want := range map[int64]string{0: "session a is damaged at entry 100", 100: "session a is damaged at entry 150"} {
		last := after
		err := s.Read(t.Context(), "a", after, func(e thread.Entry) error { last = e.Seq; return nil })
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(want, fmt.Sprint(" ", last+1)) {
			t.Errorf("read up to %d: error = %v, want %s", last, err, want)
		}
	}
	change(t, path, "INSERT INTO words (rowid, text) SELECT id, 'apple' FROM entries WHERE seq = 100")
	hits, err := s.Search(t.Context(), thread.Search{Words: "apple"})
	if err != nil || len(hits) != 1 || hits[0].Seq != 100 {
		t.Errorf("hits %+v (%v), want the damaged entry", hits, err)
	}
	if err := s.Copy(t.Context(), "a", 99, "b", thread.Created{}); err != nil {
		t.Errorf("what comes before it cannot be forked: %v", err)
	}
	err = s.Read(t.Context(), "a", 149, func(thread.Entry) error { return nil })
	if _, ok := errors.AsType[*thread.KindError](err); !ok {
		t.Error("an unknown kind is no KindError")
	}
	forUser(t, err)
	err = s.Copy(t.Context(), "a", 200, "c", thread.Created{})
	if err == nil || !strings.HasPrefix(err.Error(), "session a is damaged at entry 100") {
		t.Errorf("Copy: error = %v, want one that names the thread it reads", err)
	}
}

func TestADamagedThreadCanBeDeleted(t *testing.T) {
	path := filled(t)
	change(t, path, "UPDATE threads SET info = '{'")
	s := open(t, path)
	const want = "session a is damaged: "
	_, err := s.Info(t.Context(), "a")
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Info: error = %v, want %s", err, want)
	}
	forUser(t, err)
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("Info = %v, want ErrNotFound", err)
	}
}

// What is written to a file that was moved or removed is lost, so nothing is begun
// in it. A turn that runs goes on: the file may be somewhere else.
func TestAFileThatIsGoneIsTold(t *testing.T) {
	path := file(t)
	dir := filepath.Dir(path)
	s := open(t, path)
	if err := s.Create(t.Context(), "a", thread.Created{Cwd: "/w"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Lock(t.Context(), "a", thread.Holder{Token: "running"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), "b", thread.Created{Cwd: "/w"}); err != nil {
		t.Fatal(err)
	}
	begin := map[string]func(id string) error{
		"Create": func(id string) error { return s.Create(t.Context(), id, thread.Created{Cwd: "/w"}) },
		"Copy":   func(id string) error { return s.Copy(t.Context(), "b", 1, id, thread.Created{Cwd: "/w"}) },
		"Restore": func(id string) error {
			return s.Restore(t.Context(), id, []thread.Entry{{Seq: 1, Time: time.Now(), Body: thread.Created{Cwd: "/w"}}})
		},
		"Lock": func(id string) error {
			return s.Lock(t.Context(), "b", thread.Holder{Token: "next"}, time.Nanosecond)
		},
		"Append": func(id string) error {
			_, err := s.Append(t.Context(), "b", "", thread.Title{Text: id})
			return err
		},
	}
	ctx := t.Context()
	if err := s.AddWorkspace(ctx, place.Workspace{ID: "w", Title: "w"}); err != nil {
		t.Fatal(err)
	}
	kept, err := s.Keep(ctx, "kept", "", []byte("kept"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddItem(ctx, "w", kept.Key, place.ItemEdit{}); err != nil {
		t.Fatal(err)
	}
	begin["AddProject"] = func(id string) error {
		return s.AddProject(ctx, place.Project{ID: place.NewID(id, func(string) bool { return false }), Name: id})
	}
	begin["AddWorkspace"] = func(id string) error {
		return s.AddWorkspace(ctx, place.Workspace{ID: place.NewID(id, func(string) bool { return false }), Title: id})
	}
	begin["EditWorkspace"] = func(id string) error { return s.EditWorkspace(ctx, "w", place.WorkspaceEdit{Title: &id}) }
	begin["AddItem"] = func(string) error { return s.AddItem(ctx, "w", kept.Key, place.ItemEdit{}) }
	begin["EditItem"] = func(id string) error { return s.EditItem(ctx, "w", kept.Key, place.ItemEdit{Name: id}) }
	begin["Keep"] = func(id string) error {
		_, err := s.Keep(ctx, id, "", []byte(id))
		return err
	}
	gone := func(how string) {
		t.Helper()
		for name, f := range begin {
			err := f(how + name)
			told, ok := errors.AsType[harness.UserError](err)
			if !ok || !strings.Contains(told.UserText(), path+" was moved or removed") || !strings.Contains(told.UserText(), "put it back") {
				t.Errorf("%s in a file that %s: %v, want that it was moved or removed", name, how, err)
			}
		}
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Skipf("an open file cannot be moved here: %v", err)
	}
	gone("was moved")
	_, appended := s.Append(t.Context(), "a", "running", thread.Note{Text: "x"})
	renewed := s.Lock(t.Context(), "a", thread.Holder{Token: "running"}, time.Hour)
	if err := errors.Join(appended, renewed); err != nil {
		t.Errorf("a turn that ran when the file was moved: %v", err)
	}
	open(t, path)
	gone("was replaced")
	if err := errors.Join(os.RemoveAll(dir), os.Rename(dir+".away", dir)); err != nil {
		t.Fatal(err)
	}
	for name, f := range begin {
		if err := f("back" + name); err != nil {
			t.Errorf("%s in a file that was put back: %v", name, err)
		}
	}
}

func TestAFullDiskIsTold(t *testing.T) {
	path := filled(t)
	s := open(t, path)
	before := 0
	store.LimitPages(t, s, 30)
	var err error
	for range 100 {
		if _, err = s.Append(t.Context(), "a", "", thread.Note{Text: strings.Repeat("x", 100000)}); err != nil {
			break
		}
		before++
	}
	if err == nil || !strings.HasPrefix(err.Error(), "database "+path+" cannot grow, the disk is full; make room") {
		t.Errorf("error = %v, want one that says that the disk is full", err)
	}
	store.LimitPages(t, s, 1<<30)
	added, err := s.Append(t.Context(), "a", "", thread.Note{Text: "goes on"})
	if err != nil || added[0].Seq != int64(202+before) {
		t.Errorf("after room was made: %v, %v; want entry %d", added, err, 202+before)
	}
}

func TestPathsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	write("x")(t, blocked)
	for _, path := range []string{dir, filepath.Join(blocked, "x.db"), filepath.Join(blocked, "sub", "x.db")} {
		s, err := store.Open(t.Context(), path, store.Options{})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), "database "+path+" cannot be opened; name another file") {
			t.Errorf("%s: error = %v", path, err)
		}
	}
}

func TestAFileThatMayNotBeWritten(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everything")
	}
	path := filled(t)
	for name, mode := range map[string]fs.FileMode{path: 0o400, filepath.Dir(path): 0o500} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), path, store.Options{})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "cannot be written; permit it") {
			t.Errorf("%s: error = %v", name, err)
		}
		if err := os.Chmod(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestABusyFileIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filled(t)
		s, other := open(t, path), raw(t, path)
		if _, err := other.Exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err := s.Append(t.Context(), "a", "", thread.Note{})
		if err == nil || !strings.HasPrefix(err.Error(), "database "+path+" was held by another program for longer than 10s; ") {
			t.Errorf("error = %v, want one that says that it is busy", err)
		}
		if waited := time.Since(start); waited < 10*time.Second || waited > 11*time.Second {
			t.Errorf("waited %v, want 10s", waited)
		}
		if err := s.Read(t.Context(), "a", 0, func(thread.Entry) error { return nil }); err != nil {
			t.Errorf("reading beside it: %v", err)
		}
		if _, err := other.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Append(t.Context(), "a", "", thread.Note{}); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
