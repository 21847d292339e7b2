package local

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// ReadFile returns a file that is in no workspace, with the limit and the errors of
// [workspace.FS]. Its path is absolute and free of links; what has become a link since
// it was looked up is not followed, and fails with [workspace.ErrOutside].
func ReadFile(ctx context.Context, path string, limit int64) (_ []byte, err error) {
	f, err := Open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if real, err := f.Resolve(path); err != nil || real != path {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.Join(workspace.ErrOutside, err)}
	}
	return f.ReadFile(ctx, path, limit)
}
