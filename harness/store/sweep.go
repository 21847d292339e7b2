package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
)

// isUsed says of a content whether something refers to it.
const isUsed = "EXISTS (SELECT 1 FROM items WHERE items.document = documents.key)" +
	" OR EXISTS (SELECT 1 FROM thread_documents WHERE thread_documents.document = documents.key)"

// loose finds the contents to which something has referred that was deleted, or for
// which nothing came that they were kept for, with whether something refers to them.
const loose = "SELECT key, hash, " + isUsed + " FROM documents WHERE kept > 0 AND kept < $1"

// batch is how many contents are looked at while nobody can keep one.
const batch = 200

// patience is how long a deletion waits for those who keep something.
const patience = 5 * time.Second

// sweep drops the contents to which nothing refers any more, and what was left of
// others. It follows a deletion that has happened, so its errors are nobody's: what it
// has left, the next one takes.
func (s *Store) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if dir, err := s.contents(); err == nil {
		_ = errors.Join(s.dropUnused(ctx, dir), s.dropLeft(ctx, dir)) // as said above
	}
}

// dropUnused looks at the contents that are loose, and at no others.
func (s *Store) dropUnused(ctx context.Context, dir files.Dir) error {
	var before int64
	var keys []string
	err := s.view(ctx, func(t tx) error {
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		before = now - grace.Microseconds()
		keys, err = t.loose(ctx, dir, before)
		return err
	})
	if err != nil {
		return err
	}
	for some := range slices.Chunk(keys, batch) {
		if err := s.remove(ctx, dir, func(t tx) ([]string, error) { return t.deleteUnused(ctx, some, before) }); err != nil {
			return err
		}
	}
	return nil
}

// loose returns the keys of contents that are loose. A content of a server that has no
// file here may have one on another machine, which drops both.
func (t tx) loose(ctx context.Context, dir files.Dir, before int64) (keys []string, err error) {
	err = t.all(ctx, loose, []any{before}, func(row scan) error {
		var key, hash string
		var used bool
		if err := row(&key, &hash, &used); err != nil {
			return err
		}
		if used || t.d.beside() != "" || !missing(dir.Path(hash)) {
			keys = append(keys, key)
		}
		return nil
	})
	return keys, err
}

// deleteUnused deletes the rows of those contents that nothing refers to, and returns
// their hashes. The others are loose no more.
func (t tx) deleteUnused(ctx context.Context, keys []string, before int64) (hashes []string, err error) {
	for _, key := range keys {
		var hash string
		var used bool
		found, err := t.get(ctx, loose+" AND key = $2", []any{before, key}, new(string), &hash, &used)
		switch {
		case err != nil:
			return nil, err
		case !found: // it was kept again, or is gone
			continue
		case used:
			err = t.exec(ctx, "UPDATE documents SET kept = 0 WHERE key = $1", key)
		default:
			err = t.exec(ctx, "DELETE FROM documents WHERE key = $1", key)
			hashes = append(hashes, hash)
		}
		if err != nil {
			return nil, err
		}
	}
	return hashes, nil
}

// missing reports whether there is nothing at a path.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// dropLeft drops what programs have left that were killed while they kept something:
// what found no place, and files that no row knows.
//
// A file is looked at only where the mark of its keeping has stayed. Others that no row
// knows are not taken for leftovers: they are those of a database that was moved away,
// which may be put back. It is taken away in a change that nobody keeps a content
// beside, so whoever has made the mark has noted the content, is no more, or is about to
// take it back.
func (s *Store) dropLeft(ctx context.Context, dir files.Dir) error {
	marked, err := dir.Tidy(time.Now().Add(-grace))
	if len(marked) == 0 {
		return err
	}
	return errors.Join(err, s.dropUnknown(ctx, dir, marked))
}

// takeBack removes the file of a content that could not be noted. Where that does not
// work either, a sweep does it.
func (s *Store) takeBack(ctx context.Context, dir files.Dir, hash string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finish)
	defer cancel()
	_ = s.dropUnknown(ctx, dir, []string{hash}) // as said above
}

// dropUnknown removes the files of contents, but for those that somebody has noted.
func (s *Store) dropUnknown(ctx context.Context, dir files.Dir, hashes []string) error {
	return s.remove(ctx, dir, func(t tx) ([]string, error) {
		var unknown []string
		for _, hash := range hashes {
			noted, err := t.get(ctx, "SELECT 1 FROM documents WHERE hash = $1", []any{hash}, new(int))
			switch {
			case err != nil:
				return nil, err
			case !noted:
				unknown = append(unknown, hash)
			default:
				if err := dir.Unmark(hash); err != nil {
					return nil, err
				}
			}
		}
		return unknown, nil
	})
}

// gone reports whether the database of a name was a file that is not there any more:
// it was moved, or deleted.
func (s *Store) gone(database string) bool {
	if isURL(database) {
		return false
	}
	if !filepath.IsAbs(database) {
		database = filepath.Join(s.files, database)
	}
	return missing(database)
}

// remove removes the files that choose returns, while nobody can keep their contents.
// If the change is undone then, the rows are those of contents that nothing refers to.
// Another database may need the files, and then they stay.
func (s *Store) remove(ctx context.Context, dir files.Dir, choose func(tx) (hashes []string, err error)) error {
	return s.change(ctx, func(t tx) error {
		if err := t.d.here(); err != nil {
			return err
		}
		if statement := t.d.freeze("documents"); statement != "" {
			if err := t.exec(ctx, statement); err != nil {
				return err
			}
		}
		hashes, err := choose(t)
		if err != nil || len(hashes) == 0 {
			return err
		}
		alone, err := dir.Alone(t.d.name(s.files), s.gone)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody has taken all of them away
		}
		if err != nil || !alone {
			return err
		}
		for _, hash := range hashes {
			if err := dir.Remove(hash); err != nil {
				return err
			}
		}
		return nil
	})
}
