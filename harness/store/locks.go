package store

import (
	"context"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// Lock takes the turn of a thread, or renews it.
func (s *Store) Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error {
	return s.change(ctx, func(t tx) error {
		if _, err := t.row(ctx, id, "NO KEY UPDATE"); err != nil {
			return err
		}
		renewed, err := s.free(ctx, t, id, plain(h.Token))
		if err != nil {
			return err
		}
		if !renewed { // a turn that runs goes on, wherever its database has gone
			if err := s.d.here(); err != nil {
				return err
			}
		}
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		return t.exec(ctx, "INSERT INTO locks (thread, token, host, process, place, started, until)"+
			" VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (thread) DO UPDATE SET token = excluded.token, host = excluded.host,"+
			" process = excluded.process, place = excluded.place, started = excluded.started, until = excluded.until",
			id, plain(h.Token), plain(h.Host), h.Process, plain(h.Place), plain(h.Started), now+ttl.Microseconds())
	})
}

// Unlock gives the turn up.
func (s *Store) Unlock(ctx context.Context, id, token string) error {
	return s.change(ctx, func(t tx) error {
		return t.exec(ctx, "DELETE FROM locks WHERE thread = $1 AND token = $2", id, plain(token))
	})
}

// free fails with a [*harness.LockedError] if another than token has the turn of a
// thread whose row the caller holds, and reports whether token has it.
func (s *Store) free(ctx context.Context, t tx, id, token string) (has bool, err error) {
	h, until, err := t.holder(ctx, id)
	if err != nil || h.Token == "" || h.Token == token {
		return h.Token != "", err
	}
	now, err := s.clock(ctx, t)
	if err == nil && now < until {
		err = &harness.LockedError{Holder: h}
	}
	return false, err
}

// holder returns who took the turn of a thread last, and until when it is theirs.
// Without one the token is empty.
func (t tx) holder(ctx context.Context, id string) (h thread.Holder, until int64, err error) {
	_, err = t.get(ctx, "SELECT token, host, process, place, started, until FROM locks WHERE thread = $1",
		[]any{id}, &h.Token, &h.Host, &h.Process, &h.Place, &h.Started, &until)
	return h, until, err
}

// clock returns the time of locks in microseconds: the database's, where programs
// of several machines share it.
func (s *Store) clock(ctx context.Context, t tx) (now int64, err error) {
	query := t.d.time()
	if query == "" {
		return s.now().UnixMicro(), nil
	}
	_, err = t.get(ctx, query, nil, &now)
	return now, err
}
