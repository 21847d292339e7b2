package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
)

// inSession runs f with a session in the current directory, for a client of the
// given name. The session ends with f.
func inSession(ctx context.Context, a *app.App, client string, f func(*harness.Session) error) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	ws, err := a.Workspace(dir)
	if err != nil {
		return err
	}
	defer ws.Close() // nothing of it is needed any more
	s, err := a.Engine().Open(ctx, harness.Spec{
		FS:      ws.FS,
		Runner:  ws.Runner,
		Scratch: ws.Scratch,
		Client:  prompt.Client{Name: client, Version: version()},
	})
	if err != nil {
		return err
	}
	return f(s)
}
