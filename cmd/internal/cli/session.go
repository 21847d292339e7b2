package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
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

func newSessionList(g *globals) *cobra.Command {
	var in where
	q, limit := thread.Query{}, 50
	c := withJSON(&cobra.Command{
		Use:   "list",
		Short: "List sessions, the last used first",
		Long:  text("session-list"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if limit < 0 {
				return usagef("--limit %d is less than none; 0 lists all", limit)
			}
			if q.Cwd, err = in.path(); err != nil {
				return err
			}
			return g.stored(cmd.Context(), nil, func(ctx context.Context, a *app.App) error {
				all, err := list(ctx, a.Engine(), q, limit)
				if err != nil {
					return err
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), summaries(all))
				}
				if len(all) == 0 {
					fmt.Fprintln(g.process.Stderr, "lorimer: there are no such sessions")
				}
				zone, err := zone(a)
				if err != nil {
					return err
				}
				return printList(cmd.OutOrStdout(), all, zone)
			})
		},
	})
	in.flags(c.Flags())
	c.Flags().BoolVar(&q.Archived, "archived", false, "the archived ones instead of the others")
	c.Flags().IntVar(&limit, "limit", limit, "at most `N`, 0 is all")
	return c
}

// list pages through all that q chooses, up to limit; 0 is no limit.
func list(ctx context.Context, e *harness.Engine, q thread.Query, limit int) ([]thread.Info, error) {
	const most = 500 // in a page
	var all []thread.Info
	for {
		q.Limit = most
		if limit > 0 {
			q.Limit = min(most, limit-len(all))
		}
		page, err := e.List(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Threads...)
		if page.Next == "" || limit > 0 && len(all) >= limit {
			return all, nil
		}
		q.After = page.Next
	}
}

// What a line of a list shows at most of a title, in characters.
const titleWidth = 60

func printList(out io.Writer, all []thread.Info, zone *time.Location) error {
	if len(all) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUPDATED\tMESSAGES\tTITLE")
	for _, i := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", i.ID, clockTime(i.Updated, zone), i.Messages, tools.Line(i.Title, titleWidth))
	}
	return w.Flush()
}

func clockTime(t time.Time, zone *time.Location) string { return t.In(zone).Format("2006-01-02 15:04") }

// zone returns the zone of the times that people read.
func zone(a *app.App) (*time.Location, error) {
	c, err := a.Config()
	if err != nil {
		return nil, err
	}
	return c.Run.Zone, nil
}

// A threadSummary is what programs are told of a thread.
type threadSummary struct {
	Session  string    `json:"session"`
	Title    string    `json:"title"`
	Cwd      string    `json:"cwd"`
	Roots    []string  `json:"additionalDirectories,omitempty"`
	Messages int64     `json:"messages"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Archived bool      `json:"archived"`
	Parent   string    `json:"parent,omitempty"`
}

func summaryOf(i thread.Info) threadSummary {
	return threadSummary{i.ID, i.Title, i.Cwd, i.Roots, i.Messages, i.Created, i.Updated, i.Archived, i.Parent}
}

func summaries(all []thread.Info) []threadSummary {
	out := make([]threadSummary, 0, len(all))
	for _, i := range all {
		out = append(out, summaryOf(i))
	}
	return out
}

func newSessionSearch(g *globals) *cobra.Command {
	var in where
	limit := 20
	c := withJSON(&cobra.Command{
		Use:   "search WORDS...",
		Short: "Find words in titles and messages",
		Long:  text("session-search"),
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s := thread.Search{Words: strings.Join(args, " "), Limit: limit}
			if strings.TrimSpace(s.Words) == "" {
				return usagef("%s needs words to look for; try \"%s --help\"", cmd.CommandPath(), cmd.CommandPath())
			}
			if limit < 1 || limit > 200 {
				return usagef("--limit %d is not between 1 and 200", limit)
			}
			var err error
			if s.Cwd, err = in.path(); err != nil {
				return err
			}
			return g.stored(cmd.Context(), nil, func(ctx context.Context, a *app.App) error {
				hits, err := a.Engine().Search(ctx, s)
				if err != nil {
					return err
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), found(hits))
				}
				if len(hits) == 0 {
					fmt.Fprintln(g.process.Stderr, "lorimer: nothing was found")
				}
				zone, err := zone(a)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, h := range hits {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", h.Thread.ID, clockTime(h.Time, zone), h.Role, tools.Line(h.Snippet, tools.MaxTitle))
				}
				return w.Flush()
			})
		},
	})
	in.flags(c.Flags())
	c.Flags().IntVar(&limit, "limit", limit, "at most `N`, up to 200")
	return c
}

type foundHit struct {
	Session string    `json:"session"`
	Title   string    `json:"title"`
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Role    string    `json:"role"`
	Snippet string    `json:"snippet"`
}

func found(hits []thread.Hit) []foundHit {
	out := make([]foundHit, 0, len(hits))
	for _, h := range hits {
		out = append(out, foundHit{h.Thread.ID, h.Thread.Title, h.Seq, h.Time, h.Role, h.Snippet})
	}
	return out
}

// errAny is the error of a command that has told of what went wrong already.
var errAny = &exitError{code: exitFailed}

func newSessionDelete(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "delete ID...",
		Short: "Delete sessions for good, without a question",
		Long:  text("session-delete"),
		Args:  atLeast("ID"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return g.stored(cmd.Context(), ids, func(ctx context.Context, a *app.App) error {
				deleted := []string{}
				var failed error
				for _, id := range ids {
					if err := deleteOne(ctx, g, a, id); err != nil {
						if len(ids) == 1 || ctx.Err() != nil {
							return err
						}
						fmt.Fprintf(g.process.Stderr, "lorimer: %v\n", err)
						failed = errAny
						continue
					}
					deleted = append(deleted, id)
				}
				if g.json(cmd) {
					return errors.Join(printJSON(cmd.OutOrStdout(), map[string]any{"deleted": deleted}), failed)
				}
				return failed
			})
		},
	})
}

func deleteOne(ctx context.Context, g *globals, a *app.App, id string) error {
	info, err := a.Engine().Info(ctx, id)
	if err != nil {
		return absent(err, id)
	}
	if err := a.Engine().Delete(ctx, id); err != nil {
		return absent(err, id)
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
			ids := args
			if cmd.Flags().Changed("id") {
				ids = []string{args[0], id}
			}
			return g.stored(cmd.Context(), ids, func(ctx context.Context, a *app.App) error {
				info, err := a.Engine().Info(ctx, args[0])
				if err != nil {
					return absent(err, args[0])
				}
				return within(a, "lorimer", info, func(sp harness.Spec) error {
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
					return g.printID(cmd, s.ID())
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

// printID prints the id of a session that was made.
func (g *globals) printID(cmd *cobra.Command, id string) error {
	if g.json(cmd) {
		return printJSON(cmd.OutOrStdout(), map[string]any{"session": id})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), id)
	return err
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
			return g.stored(cmd.Context(), ids, func(ctx context.Context, a *app.App) error {
				for _, id := range ids {
					if err := a.Engine().Archive(ctx, id, on); err != nil {
						return absent(err, id)
					}
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), map[string]any{"sessions": ids, "archived": on})
				}
				return nil
			})
		},
	})
}
