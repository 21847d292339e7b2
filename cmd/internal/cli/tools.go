package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/tools"
)

func newTools(g *globals) *cobra.Command {
	var to belonging
	list := withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the tools that a session in this directory has",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := to.place(cmd)
			if err != nil {
				return err
			}
			return g.with(cmd.Context(), app.Apart, func(ctx context.Context, a *app.App) error {
				return inSession(ctx, a, "lorimer", at, func(s *harness.Session) error {
					infos, err := s.Tools(ctx)
					if err != nil {
						return err
					}
					if g.json(cmd) {
						return printJSON(cmd.OutOrStdout(), listed(infos))
					}
					w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
					for _, i := range infos {
						fmt.Fprintf(w, "%s\t%s\n", i.Name, tools.Visible(firstLine(i.Description)))
					}
					return w.Flush()
				})
			})
		},
	})
	to.flags(list)
	call := withJSON(&cobra.Command{
		Use:   "call NAME JSON",
		Short: "Call one tool; JSON is its input, - reads it from standard input",
		Long:  text("tools-call"),
		Args:  exactly("NAME", "JSON"),
		RunE: func(cmd *cobra.Command, args []string) error {
			input := []byte(args[1])
			if args[1] == "-" {
				text, err := readText(cmd.Context(), g.process.Stdin)
				if err != nil {
					return err
				}
				input = []byte(text)
			}
			return g.with(cmd.Context(), app.Apart, func(ctx context.Context, a *app.App) error {
				return inSession(ctx, a, "lorimer", harness.Place{}, func(s *harness.Session) error {
					return g.call(ctx, cmd, s, args[0], input)
				})
			})
		},
	})
	return group("tools", "List and call the tools", list, call)
}

// call runs one tool under the rules of the session and prints its result.
func (g *globals) call(ctx context.Context, cmd *cobra.Command, s *harness.Session, name string, input json.RawMessage) error {
	infos, err := s.Tools(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(infos, func(i tools.Info) bool { return i.Name == name }) {
		return fmt.Errorf("no tool %q is offered here; \"lorimer tools list\" shows those that are", name)
	}
	r, err := s.Call(ctx, name, input, nil)
	if err != nil {
		return err
	}
	if g.json(cmd) {
		err = printJSON(cmd.OutOrStdout(), map[string]any{"text": r.Text, "isError": r.IsError, "refused": r.Refused, "raw": r.Raw})
	} else {
		text := strings.TrimSuffix(r.Text, "\n")
		if isTerminalWriter(cmd.OutOrStdout()) { // programs get what the tool has said
			text = tools.Visible(text)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
	}
	switch {
	case err != nil:
		return err
	case r.Refused:
		return unasked("the call needs", s.Choice().Mode)
	case r.IsError:
		return &exitError{code: exitFailed}
	}
	return nil
}

type listedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Kind        tools.Kind      `json:"kind"`
	Mutates     bool            `json:"mutates"`
	Schema      json.RawMessage `json:"schema"`
}

func listed(infos []tools.Info) []listedTool {
	all := make([]listedTool, 0, len(infos))
	for _, i := range infos {
		all = append(all, listedTool{i.Name, i.Description, i.Kind, i.Effect.Mutates(), i.Schema})
	}
	return all
}
