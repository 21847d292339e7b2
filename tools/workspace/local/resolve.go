package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// maxLinks is how many links one name may pass, as in the Linux kernel.
const maxLinks = 40

// A place is where a name leads inside the workspace.
type place struct {
	handle *os.Root
	rel    string // from the handle, without links when it was looked up
	real   string // absolute
}

// locate follows name as the kernel would and returns the place, which need not
// exist. Whatever goes wrong outside of the workspace is ErrOutside, so that an
// error tells nothing about what is there.
func (f *FS) locate(name string) (place, error) {
	fail := func(err error) (place, error) {
		return place{}, &fs.PathError{Op: "resolve", Path: name, Err: err}
	}
	if name == "" || strings.ContainsRune(name, 0) {
		return fail(fs.ErrInvalid)
	}
	real, err := f.follow(name)
	for _, r := range f.roots {
		if rel, ok := below(r.real, real); ok {
			if err != nil {
				return fail(err)
			}
			return place{r.handle, rel, real}, nil
		}
	}
	return fail(workspace.ErrOutside)
}

// below returns the path from the directory root to p, if p is in it.
func below(root, p string) (string, bool) {
	rel, err := filepath.Rel(root, p)
	return rel, err == nil && filepath.IsLocal(rel)
}

// follow returns the absolute path that name stands for, all links followed.
// Components that do not exist are kept, but ".." after one is an error, as
// there is nothing to go up from. With an error it returns how far it came.
func (f *FS) follow(name string) (string, error) {
	w := walk{at: f.roots[0].real, isDir: true}
	w.push(name)
	for len(w.parts) > 0 {
		part := w.parts[0]
		w.parts = w.parts[1:]
		switch {
		case !w.isDir:
			return w.at, syscall.ENOTDIR
		case part == "" || part == ".":
		case part == "..":
			w.at = filepath.Dir(w.at)
		default:
			err := w.step(part)
			if errors.Is(err, fs.ErrNotExist) {
				return w.missing(part)
			}
			if err != nil {
				return filepath.Join(w.at, part), err
			}
		}
	}
	return w.at, nil
}

// A walk is a name half followed.
type walk struct {
	at    string   // absolute, free of links
	isDir bool     // what at is
	parts []string // still to go
	links int
}

// push puts the components of name, which starts where w is or at the top,
// before those still to go.
func (w *walk) push(name string) {
	if filepath.IsAbs(name) {
		volume := filepath.VolumeName(name)
		w.at = volume + string(filepath.Separator)
		name = name[len(volume):]
	}
	parts := strings.FieldsFunc(name, func(c rune) bool { return c < 0x80 && os.IsPathSeparator(uint8(c)) })
	if n := len(name); n > 0 && os.IsPathSeparator(name[n-1]) {
		parts = append(parts, ".") // a name that ends in a slash is a directory
	}
	w.parts = append(parts, w.parts...)
}

// step goes to the entry part of the directory w is at.
func (w *walk) step(part string) error {
	next := filepath.Join(w.at, part)
	info, err := os.Lstat(next)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		w.at, w.isDir = next, info.IsDir()
		return nil
	}
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	target, err := os.Readlink(next)
	if err != nil {
		return err
	}
	w.push(target)
	return nil
}

// missing ends the walk at the entry part that is not there.
func (w *walk) missing(part string) (string, error) {
	p := filepath.Join(append([]string{w.at, part}, w.parts...)...)
	for _, rest := range w.parts {
		if rest == ".." {
			return p, fs.ErrNotExist
		}
	}
	return p, nil
}
