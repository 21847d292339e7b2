package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/cmd/internal/app"
)

// closing bounds what is ended after the connection has ended (R-ACP-05).
const closing = 5 * time.Second

func newACP(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "acp",
		Short: "Speak the Agent Client Protocol on standard input and output",
		Long:  text("acp"),
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), g) },
	}
}

// serve answers an editor. Configuration and all that follows from it is read
// by the first request that needs it.
func serve(ctx context.Context, g *globals) error {
	run, err := g.early()
	if err != nil {
		return err
	}
	in, out, err := wire.Stdio()
	if err != nil {
		return err
	}
	log, err := app.OpenLog(run, g.process.Stderr)
	if err != nil {
		return err
	}
	defer log.Close()
	var a *app.App
	server := acp.New(acp.Options{
		Log:     log.Logger,
		Version: version(),
		Drain:   max(run.Drain, time.Nanosecond), // none at all would be the default
		Grace:   closing,
		Start: func(ctx context.Context) (*acp.Backend, error) {
			if a == nil {
				opened, err := g.app(log)
				if err != nil {
					return nil, err
				}
				a = opened
			}
			return a.Backend(ctx)
		},
	})
	err = server.Serve(ctx, in, out)
	if a == nil {
		return err
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if failed := a.Close(end); err == nil {
		err = failed
	}
	return err
}
