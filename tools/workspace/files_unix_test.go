//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace/workspacetest"
)

// C070, through the tools: a pipe that nobody writes to and a device are
// refused at once.
func TestSpecialFiles(t *testing.T) {
	k := newKit(t)
	if err := syscall.Mkfifo(filepath.Join(k.fs.Dir(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.fails(t, "read", args{"path": "pipe"}, "not a regular file")
	k.fails(t, "write", args{"path": "pipe", "content": "x"}, "not a regular file")
	k.fails(t, "edit", args{"path": "pipe", "edits": edits("a", "b")}, "not a regular file")
	workspacetest.Link(t, k.fs, "/dev/zero", "zero")
	workspacetest.Link(t, k.fs, "/proc/self/mem", "mem")
	for _, name := range []string{"zero", "mem", "/dev/zero", "/proc/version"} {
		k.fails(t, "read", args{"path": name}, "outside the workspace")
	}
}

// C070: a file without permission to read it.
func TestUnreadableFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser is refused nothing")
	}
	k := newKit(t)
	path := k.put(t, "f", "x")
	if err := os.Chmod(path, 0); err != nil {
		t.Fatal(err)
	}
	k.fails(t, "read", args{"path": "f"}, "permission denied")
	k.fails(t, "write", args{"path": "f", "content": "y"}, "permission denied")
}
