package cli

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/cmd/internal/app"
)

// How long the end may take: within five seconds nothing is left (R-ACP-05).
const (
	leaving = 4 * time.Second        // for the connection, its requests and sessions
	closing = 500 * time.Millisecond // for the rest of the program
)

// silence is how long an agent that nobody speaks to waits before it listens to
// signals.
const silence = 20 * time.Millisecond

func newACP(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "acp",
		Short: "Speak the Agent Client Protocol on standard input and output",
		Long:  text("acp"),
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), g) },

		PersistentPreRun: func(*cobra.Command, []string) {}, // serve listens to signals in its time
	}
}

// serve answers an editor, which waits for the first answer each time that it
// starts. So all that can is put off: the configuration and all that follows from
// it is read by the first request that needs it, and signals are listened to once
// initialize is answered, before which there is nothing to be ended in order.
func serve(ctx context.Context, g *globals) error {
	run, err := g.early()
	if err != nil {
		return err
	}
	in, out, stderr, err := wire.Stdio()
	if err != nil {
		return err
	}
	g.process.Stderr = stderr
	log, err := app.OpenLog(run, g.process.Stderr)
	if err != nil {
		return err
	}
	defer log.Close()
	late := time.AfterFunc(silence, func() {
		g.signals.listen()
		log.Debug().Msg("nobody has spoken yet")
	})
	defer late.Stop()
	var opened atomic.Pointer[app.App] // a request that is left behind may still set it
	server := acp.New(acp.Options{
		Log:     log.Logger,
		Version: version(),
		Drain:   max(run.Drain, time.Nanosecond), // none at all would be the default
		Grace:   leaving,
		Ready:   func() { late.Stop(); g.signals.listen() },
		Start: func(ctx context.Context) (*acp.Backend, error) {
			if a := opened.Load(); a != nil {
				return a.Backend(ctx)
			}
			a, err := g.app(log, app.Stored)
			if err != nil {
				return nil, err
			}
			opened.Store(a)
			return a.Backend(ctx)
		},
	})
	err = server.Serve(ctx, in, out)
	a := opened.Load()
	if a == nil {
		return err
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if err := a.Close(end); err != nil {
		// Whoever ended the connection has got all answers, and waits for no more.
		log.Warn().Err(err).Msg("left with something open")
	}
	return err
}
