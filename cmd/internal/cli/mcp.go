package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
)

func newMCP(g *globals) *cobra.Command {
	return group("mcp", "Look after the MCP servers, and be one",
		newMCPList(g), newMCPProbe(g), newMCPApprove(g), newMCPRevoke(g), newMCPLogin(g), newMCPLogout(g), newMCPServe(g))
}

// inMCP runs f for the MCP servers of the current directory.
func (g *globals) inMCP(cmd *cobra.Command, f func(ctx context.Context, a *app.App, dir string) error) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	return g.with(cmd.Context(), app.Apart, func(ctx context.Context, a *app.App) error { return f(ctx, a, dir) })
}
