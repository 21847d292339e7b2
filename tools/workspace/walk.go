package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxIgnoreFile bounds what is read of a .gitignore file.
const maxIgnoreFile = 1 << 20

// A found is a file that a walk came to.
type found struct {
	path  string // as the model reads and gives it: relative to Dir, or absolute below another root
	rel   string // slash-separated, relative to where the walk began
	entry fs.DirEntry
}

// A walker goes through the files below a directory in the byte order of their
// paths. It leaves out what .gitignore and .git/info/exclude name, .git itself
// and what is no regular file, and does not go through links, so that it comes
// to an end and stays inside.
type walker struct {
	fs      FS
	visit   func(found) error
	missed  int    // directories that could not be read
	top     string // the root that the walk is in, absolute
	shown   string // prefix of found.path
	started string // prefix of what is relative to top
}

// walk calls visit for each file below the directory start, a real path, and
// returns how many directories could not be read.
func walk(ctx context.Context, fsys FS, start string, visit func(found) error) (missed int, err error) {
	top, rel, err := rootOf(fsys, start)
	if err != nil {
		return 0, err
	}
	w := &walker{fs: fsys, visit: visit, top: top, shown: shownPath(fsys, start), started: rel}
	var above *ignores
	dir := ""
	for part := range strings.SplitSeq(rel, "/") {
		if dir == rel {
			break
		}
		above = w.ignoresOf(ctx, dir, above, nil)
		dir = path.Join(dir, part)
	}
	err = w.dir(ctx, rel, above)
	return w.missed, err
}

// rootOf returns the real path of the root that the real path start is in, and
// the rest of it.
func rootOf(fsys FS, start string) (top, rel string, err error) {
	for _, root := range fsys.Roots() {
		if top, err = fsys.Resolve(root); err != nil {
			return "", "", err
		}
		if rel, err := filepath.Rel(top, start); err == nil && filepath.IsLocal(rel) {
			rel = filepath.ToSlash(rel)
			if rel == "." {
				rel = ""
			}
			return top, rel, nil
		}
	}
	return "", "", &fs.PathError{Op: "walk", Path: start, Err: ErrOutside}
}

// shownPath returns the name for the model of the real path p: relative to the
// working directory where p is in it, "" for the working directory itself.
func shownPath(fsys FS, p string) string {
	dir, err := fsys.Resolve(fsys.Dir())
	if err != nil {
		return filepath.ToSlash(p)
	}
	rel, err := filepath.Rel(dir, p)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		return filepath.ToSlash(p)
	case rel == ".":
		return ""
	}
	return filepath.ToSlash(rel)
}

// dir walks the directory rel, which is relative to top.
func (w *walker) dir(ctx context.Context, rel string, list *ignores) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := w.fs.ReadDir(ctx, filepath.Join(w.top, filepath.FromSlash(rel)))
	if err != nil {
		if rel == w.started || ctx.Err() != nil {
			return err
		}
		w.missed++
		return nil
	}
	list = w.ignoresOf(ctx, rel, list, entries)
	slices.SortFunc(entries, byPath)
	for _, e := range entries {
		name := e.Name()
		sub := path.Join(rel, name)
		if name == ".git" || list.match(sub, name, e.IsDir()) {
			continue
		}
		switch {
		case e.IsDir():
			err = w.dir(ctx, sub, list)
		case e.Type().IsRegular() || e.Type() == fs.ModeSymlink && w.isFile(ctx, sub):
			err = w.visit(found{
				path:  path.Join(w.shown, w.below(sub)),
				rel:   w.below(sub),
				entry: e,
			})
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below returns the path relative to where the walk began.
func (w *walker) below(rel string) string {
	if w.started == "" {
		return rel
	}
	return rel[len(w.started)+1:]
}

// isFile reports whether the link at rel leads to a regular file inside.
func (w *walker) isFile(ctx context.Context, rel string) bool {
	info, err := w.fs.Stat(ctx, filepath.Join(w.top, filepath.FromSlash(rel)))
	return err == nil && info.Mode().IsRegular()
}

// byPath orders the entries of a directory as the paths of all that is in them.
func byPath(a, b fs.DirEntry) int {
	if !a.IsDir() && !b.IsDir() {
		return strings.Compare(a.Name(), b.Name())
	}
	key := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	return strings.Compare(key(a), key(b))
}

// ignoresOf returns above with the rules of the directory rel. The entries of
// the directory save looking for files that are not there; nil are unknown.
func (w *walker) ignoresOf(ctx context.Context, rel string, above *ignores, entries []fs.DirEntry) *ignores {
	has := func(name string) bool {
		return entries == nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	list := above
	for _, name := range []string{".git/info/exclude", ".gitignore"} { // the later goes first
		if first, _, _ := strings.Cut(name, "/"); !has(first) {
			continue
		}
		data, err := w.readIgnores(ctx, path.Join(rel, name))
		if err != nil {
			continue // without it nothing is left out
		}
		list = parseIgnores(rel, data, list)
	}
	return list
}

// readIgnores reads a file of patterns from the disk.
func (w *walker) readIgnores(ctx context.Context, rel string) ([]byte, error) {
	f, err := w.fs.Open(ctx, filepath.Join(w.top, filepath.FromSlash(rel)))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	return data, errors.Join(err, f.Close())
}
