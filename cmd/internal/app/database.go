package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// A database is an open store of threads and places.
type database interface {
	harness.Threads
	place.Places
	io.Closer
}

// Keep says which threads and places an [App] works on.
type Keep int

const (
	Stored Keep = iota // those of the database, which is made where there is none
	Found              // those of a database that is there; where there is none nothing is made

	// Apart has no threads that are stored: a session leaves nothing behind. A database
	// that is there is opened all the same for its projects and workspaces.
	Apart
)

// openDatabase opens what the configuration names at this moment, so that a
// mistake in it can be mended while an editor is connected.
func (a *App) openDatabase(ctx context.Context) (database, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	at := c.DatabaseAt()
	if a.o.Keep != Stored && missing(at) {
		return openNothing(ctx)
	}
	a.trace.Redact(c.Secrets()...)
	return store.Open(ctx, at, store.Options{Files: c.Paths.State})
}

// openNothing opens a store that begins empty and is gone with the process.
func openNothing(context.Context) (database, error) {
	return passing{memory.New(nil), memory.NewPlaces(nil)}, nil
}

// missing reports whether a database is a file that is not there. One that cannot
// be looked at is not missing: to open it tells why.
func missing(at string) bool {
	if config.IsURL(at) {
		return false
	}
	_, err := os.Stat(at)
	return errors.Is(err, fs.ErrNotExist)
}

// A passing store is gone with the process.
type passing struct {
	*memory.Threads
	*memory.Places
}

func (passing) Close() error { return nil }

// protected lists what no tool may change without a question: all that settles
// what this program does and has kept. The user's own skills, wherever they are, are
// in every later session.
func protected(c *config.Config) []string {
	all := []string{filepath.Dir(c.Paths.Config), c.Paths.State}
	if at := c.DatabaseAt(); !config.IsURL(at) {
		all = append(all, at, at+"-wal", at+"-shm") // what is newest is in the files beside it
	}
	for _, r := range (skills.Places{Home: c.Paths.Home, Folder: c.SkillFolder(), Claude: true}).Roots() {
		all = append(all, r.Path)
	}
	return all
}
