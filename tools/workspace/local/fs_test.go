package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
	"github.com/lorimer-dev/lorimer/tools/workspace/workspacetest"
)

// open returns the file system of dir and more.
func open(t *testing.T, dir string, more ...string) *local.FS {
	t.Helper()
	f, err := local.Open(dir, more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func TestFS(t *testing.T) {
	workspacetest.TestFS(t, func(t *testing.T) workspace.FS { return open(t, t.TempDir()) })
}

func TestFSBehindLink(t *testing.T) {
	workspacetest.TestFS(t, func(t *testing.T) workspace.FS {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Skipf("no symbolic links: %v", err)
		}
		return open(t, link)
	})
}

func TestOpenMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing")
	if _, err := local.Open(t.TempDir(), dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("Open: error = %v, want one that names %s", err, dir)
	}
}

func TestFurtherDirectories(t *testing.T) {
	dir, more, other := t.TempDir(), t.TempDir(), t.TempDir()
	f := open(t, dir, more)
	name := filepath.Join(more, "sub", "f")
	if err := f.WriteFile(t.Context(), name, []byte("x"), workspace.Write{Create: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := f.ReadFile(t.Context(), name, 0); err != nil || string(got) != "x" {
		t.Errorf("ReadFile = %q, %v", got, err)
	}
	if err := os.Symlink(more, filepath.Join(dir, "link")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	if got, err := f.ReadFile(t.Context(), "link/sub/f", 0); err != nil || string(got) != "x" {
		t.Errorf("ReadFile through a link between the directories = %q, %v", got, err)
	}
	if _, err := f.Stat(t.Context(), other); !errors.Is(err, workspace.ErrOutside) {
		t.Errorf("Stat of another directory: error = %v, want ErrOutside", err)
	}
}
