package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// An FS is the files below its directories. What it touches it reaches through
// a handle of the directory, relative to which the kernel resolves the rest, so
// that no exchange of a directory for a link between check and use leads out.
type FS struct {
	roots []root
}

var _ workspace.FS = (*FS)(nil)

type root struct {
	name   string   // absolute, as it was given
	real   string   // absolute, links followed
	handle *os.Root // what all access goes through
}

// Open returns the file system of the working directory dir and the further
// directories more. Each may be reached through a link; where it leads is
// settled here. Close it.
func Open(dir string, more ...string) (_ *FS, err error) {
	f := &FS{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	for _, name := range append([]string{dir}, more...) {
		r, err := openRoot(name)
		if err != nil {
			return nil, fmt.Errorf("opening workspace %s: %w", name, err)
		}
		f.roots = append(f.roots, r)
	}
	return f, nil
}

func openRoot(name string) (root, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return root{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return root{}, err
	}
	handle, err := os.OpenRoot(real)
	if err != nil {
		return root{}, err
	}
	return root{name: abs, real: real, handle: handle}, nil
}

// Close releases the handles. Files that are open stay usable.
func (f *FS) Close() error {
	var errs []error
	for _, r := range f.roots {
		errs = append(errs, r.handle.Close())
	}
	return errors.Join(errs...)
}

// Dir returns the working directory as it was given, made absolute.
func (f *FS) Dir() string { return f.roots[0].name }

// Roots returns the directories as they were given, made absolute.
func (f *FS) Roots() []string {
	names := make([]string, len(f.roots))
	for i, r := range f.roots {
		names[i] = r.name
	}
	return names
}

// Resolve implements [workspace.FS].
func (f *FS) Resolve(name string) (string, error) {
	p, err := f.locate(name)
	return p.real, err
}

// Stat implements [workspace.FS].
func (f *FS) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	p, err := f.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	info, err := p.handle.Stat(p.rel)
	return info, f.explain(name, err)
}

// Open implements [workspace.FS].
func (f *FS) Open(ctx context.Context, name string) (workspace.File, error) {
	file, err := f.open(ctx, name)
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *FS) open(ctx context.Context, name string) (*os.File, error) {
	p, err := f.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(p.handle, p.rel, os.O_RDONLY)
	return file, f.explain(name, err)
}

// openRegular opens rel only if it is a regular file. It looks before it opens,
// because opening a device can do something, and again afterwards, because the
// name may mean something else by then. O_NONBLOCK keeps a pipe that was put
// there in between from blocking.
func openRegular(r *os.Root, rel string, flag int) (*os.File, error) {
	info, err := r.Stat(rel)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: rel, Err: workspace.ErrSpecial}
	}
	file, err := r.OpenFile(rel, flag|nonblock, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: rel, Err: workspace.ErrSpecial}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// ReadFile implements [workspace.FS].
func (f *FS) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	file, err := f.open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if limit <= 0 {
		return io.ReadAll(file)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := &fs.PathError{Op: "read", Path: name, Err: workspace.ErrTooLarge}
	if info.Size() > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, tooLarge
	}
	return data, err
}

// ReadDir implements [workspace.FS].
func (f *FS) ReadDir(ctx context.Context, name string) ([]fs.DirEntry, error) {
	p, err := f.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	entries, err := readDir(p.handle, p.rel)
	return entries, f.explain(name, err)
}

func readDir(r *os.Root, rel string) ([]fs.DirEntry, error) {
	dir, err := r.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// enter is what every access begins with.
func (f *FS) enter(ctx context.Context, name string) (place, error) {
	if err := ctx.Err(); err != nil {
		return place{}, err
	}
	return f.locate(name)
}

// explain turns the error of an access into one that says so if the name has
// come to lead out of the workspace since it was looked up.
func (f *FS) explain(name string, err error) error {
	if err == nil {
		return nil
	}
	if _, now := f.locate(name); errors.Is(now, workspace.ErrOutside) {
		return now
	}
	return err
}
