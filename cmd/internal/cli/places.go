package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
)

// places runs f over the projects and workspaces that keep says.
func (g *globals) places(cmd *cobra.Command, keep app.Keep, f func(context.Context, *app.App, place.Places) error) error {
	return g.with(cmd.Context(), keep, func(ctx context.Context, a *app.App) error { return f(ctx, a, a.Places()) })
}

// A listing is how projects or workspaces are listed.
type listing[T any] struct {
	read  func(context.Context, place.Places) ([]T, error)
	data  func([]T) any                              // for --json
	table func(io.Writer, []T, *time.Location) error // for people
	none  string                                     // what to tell where there are none
}

// run prints the list.
func (l listing[T]) run(g *globals, cmd *cobra.Command) error {
	return g.places(cmd, app.Found, func(ctx context.Context, a *app.App, p place.Places) error {
		all, err := l.read(ctx, p)
		if err != nil {
			return err
		}
		if g.json(cmd) {
			return printJSON(cmd.OutOrStdout(), l.data(all))
		}
		if len(all) == 0 {
			fmt.Fprintf(g.process.Stderr, "lorimer: %s\n", l.none)
			return nil
		}
		zone, err := zone(a)
		if err != nil {
			return err
		}
		return l.table(cmd.OutOrStdout(), all, zone)
	})
}

// missing tells of a project or workspace that is not there where to look.
func missing(err error, what, id string) error {
	if errors.Is(err, place.ErrNone) {
		return &harness.MissingError{What: what, ID: id}
	}
	return err
}

// newID returns an id made from a name that nothing has: of says what an id
// belongs to, or place.ErrNone.
func newID(ctx context.Context, name string, of func(context.Context, string) error) (string, error) {
	var failed error
	id := place.NewID(name, func(id string) bool {
		err := of(ctx, id)
		if err != nil && !errors.Is(err, place.ErrNone) {
			failed = err // and the id is as good as any, since it is not used
			return false
		}
		return err == nil
	})
	return id, failed
}

// line puts the words of a name on one line.
func line(name string) string { return strings.Join(strings.Fields(name), " ") }

// mistake makes what the command line cannot ask for a usage error.
func mistake(err error) error {
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// directory returns where a directory really is: editors name it in many ways.
func directory(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("finding the current directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("%w; name a directory that is there with --dir", err)
	}
	switch info, err := os.Stat(real); {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", fmt.Errorf("%s is no directory; name the one that it is in", name)
	}
	return real, nil
}
