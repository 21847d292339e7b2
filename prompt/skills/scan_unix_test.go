//go:build unix

package skills

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A named pipe is no skill, and nobody waits for its other end, not even when it
// takes the place of the file that was looked at.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.md")
	put(t, path, 10)
	before := list(Root{User, dir, dir}, "").found
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("pipes cannot be made here: %v", err)
	}
	_, problems := new(Library).Find(Places{Folder: dir})
	if want := "is no regular file; put a text file in its place"; len(problems) != 1 || problems[0].Text != want {
		t.Errorf("problems = %q, want %q", problems, want)
	}
	if data, _, err := before[0].read(); err == nil {
		t.Errorf("read of a pipe = %q, want an error", data)
	}
}

// A named pipe in the place of a folder of skills keeps nobody waiting: whoever made
// a workspace could otherwise keep its sessions from opening.
func TestPipeForFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ".agents", "skills")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skipf("pipes cannot be made here: %v", err)
	}
	_, problems := new(Library).Find(Places{Workspace: dir})
	if want := "is no folder; put a folder in its place"; len(problems) != 1 || problems[0].Text != want {
		t.Errorf("problems = %q, want %q", problems, want)
	}
}
