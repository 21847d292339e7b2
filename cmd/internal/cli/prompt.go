package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
)

func newPrompt(g *globals) *cobra.Command {
	return group("prompt", "Look at the prompt", newPromptRender(g), newPromptSignature(g))
}

func newPromptRender(g *globals) *cobra.Command {
	part, notes := "full", false
	var l look
	c := withJSON(&cobra.Command{
		Use:   "render",
		Short: "Print the prompt that the next send in this directory would carry",
		Long:  text("prompt-render"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, ok := parts[part]
			switch {
			case !ok:
				return usagef("no part %q; choose stable, volatile, full or assembly", part)
			case notes && (cmd.Flags().Changed("part") || cmd.Flags().Changed("session") || l.to.named()):
				return usagef("--notes has the same kinds for all prompts; leave --part, --session, --project and --workspace out")
			case notes:
				return g.notes(cmd)
			}
			return l.preview(g, cmd, func(p harness.Preview) error {
				switch {
				case g.json(cmd) && (part == "assembly" || !cmd.Flags().Changed("part")):
					return printJSON(cmd.OutOrStdout(), p.Assembly)
				case g.json(cmd):
					return printJSON(cmd.OutOrStdout(), promptPart{part, parts[part](p)})
				}
				_, err := io.WriteString(cmd.OutOrStdout(), strings.TrimSuffix(parts[part](p), "\n")+"\n")
				return err
			})
		},
	})
	c.Flags().StringVar(&part, "part", part, "the `PART`: stable, volatile, full or assembly")
	c.Flags().BoolVar(&notes, "notes", false, "the kinds of notes that go with single messages, and their places, instead of the prompt")
	l.flags(c)
	return c
}

func newPromptSignature(g *globals) *cobra.Command {
	var l look
	c := withJSON(&cobra.Command{
		Use:   "signature",
		Short: "Print what a harness is built for, with secrets hashed",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return l.preview(g, cmd, func(p harness.Preview) error {
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), map[string]any{"parts": p.Signature.Parts(), "digest": p.Signature.Digest()})
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, f := range p.Signature.Parts() {
					fmt.Fprintf(w, "%s\t%s\n", f.Name, cmp.Or(f.Value, "-"))
				}
				fmt.Fprintf(w, "digest\t%s\n", p.Signature.Digest())
				return w.Flush()
			})
		},
	})
	l.flags(c)
	return c
}

// A promptPart is what programs are told of a part of a prompt that is a text.
type promptPart struct {
	Part string `json:"part"`
	Text string `json:"text"` // as the model gets it
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

// A noteKind is what programs are told of a kind of note: where it goes for models
// that can call tools, and for those that cannot (R-PROMPT-31).
type noteKind struct {
	Name      string      `json:"name"`
	Harness   prompt.Spot `json:"harness"`
	Stateless prompt.Spot `json:"stateless"`
}

// notes prints the kinds of notes.
func (g *globals) notes(cmd *cobra.Command) error {
	return g.with(cmd.Context(), app.Apart, func(_ context.Context, a *app.App) error {
		kinds := []noteKind{}
		for _, k := range a.NoteKinds() {
			kinds = append(kinds, noteKind{k.Name(), k.Spot(prompt.Harness), k.Spot(prompt.Stateless)})
		}
		if g.json(cmd) {
			return printJSON(cmd.OutOrStdout(), kinds)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tHARNESS\tRANK\tSTATELESS\tRANK")
		for _, k := range kinds {
			fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\n", k.Name, k.Harness.Place, k.Harness.Rank, k.Stateless.Place, k.Stateless.Rank)
		}
		return w.Flush()
	})
}

// A look says which session's next send is looked at: a stored one, or a new one in
// the current directory.
type look struct {
	session string
	to      belonging
}

func (l *look) flags(c *cobra.Command) {
	c.Flags().StringVar(&l.session, "session", "", "of a stored session, by its `ID`, in its directories")
	l.to.flags(c)
}

// preview gives f what the send would carry.
func (l *look) preview(g *globals, cmd *cobra.Command, f func(harness.Preview) error) error {
	ctx := cmd.Context()
	show := func(s *harness.Session) error {
		p, err := s.Preview(ctx)
		if err != nil {
			return err
		}
		return f(p)
	}
	at, err := l.to.place(cmd)
	switch {
	case err != nil:
		return err
	case !cmd.Flags().Changed("session"):
		return g.with(ctx, app.Apart, func(ctx context.Context, a *app.App) error {
			return inSession(ctx, a, "lorimer", at, show)
		})
	case l.to.named(): // to look at a session changes nothing of it
		return usagef("a stored session has its project and its workspace; leave --project and --workspace out")
	}
	if err := checkIDs(l.session); err != nil {
		return err
	}
	return g.with(ctx, app.Found, func(ctx context.Context, a *app.App) error {
		return atHome(ctx, a, "lorimer", l.session, show)
	})
}
