package cli

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
)

func newSession(g *globals) *cobra.Command {
	return group("session", "List, show, search, copy and delete the sessions that are kept",
		newSessionList(g), newSessionShow(g), newSessionSearch(g), newSessionExport(g), newSessionImport(g),
		newSessionFork(g), newSessionTitle(g), newSessionArchive(g, true), newSessionArchive(g, false), newSessionDelete(g))
}

// stored runs f over the threads of a database that is there, once ids are what
// sessions are called.
func (g *globals) stored(ctx context.Context, ids []string, f func(context.Context, *app.App) error) error {
	if err := checkIDs(ids...); err != nil {
		return err
	}
	return g.with(ctx, app.Found, f)
}

// A where chooses sessions by their directory.
type where struct {
	dir  string
	here bool
}

func (w *where) flags(set *pflag.FlagSet) {
	set.StringVar(&w.dir, "cwd", "", "only those that work in `DIR`")
	set.BoolVar(&w.here, "here", false, "only those that work in the current directory")
}

// path returns the directory, "" for all.
func (w *where) path() (string, error) {
	switch {
	case w.here && w.dir != "":
		return "", usagef("--here and --cwd name two directories; leave one of them out")
	case w.here:
		return os.Getwd()
	case w.dir == "":
		return "", nil
	}
	return filepath.Abs(w.dir)
}
