package oauth

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Gone is what a logout has done.
type Gone struct {
	Had     bool  // something was there to forget
	Revoked bool  // the authorization server was told too
	Trouble error // why it was not told; nil where it has no place for that
}

// Logout forgets the credential of a server. The authorization server is told where
// it wants to be; that it cannot be told changes nothing.
func Logout(ctx context.Context, s *Store, o Options) (Gone, error) {
	server, err := parseServer(o.URL)
	if err != nil {
		return Gone{}, err
	}
	r, had, err := s.forget(ctx, server.String())
	if err != nil || !had {
		return Gone{}, err
	}
	g := Gone{Had: true}
	if r.Revocation == "" || r.Access == "" && r.Refresh == "" {
		return g, nil
	}
	g.Trouble = newFetcher(o, server).revoke(ctx, r, o.Settings)
	g.Revoked = g.Trouble == nil
	return g, nil
}

// forget takes a record out of the store and returns what it was, as far as it can be
// read.
func (s *Store) forget(ctx context.Context, server string) (r *record, had bool, err error) {
	if _, err := os.Stat(s.path(server, ".json")); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	err = s.locked(ctx, server, func() error {
		var damaged error
		if r, damaged = s.read(server); damaged != nil {
			r = &record{Server: server}
		}
		had = damaged != nil || r.Issuer != ""
		return s.remove(server)
	})
	return r, had, err
}
