package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	mcpserve "github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/prompt"
)

func newMCPServe(g *globals) *cobra.Command {
	offer := "workspace,skills"
	c := &cobra.Command{
		Use:   "serve",
		Short: "Offer tools and the agent to other agents, as an MCP server on standard input and output",
		Long:  text("mcp-serve"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := offered(offer)
			if err != nil {
				return err
			}
			return g.serveMCP(cmd.Context(), o)
		},
	}
	c.Flags().StringVar(&offer, "offer", offer, "`WHAT` is offered: workspace, skills, servers, agent or all, with commas between")
	return c
}

// offered reads what is offered.
func offered(list string) (app.Offer, error) {
	var o app.Offer
	for what := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(what) {
		case "workspace":
			o.Workspace = true
		case "skills":
			o.Skills = true
		case "servers":
			o.Servers = true
		case "agent":
			o.Agent = true
		case "all":
			o = app.Offer{Workspace: true, Skills: true, Servers: true, Agent: true}
		default:
			return o, usagef("--offer has no %q; choose workspace, skills, servers, agent or all, with commas between", strings.TrimSpace(what))
		}
	}
	return o, nil
}

// serveMCP answers an MCP client. As with an editor, nothing is read or opened before
// it asks for something. Whatever ends the connection is its regular end: the client
// decides when it is.
func (g *globals) serveMCP(ctx context.Context, offer app.Offer) error {
	run, err := g.early()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	in, out, stderr, err := wire.Stdio()
	if err != nil {
		return err
	}
	g.process.Stderr = stderr
	log, err := app.OpenLog(run, stderr)
	if err != nil {
		return err
	}
	defer log.Close()
	desk := app.NewDesk(app.DeskOptions{
		Offer: offer, Dir: dir, Log: log.Logger,
		Client: prompt.Client{Name: "lorimer mcp serve", Version: version()},
		Open:   func(keep app.Keep) (*app.App, error) { return g.app(log, keep) },
	})
	o := mcpserve.Options{
		Name: "lorimer", Title: "Lorimer", Version: version(), Log: log.Logger,
		Instructions: desk.Instructions(),
		Watch:        desk.Watch,
		Gone:         func() bool { return wire.HungUp(out) },
		Drain:        max(run.Drain, time.Nanosecond), // none at all would be the default
		Grace:        leaving,
	}
	if offer.Skills || offer.Servers {
		o.Prompts = desk
	}
	if offer.Servers {
		o.Resources = desk
	}
	if offer.Agent {
		o.Agent = desk
	}
	err = mcpserve.New(desk, o).Serve(ctx, in, out)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if err := errors.Join(err, desk.Close(end)); err != nil {
		log.Warn().Err(err).Msg("left with something open") // the client waits for no more
	}
	return nil
}
