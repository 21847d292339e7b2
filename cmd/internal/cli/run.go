package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/prompt"
)

func newRun(g *globals) *cobra.Command {
	format := "text"
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
			words, err := question(cmd.Context(), g.process, args)
			if err != nil {
				return err
			}
			return g.with(cmd.Context(), func(ctx context.Context, a *app.App) error {
				return answer(ctx, g, a, words, newOutput)
			})
		},
	}
	c.Flags().StringVar(&format, "format", format, "output `FORMAT`: text, json or stream-json")
	c.Flags().BoolP("print", "p", false, "accepted for habit: the answer is always printed")
	return c
}

// answer runs one turn in a session of its own.
func answer(ctx context.Context, g *globals, a *app.App, words string, newOutput func(Process) output) (err error) {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("finding the current directory: %w", err)
	}
	ws, err := a.Workspace(dir)
	if err != nil {
		return err
	}
	defer ws.Close()
	s, err := a.Engine().Open(ctx, harness.Spec{
		FS:     ws.FS,
		Runner: ws.Runner,
		Client: prompt.Client{Name: "lorimer run", Version: version()},
	})
	if err != nil {
		return err
	}
	slot, err := s.Enter()
	if err != nil {
		return err
	}
	out := newOutput(g.process)
	out.begin(s)
	o, err := slot.Prompt(ctx, harness.Input{Blocks: []event.Block{{Text: words}}}, out)
	switch {
	case err != nil:
		return errors.Join(out.end(o, err), failure(err))
	case o.Stop == harness.Cancelled:
		return errors.Join(out.end(o, nil), &exitError{code: exitInterrupted})
	case o.Unasked > 0:
		return errors.Join(out.end(o, nil), &exitError{exitRefused, fmt.Errorf(
			"%d of the calls needed a permission that nobody could give; --mode accept-edits or --mode auto allows more", o.Unasked)})
	}
	return out.end(o, nil)
}

// failure gives an error of a turn its exit code.
func failure(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.Quota {
		return &exitError{exitBudget, err}
	}
	return &exitError{exitFailed, err}
}
