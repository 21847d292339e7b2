package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
	"github.com/lorimer-dev/lorimer/tools"
)

func newMCPApprove(g *globals) *cobra.Command {
	every := false
	c := withJSON(&cobra.Command{
		Use:   "approve NAME...",
		Short: "Allow MCP servers that this directory declares, as they stand",
		Long:  text("mcp-approve"),
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case every && len(args) > 0:
				return usagef("--all and names exclude each other; leave one of them out")
			case !every && len(args) == 0:
				return usagef("lorimer mcp approve needs NAME, or --all; \"lorimer mcp list --no-contact\" shows what waits for it")
			}
			return g.inMCP(cmd, func(ctx context.Context, a *app.App, dir string) error {
				done, err := a.Approve(ctx, dir, args...)
				if err != nil {
					return err
				}
				return g.printDecided(cmd, "approved", done)
			})
		},
	})
	c.Flags().BoolVar(&every, "all", false, "all that wait for it")
	return c
}

func newMCPRevoke(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "revoke NAME...",
		Short: "Do not allow MCP servers that this directory declares",
		Long:  text("mcp-revoke"),
		Args:  atLeast("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.inMCP(cmd, func(ctx context.Context, a *app.App, dir string) error {
				done, err := a.Refuse(ctx, dir, args...)
				if err != nil {
					return err
				}
				return g.printDecided(cmd, "revoked", done)
			})
		},
	})
}

// A decided server is what programs are told of one that was approved or revoked.
type decided struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	Address string   `json:"address"` // command line or URL, without secrets
	Env     []string `json:"env"`     // names
	Headers []string `json:"headers"` // names
}

func (g *globals) printDecided(cmd *cobra.Command, what string, done []discover.Found) error {
	all := []decided{}
	for _, f := range done {
		e := f.Entry
		d := decided{e.Name, e.Source, e.Address(), names(e.Env), names(e.Headers)}
		if strings.Contains(e.URL, "${") { // in what is shown of an address it would be hard to read
			d.Address = e.URL
		}
		all = append(all, d)
	}
	if g.json(cmd) {
		return printJSON(cmd.OutOrStdout(), map[string]any{what: all})
	}
	if len(all) == 0 {
		fmt.Fprintf(g.process.Stderr, "lorimer: no server of %s waits for approval\n", discover.ProjectFile)
	}
	for _, d := range all {
		if err := d.print(cmd.OutOrStdout(), what); err != nil {
			return err
		}
	}
	return nil
}

// names returns the names of m as an array that is never null.
func names(m map[string]string) []string { return append([]string{}, slices.Sorted(maps.Keys(m))...) }

func (d decided) print(w io.Writer, what string) error {
	line := fmt.Sprintf("%s %s: %s", what, d.Name, d.Address)
	for kind, names := range map[string][]string{"env": d.Env, "headers": d.Headers} {
		if len(names) > 0 { // a server has one of the two
			line += fmt.Sprintf(", %s %s", kind, strings.Join(names, " "))
		}
	}
	_, err := fmt.Fprintln(w, tools.Visible(strings.ReplaceAll(line, "\n", " ")))
	return err
}
