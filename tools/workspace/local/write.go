package local

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// WriteFile implements [workspace.FS].
//
// The new content goes to a temporary file beside the old one, which then takes
// its place in one step. Where that would lose something that belongs to the
// file, it is written over instead: a file with several hard links, one that
// another user or group owns, or one whose directory takes no new files. The
// old content is compared directly before either; what a program writes between
// that look and the next system call is not noticed.
func (f *FS) WriteFile(ctx context.Context, name string, data []byte, w workspace.Write) error {
	p, err := f.enter(ctx, name)
	if err != nil {
		return err
	}
	dir, base := filepath.Split(p.rel)
	if base == "." || os.IsPathSeparator(name[len(name)-1]) {
		return &fs.PathError{Op: "write", Path: name, Err: workspace.ErrSpecial}
	}
	dir = filepath.Clean(dir)
	if w.Old == nil {
		if err := p.handle.MkdirAll(dir, 0o777); err != nil {
			return f.explain(name, err)
		}
	}
	d, err := p.handle.OpenRoot(dir)
	if err != nil {
		if w.Old != nil && errors.Is(err, fs.ErrNotExist) {
			err = &fs.PathError{Op: "write", Path: name, Err: workspace.ErrChanged}
		}
		return f.explain(name, err)
	}
	defer d.Close()
	return f.explain(name, write(d, base, data, w))
}

// write replaces or creates the entry base of d.
func write(d *os.Root, base string, data []byte, w workspace.Write) error {
	fail := func(err error) error { return &fs.PathError{Op: "write", Path: base, Err: err} }
	info, err := d.Lstat(base)
	switch {
	case errors.Is(err, fs.ErrNotExist) && w.Old != nil:
		return fail(workspace.ErrChanged)
	case errors.Is(err, fs.ErrNotExist):
		return create(d, base, data, w.Create)
	case err != nil:
		return err
	case w.Create:
		return fail(fs.ErrExist)
	case !info.Mode().IsRegular():
		return fail(workspace.ErrSpecial)
	}
	file, err := openRegular(d, base, os.O_RDWR)
	if err != nil {
		return err // a read-only file stays as it is, although its directory would let it be replaced
	}
	defer file.Close()
	if hardLinked(info) {
		return overwrite(file, data, w.Old)
	}
	temp, err := writeTemp(d, data, info)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errOwner) {
		return overwrite(file, data, w.Old)
	}
	if err != nil {
		return err
	}
	if err := unchanged(d, base, w.Old); err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	if err := d.Rename(temp, base); err != nil {
		return errors.Join(err, d.Remove(temp))
	}
	return nil
}

// create puts a new file at base. With exclusive set it fails if somebody else
// was faster.
func create(d *os.Root, base string, data []byte, exclusive bool) error {
	temp, err := writeTemp(d, data, nil)
	if err != nil {
		return err
	}
	if !exclusive {
		if err := d.Rename(temp, base); err != nil {
			return errors.Join(err, d.Remove(temp))
		}
		return nil
	}
	linked := d.Link(temp, base)
	if err := d.Remove(temp); err != nil {
		return errors.Join(linked, err)
	}
	if linked == nil || errors.Is(linked, fs.ErrExist) {
		return linked
	}
	// The file system has no hard links.
	file, err := d.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := fill(file, data); err != nil {
		return errors.Join(err, d.Remove(base))
	}
	return nil
}

var errOwner = errors.New("another owner")

// writeTemp writes a new file in d that can stand in for old, if there is one:
// with its permissions, and with its owner or not at all. It returns the name.
func writeTemp(d *os.Root, data []byte, old fs.FileInfo) (_ string, err error) {
	name := ".lorimer-" + rand.Text() + ".tmp"
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // until it has the permissions of the old one
	}
	file, err := d.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Remove(name))
		}
	}()
	if old != nil {
		if err := like(file, old); err != nil {
			return "", errors.Join(err, file.Close())
		}
	}
	return name, fill(file, data)
}

// like gives file the permissions of old, and fails if it belongs to others.
func like(file *os.File, old fs.FileInfo) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !sameOwner(info, old) {
		return errOwner
	}
	return file.Chmod(old.Mode().Perm())
}

// fill writes data to file, makes it durable and closes the file.
func fill(file *os.File, data []byte) error {
	_, err := file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// unchanged reports an error unless base still holds old; nil does not look.
func unchanged(d *os.Root, base string, old []byte) error {
	if old == nil {
		return nil
	}
	file, err := openRegular(d, base, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, workspace.ErrSpecial) {
		return &fs.PathError{Op: "write", Path: base, Err: workspace.ErrChanged}
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = holds(file, old)
	return err
}

// holds returns the content of file, with an error if it is not want; nil does
// not compare.
func holds(file *os.File, want []byte) ([]byte, error) {
	got, err := io.ReadAll(file)
	if err == nil && want != nil && !bytes.Equal(got, want) {
		err = &fs.PathError{Op: "write", Path: file.Name(), Err: workspace.ErrChanged}
	}
	return got, err
}

// overwrite puts data in the place of file's content, and the old content back
// if that does not work out.
func overwrite(file *os.File, data, old []byte) error {
	before, err := holds(file, old)
	if err != nil {
		return err
	}
	if err = rewrite(file, data); err != nil {
		return errors.Join(err, rewrite(file, before))
	}
	return nil
}

func rewrite(file *os.File, data []byte) error {
	if _, err := file.WriteAt(data, 0); err != nil {
		return err
	}
	if err := file.Truncate(int64(len(data))); err != nil {
		return err
	}
	return file.Sync()
}
