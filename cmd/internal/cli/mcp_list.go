package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// listLimit is how long `lorimer mcp list` waits for servers.
const listLimit = 10 * time.Second

func newMCPList(g *globals) *cobra.Command {
	quiet := false
	c := withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the MCP servers that a session in this directory has, and how each stands",
		Long:  text("mcp-list"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.inMCP(cmd, func(ctx context.Context, a *app.App, dir string) error {
				if !quiet && isTerminalWriter(g.process.Stderr) {
					fmt.Fprintf(g.process.Stderr, "Asking the MCP servers; that takes %v at most.\n", listLimit)
				}
				asked, cancel := context.WithTimeout(ctx, listLimit)
				defer cancel()
				states, err := a.ServerStates(asked, dir, !quiet)
				switch {
				case err != nil:
					return err
				case ctx.Err() != nil:
					return ctx.Err()
				case g.json(cmd):
					return printJSON(cmd.OutOrStdout(), states)
				case len(states) == 0:
					fmt.Fprintln(g.process.Stderr, `lorimer: no MCP servers are declared here; "lorimer help configuration" says where they can be`)
					return nil
				}
				return printServers(cmd.OutOrStdout(), states)
			})
		},
	})
	c.Flags().BoolVar(&quiet, "no-contact", false, "ask none of them, and only say what is declared")
	return c
}

func printServers(out io.Writer, states []server.Status) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tPREFIX\tSTATE\tTOOLS\tATTEMPTS\tLAST ERROR")
	for _, s := range states {
		count := "-"
		if s.State == server.Connected {
			count = strconv.Itoa(len(s.Tools))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", tools.Line(s.Name, titleWidth), tools.Line(s.Prefix, titleWidth), s.State, count, s.Attempts, dash(s.LastError))
	}
	return w.Flush()
}

// dash stands for a text that there is not.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return tools.Visible(text)
}
