package harness_test

import (
	"context"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// files is a workspace of two directories with files by their absolute paths.
type files struct {
	workspace.FS
	has map[string]string
}

func (files) Dir() string     { return "/space" }
func (files) Roots() []string { return []string{"/space", "/more"} }

func (f files) Resolve(name string) (string, error) {
	if !path.IsAbs(name) {
		name = path.Join(f.Dir(), name)
	}
	name = path.Clean(name)
	for _, root := range f.Roots() {
		if name == root || strings.HasPrefix(name, root+"/") {
			return name, nil
		}
	}
	return "", &fs.PathError{Op: "resolve", Path: name, Err: workspace.ErrOutside}
}

// find returns what is there by the name of an [fstest.MapFS].
func (f files) find(name string) (fstest.MapFS, string, error) {
	real, err := f.Resolve(name)
	all := make(fstest.MapFS)
	for name, text := range f.has {
		all[name[1:]] = &fstest.MapFile{Data: []byte(text)}
	}
	return all, strings.TrimPrefix(real, "/"), err
}

func (f files) Stat(_ context.Context, name string) (fs.FileInfo, error) {
	all, name, err := f.find(name)
	if err != nil {
		return nil, err
	}
	return all.Stat(name)
}

func (f files) Open(ctx context.Context, name string) (workspace.File, error) {
	info, err := f.Stat(ctx, name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: workspace.ErrSpecial}
	}
	all, name, _ := f.find(name)
	file, err := all.Open(name)
	if err != nil {
		return nil, err
	}
	return file.(workspace.File), nil
}

func (f files) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	file, err := f.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(file)
	if err == nil && limit > 0 && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: workspace.ErrTooLarge}
	}
	return data, err
}
