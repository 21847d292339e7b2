package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// What is looked at last, after the new content is on the disk.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tests := []struct {
		name, base string
		old        []byte
		want       error
	}{
		{"the same", "f", []byte("old"), nil},
		{"nobody looks", "f", nil, nil},
		{"another content", "f", []byte("other"), workspace.ErrChanged},
		{"empty before", "f", []byte{}, workspace.ErrChanged},
		{"removed", "gone", []byte("old"), workspace.ErrChanged},
		{"a directory in its place", "d", []byte("old"), workspace.ErrChanged},
	}
	for _, tt := range tests {
		if err := unchanged(d, tt.base, tt.old); !errors.Is(err, tt.want) {
			t.Errorf("%s: error = %v, want %v", tt.name, err, tt.want)
		}
	}
}
