package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness/export"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

func newSessionShow(g *globals) *cobra.Command {
	var o export.Options
	c := withJSON(&cobra.Command{
		Use:   "show ID",
		Short: "Print the messages of a session and the calls of its tools",
		Long:  text("session-show"),
		Args:  exactly("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.stored(cmd.Context(), args, func(ctx context.Context, a *app.App) (err error) {
				if o.Zone, err = zone(a); err != nil {
					return err
				}
				info, err := a.Engine().Info(ctx, args[0])
				if err != nil {
					return absent(err, args[0])
				}
				if g.json(cmd) {
					return showJSON(ctx, cmd.OutOrStdout(), a, info, o)
				}
				s := shower{w: cmd.OutOrStdout(), zone: o.Zone}
				s.head(info)
				if err := export.Walk(ctx, a.Threads(), info, o, s.piece); err != nil {
					return err
				}
				return s.err
			})
		},
	})
	c.Flags().BoolVar(&o.Reasoning, "reasoning", false, "add what the model thought")
	c.Flags().BoolVar(&o.Replaced, "all", false, "add answers that others were given in place of")
	return c
}

func showJSON(ctx context.Context, w io.Writer, a *app.App, info thread.Info, o export.Options) error {
	pieces := []export.Piece{}
	err := export.Walk(ctx, a.Threads(), info, o, func(p export.Piece) error {
		pieces = append(pieces, p)
		return nil
	})
	if err != nil {
		return err
	}
	return printJSON(w, struct {
		threadSummary
		Options map[string]string `json:"options,omitempty"`
		Pieces  []export.Piece    `json:"pieces"`
	}{summaryOf(info), info.Options, pieces})
}

// A shower prints a thread for a person.
type shower struct {
	w    io.Writer
	zone *time.Location
	last export.Kind
	err  error // the first of w
}

func (s *shower) printf(format string, args ...any) {
	if s.err == nil {
		_, s.err = fmt.Fprintf(s.w, format, args...)
	}
}

func (s *shower) head(i thread.Info) {
	s.printf("%s\n", tools.Line(i.Title, tools.MaxTitle))
	s.printf("%s in %s, begun %s\n", i.ID, tools.Line(i.Cwd, tools.MaxTitle), clockTime(i.Created, s.zone))
}

func (s *shower) piece(p export.Piece) error {
	if p.Kind == export.Call {
		if s.last != export.Call {
			s.printf("\n")
		}
		s.printf("  %s\n", toolLine(p))
	} else {
		s.printf("\n-- %s\n", heading(p, s.zone))
		if p.Text != "" {
			s.printf("%s\n", tools.Visible(strings.TrimRight(p.Text, "\n")))
		}
	}
	for _, a := range p.Attached {
		s.printf("  attached: %s\n", attachmentLine(a))
	}
	for _, c := range p.Sources {
		s.printf("  [%d] %s %s\n", c.Index, tools.Line(c.Title, tools.MaxTitle), tools.Line(c.URL, tools.MaxTitle))
	}
	s.last = p.Kind
	return s.err
}

// heading says who speaks, and what there is to know of it.
func heading(p export.Piece, zone *time.Location) string {
	line := string(p.Kind) + ", " + clockTime(p.Time, zone)
	if p.Model != "" {
		line += ", " + tools.Line(p.Model, titleWidth)
	}
	if p.Partial {
		line += ", cut off"
	}
	if p.Replaced {
		line += ", replaced"
	}
	return line
}

func toolLine(p export.Piece) string {
	line := tools.Line(p.Tool.Name, titleWidth)
	if p.Tool.Title != "" {
		line += ": " + tools.Line(p.Tool.Title, tools.MaxTitle)
	}
	state := string(p.Tool.State)
	if p.Replaced {
		state += ", replaced"
	}
	return line + " (" + state + ")"
}

func attachmentLine(a export.Attachment) string {
	var parts []string
	for _, s := range []string{a.Name, a.URI, a.MIME} {
		if s != "" {
			parts = append(parts, tools.Line(s, tools.MaxTitle))
		}
	}
	if a.Bytes > 0 || a.Empty {
		parts = append(parts, fmt.Sprintf("%d bytes", a.Bytes))
	}
	return strings.Join(parts, ", ")
}
