package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

func newMCPProbe(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "probe NAME",
		Short: "Connect to one MCP server and say what it has",
		Long:  text("mcp-probe"),
		Args:  exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.inMCP(cmd, func(ctx context.Context, a *app.App, dir string) error {
				p, err := a.ProbeServer(ctx, dir, args[0])
				if err != nil {
					return err
				}
				if g.json(cmd) {
					err = printJSON(cmd.OutOrStdout(), probedOf(p))
				} else if p.State == server.Connected {
					err = printProbed(cmd.OutOrStdout(), p)
				} else {
					g.tellFailed(p.Status)
				}
				if err == nil && p.State != server.Connected {
					return &exitError{code: exitFailed} // it has been told
				}
				return err
			})
		},
	})
}

// tellFailed says why a server is not connected, and what its program wrote at last.
func (g *globals) tellFailed(s server.Status) {
	what := "is " + string(s.State)
	if s.State == server.NeedsLogin {
		what = `needs a login, which "lorimer mcp login" with its name does`
	}
	fmt.Fprintf(g.process.Stderr, "lorimer: the MCP server %s %s: %s\n", tools.Line(s.Name, titleWidth), what, dash(s.LastError))
	if text := strings.TrimRight(s.Stderr, "\n"); text != "" {
		fmt.Fprintf(g.process.Stderr, "It wrote at last:\n  %s\n", strings.ReplaceAll(tools.Visible(text), "\n", "\n  "))
	}
}

// A probed server is what programs are told of one.
type probed struct {
	server.Status
	Instructions string           `json:"instructions"`
	Has          []probedTool     `json:"has"`
	PromptList   []probedPrompt   `json:"promptList"`
	ResourceList []probedResource `json:"resourceList"`
}

type probedTool struct {
	Name        string          `json:"name"` // as the model sees it
	Tool        string          `json:"tool"` // the server's own name
	Description string          `json:"description"`
	Mutates     bool            `json:"mutates"` // a call is asked for
	Schema      json.RawMessage `json:"schema"`
}

type probedPrompt struct {
	Command     string `json:"command"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type probedResource struct {
	URI      string `json:"uri"`
	Name     string `json:"name"`
	MIME     string `json:"mimeType"`
	Template bool   `json:"template"`
}

func probedOf(p app.Probed) probed {
	out := probed{Status: p.Status, Instructions: p.Advice, Has: []probedTool{}, PromptList: []probedPrompt{}, ResourceList: []probedResource{}}
	for _, t := range p.Has {
		out.Has = append(out.Has, probedTool{t.Name, raw(t), t.Description, t.Effect.Mutates(), t.Schema})
	}
	for _, c := range p.Prompts {
		out.PromptList = append(out.PromptList, probedPrompt{c.Command, c.Name, c.Description})
	}
	for _, r := range p.Resources {
		out.ResourceList = append(out.ResourceList, probedResource{r.URI, r.Name, r.MIME, r.Template})
	}
	return out
}

// raw returns the server's own name of a tool.
func raw(t tools.Info) string {
	if t.Origin == nil {
		return t.Name
	}
	return t.Origin.Tool
}

func printProbed(out io.Writer, p app.Probed) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "server\t%s\n", tools.Line(p.Name, titleWidth))
	fmt.Fprintf(w, "program\t%s\n", dash(p.Program))
	fmt.Fprintf(w, "revision\t%s\n", dash(p.Revision))
	fmt.Fprintf(w, "reached\t%s\n", dash(p.Address))
	fmt.Fprintf(w, "declared\t%s\n", dash(p.Source))
	if p.Advice != "" {
		first, _, _ := strings.Cut(strings.TrimSpace(p.Advice), "\n")
		fmt.Fprintf(w, "advice\t%s\n", tools.Line(first, tools.MaxTitle))
	}
	fmt.Fprintf(w, "has\t%s, %s, %s\n", count(len(p.Has), "tool"), count(len(p.Prompts), "prompt"), count(len(p.Resources), "resource"))
	rows := func(head string, n int, row func(i int) []string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s\n", head)
		for i := range n {
			cells := row(i)
			for j := range cells {
				cells[j] = tools.Line(cells[j], tools.MaxTitle)
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
	}
	rows("TOOL\tITS OWN NAME\tASKS\tDESCRIPTION", len(p.Has), func(i int) []string {
		t := p.Has[i]
		asks := "no"
		if t.Effect.Mutates() {
			asks = "yes"
		}
		return []string{t.Name, raw(t), asks, firstLine(t.Description)}
	})
	rows("COMMAND\tITS OWN NAME\tDESCRIPTION", len(p.Prompts), func(i int) []string {
		c := p.Prompts[i]
		return []string{"/" + c.Command, c.Name, c.Description}
	})
	rows("RESOURCE\tNAME\tTYPE", len(p.Resources), func(i int) []string {
		r := p.Resources[i]
		return []string{r.URI, dash(r.Name), dash(r.MIME)}
	})
	return w.Flush()
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
