package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// inSession runs f with a new session in the current directory, for a client of
// the given name that says of it what at says. The session ends with f.
func inSession(ctx context.Context, a *app.App, client string, at harness.Place, f func(*harness.Session) error) error {
	return here(ctx, a, client, func(sp harness.Spec) error {
		sp.Place = at
		s, err := a.Engine().Open(ctx, sp)
		if err != nil {
			return err
		}
		return f(s)
	})
}

// inThread is inSession for a stored thread, which goes on in the current
// directory.
func inThread(ctx context.Context, a *app.App, client, id string, at harness.Place, f func(*harness.Session) error) error {
	return here(ctx, a, client, func(sp harness.Spec) error {
		sp.ID, sp.Place = id, at
		s, err := a.Engine().Load(ctx, sp)
		if err != nil {
			return absent(err, id)
		}
		return f(s)
	})
}

// atHome is inThread in the directories of the thread.
func atHome(ctx context.Context, a *app.App, client, id string, f func(*harness.Session) error) error {
	info, err := a.Engine().Info(ctx, id)
	if err != nil {
		return absent(err, id)
	}
	return within(ctx, a, client, info, func(sp harness.Spec) error {
		sp.ID = id
		s, err := a.Engine().Load(ctx, sp)
		if err != nil {
			return absent(err, id)
		}
		return f(s)
	})
}

// here gives f what a session in the current directory is made of.
func here(ctx context.Context, a *app.App, client string, f func(harness.Spec) error) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	ws, err := a.Workspace(dir)
	if err != nil {
		return err
	}
	return furnish(ctx, a, client, ws, acp.Dirs{Cwd: dir}, f)
}

// within is here for the directories of a thread.
func within(ctx context.Context, a *app.App, client string, info thread.Info, f func(harness.Spec) error) error {
	ws, err := a.Workspace(info.Cwd, info.Roots...)
	if err != nil {
		return fmt.Errorf("%w; \"lorimer run --session %s\" goes on with it in another directory", err, info.ID)
	}
	return furnish(ctx, a, client, ws, acp.Dirs{Cwd: info.Cwd, More: info.Roots}, f)
}

// furnish gives f what a session in ws is made of, which it closes in the end. What
// servers would ask of a person they are refused.
func furnish(ctx context.Context, a *app.App, client string, ws acp.Workspace, d acp.Dirs, f func(harness.Spec) error) error {
	defer ws.Close() // nothing of it is needed any more
	servers, err := a.Connect(ctx, acp.Servers{
		Dirs: d, Scratch: ws.Scratch, Host: app.Alone{Dirs: append([]string{d.Cwd}, d.More...)},
	})
	if err != nil {
		return err
	}
	return f(harness.Spec{
		FS:      ws.FS,
		Runner:  ws.Runner,
		Scratch: ws.Scratch,
		Servers: servers,
		Client:  prompt.Client{Name: client, Version: version()},
	})
}

// absent tells of a thread that is not there where to look.
func absent(err error, id string) error {
	if errors.Is(err, harness.ErrNotFound) {
		return fmt.Errorf("there is no session %q; \"lorimer session list\" shows those that there are", id)
	}
	return err
}

// checkIDs refuses what no session is called before anything is opened
// (R-HARN-01).
func checkIDs(ids ...string) error {
	for _, id := range ids {
		if err := harness.CheckID(id); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	return nil
}

// demanded returns the options that a stored session goes on with: the model and
// the mode that the command line names, and no mode that allows more than a new
// session would have. Nil leaves them as they are.
func demanded(ctx context.Context, a *app.App, s *harness.Session) (*harness.Choice, error) {
	c, err := a.Config()
	if err != nil {
		return nil, err
	}
	now, err := a.Choice(ctx)
	if err != nil {
		return nil, err
	}
	had := s.Choice()
	next := had
	if c.Given("model") && had.Model != now.Model {
		if _, err := c.Choose(now.Model); err != nil {
			return nil, err
		}
		next.Model = now.Model
	}
	next.Mode = allowed(c, had.Mode)
	if next == had {
		return nil, nil
	}
	return &next, nil
}

// allowed returns the mode of a thread that had another before.
func allowed(c *config.Config, had approve.Mode) approve.Mode {
	if c.Given("mode") || config.Stricter(c.Mode, string(had)) {
		return approve.Mode(c.Mode)
	}
	return had
}
