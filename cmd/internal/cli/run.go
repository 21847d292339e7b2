package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

func newRun(g *globals) *cobra.Command {
	format := "text"
	var begun begun
	c := &cobra.Command{
		Use:   "run [flags] PROMPT...",
		Short: "Answer one prompt in the current directory",
		Long:  text("run"),
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			newOutput, ok := outputs[format]
			if !ok {
				return usagef("no format %q; choose text, json or stream-json", format)
			}
			if err := begun.check(cmd.Flags().Changed("session")); err != nil {
				return err
			}
			at, err := begun.to.place(cmd)
			if err != nil {
				return err
			}
			words, err := question(cmd.Context(), g.process, args)
			if err != nil {
				return err
			}
			return g.with(cmd.Context(), begun.keep(), func(ctx context.Context, a *app.App) error {
				return begun.in(ctx, a, at, func(s *harness.Session, c *harness.Choice) error {
					in := harness.Input{Blocks: []event.Block{{Text: words}}, Choice: c}
					return answer(ctx, s, in, newOutput(g.process))
				})
			})
		},
	}
	c.Flags().BoolVar(&begun.last, "continue", false, "go on with the last session of this directory")
	c.Flags().StringVar(&begun.id, "session", "", "go on with the session of this `ID`")
	begun.to.flags(c)
	c.Flags().StringVar(&format, "format", format, "output `FORMAT`: text, json or stream-json")
	c.Flags().BoolP("print", "p", false, "accepted for habit: the answer is always printed")
	return c
}

// begun says which session a run goes on with, and what it belongs to; the zero value
// is a new one that belongs where its directory does.
type begun struct {
	id   string
	last bool // the last one of the current directory
	to   belonging
}

// check is told whether the command line names a session, were it by "": a script
// that has lost the id must not begin another one.
func (b begun) check(named bool) error {
	switch {
	case !named:
		return nil
	case b.last:
		return usagef("--continue and --session name two sessions; leave one of them out")
	}
	return checkIDs(b.id)
}

// keep says that a session to go on with is in a database that is there.
func (b begun) keep() app.Keep {
	if b.last || b.id != "" {
		return app.Found
	}
	return app.Stored
}

// in runs f in the session, with the options that its message brings: they are
// stored with it, since a session that answers elsewhere must stay as it is.
func (b begun) in(ctx context.Context, a *app.App, at harness.Place, f func(*harness.Session, *harness.Choice) error) error {
	if !b.last && b.id == "" {
		return inSession(ctx, a, "lorimer run", at, func(s *harness.Session) error { return f(s, nil) })
	}
	if b.last {
		var err error
		if b.id, err = lastHere(ctx, a); err != nil {
			return err
		}
	}
	return inThread(ctx, a, "lorimer run", b.id, at, func(s *harness.Session) error {
		c, err := demanded(ctx, a, s)
		if err != nil {
			return err
		}
		return f(s, c)
	})
}

// lastHere returns the session of the current directory that was used last. One
// without a message, such as that of an editor that was only opened, has nothing to
// go on with.
func lastHere(ctx context.Context, a *app.App) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the current directory: %w", err)
	}
	for q := (thread.Query{Cwd: dir}); ; {
		page, err := a.Engine().List(ctx, q)
		if err != nil {
			return "", err
		}
		if i := slices.IndexFunc(page.Threads, func(t thread.Info) bool { return t.Messages > 0 }); i >= 0 {
			return page.Threads[i].ID, nil
		}
		if q.After = page.Next; q.After == "" {
			return "", fmt.Errorf("there is no session of %s to continue; leave --continue out to begin one, or choose another with --session (\"lorimer session list\")", dir)
		}
	}
}

// answer runs one turn.
func answer(ctx context.Context, s *harness.Session, in harness.Input, out output) error {
	slot, err := s.Enter()
	if err != nil {
		return err
	}
	out.begin(s)
	o, err := slot.Prompt(ctx, in, out)
	switch {
	case err != nil:
		return errors.Join(out.end(o, err), failure(err))
	case o.Stop == harness.Cancelled:
		return errors.Join(out.end(o, nil), &exitError{code: exitInterrupted})
	case o.Stop == harness.Refusal, o.Stop == harness.MaxTurnRequests:
		return errors.Join(out.end(o, nil), &exitError{code: exitFailed}) // the output has said that there is no answer
	case o.Unasked > 0:
		return errors.Join(out.end(o, nil), unasked(fmt.Sprintf("%d of the calls needed", o.Unasked), s.Choice().Mode))
	}
	return out.end(o, nil)
}

// unasked tells that nobody could be asked, and what allows more in the mode.
func unasked(what string, m approve.Mode) error {
	way := "--mode accept-edits or --mode auto allows more"
	switch m {
	case approve.AcceptEdits:
		way = "--mode auto allows more"
	case approve.Auto:
		way = "this one asks in every mode, so use an editor, where you can answer"
	}
	return &exitError{exitRefused, fmt.Errorf("%s a permission that nobody could give; %s", what, way)}
}

// failure gives an error of a turn its exit code.
func failure(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.Quota {
		return &exitError{exitBudget, err}
	}
	return &exitError{exitFailed, err}
}
