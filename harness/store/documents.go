package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt/attach"
)

// grace is how long a content is kept to which nothing refers yet: between keeping it
// and the message or the item that it is for.
const grace = 10 * time.Minute

// documents is the directory below [Options.Files] with the contents.
const documents = "documents"

// Keep keeps a content. It is in its file before the database knows of it, and marked
// until then.
func (s *Store) Keep(ctx context.Context, name, mediaType string, content []byte) (place.Document, error) {
	if err := ctx.Err(); err != nil {
		return place.Document{}, err
	}
	dir, err := s.claim()
	if err != nil {
		return place.Document{}, err
	}
	staged, err := dir.Stage(content)
	if err != nil {
		return place.Document{}, unkept(dir, err)
	}
	d := place.Document{
		Key: attach.DocumentKey(content), Name: place.Line(name), Type: place.Line(mediaType), Size: int64(len(content)),
	}
	placing := false
	err = s.change(ctx, func(t tx) error {
		if err := t.d.here(); err != nil {
			return err
		}
		if err := s.note(ctx, t, d, staged.Hash); err != nil {
			return err
		}
		placing = true
		if err := staged.Place(); err != nil { // while nobody can sweep it away
			return unkept(dir, err)
		}
		return nil
	})
	switch {
	case err == nil:
		_ = dir.Unmark(staged.Hash) // what stays is looked at by a sweep
	case placing:
		s.takeBack(ctx, dir, staged.Hash)
	}
	if failed := staged.Drop(); err == nil && failed != nil {
		err = unkept(dir, failed)
	}
	if err != nil {
		return place.Document{}, err
	}
	return d, nil
}

// claim returns where contents are, after it has noted that this database has some.
func (s *Store) claim() (files.Dir, error) {
	dir, err := s.contents()
	if err != nil {
		return "", err
	}
	if err = os.MkdirAll(s.files, 0o700); err == nil {
		err = checkPrivate(s.files)
	}
	if err == nil {
		err = dir.Claim(s.d.name(s.files))
	}
	if err != nil {
		return "", unkept(dir, err)
	}
	return dir, nil
}

// contents returns where the contents of documents are.
func (s *Store) contents() (files.Dir, error) {
	if s.files == "" {
		return "", &fault{"documents cannot be kept, since no directory for them is known; name a state directory", nil}
	}
	return contentsBelow(s.files), nil
}

func contentsBelow(dir string) files.Dir { return files.Dir(filepath.Join(dir, documents)) }

// note writes the row of a content that is kept now.
func (s *Store) note(ctx context.Context, t tx, d place.Document, hash string) error {
	now, err := s.clock(ctx, t)
	if err != nil {
		return err
	}
	var kept string
	_, err = t.get(ctx, "INSERT INTO documents (key, hash, size, name, type, kept) VALUES ($1, $2, $3, $4, $5, $6)"+
		" ON CONFLICT (key) DO UPDATE SET name = excluded.name, type = excluded.type, kept = excluded.kept RETURNING hash",
		[]any{d.Key, hash, d.Size, d.Name, d.Type, now}, &kept)
	if err == nil && kept != hash {
		err = place.SameKey(d.Key)
	}
	return err
}

// settle notes that something refers to a content now, and reports its name.
func (t tx) settle(ctx context.Context, key string) (name string, found bool, err error) {
	found, err = t.get(ctx, "UPDATE documents SET kept = 0 WHERE key = $1 RETURNING name", []any{plain(key)}, &name)
	return name, found, err
}

// loosen notes that something is deleted that refers to the contents whose keys a query
// finds, in an order in which no two changes wait for each other. One that waits for what
// it was kept for goes on waiting.
func (t tx) loosen(ctx context.Context, keys string, args ...any) error {
	return t.exec(ctx, "UPDATE documents SET kept = 1 WHERE key IN"+
		" (SELECT key FROM documents WHERE kept = 0 AND key IN ("+keys+") ORDER BY key"+t.d.lock("NO KEY UPDATE")+")", args...)
}

// unkept says why a content could not be written.
func unkept(dir files.Dir, err error) error {
	if _, ok := errors.AsType[*fault](err); ok {
		return err
	}
	what := "permit lorimer to write there, or name another state directory"
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		what = "the disk is full; make room"
	}
	return &fault{fmt.Sprintf("a document cannot be kept in %s, %s (%v)", dir, what, err), err}
}

// Document returns what is said of a content.
func (s *Store) Document(ctx context.Context, key string) (place.Document, error) {
	d, _, err := s.document(ctx, key)
	return d, err
}

func (s *Store) document(ctx context.Context, key string) (d place.Document, hash string, err error) {
	err = s.view(ctx, func(t tx) error {
		there, err := t.get(ctx, "SELECT key, name, type, size, hash FROM documents WHERE key = $1", []any{plain(key)},
			&d.Key, &d.Name, &d.Type, &d.Size, &hash)
		if err == nil && !there {
			err = place.NoDocument(key)
		}
		return err
	})
	return d, hash, err
}

// Content returns a content.
func (s *Store) Content(ctx context.Context, key string) ([]byte, error) {
	d, hash, err := s.document(ctx, key)
	if err != nil {
		return nil, err
	}
	dir, err := s.contents()
	if err != nil {
		return nil, err
	}
	content, err := dir.Read(hash, d.Size)
	if err != nil {
		return nil, unread(dir.Path(hash), d, err)
	}
	return content, nil
}

// unread says what is wrong with the file of a document.
func unread(path string, d place.Document, err error) error {
	what := "cannot be read; permit lorimer to read it"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what = "is missing, or on another machine; attach the document again, or restore a copy"
	case errors.Is(err, files.ErrDamaged):
		what = "is damaged; attach the document again, or restore a copy"
	}
	return &fault{fmt.Sprintf("the file %s of document %s (%s) %s (%v)", path, d.Key, d.Name, what, err), err}
}

// references returns the keys of the contents that entries refer to, in an order in
// which no two changes wait for each other.
func references(bodies ...thread.Body) []string {
	var keys []string
	for _, b := range bodies {
		var attached []thread.Attached
		switch b := b.(type) {
		case thread.User:
			attached = b.Attached
		case thread.Retried:
			attached = b.Attached
		}
		for _, a := range attached {
			if strings.HasPrefix(a.Key, "document:") {
				keys = append(keys, a.Key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// settle notes that entries refer to the contents that were kept for them.
func (l *log) settle(ctx context.Context, bodies []thread.Body) error {
	for _, key := range references(bodies...) {
		if _, _, err := l.t.settle(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// refer notes the contents that an entry refers to.
func (l *log) refer(ctx context.Context, b thread.Body) error {
	for _, key := range references(b) {
		err := l.t.exec(ctx, "INSERT INTO thread_documents (thread, document) VALUES ($1, $2) ON CONFLICT DO NOTHING", l.info.ID, plain(key))
		if err != nil {
			return err
		}
	}
	return nil
}
