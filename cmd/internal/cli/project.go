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

func newProject(g *globals) *cobra.Command {
	return group("project", "Give the sessions of directories a name and instructions",
		newProjectAdd(g), newProjectList(g), newProjectShow(g), newProjectEdit(g), newProjectDelete(g))
}

// project returns the one that has the id, or else the name.
func project(ctx context.Context, p place.Projects, ref string) (place.Project, error) {
	found, err := place.Find(ctx, p, ref)
	return found, missing(err, "project", ref)
}

func newProjectList(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the projects, by name",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listing[place.Project]{
				read:  func(ctx context.Context, p place.Places) ([]place.Project, error) { return p.Projects(ctx) },
				data:  func(all []place.Project) any { return projectSummaries(all) },
				table: printProjects,
				none:  "there are no projects; \"lorimer project add NAME\" makes one of this directory",
			}.run(g, cmd)
		},
	})
}

func printProjects(out io.Writer, all []place.Project, zone *time.Location) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tUPDATED\tNAME\tDIRECTORIES")
	for _, p := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.ID, clockTime(p.Updated, zone), tools.Line(p.Name, titleWidth),
			tools.Line(strings.Join(p.Dirs, ", "), tools.MaxTitle))
	}
	return w.Flush()
}

// A projectSummary is what programs are told of a project.
type projectSummary struct {
	Project      string    `json:"project"`
	Name         string    `json:"name"`
	Dirs         []string  `json:"directories"`
	Instructions string    `json:"instructions"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
}

func projectSummaryOf(p place.Project) projectSummary {
	return projectSummary{p.ID, p.Name, append([]string{}, p.Dirs...), p.Instructions, p.Created, p.Updated}
}

func projectSummaries(all []place.Project) []projectSummary {
	out := make([]projectSummary, 0, len(all))
	for _, p := range all {
		out = append(out, projectSummaryOf(p))
	}
	return out
}

func newProjectShow(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "show [ID]",
		Short: "Print a project; without an ID that of the current directory",
		Args:  atMost("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.places(cmd, app.Found, func(ctx context.Context, a *app.App, p place.Places) error {
				shown, err := projectOr(ctx, p, args)
				if err != nil {
					return err
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), projectSummaryOf(shown))
				}
				zone, err := zone(a)
				if err != nil {
					return err
				}
				_, err = io.WriteString(cmd.OutOrStdout(), projectText(shown, zone))
				return err
			})
		},
	})
}

// projectOr returns the project that args name, or that of the current directory.
func projectOr(ctx context.Context, p place.Projects, args []string) (place.Project, error) {
	if len(args) > 0 {
		return project(ctx, p, args[0])
	}
	dir, err := directory(".")
	if err != nil {
		return place.Project{}, err
	}
	found, err := p.ProjectOf(ctx, dir)
	if errors.Is(err, place.ErrNone) {
		err = fmt.Errorf("%s is in no project; \"lorimer project add NAME\" makes one of it, \"lorimer project list\" shows the others", dir)
	}
	return found, err
}

// projectText shows a project to a person.
func projectText(p place.Project, zone *time.Location) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, made %s, changed %s\n", tools.Line(p.Name, tools.MaxTitle), p.ID, clockTime(p.Created, zone), clockTime(p.Updated, zone))
	for _, d := range p.Dirs {
		fmt.Fprintf(&b, "in %s\n", tools.Line(d, tools.MaxTitle))
	}
	if p.Instructions != "" {
		fmt.Fprintf(&b, "\n%s\n", tools.Visible(strings.TrimRight(p.Instructions, "\n")))
	}
	return b.String()
}

func newProjectDelete(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "delete ID...",
		Short: "Delete projects; their directories and sessions stay",
		Long:  text("project-delete"),
		Args:  atLeast("ID"),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return g.places(cmd, app.Found, func(ctx context.Context, _ *app.App, p place.Places) error {
				return g.all(ctx, cmd, ids, func(id string) error {
					found, err := project(ctx, p, id)
					if err != nil {
						return err
					}
					if err := p.DeleteProject(ctx, found.ID); err != nil {
						return missing(err, "project", id)
					}
					fmt.Fprintf(g.process.Stderr, "lorimer: deleted %s %q\n", found.ID, tools.Line(found.Name, titleWidth))
					return nil
				}, func(done []string) any { return map[string]any{"deleted": done} })
			})
		},
	})
}
