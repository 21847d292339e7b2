package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools/approve"
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
				return inSession(ctx, a, "lorimer run", func(s *harness.Session) error {
					return answer(ctx, s, words, newOutput(g.process))
				})
			})
		},
	}
	c.Flags().StringVar(&format, "format", format, "output `FORMAT`: text, json or stream-json")
	c.Flags().BoolP("print", "p", false, "accepted for habit: the answer is always printed")
	return c
}

// answer runs one turn.
func answer(ctx context.Context, s *harness.Session, words string, out output) error {
	slot, err := s.Enter()
	if err != nil {
		return err
	}
	out.begin(s)
	o, err := slot.Prompt(ctx, harness.Input{Blocks: []event.Block{{Text: words}}}, out)
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
