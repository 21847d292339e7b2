package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/tools"
)

func newWorkspace(g *globals) *cobra.Command {
	return group("workspace", "Collect documents that sessions are told of",
		newWorkspaceCreate(g), newWorkspaceList(g), newWorkspaceShow(g), newWorkspaceEdit(g), newWorkspaceDelete(g),
		newWorkspaceAdd(g), newWorkspaceRemove(g), newWorkspacePin(g, true), newWorkspacePin(g, false))
}

func newWorkspaceCreate(g *globals) *cobra.Command {
	description := ""
	c := withJSON(&cobra.Command{
		Use:   "create TITLE",
		Short: "Make an empty workspace, and print its id",
		Long:  text("workspace-create"),
		Args:  exactly("TITLE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := place.Workspace{Title: line(args[0]), Description: description}
			return g.places(cmd, app.Stored, func(ctx context.Context, _ *app.App, p place.Places) error {
				id, err := newID(ctx, w.Title, func(ctx context.Context, id string) error { _, err := p.Workspace(ctx, id); return err })
				if err != nil {
					return err
				}
				w.ID = id
				if err := w.Check(); err != nil {
					return mistake(err)
				}
				switch err := p.AddWorkspace(ctx, w); {
				case errors.Is(err, place.ErrTaken):
					return fmt.Errorf("a workspace %q was made just now; try it again", id)
				case err != nil:
					return err
				}
				return g.printMade(cmd, "workspace", id)
			})
		},
	})
	c.Flags().StringVar(&description, "description", "", "what it holds, in a sentence: `TEXT`")
	return c
}

func newWorkspaceList(g *globals) *cobra.Command {
	limit := 0
	c := withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the workspaces, the last changed first",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return usagef("--limit %d is less than none; 0 lists all", limit)
			}
			return listing[place.Workspace]{
				read:  func(ctx context.Context, p place.Places) ([]place.Workspace, error) { return p.Workspaces(ctx, limit) },
				data:  func(all []place.Workspace) any { return workspaceSummaries(all) },
				table: printWorkspaces,
				none:  "there are no workspaces; \"lorimer workspace create TITLE\" makes one",
			}.run(g, cmd)
		},
	})
	c.Flags().IntVar(&limit, "limit", limit, "at most `N`, 0 is all")
	return c
}

func printWorkspaces(out io.Writer, all []place.Workspace, zone *time.Location) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUPDATED\tDOCUMENTS\tTITLE")
	for _, s := range all {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", s.ID, clockTime(s.Updated, zone), s.Documents, tools.Line(s.Title, titleWidth))
	}
	return w.Flush()
}

// A workspaceSummary is what programs are told of a workspace.
type workspaceSummary struct {
	Workspace   string    `json:"workspace"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Documents   int       `json:"documents"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
}

func workspaceSummaryOf(w place.Workspace) workspaceSummary {
	return workspaceSummary{w.ID, w.Title, w.Description, w.Documents, w.Created, w.Updated}
}

func workspaceSummaries(all []place.Workspace) []workspaceSummary {
	out := make([]workspaceSummary, 0, len(all))
	for _, w := range all {
		out = append(out, workspaceSummaryOf(w))
	}
	return out
}

func newWorkspaceShow(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "show ID",
		Short: "Print a workspace and what is in it",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.places(cmd, app.Found, func(ctx context.Context, a *app.App, p place.Places) error {
				w, err := p.Workspace(ctx, args[0])
				if err != nil {
					return missing(err, "workspace", args[0])
				}
				items, err := p.Items(ctx, w.ID)
				if err != nil {
					return missing(err, "workspace", args[0])
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), struct {
						workspaceSummary
						Items []itemSummary `json:"items"`
					}{workspaceSummaryOf(w), itemSummaries(items)})
				}
				zone, err := zone(a)
				if err != nil {
					return err
				}
				return printWorkspace(cmd.OutOrStdout(), w, items, zone)
			})
		},
	})
}

func printWorkspace(out io.Writer, s place.Workspace, items []place.Item, zone *time.Location) error {
	fmt.Fprintf(out, "%s\n%s, made %s, changed %s\n", tools.Line(s.Title, tools.MaxTitle), s.ID, clockTime(s.Created, zone), clockTime(s.Updated, zone))
	if s.Description != "" {
		fmt.Fprintf(out, "%s\n", tools.Visible(s.Description))
	}
	if len(items) == 0 {
		_, err := fmt.Fprintln(out, "\nno documents yet")
		return err
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY\tPINNED\tCOLLECTION\tTYPE\tBYTES\tNAME")
	for _, i := range items {
		pinned := "-"
		if i.Pinned {
			pinned = "yes"
		}
		collection := tools.Line(i.Collection, titleWidth)
		if collection == "" {
			collection = "-"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", i.Key, pinned, collection, tools.Line(i.Type, titleWidth), i.Size, tools.Line(i.Name, titleWidth))
	}
	return w.Flush()
}

// An itemSummary is what programs are told of a document in a workspace.
type itemSummary struct {
	Key        string    `json:"key"`
	Name       string    `json:"name"`
	Type       string    `json:"type"`
	Bytes      int64     `json:"bytes"`
	Collection string    `json:"collection,omitempty"`
	Pinned     bool      `json:"pinned"`
	Added      time.Time `json:"added"`
}

func itemSummaries(all []place.Item) []itemSummary {
	out := make([]itemSummary, 0, len(all))
	for _, i := range all {
		out = append(out, itemSummary{i.Key, i.Name, i.Type, i.Size, i.Collection, i.Pinned, i.Added})
	}
	return out
}

func newWorkspaceEdit(g *globals) *cobra.Command {
	var title, description string
	c := withJSON(&cobra.Command{
		Use:   "edit ID",
		Short: "Change the title or the description of a workspace",
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var e place.WorkspaceEdit
			if cmd.Flags().Changed("title") {
				e.Title = new(line(title))
			}
			if cmd.Flags().Changed("description") {
				e.Description = &description
			}
			if e == (place.WorkspaceEdit{}) {
				return usagef("nothing is to be changed; give --title or --description")
			}
			if err := e.Check(); err != nil {
				return mistake(err)
			}
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
				if err := p.EditWorkspace(ctx, args[0], e); err != nil {
					return missing(err, "workspace", args[0])
				}
				if !g.json(cmd) {
					return nil
				}
				w, err := p.Workspace(ctx, args[0])
				if err != nil {
					return missing(err, "workspace", args[0])
				}
				return printJSON(cmd.OutOrStdout(), workspaceSummaryOf(w))
			})
		},
	})
	c.Flags().StringVar(&title, "title", "", "call it `TITLE`; the id stays")
	c.Flags().StringVar(&description, "description", "", "what it holds, in a sentence: `TEXT`")
	return c
}

func newWorkspaceDelete(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "delete ID...",
		Short: "Delete workspaces for good, without a question",
		Long:  text("workspace-delete"),
		Args:  atLeast("ID"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
				return g.all(ctx, cmd, ids, func(id string) error {
					w, err := p.Workspace(ctx, id)
					if err == nil {
						err = p.DeleteWorkspace(ctx, id)
					}
					if err != nil {
						return missing(err, "workspace", id)
					}
					fmt.Fprintf(g.process.Stderr, "lorimer: deleted %s %q with %s\n", w.ID, tools.Line(w.Title, titleWidth), count(w.Documents, "document"))
					return nil
				}, func(done []string) any { return map[string]any{"deleted": done} })
			})
		},
	})
}

// count says how many there are of something whose plural has an s.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(what, "s"))
}
