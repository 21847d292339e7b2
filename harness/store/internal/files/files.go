// Package files keeps contents as files in a directory, each named by its hash.
//
// A file is written beside its place, made durable and then renamed, so that what
// stands in a place is whole: it has the content that its name says, unless somebody
// else has changed it, which is noticed when it is read. Several programs may work in
// one directory. Who may take a file away is for the caller to see to.
//
// Before a file gets its place a mark is made that says so, and it stays until the
// caller has noted the content for good: a file that nobody knows of, because the
// program was killed in between, is found by its mark.
package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ErrDamaged tells of a file that has another content than its name says.
var ErrDamaged = errors.New("its content has changed")

// Hash returns what names a content: its SHA-256 in hexadecimal.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// A Dir is where contents are, as files aa/HASH where aa is how the hash begins. The
// directory is made by the first content.
type Dir string

// staging is the directory below a Dir for what has no place yet, and for marks, which
// are empty files named by the hash. It is no beginning of a hash.
const staging = "new"

// Path returns where the file of a content is. It is always below d: what is no hash,
// such as one that somebody has written into a database, stands for a content that
// nobody has kept.
func (d Dir) Path(hash string) string {
	if !isHash(hash) {
		hash = Hash([]byte(hash))
	}
	return filepath.Join(string(d), hash[:2], hash)
}

// isHash reports whether s may be what [Hash] returns.
func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size
}

// mark returns where the mark of a content is.
func (d Dir) mark(hash string) string {
	return filepath.Join(string(d), staging, filepath.Base(d.Path(hash)))
}

// A Staged is a content that has no place yet.
type Staged struct {
	Hash    string
	d       Dir
	content []byte
	temp    string // a file with the content; "" is none
}

// Stage prepares a content for its place. Where it is there already, whole, nothing
// is written.
func (d Dir) Stage(content []byte) (*Staged, error) {
	s := &Staged{d: d, Hash: Hash(content), content: content}
	if s.placed() {
		return s, nil
	}
	return s, s.write()
}

// placed reports whether the content is in its place.
func (s *Staged) placed() bool {
	there, err := s.d.Read(s.Hash, int64(len(s.content)))
	return err == nil && bytes.Equal(there, s.content)
}

// write writes the content beside its place. Of what cannot be written nothing is
// left.
func (s *Staged) write() error {
	dir := filepath.Join(string(s.d), staging)
	if err := private(string(s.d), dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "") // for its owner alone
	if err != nil {
		return err
	}
	_, err = f.Write(s.content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	s.temp = f.Name()
	return nil
}

// private makes directories that are their owner's alone.
func private(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(dir, 0o700); err != nil {
				return err
			}
		}
	}
	return nil
}

// Place puts the content into its place, where it stays when the power fails. Whatever
// comes of it, the content is marked until [Dir.Unmark] or [Dir.Remove].
func (s *Staged) Place() error {
	if s.temp == "" {
		if s.d.Look(s.Hash, int64(len(s.content))) == nil {
			return nil
		}
		if err := s.write(); err != nil { // it was there before, and was taken away
			return err
		}
	}
	at := s.d.Path(s.Hash)
	dir := filepath.Dir(at)
	if err := private(dir); err != nil {
		return err
	}
	if err := os.WriteFile(s.d.mark(s.Hash), nil, 0o600); err != nil {
		return err
	}
	if err := os.Rename(s.temp, at); err != nil {
		if s.placed() { // by somebody else, while it is read
			return nil
		}
		return err
	}
	s.temp = ""
	return errors.Join(syncDir(dir), syncDir(string(s.d)), syncDir(filepath.Dir(string(s.d))))
}

// Drop takes away what has found no place.
func (s *Staged) Drop() error {
	if s.temp == "" {
		return nil
	}
	return os.Remove(s.temp)
}

// Read returns a content by its hash and size. It fails with [fs.ErrNotExist] where
// there is none, and with [ErrDamaged].
func (d Dir) Read(hash string, size int64) ([]byte, error) {
	if err := d.Look(hash, size); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(d.Path(hash))
	if err != nil {
		return nil, err
	}
	if Hash(content) != hash {
		return nil, ErrDamaged
	}
	return content, nil
}

// Look fails as Read does, as far as that can be told without reading the content.
func (d Dir) Look(hash string, size int64) error {
	info, err := os.Stat(d.Path(hash))
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w, it is no regular file", ErrDamaged)
	case info.Size() != size:
		return fmt.Errorf("%w, it has %d bytes and had %d", ErrDamaged, info.Size(), size)
	}
	return nil
}

// Remove takes a content away with its mark, if they are there.
func (d Dir) Remove(hash string) error {
	if err := remove(d.Path(hash)); err != nil {
		return err
	}
	return d.Unmark(hash)
}

// Unmark takes the mark of a content away, if there is one.
func (d Dir) Unmark(hash string) error { return remove(d.mark(hash)) }

// remove takes a file away, if it is there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Tidy takes away what was staged before a time and found no place, because the
// program that wanted it was killed. It returns the hashes that were marked before that
// time and still are.
func (d Dir) Tidy(before time.Time) (marked []string, err error) {
	dir := filepath.Join(string(d), staging)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		info, failed := e.Info()
		switch {
		case errors.Is(failed, fs.ErrNotExist): // another program tidies too
			continue
		case failed == nil && !info.ModTime().Before(before):
			continue
		case failed == nil && isHash(e.Name()):
			marked = append(marked, e.Name())
			continue
		case failed == nil:
			failed = remove(filepath.Join(dir, e.Name()))
		}
		err = errors.Join(err, failed)
	}
	return marked, err
}
