package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
)

func newPrompt(g *globals) *cobra.Command {
	part, session := "full", ""
	render := withJSON(&cobra.Command{
		Use:   "render",
		Short: "Print the prompt that the next send in this directory would carry",
		Long:  text("prompt-render"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, ok := parts[part]; !ok {
				return usagef("no part %q; choose stable, volatile, full or assembly", part)
			}
			return g.preview(cmd, session, func(p harness.Preview) error {
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), p.Assembly)
				}
				_, err := io.WriteString(cmd.OutOrStdout(), strings.TrimSuffix(parts[part](p), "\n")+"\n")
				return err
			})
		},
	})
	render.Flags().StringVar(&part, "part", part, "the `PART`: stable, volatile, full or assembly")
	signature := withJSON(&cobra.Command{
		Use:   "signature",
		Short: "Print what a harness is built for, with secrets hashed",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.preview(cmd, session, func(p harness.Preview) error {
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), map[string]any{"parts": p.Signature.Parts(), "digest": p.Signature.Digest()})
				}
				for _, f := range p.Signature.Parts() {
					fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", f.Name, f.Value)
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%-10s %s\n", "digest", p.Signature.Digest())
				return err
			})
		},
	})
	for _, c := range []*cobra.Command{render, signature} {
		c.Flags().StringVar(&session, "session", "", "of a stored session, by its `ID`, in its directories")
	}
	return group("prompt", "Look at the prompt", render, signature)
}

// parts are the parts of a prompt by their names on the command line.
var parts = map[string]func(harness.Preview) string{
	"stable":   func(p harness.Preview) string { return p.Parts.Stable },
	"volatile": func(p harness.Preview) string { return p.Parts.Volatile },
	"full":     func(p harness.Preview) string { return p.Parts.Full },
	"assembly": func(p harness.Preview) string { return assembly(p.Assembly) },
}

// assembly shows the sections with their placeholders.
func assembly(a prompt.Assembly) string {
	var b strings.Builder
	for _, s := range a.Sections {
		fmt.Fprintf(&b, "== %s (%g)\n%s\n", s.Name, s.Order, s.Text)
	}
	return b.String()
}

// preview shows the next send of a stored session, or, where the command line names
// none, of one that is opened in the current directory.
func (g *globals) preview(cmd *cobra.Command, session string, f func(harness.Preview) error) error {
	ctx := cmd.Context()
	show := func(s *harness.Session) error {
		p, err := s.Preview(ctx)
		if err != nil {
			return err
		}
		return f(p)
	}
	if !cmd.Flags().Changed("session") {
		return g.with(ctx, app.Apart, func(ctx context.Context, a *app.App) error {
			return inSession(ctx, a, "lorimer", show)
		})
	}
	if err := checkIDs(session); err != nil {
		return err
	}
	return g.with(ctx, app.Found, func(ctx context.Context, a *app.App) error {
		return atHome(ctx, a, "lorimer", session, show)
	})
}
