package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/tools"
)

// each is all for sessions.
func (g *globals) each(cmd *cobra.Command, ids []string, f func(context.Context, *app.App, string) error, report func(done []string) any) error {
	return g.stored(cmd.Context(), ids, func(ctx context.Context, a *app.App) error {
		return g.all(ctx, cmd, ids, func(id string) error { return absent(f(ctx, a, id), id) }, report)
	})
}

func newSessionDelete(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "delete ID...",
		Short: "Delete sessions for good, without a question",
		Long:  text("session-delete"),
		Args:  atLeast("ID"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return g.each(cmd, ids, func(ctx context.Context, a *app.App, id string) error {
				return deleteOne(ctx, g, a, id)
			}, func(done []string) any { return map[string]any{"deleted": done} })
		},
	})
}

func deleteOne(ctx context.Context, g *globals, a *app.App, id string) error {
	info, err := a.Engine().Info(ctx, id) // one that is damaged has no title, and can be deleted
	if errors.Is(err, harness.ErrNotFound) {
		return err
	}
	if err := a.Engine().Delete(ctx, id); err != nil {
		return err
	}
	fmt.Fprintf(g.process.Stderr, "lorimer: deleted %s %q\n", id, tools.Line(info.Title, titleWidth))
	return nil
}

func newSessionFork(g *globals) *cobra.Command {
	var at, id string
	c := withJSON(&cobra.Command{
		Use:   "fork ID",
		Short: "Copy a session, whole or up to a message, and print the id of the copy",
		Long:  text("session-fork"),
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at") && at == "" {
				return usagef("--at names no message; leave it out to copy the whole session")
			}
			ids := args
			if cmd.Flags().Changed("id") {
				ids = []string{args[0], id}
			}
			return g.stored(cmd.Context(), ids, func(ctx context.Context, a *app.App) error {
				info, err := a.Engine().Info(ctx, args[0])
				if err != nil {
					return absent(err, args[0])
				}
				return within(ctx, a, "lorimer", info, func(sp harness.Spec) error {
					sp.ID = id
					s, err := a.Engine().Fork(ctx, args[0], at, sp)
					switch {
					case errors.Is(err, harness.ErrTaken):
						return taken(id)
					case errors.Is(err, harness.ErrNoEntry):
						return fmt.Errorf("there is no message %q in %s; \"lorimer session show %s --json\" has the ids", at, args[0], args[0])
					case err != nil:
						return absent(err, args[0])
					}
					return g.printMade(cmd, "session", s.ID())
				})
			})
		},
	})
	c.Flags().StringVar(&at, "at", "", "up to the `MESSAGE` of this id: one of the user is left out, one of the model is the last")
	c.Flags().StringVar(&id, "id", "", "call the copy `NEW`")
	return c
}

// taken tells how to get around an id that there is already.
func taken(id string) error {
	return fmt.Errorf("there is a session %q already; choose another id with --id", id)
}

func newSessionTitle(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "title ID TEXT",
		Short: "Give a session a title that stays",
		Args:  exactly("ID", "TEXT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.stored(cmd.Context(), args[:1], func(ctx context.Context, a *app.App) error {
				title, err := a.Engine().SetTitle(ctx, args[0], args[1])
				switch {
				case errors.Is(err, harness.ErrTitle):
					return &exitError{exitUsage, err}
				case err != nil:
					return absent(err, args[0])
				case g.json(cmd):
					return printJSON(cmd.OutOrStdout(), map[string]any{"session": args[0], "title": title})
				}
				return nil
			})
		},
	})
}

func newSessionArchive(g *globals, on bool) *cobra.Command {
	use, short := "archive ID...", "Leave sessions out of lists"
	if !on {
		use, short = "unarchive ID...", "Show archived sessions in lists again"
	}
	return withJSON(&cobra.Command{
		Use:   use,
		Short: short,
		Args:  atLeast("ID"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return g.each(cmd, ids, func(ctx context.Context, a *app.App, id string) error {
				return a.Engine().Archive(ctx, id, on)
			}, func(done []string) any { return map[string]any{"sessions": done, "archived": on} })
		},
	})
}
