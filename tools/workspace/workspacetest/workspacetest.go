// Package workspacetest checks that a file system keeps the contract of
// [workspace.FS].
package workspacetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// TestFS checks the file systems that open returns. Each open must return an
// empty workspace whose Dir is a directory of this machine.
func TestFS(t *testing.T, open func(*testing.T) workspace.FS) {
	t.Run("read", func(t *testing.T) { testRead(t, open) })
	t.Run("write", func(t *testing.T) { testWrite(t, open) })
	t.Run("resolve", func(t *testing.T) { testResolve(t, open) })
	t.Run("links", func(t *testing.T) { testLinks(t, open) })
	t.Run("one writer of two wins", func(t *testing.T) { testRace(t, open(t)) })
	t.Run("ended context", func(t *testing.T) { testEnded(t, open(t)) })
}

// Put writes a file below the directory of fsys, past it.
func Put(t *testing.T, fsys workspace.FS, name, content string) string {
	t.Helper()
	path := filepath.Join(fsys.Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Get returns the content of a file below the directory of fsys, past it.
func Get(t *testing.T, fsys workspace.FS, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fsys.Dir(), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Link makes a symbolic link below the directory of fsys, or skips the test
// where there are none.
func Link(t *testing.T, fsys workspace.FS, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(fsys.Dir(), filepath.FromSlash(name))); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
}

func testRead(t *testing.T, open func(*testing.T) workspace.FS) {
	fsys := open(t)
	Put(t, fsys, "b/file", "content")
	Put(t, fsys, "a", "")
	ctx := t.Context()
	if got, err := fsys.ReadFile(ctx, "b/file", 0); err != nil || string(got) != "content" {
		t.Errorf("ReadFile = %q, %v", got, err)
	}
	if got, err := fsys.ReadFile(ctx, filepath.Join(fsys.Dir(), "b", "file"), 7); err != nil || string(got) != "content" {
		t.Errorf("ReadFile of the absolute name up to its length = %q, %v", got, err)
	}
	if _, err := fsys.ReadFile(ctx, "b/file", 6); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("ReadFile above the limit: error = %v, want ErrTooLarge", err)
	}
	if info, err := fsys.Stat(ctx, "b/file"); err != nil || info.Size() != 7 {
		t.Errorf("Stat = %v, %v; want 7 bytes", info, err)
	}
	entries, err := fsys.ReadDir(ctx, ".")
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"a", "b"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("ReadDir = %q, %v; want %q", names, err, want)
	}
	f, err := fsys.Open(ctx, "b/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tail := make([]byte, 4)
	if _, err := f.ReadAt(tail, 3); err != nil || string(tail) != "tent" {
		t.Errorf("ReadAt = %q, %v", tail, err)
	}
	if all, err := io.ReadAll(f); err != nil || string(all) != "content" {
		t.Errorf("Read = %q, %v", all, err)
	}
	for _, name := range []string{"missing", "b/missing", "missing/file"} {
		if _, err := fsys.ReadFile(ctx, name, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("ReadFile(%q): error = %v, want fs.ErrNotExist", name, err)
		}
	}
	if _, err := fsys.Open(ctx, "b"); !errors.Is(err, workspace.ErrSpecial) {
		t.Errorf("Open of a directory: error = %v, want ErrSpecial", err)
	}
	if _, err := fsys.ReadFile(ctx, "b", 0); !errors.Is(err, workspace.ErrSpecial) {
		t.Errorf("ReadFile of a directory: error = %v, want ErrSpecial", err)
	}
}

func testWrite(t *testing.T, open func(*testing.T) workspace.FS) {
	tests := []struct {
		name  string
		there string // the content before; "-" is no file
		file  string
		w     workspace.Write
		want  string // the content afterwards; "-" is no file
		err   error
	}{
		{"new file", "-", "f", workspace.Write{}, "new", nil},
		{"new file with parents", "-", "a/b/f", workspace.Write{}, "new", nil},
		{"new file, exclusively", "-", "f", workspace.Write{Create: true}, "new", nil},
		{"file that is there, exclusively", "old", "f", workspace.Write{Create: true}, "old", fs.ErrExist},
		{"whatever is there", "old", "f", workspace.Write{}, "new", nil},
		{"what was expected", "old", "f", workspace.Write{Old: []byte("old")}, "new", nil},
		{"an empty file, as expected", "", "f", workspace.Write{Old: []byte{}}, "new", nil},
		{"something else", "other", "f", workspace.Write{Old: []byte("old")}, "other", workspace.ErrChanged},
		{"something instead of an empty file", "other", "f", workspace.Write{Old: []byte{}}, "other", workspace.ErrChanged},
		{"nothing instead of something", "-", "f", workspace.Write{Old: []byte("old")}, "-", workspace.ErrChanged},
		{"nothing, not even its directory", "-", "a/f", workspace.Write{Old: []byte("old")}, "-", workspace.ErrChanged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fsys := open(t)
			if tt.there != "-" {
				Put(t, fsys, tt.file, tt.there)
			}
			if err := fsys.WriteFile(t.Context(), tt.file, []byte("new"), tt.w); !errors.Is(err, tt.err) {
				t.Errorf("WriteFile: error = %v, want %v", err, tt.err)
			}
			if tt.want == "-" {
				if _, err := os.Stat(filepath.Join(fsys.Dir(), tt.file)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the file is there (%v)", err)
				}
				return
			}
			if got := Get(t, fsys, tt.file); got != tt.want {
				t.Errorf("content = %q, want %q", got, tt.want)
			}
			Clean(t, fsys, tt.file)
		})
	}
	t.Run("permissions are kept", func(t *testing.T) {
		fsys := open(t)
		path := Put(t, fsys, "run", "old")
		if err := os.Chmod(path, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := fsys.WriteFile(t.Context(), "run", []byte("new"), workspace.Write{}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o750 {
			t.Errorf("mode = %v, %v; want 0750", info.Mode(), err)
		}
	})
	t.Run("a directory", func(t *testing.T) {
		fsys := open(t)
		Put(t, fsys, "d/f", "")
		for _, name := range []string{"d", "."} {
			if err := fsys.WriteFile(t.Context(), name, nil, workspace.Write{}); !errors.Is(err, workspace.ErrSpecial) {
				t.Errorf("WriteFile(%q): error = %v, want ErrSpecial", name, err)
			}
		}
	})
}

// Clean fails the test unless the directory of name holds nothing else, such as
// a temporary file that a write left.
func Clean(t *testing.T, fsys workspace.FS, name string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(filepath.Join(fsys.Dir(), name)))
	if err != nil || len(entries) != 1 {
		t.Errorf("directory of %s holds %v (%v), want that file alone", name, entries, err)
	}
}

func testResolve(t *testing.T, open func(*testing.T) workspace.FS) {
	fsys := open(t)
	Put(t, fsys, "dir/file", "")
	dir, err := filepath.EvalSymlinks(fsys.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if roots := fsys.Roots(); len(roots) == 0 || roots[0] != fsys.Dir() {
		t.Errorf("Roots() = %q, want Dir first, %q", roots, fsys.Dir())
	}
	tests := []struct {
		name, want string
		err        error
	}{
		{".", dir, nil},
		{"dir/file", filepath.Join(dir, "dir", "file"), nil},
		{"./dir//file", filepath.Join(dir, "dir", "file"), nil},
		{"dir/../dir/file", filepath.Join(dir, "dir", "file"), nil},
		{"new/dir/f", filepath.Join(dir, "new", "dir", "f"), nil},
		{fsys.Dir(), dir, nil},
		{"~/x", filepath.Join(dir, "~", "x"), nil},
		{"..", "", workspace.ErrOutside},
		{"../x", "", workspace.ErrOutside},
		{"dir/../../x", "", workspace.ErrOutside},
		{"a/b/../../../x", "", workspace.ErrOutside},
		{filepath.Dir(dir), "", workspace.ErrOutside},
		{dir + "x", "", workspace.ErrOutside},
		{"new/../file", "", fs.ErrNotExist},
		{"", "", fs.ErrInvalid},
		{"f\x00.txt", "", fs.ErrInvalid},
	}
	for _, tt := range tests {
		got, err := fsys.Resolve(tt.name)
		if !errors.Is(err, tt.err) || err == nil && got != tt.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
	for _, name := range []string{"dir/file/", "dir/file/x", "dir/file/.."} {
		if got, err := fsys.Resolve(name); err == nil {
			t.Errorf("Resolve(%q) = %q, want an error, as the kernel gives one", name, got)
		}
	}
}

func testLinks(t *testing.T, open func(*testing.T) workspace.FS) {
	t.Run("C071 out of the workspace", func(t *testing.T) {
		fsys, outside := open(t), t.TempDir()
		if err := os.WriteFile(filepath.Join(outside, "f"), []byte("secret"), 0o644); err != nil {
			t.Fatal(err)
		}
		Link(t, fsys, outside, "out")
		Link(t, fsys, filepath.Join(outside, "f"), "file")
		for _, name := range []string{"out/f", "file", "out/new", "out/../f", "out"} {
			refused(t, fsys, name)
		}
		if got, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(got) != "secret" {
			t.Errorf("outside file = %q, %v", got, err)
		}
	})
	t.Run("C072 dangling, out of the workspace", func(t *testing.T) {
		fsys, outside := open(t), t.TempDir()
		Link(t, fsys, filepath.Join(outside, "new"), "x")
		refused(t, fsys, "x")
		if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
			t.Errorf("outside holds %v, %v; want nothing", entries, err)
		}
	})
	t.Run("C073 up from the target", func(t *testing.T) {
		fsys := open(t)
		Put(t, fsys, "a/b/f", "deep")
		Put(t, fsys, "a/x", "right")
		Put(t, fsys, "x", "wrong")
		Link(t, fsys, filepath.Join("a", "b"), "link")
		if got, err := fsys.ReadFile(t.Context(), "link/../x", 0); err != nil || string(got) != "right" {
			t.Errorf("ReadFile(link/../x) = %q, %v; want what the kernel finds, %q", got, err, "right")
		}
	})
	for _, absolute := range []bool{false, true} {
		t.Run("inside the workspace", func(t *testing.T) {
			fsys := open(t)
			target := Put(t, fsys, "real/f", "old")
			if !absolute {
				target = filepath.Join("real", "f")
			}
			Link(t, fsys, target, "link")
			if err := fsys.WriteFile(t.Context(), "link", []byte("new"), workspace.Write{Old: []byte("old")}); err != nil {
				t.Fatal(err)
			}
			if got := Get(t, fsys, "real/f"); got != "new" {
				t.Errorf("target = %q, want %q", got, "new")
			}
			if info, err := os.Lstat(filepath.Join(fsys.Dir(), "link")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				t.Errorf("the link is %v, %v; want a link", info.Mode(), err)
			}
		})
	}
	t.Run("dangling, inside the workspace", func(t *testing.T) {
		fsys := open(t)
		Link(t, fsys, "target", "link")
		if err := fsys.WriteFile(t.Context(), "link", []byte("new"), workspace.Write{}); err != nil {
			t.Fatal(err)
		}
		if got := Get(t, fsys, "target"); got != "new" {
			t.Errorf("target = %q, want %q", got, "new")
		}
	})
	t.Run("in a circle", func(t *testing.T) {
		fsys := open(t)
		Link(t, fsys, "b", "a")
		Link(t, fsys, "a", "b")
		if got, err := fsys.Resolve("a"); err == nil {
			t.Errorf("Resolve = %q, want an error", got)
		}
	})
}

// refused fails the test unless every access to name is ErrOutside.
func refused(t *testing.T, fsys workspace.FS, name string) {
	t.Helper()
	ctx := t.Context()
	accesses := map[string]func() error{
		"Resolve":   func() error { _, err := fsys.Resolve(name); return err },
		"Stat":      func() error { _, err := fsys.Stat(ctx, name); return err },
		"Open":      func() error { _, err := fsys.Open(ctx, name); return err },
		"ReadFile":  func() error { _, err := fsys.ReadFile(ctx, name, 0); return err },
		"ReadDir":   func() error { _, err := fsys.ReadDir(ctx, name); return err },
		"WriteFile": func() error { return fsys.WriteFile(ctx, name, []byte("x"), workspace.Write{}) },
	}
	for what, access := range accesses {
		if err := access(); !errors.Is(err, workspace.ErrOutside) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s(%q): error = %v, want ErrOutside and the name", what, name, err)
		}
	}
}

func testRace(t *testing.T, fsys workspace.FS) {
	Put(t, fsys, "f", "")
	var wg sync.WaitGroup
	var mu sync.Mutex // guards won
	var won []string
	for _, content := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			data := bytes.Repeat([]byte(content), 1<<16)
			if err := fsys.WriteFile(t.Context(), "new", data, workspace.Write{Create: true}); err == nil {
				mu.Lock()
				defer mu.Unlock()
				won = append(won, content)
			} else if !errors.Is(err, fs.ErrExist) {
				t.Errorf("WriteFile: error = %v, want fs.ErrExist", err)
			}
		})
	}
	wg.Wait()
	if got := Get(t, fsys, "new"); len(won) != 1 || got != strings.Repeat(won[0], 1<<16) {
		t.Errorf("winners %q, content %.10q… of %d bytes; want one winner and all of its content", won, got, len(got))
	}
}

func testEnded(t *testing.T, fsys workspace.FS) {
	Put(t, fsys, "f", "old")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fsys.ReadFile(ctx, "f", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadFile: error = %v, want context.Canceled", err)
	}
	if err := fsys.WriteFile(ctx, "f", []byte("new"), workspace.Write{}); !errors.Is(err, context.Canceled) {
		t.Errorf("WriteFile: error = %v, want context.Canceled", err)
	}
	if got := Get(t, fsys, "f"); got != "old" {
		t.Errorf("content = %q, want %q", got, "old")
	}
}
