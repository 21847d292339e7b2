// Package clientio puts the files of an editor before those of the disk, so that
// tools see what the user sees: text that is not saved yet.
//
// The disk stays the truth. Text of the editor counts only where it differs from
// the disk for a reason, what is written through the editor is compared with the
// disk afterwards, and every failure of the editor leads back to the disk
// (R-ACP-43). A name is resolved inside the workspace before the editor hears of
// it (R-HARN-12).
package clientio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// An Editor holds files open. Paths are absolute. Its methods return in bounded
// time.
type Editor interface {
	// ReadTextFile returns the text of a file, with what is not saved yet. A
	// file that does not exist may give an empty text instead of an error.
	ReadTextFile(ctx context.Context, path string) (string, error)

	// WriteTextFile makes text the content of a file and saves it.
	WriteTextFile(ctx context.Context, path, text string) error
}

// An Offer says what of an [Editor] may be called.
type Offer struct {
	Read, Write bool
}

// files are those of a workspace as an editor has them. They are safe for
// concurrent use.
type files struct {
	workspace.FS // the disk
	editor       Editor
	offer        Offer
	silent       atomic.Bool   // the editor let a request time out; it is not asked again
	writing      chan struct{} // holds the one who compares and writes

	mu   sync.Mutex // guards seen and what is in it
	seen map[string]*history
}

// maxSeen is how many files are remembered; it bounds memory, not correctness.
const maxSeen = 4096

// New returns disk seen through the editor. With nothing on offer it is the disk
// itself.
func New(disk workspace.FS, editor Editor, offer Offer) workspace.FS {
	if !offer.Read && !offer.Write {
		return disk
	}
	return &files{
		FS: disk, editor: editor, offer: offer,
		writing: make(chan struct{}, 1), seen: make(map[string]*history),
	}
}

// ReadFile implements [workspace.FS].
func (f *files) ReadFile(ctx context.Context, name string, limit int64) ([]byte, error) {
	shown, _, err := f.read(ctx, name, limit)
	return shown, err
}

// read returns the content of name as the user sees it, and that of the disk,
// which is nil for a file that exists in the editor alone.
func (f *files) read(ctx context.Context, name string, limit int64) (shown, disk []byte, err error) {
	disk, err = f.FS.ReadFile(ctx, name, limit)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, nil, err
	}
	if err == nil && disk == nil {
		disk = []byte{} // an empty file is not a missing one
	}
	if !f.offer.Read || f.silent.Load() || !missing && !isText(disk) {
		return disk, disk, err
	}
	path, perr := f.editorPath(name)
	if perr != nil {
		return nil, nil, perr
	}
	f.look(path, disk)
	text, cerr := f.editor.ReadTextFile(ctx, path)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if cerr != nil {
		f.note(cerr)
		return disk, disk, err
	}
	switch {
	case missing && text == "": // how some editors say that there is no such file
		return nil, nil, err
	case !f.unsaved(path, disk, text):
		return disk, disk, err
	}
	shown = asSaved(text, disk)
	if limit > 0 && int64(len(shown)) > limit {
		return nil, nil, fmt.Errorf("%s: in the editor: %w", name, workspace.ErrTooLarge)
	}
	return shown, disk, nil
}

// WriteFile implements [workspace.FS]. Writes exclude each other, since
// the editor cannot compare and write in one step.
func (f *files) WriteFile(ctx context.Context, name string, data []byte, w workspace.Write) error {
	select {
	case f.writing <- struct{}{}:
		defer func() { <-f.writing }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w, err := f.expect(ctx, name, w)
	if err != nil {
		return err
	}
	if f.offer.Write && !f.silent.Load() && isPlain(data) {
		wrote, same, err := f.writeEditor(ctx, name, data)
		if same || err != nil {
			return err
		}
		if wrote {
			w = workspace.Write{} // whatever the editor made of it
		}
	}
	return f.FS.WriteFile(ctx, name, data, w)
}

// expect checks what the editor shows against w, and returns what the disk must
// hold for the write to go ahead: the editor may show a text that is not saved.
func (f *files) expect(ctx context.Context, name string, w workspace.Write) (workspace.Write, error) {
	if w.Create {
		return w, f.absent(ctx, name)
	}
	if w.Old == nil {
		return w, nil
	}
	shown, disk, err := f.read(ctx, name, 0)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(shown, w.Old) {
		return w, fmt.Errorf("%s: %w", name, workspace.ErrChanged)
	}
	return workspace.Write{Old: disk, Create: disk == nil}, err
}

// absent reports an error unless there is no file called name.
func (f *files) absent(ctx context.Context, name string) error {
	switch _, err := f.FS.Stat(ctx, name); {
	case err == nil:
		return fmt.Errorf("%s: %w", name, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// writeEditor has the editor write data, and reports whether it says that it has
// and whether the disk then holds the same.
func (f *files) writeEditor(ctx context.Context, name string, data []byte) (wrote, same bool, err error) {
	path, err := f.editorPath(name)
	if err != nil {
		return false, false, err
	}
	if info, err := f.FS.Stat(ctx, name); err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o200 == 0) {
		return false, false, nil // the disk says what is wrong with it
	}
	if err := f.editor.WriteTextFile(ctx, path, string(data)); err != nil {
		if ctx.Err() != nil {
			return false, false, ctx.Err()
		}
		f.note(err)
		return false, false, nil
	}
	got, err := f.FS.ReadFile(ctx, name, 0)
	if err != nil || !bytes.Equal(got, data) {
		return true, false, nil // the disk is written, or says what is wrong
	}
	f.look(path, got)
	f.unsaved(path, got, string(data)) // the editor shows what it has written
	return true, true, nil
}

// note remembers an editor that does not answer: waiting for it once is enough.
func (f *files) note(err error) {
	if errors.Is(err, context.DeadlineExceeded) {
		f.silent.Store(true)
	}
}

// editorPath returns the path by which the editor knows a file: below a
// directory of the workspace as the editor wrote it, even if that is a link.
func (f *files) editorPath(name string) (string, error) {
	real, err := f.FS.Resolve(name)
	if err != nil {
		return "", err
	}
	for _, root := range f.FS.Roots() {
		resolved, err := f.FS.Resolve(root)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(resolved, real); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(root, rel), nil
		}
	}
	return real, nil
}
