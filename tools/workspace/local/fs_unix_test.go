//go:build unix

package local_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/workspacetest"
)

// C070: what is not a regular file is not opened, and nothing waits for it.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, name := range []string{"pipe", "socket", "."} {
		if _, err := f.Open(t.Context(), name); !errors.Is(err, workspace.ErrSpecial) {
			t.Errorf("Open(%s): error = %v, want ErrSpecial", name, err)
		}
		if _, err := f.ReadFile(t.Context(), name, 0); !errors.Is(err, workspace.ErrSpecial) {
			t.Errorf("ReadFile(%s): error = %v, want ErrSpecial", name, err)
		}
		if err := f.WriteFile(t.Context(), name, nil, workspace.Write{}); !errors.Is(err, workspace.ErrSpecial) {
			t.Errorf("WriteFile(%s): error = %v, want ErrSpecial", name, err)
		}
	}
	if err := f.WriteFile(t.Context(), "new/", nil, workspace.Write{Create: true}); !errors.Is(err, workspace.ErrSpecial) {
		t.Errorf("WriteFile(new/): error = %v, want ErrSpecial, as a slash at the end names a directory", err)
	}
	if _, err := f.ReadDir(t.Context(), "pipe"); err == nil {
		t.Error("ReadDir of a pipe worked")
	}
	devices := open(t, "/dev")
	if _, err := devices.Open(t.Context(), "zero"); !errors.Is(err, workspace.ErrSpecial) {
		t.Errorf("Open(/dev/zero): error = %v, want ErrSpecial", err)
	}
}

// C072: a directory that is exchanged for a link all the time never makes a
// write land outside.
func TestSwappedDirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	f := open(t, dir)
	d, spare := filepath.Join(dir, "d"), filepath.Join(dir, "spare")
	if err := os.Mkdir(d, 0o755); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Errors are part of the game: the writer moves things, too.
			_ = os.Rename(d, spare)
			_ = os.Symlink(outside, d)
			_ = os.Remove(d)
			_ = os.Rename(spare, d)
		}
	})
	written := 0
	for range 300 {
		if err := f.WriteFile(t.Context(), "d/f", []byte("x"), workspace.Write{}); err == nil {
			written++
		}
	}
	close(stop)
	wg.Wait()
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) > 0 {
		t.Errorf("outside holds %v, %v; want nothing", entries, err)
	}
	t.Logf("%d of 300 writes found the directory", written)
}

func TestHardLinkStaysOne(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	path := workspacetest.Put(t, f, "a", "old and longer")
	if err := os.Link(path, filepath.Join(dir, "b")); err != nil {
		t.Skipf("no hard links: %v", err)
	}
	if err := f.WriteFile(t.Context(), "a", []byte("new"), workspace.Write{Old: []byte("other")}); !errors.Is(err, workspace.ErrChanged) {
		t.Errorf("WriteFile over another content: error = %v, want ErrChanged", err)
	}
	if err := f.WriteFile(t.Context(), "a", []byte("new"), workspace.Write{Old: []byte("old and longer")}); err != nil {
		t.Fatal(err)
	}
	if got := workspacetest.Get(t, f, "b"); got != "new" {
		t.Errorf("the other name holds %q, want %q", got, "new")
	}
}

// A file that belongs to others keeps its owner, and nothing is left beside it.
func TestOtherOwnerStays(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	path := workspacetest.Put(t, f, "a", "old")
	if err := os.Chown(path, -1, otherGroup(t)); err != nil {
		t.Skipf("no file of another group: %v", err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile(t.Context(), "a", []byte("new"), workspace.Write{Old: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	if got := workspacetest.Get(t, f, "a"); got != "new" {
		t.Errorf("content = %q, want %q", got, "new")
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was replaced (%v), want it written over", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory holds %v, %v; want the file alone", entries, err)
	}
}

// otherGroup returns a group, not that of new files, which files can be given.
func otherGroup(t *testing.T) int {
	if os.Geteuid() == 0 {
		return os.Getegid() + 1
	}
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if g != os.Getegid() {
			return g
		}
	}
	t.Skip("this user is in one group only")
	return 0
}

func TestPermissions(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser is refused nothing")
	}
	dir := t.TempDir()
	f := open(t, dir)
	path := workspacetest.Put(t, f, "locked/f", "old")
	locked := filepath.Dir(path)
	t.Cleanup(func() {
		if err := os.Chmod(locked, 0o755); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(locked, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile(t.Context(), "locked/f", []byte("new"), workspace.Write{Old: []byte("old")}); err != nil {
		t.Errorf("WriteFile in a directory that takes no new files: %v", err)
	}
	if got := workspacetest.Get(t, f, "locked/f"); got != "new" {
		t.Errorf("content = %q, want %q", got, "new")
	}
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile(t.Context(), "locked/f", []byte("x"), workspace.Write{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("WriteFile of a read-only file: error = %v, want fs.ErrPermission", err)
	}
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ReadFile(t.Context(), "locked/f", 0); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("ReadFile of an unreadable file: error = %v, want fs.ErrPermission", err)
	}
}
