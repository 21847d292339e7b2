//go:build unix

package local_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

func TestReadFileOutside(t *testing.T) { // R-ACP-28
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("d"), 0o700), os.WriteFile(at("d/f"), []byte("text"), 0o600),
		os.Symlink(at("d/f"), at("file")), os.Symlink(at("d"), at("dir"))); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		limit int64
		want  string
		err   error
	}{
		{"d/f", 4, "text", nil},
		{"d/f", 0, "text", nil},
		{"d/f", 3, "", workspace.ErrTooLarge},
		{"d/gone", 4, "", fs.ErrNotExist},
		{"gone/f", 4, "", fs.ErrNotExist},
		{"d", 4, "", workspace.ErrSpecial},
		{"file", 4, "", workspace.ErrOutside}, // has become a link
		{"dir/f", 4, "", workspace.ErrOutside},
	}
	for _, tt := range tests {
		got, err := local.ReadFile(t.Context(), at(tt.name), tt.limit)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("ReadFile(%s, %d) = %q, %v; want %q, %v", tt.name, tt.limit, got, err, tt.want, tt.err)
		}
	}
}
