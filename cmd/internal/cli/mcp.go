package cli

import "github.com/spf13/cobra"

func newMCP(g *globals) *cobra.Command {
	return group("mcp", "Look after the MCP servers, and be one", newMCPServe(g))
}
