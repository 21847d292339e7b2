package store

import (
	"context"
	"time"

	"github.com/lorimer-dev/lorimer/harness/store/internal/files"
)

// unused finds the contents that nothing has referred to for a while.
const unused = " FROM documents WHERE used < $1" +
	" AND NOT EXISTS (SELECT 1 FROM items WHERE items.document = documents.key)" +
	" AND NOT EXISTS (SELECT 1 FROM thread_documents WHERE thread_documents.document = documents.key)"

// sweep forgets the contents to which nothing refers any more. It follows a deletion
// that has happened, so its errors are nobody's: what it has left, the next one takes.
func (s *Store) sweep(ctx context.Context) {
	dir, err := s.contents()
	if err != nil {
		return
	}
	_ = s.forget(ctx, dir) // as said above
}

func (s *Store) forget(ctx context.Context, dir files.Dir) error {
	var before int64
	there := false
	err := s.view(ctx, func(t tx) error {
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		before = now - grace.Microseconds()
		there, err = t.get(ctx, "SELECT 1"+unused+" LIMIT 1", []any{before}, new(int))
		return err
	})
	if err != nil || !there {
		return err
	}
	if err := dir.Tidy(time.Now().Add(-grace)); err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		if err := t.d.here(); err != nil {
			return err
		}
		if statement := t.d.freeze("documents"); statement != "" {
			if err := t.exec(ctx, statement); err != nil {
				return err
			}
		}
		var hashes []string
		err := t.all(ctx, "DELETE"+unused+" RETURNING hash", []any{before}, func(row scan) error {
			var hash string
			err := row(&hash)
			hashes = append(hashes, hash)
			return err
		})
		if err != nil {
			return err
		}
		alone, err := dir.Alone(t.d.name())
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
