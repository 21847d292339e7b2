package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
)

// dir returns a directory for contents that is not there yet.
func dir(t *testing.T) files.Dir { return files.Dir(filepath.Join(t.TempDir(), "a", "b")) }

func stage(t *testing.T, d files.Dir, content string) *files.Staged {
	t.Helper()
	s, err := d.Stage([]byte(content))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// place puts a content into its place for good.
func place(d files.Dir, s *files.Staged) error { return errors.Join(s.Place(), d.Unmark(s.Hash)) }

// list returns the files in d, by the directories that they stand in.
func list(t *testing.T, d files.Dir) map[string]int {
	t.Helper()
	all := map[string]int{}
	err := filepath.WalkDir(string(d), func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all[filepath.Base(filepath.Dir(path))]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAContentIsSeenWhenItIsPlaced(t *testing.T) {
	d := dir(t)
	s := stage(t, d, "x")
	if _, err := d.Read(s.Hash, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: error = %v, want ErrNotExist", err)
	}
	if err := errors.Join(s.Place(), s.Drop()); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(s.Hash, 1); err != nil || string(got) != "x" {
		t.Errorf("after: Read = %q (%v)", got, err)
	}
	if got := list(t, d); got["new"] != 1 {
		t.Errorf("files %v, want the mark that it is not noted yet", got)
	}
	if err := errors.Join(d.Unmark(s.Hash), d.Unmark(s.Hash)); err != nil {
		t.Error(err)
	}
	if got := list(t, d); len(got) != 1 || got[s.Hash[:2]] != 1 {
		t.Errorf("files %v, want the one", got)
	}
}

func TestADroppedContentLeavesNothing(t *testing.T) {
	d := dir(t)
	if err := stage(t, d, "x").Drop(); err != nil {
		t.Fatal(err)
	}
	if got := list(t, d); len(got) != 0 {
		t.Errorf("files %v, want none", got)
	}
}

// A content that was there when it was staged, and is gone when it gets its place,
// is written then.
func TestAContentThatGoesMeanwhile(t *testing.T) {
	d := dir(t)
	if err := place(d, stage(t, d, "x")); err != nil {
		t.Fatal(err)
	}
	again := stage(t, d, "x")
	if got := list(t, d); got["new"] != 0 {
		t.Errorf("files %v, want nothing written of what is there", got)
	}
	if err := errors.Join(d.Remove(again.Hash), d.Remove(again.Hash), again.Place(), again.Drop()); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(again.Hash, 1); err != nil || string(got) != "x" {
		t.Errorf("Read = %q (%v)", got, err)
	}
}

func TestDamageIsNoticed(t *testing.T) {
	d := dir(t)
	s := stage(t, d, "as it was")
	if err := s.Place(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Path(s.Hash), []byte("as it w@s"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(s.Hash, 9); !errors.Is(err, files.ErrDamaged) {
		t.Errorf("Read = %q (%v), want ErrDamaged", got, err)
	}
	if err := d.Look(s.Hash, 9); err != nil {
		t.Errorf("Look, which does not read: %v", err)
	}
	if err := d.Look(s.Hash, 10); !errors.Is(err, files.ErrDamaged) {
		t.Errorf("Look for another size: error = %v, want ErrDamaged", err)
	}
	if err := stage(t, d, "as it was").Place(); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Read(s.Hash, 9); err != nil || string(got) != "as it was" {
		t.Errorf("staged again: Read = %q (%v)", got, err)
	}
}

// No name leads out of the directory, or ends the program.
func TestWhatIsNoHash(t *testing.T) {
	d := dir(t)
	if err := stage(t, d, "x").Place(); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(filepath.Dir(string(d)), "outside")
	if err := os.WriteFile(outside, []byte("y"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := files.Hash([]byte("y"))[:62]
	for _, hash := range []string{"", "y", "../outside", "..", "ab/../../../outside", short, short + "//", "\x00", strings.Repeat("zz", 32)} {
		if got, err := d.Read(hash, 1); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Read(%q) = %q (%v), want ErrNotExist", hash, got, err)
		}
		if err := d.Remove(hash); err != nil {
			t.Errorf("Remove(%q): %v", hash, err)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func TestWhoIsAlone(t *testing.T) {
	d := dir(t)
	left := "" // the database that is gone
	gone := func(database string) bool { return database == left }
	if _, err := d.Alone("one", gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where nobody is: error = %v, want ErrNotExist", err)
	}
	const odd = "two/../\n"
	steps := []struct {
		claim, left string
		one, two    bool // who is alone then
	}{
		{"one", "", true, false}, {"one", "", true, false}, {"one", "one", true, false},
		{odd, "", false, false}, {odd, odd, true, false}, {odd, "one", false, true},
	}
	for _, s := range steps {
		if err := d.Claim(s.claim); err != nil {
			t.Fatal(err)
		}
		left = s.left
		for name, want := range map[string]bool{"one": s.one, odd: s.two} {
			if got, err := d.Alone(name, gone); err != nil || got != want {
				t.Errorf("after the claim of %q, without %q: Alone(%q) = %v (%v), want %v", s.claim, left, name, got, err, want)
			}
		}
	}
	claim := filepath.Join(string(d), "databases", files.Hash([]byte(odd)))
	if err := os.WriteFile(claim, nil, 0o600); err != nil { // cut off while it was written
		t.Fatal(err)
	}
	if got, err := d.Alone("one", func(string) bool { return true }); err != nil || got {
		t.Errorf("beside a claim of nobody knows whom: Alone = %v (%v), want false", got, err)
	}
}

func TestTidyTakesWhatIsOld(t *testing.T) {
	d := dir(t)
	tidy := func(age time.Duration, left int, want ...string) {
		t.Helper()
		marked, err := d.Tidy(time.Now().Add(-age))
		if err != nil || !slices.Equal(marked, want) || left > 0 && list(t, d)["new"] != left {
			t.Errorf("marked %q (%v), files %v; want %q and %d that have no place", marked, err, list(t, d), want, left)
		}
	}
	tidy(0, 0)
	s := stage(t, d, "x")
	if err := stage(t, d, "y").Place(); err != nil {
		t.Fatal(err)
	}
	tidy(time.Hour, 2)
	tidy(-time.Hour, 1, files.Hash([]byte("y")))
	if err := s.Drop(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was old is still there (%v)", err)
	}
	if err := d.Remove(files.Hash([]byte("y"))); err != nil {
		t.Fatal(err)
	}
	tidy(-time.Hour, 0)
	if got := list(t, d); len(got) != 0 {
		t.Errorf("files %v, want none", got)
	}
}

// Whatever is in the way, nothing is left of what cannot be placed.
func TestWhatIsInTheWay(t *testing.T) {
	hash := files.Hash([]byte("x"))
	for _, name := range []string{"", "new", hash[:2]} {
		t.Run(name, func(t *testing.T) {
			d := dir(t)
			at := filepath.Join(string(d), name)
			err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, nil, 0o600))
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.Stage([]byte("x"))
			if err == nil {
				err = s.Place()
				if failed := s.Drop(); failed != nil {
					t.Error(failed)
				}
			}
			if err == nil || !strings.Contains(err.Error(), at) {
				t.Errorf("error = %v, want one that names %s", err, at)
			}
			for in, n := range list(t, d) {
				if in == "new" || n > 1 {
					t.Errorf("%d files in %s, want only what is in the way", n, in)
				}
			}
		})
	}
}
