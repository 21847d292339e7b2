package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	fileName   = "SKILL.md"
	maxSkills  = 500    // of one folder
	maxEntries = 10_000 // of one folder; one with more is not read
)

// A folder is a root with what stands in it.
type folder struct {
	root   Root
	within string // real directory that links must not leave; "" is none
	real   string // of the root, links resolved; "" for one that is not there or not read
	found  []candidate
	wrong  *Problem // with the root itself
}

// A candidate is an entry of a folder that looks like a skill.
type candidate struct {
	name   string      // of the entry, without .md
	path   string      // of its file, as it was found
	dir    string      // real; "" for a single file
	file   string      // real
	info   fs.FileInfo // of file
	wrong  string      // why it is none; "" is nothing
	within string      // as of its folder
}

// list returns what stands in a root. A root that does not exist is empty.
func list(root Root, within string) folder {
	f := folder{root: root, within: within}
	real, err := filepath.EvalSymlinks(root.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	if err == nil && !inside(within, real) {
		err = errOutside
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = readDir(real)
	}
	if err != nil {
		f.wrong = &Problem{root.Path, reason(root.Path, err), true}
		return f
	}
	f.real = real
	for _, e := range entries {
		if !plausible(e) {
			continue
		}
		if len(f.found) == maxSkills {
			f.wrong = &Problem{root.Path, fmt.Sprintf("holds more than %d skills; those after %q are not read, so move some elsewhere",
				maxSkills, f.found[maxSkills-1].name), false}
			break
		}
		if c, ok := f.look(e); ok {
			f.found = append(f.found, c)
		}
	}
	return f
}

var (
	errOutside = errors.New("leads out of the workspace; copy it into the workspace, or put it into a folder of your own")
	errCrowded = fmt.Errorf("holds more than %d entries and is not read; keep skills in a folder of their own", maxEntries)
)

// readDir returns the entries of a directory in the order of their names. What is a
// named pipe instead fails, and is not waited for.
func readDir(dir string) ([]fs.DirEntry, error) {
	d, err := os.OpenFile(dir, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	entries, err := d.ReadDir(maxEntries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if len(entries) > maxEntries {
		err = errCrowded
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, errors.Join(err, d.Close())
}

// plausible reports whether an entry can be a skill: a folder, a file whose name
// ends in .md, or a link, which may be either. Hidden ones and the read-me of the
// folder are none.
func plausible(e fs.DirEntry) bool {
	name := e.Name()
	switch {
	case strings.HasPrefix(name, "."), strings.EqualFold(name, "README.md"):
		return false
	case e.IsDir():
		return true
	}
	return markdown(name) || e.Type()&fs.ModeSymlink != 0 && filepath.Ext(name) == ""
}

func markdown(name string) bool { return strings.EqualFold(filepath.Ext(name), ".md") }

// look finds the file of an entry. With ok false the entry is nothing of a skill,
// such as a link to a file of another kind.
func (f *folder) look(e fs.DirEntry) (c candidate, ok bool) {
	c = candidate{name: e.Name(), path: join(f.root.Path, e.Name()), within: f.within}
	file, info, err := f.follow(join(f.real, e.Name()))
	switch {
	case err != nil:
		c.wrong = reason(c.path, err)
		return c, true
	case info.IsDir():
		c.dir, c.path = file, join(c.path, fileName)
		file, info, err = f.follow(join(c.dir, fileName))
		if err != nil {
			c.wrong = missing(c.dir, c.path, err)
			return c, true
		}
	case !markdown(c.name):
		return c, false
	default:
		c.name = c.name[:len(c.name)-len(".md")]
	}
	c.file, c.info = file, info
	if !info.Mode().IsRegular() {
		c.wrong = "is no regular file; put a text file in its place"
	}
	return c, true
}

// join is [filepath.Join] for a clean directory and a name, without its search for
// dots: it is called a few times for each skill at each send.
func join(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) { // a root of the file system
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// follow returns where path, whose directory is real, leads to.
func (f *folder) follow(path string) (string, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, info, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return path, nil, err
	}
	if !inside(f.within, path) {
		return path, nil, errOutside
	}
	info, err = os.Lstat(path)
	return path, info, err
}

// inside reports whether a real path is dir or below it; "" holds all.
func inside(dir, path string) bool {
	if dir == "" {
		return true
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// missing says why the folder of a skill has no file that can be read.
func missing(dir, path string, err error) string {
	if _, lerr := os.Lstat(path); !errors.Is(lerr, fs.ErrNotExist) {
		return reason(path, err)
	}
	if entries, err := readDir(dir); err == nil {
		for _, e := range entries {
			if strings.EqualFold(e.Name(), fileName) {
				return fmt.Sprintf("is missing; rename %s, which stands there", e.Name())
			}
		}
	}
	return "is missing; write it, or move the folder elsewhere if it is no skill"
}

// reason says in one line why path cannot be read, and a way out.
func reason(path string, err error) string {
	if _, serr := os.Stat(path); serr != nil {
		err = serr // of links that go in a circle it says so
	}
	switch {
	case errors.Is(err, errOutside), errors.Is(err, errCrowded):
		return err.Error()
	case errors.Is(err, syscall.ELOOP):
		return "is a link that leads back to itself; remove it"
	case errors.Is(err, fs.ErrNotExist):
		return "is a link to something that is not there; remove it or mend it"
	case errors.Is(err, fs.ErrPermission):
		return "cannot be read for lack of permission; change that with chmod u+rX"
	case errors.Is(err, syscall.ENOTDIR):
		return "is no folder; put a folder in its place"
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Sprintf("cannot be read (%v); see that it can be opened", err)
}

// read returns the beginning of the candidate's file, as far as a skill may go, and
// what the file was when it was read.
func (c candidate) read() ([]byte, fs.FileInfo, error) {
	f, err := c.open()
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file")
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	data, err := io.ReadAll(io.LimitReader(f, maxRead))
	return data, info, errors.Join(err, f.Close())
}

// open opens the file. In a workspace nothing that changes meanwhile can lead the
// way out of it.
func (c candidate) open() (*os.File, error) {
	if c.within == "" {
		return os.OpenFile(c.file, os.O_RDONLY|nonblock, 0)
	}
	rel, err := filepath.Rel(c.within, c.file)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(c.within)
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(rel, os.O_RDONLY|nonblock, 0)
	return f, errors.Join(err, root.Close())
}
