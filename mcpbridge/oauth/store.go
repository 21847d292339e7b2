package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lockfile"
)

// A Store keeps credentials in a directory, which is its owner's alone: a file for
// each server, named by the hash of its address, that is replaced as a whole. Several
// programs may share it.
type Store struct{ dir string }

// NewStore returns the store in dir, which is made by the first login.
func NewStore(dir string) *Store { return &Store{dir} }

// Grant returns what the last login at a server has brought. It reports whether
// there is any.
func (s *Store) Grant(url string) (Grant, bool, error) {
	at, err := parseServer(url)
	if err != nil {
		return Grant{}, false, nil // at which nobody can log in
	}
	r, err := s.read(at.String())
	if err != nil || r.Access == "" {
		return Grant{}, false, err
	}
	return r.grant(), true, nil
}

// A record is the file of a server.
type record struct {
	Server   string `json:"server"`
	Metadata string `json:"metadata,omitempty"` // URL of that of the resource; "" is none

	// What was granted, by whom and to whom. Without a token the issuer stays, so
	// that a client of one is not taken to another.
	Issuer     string    `json:"issuer,omitempty"`
	Resource   string    `json:"resource,omitempty"`
	Token      string    `json:"token_endpoint,omitempty"`
	Revocation string    `json:"revocation_endpoint,omitempty"`
	Client     client    `json:"client,omitzero"`
	Scopes     []string  `json:"scopes,omitempty"`
	Access     string    `json:"access_token,omitempty"`
	Refresh    string    `json:"refresh_token,omitempty"`
	Obtained   time.Time `json:"obtained,omitzero"`
	Expires    time.Time `json:"expires,omitzero"`

	Wanted []string `json:"wanted,omitempty"` // scopes that the server has asked for since
}

func (r *record) grant() Grant {
	return Grant{
		Resource: r.Resource,
		Issuer:   r.Issuer,
		ClientID: r.Client.ID,
		Scopes:   r.Scopes,
		Expires:  r.Expires,
		Renews:   r.Refresh != "",
		Wanted:   r.Wanted,
	}
}

// drop takes the tokens away, and remembers what they were good for.
func (r *record) drop() {
	r.Wanted = mergeScopes(r.Wanted, r.Scopes)
	r.Access, r.Refresh, r.Scopes = "", "", nil
	r.Obtained, r.Expires = time.Time{}, time.Time{}
}

// maxRecord bounds a file of the store, in bytes.
const maxRecord = 1 << 20

func (s *Store) path(server, ending string) string {
	sum := sha256.Sum256([]byte(server))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+ending)
}

// read returns the record of a server, an empty one where there is none.
func (s *Store) read(server string) (*record, error) {
	path := s.path(server, ".json")
	var content []byte
	err := insist(func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close() // nothing was written
		content, err = io.ReadAll(io.LimitReader(f, maxRecord))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return &record{Server: server}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the credential of %s: %w", shown(server), err)
	}
	r := &record{}
	if err := json.Unmarshal(content, r); err != nil || r.Server != server {
		return nil, fmt.Errorf("the credential of %s in %s is damaged; log out and in again", shown(server), path)
	}
	return r, nil
}

// write replaces the record of a server.
func (s *Store) write(r *record) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := s.replace(s.path(r.Server, ".json"), append(content, '\n')); err != nil {
		return fmt.Errorf("keeping the credential of %s: %w", shown(r.Server), err)
	}
	return nil
}

func (s *Store) replace(path string, content []byte) (err error) {
	f, err := os.CreateTemp(s.dir, "new-*") // for its owner alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return insist(func() error { return os.Rename(f.Name(), path) })
}

// remove takes the record of a server away, if there is one.
func (s *Store) remove(server string) error {
	err := insist(func() error { return os.Remove(s.path(server, ".json")) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting the credential of %s: %w", shown(server), err)
	}
	return nil
}

// insist calls f until it works, for half a second: Windows does not replace a file
// that another program reads at that moment.
func insist(f func() error) error {
	err := f()
	for i := 0; i < 50 && runtime.GOOS == "windows" && err != nil && !errors.Is(err, fs.ErrNotExist); i++ {
		time.Sleep(10 * time.Millisecond)
		err = f()
	}
	return err
}

// prepare makes the directory, for its owner alone.
func (s *Store) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(s.dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(s.dir, 0o700)
	}
	return nil
}

// locked runs f while nobody else changes the record of a server, in this program or
// another.
func (s *Store) locked(ctx context.Context, server string, f func() error) error {
	if err := s.prepare(); err != nil {
		return fmt.Errorf("keeping credentials: %w", err)
	}
	unlock, err := lockfile.Lock(ctx, s.path(server, ".lock"))
	if err != nil {
		return fmt.Errorf("waiting for another program that changes the credential of %s: %w", shown(server), err)
	}
	defer unlock()
	return f()
}

// change runs f with the record of a server while nobody else changes it, and keeps
// what f has made of it where f says so. What f does elsewhere, such as renewing a
// token, happens once for all programs.
func (s *Store) change(ctx context.Context, server string, f func(*record) (keep bool, err error)) error {
	return s.locked(ctx, server, func() error {
		r, err := s.read(server)
		if err != nil {
			return err
		}
		keep, err := f(r)
		if keep {
			err = errors.Join(err, s.write(r))
		}
		return err
	})
}
