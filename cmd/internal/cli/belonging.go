package cli

import (
	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/harness"
)

// A belonging is what the command line says a session belongs to.
type belonging struct{ project, workspace string }

func (b *belonging) flags(c *cobra.Command) {
	c.Flags().StringVar(&b.project, "project", "", "in the project of this `ID` or name, instead of that of the directory")
	c.Flags().StringVar(&b.workspace, "workspace", "", "with the workspace of documents of this `ID`")
}

// place returns what was said of a session. A script that has lost the id must not
// get another session than it asked for.
func (b *belonging) place(c *cobra.Command) (harness.Place, error) {
	switch {
	case c.Flags().Changed("project") && b.project == "":
		return harness.Place{}, usagef("--project names no project; leave it out for that of the directory")
	case c.Flags().Changed("workspace") && b.workspace == "":
		return harness.Place{}, usagef("--workspace names no workspace; leave it out to work without one")
	}
	return harness.Place{Project: b.project, Workspace: b.workspace}, nil
}

// named reports whether the command line says anything.
func (b *belonging) named() bool { return b.project != "" || b.workspace != "" }
