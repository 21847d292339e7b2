package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

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
	// What it was bound to by name. A project is else that of the directory.
	Project   string `json:"project,omitempty"`
	Workspace string `json:"workspace,omitempty"`
}

func summaryOf(i thread.Info) threadSummary {
	return threadSummary{i.ID, i.Title, i.Cwd, i.Roots, i.Messages, i.Created, i.Updated, i.Archived, i.Parent, i.Project, i.Bound}
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
