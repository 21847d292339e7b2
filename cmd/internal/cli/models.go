package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/tools"
)

func newModels(g *globals) *cobra.Command {
	var q app.Query
	list := withJSON(&cobra.Command{
		Use:   "models [PROVIDER]",
		Short: "List the models, with their windows, their prices and what they can do",
		Long:  text("models"),
		Args:  atMost("PROVIDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				q.Provider = args[0]
			}
			if q.Provider != "" && q.All {
				return usagef("--all has the models of every provider; leave out %s, or --all", q.Provider)
			}
			q.Slow = func(providers []string) {
				fmt.Fprintf(g.process.Stderr, "lorimer: waiting for %s\n", strings.Join(providers, ", "))
			}
			return g.with(cmd.Context(), app.Apart, func(ctx context.Context, a *app.App) error {
				return listModels(ctx, g, cmd, a, q)
			})
		},
	})
	list.Flags().BoolVar(&q.All, "all", false, "every model that is known, also of providers without a key")
	list.Flags().BoolVar(&q.Ask, "ask", false, "ask the servers what they have")
	list.AddCommand(newModelsShow(g))
	return list
}

func listModels(ctx context.Context, g *globals, cmd *cobra.Command, a *app.App, q app.Query) error {
	all, failures, err := a.List(ctx, q)
	if err != nil {
		return err
	}
	var failed error
	for _, f := range failures {
		fmt.Fprintf(g.process.Stderr, "lorimer: %s\n", tools.Line(f.Error(), 4*tools.MaxTitle))
		failed = &exitError{code: exitFailed} // it has been told
	}
	if g.json(cmd) {
		out := make([]modelSummary, 0, len(all))
		for _, m := range all {
			out = append(out, modelOf(m.Known, m.Default))
		}
		return errors.Join(printJSON(cmd.OutOrStdout(), out), failed)
	}
	if len(all) == 0 {
		switch {
		case failed != nil: // which says why
		case q.Ask:
			fmt.Fprintf(g.process.Stderr, "lorimer: %s names no model of its own\n", q.Provider)
		default:
			fmt.Fprintf(g.process.Stderr, "lorimer: no model of %s is known; \"lorimer models %s --ask\" asks it\n", q.Provider, q.Provider)
		}
		return failed
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  MODEL\tWINDOW\tANSWER\tINPUT\tOUTPUT\tCACHED\tCAN")
	for _, m := range all {
		mark := " "
		if m.Default {
			mark = "*"
		}
		input, output, again := prices(m.Price)
		fmt.Fprintf(w, "%s %s\t%s\t%s\t%s\t%s\t%s\t%s\n", mark, tools.Line(m.Ref(), 2*tools.MaxTitle),
			window(m.Known), tokens(m.Output), input, output, again, cmp.Or(strings.Join(abilities(m.Known), ", "), "-"))
	}
	return errors.Join(w.Flush(), failed)
}

// A modelSummary is what programs are told of a model.
type modelSummary struct {
	Model    string              `json:"model"` // PROVIDER/MODEL
	Provider string              `json:"provider,omitempty"`
	ID       string              `json:"id"`
	Name     string              `json:"name"`
	Kind     string              `json:"kind"`
	Default  bool                `json:"default"`
	Window   int                 `json:"window"` // in tokens
	Assumed  bool                `json:"assumed"`
	Output   int                 `json:"output,omitempty"` // in tokens; absent is unknown
	Tools    bool                `json:"tools"`
	Images   bool                `json:"images"`
	Efforts  []model.Effort      `json:"efforts"`
	Price    *modelPrice         `json:"price"` // null is unknown
	From     map[app.Fact]string `json:"from"`
}

// A modelPrice is in dollars for a million tokens, in exact decimals.
type modelPrice struct {
	Input      config.USD `json:"input"`
	Output     config.USD `json:"output"`
	CacheRead  config.USD `json:"cacheRead"`
	CacheWrite config.USD `json:"cacheWrite"`
}

func modelOf(k app.Known, first bool) modelSummary {
	s := modelSummary{
		Model: k.Ref(), Provider: k.Provider, ID: k.ID, Name: cmp.Or(k.Name, k.ID), Kind: k.Kind, Default: first,
		Window: k.Window, Assumed: k.Assumed, Output: k.Output, Tools: !k.NoTools, Images: k.Images,
		Efforts: append([]model.Effort{}, k.Levels()...), From: k.From,
	}
	if p := k.Price; p != nil {
		s.Price = &modelPrice{usd(p.Input), usd(p.Output), cached(p), usd(cmp.Or(p.CacheWrite, p.Input))}
	}
	return s
}

func usd(micro int64) config.USD { return config.USD{Micro: micro} }

// cached is the price of what the provider has read before.
func cached(p *catalog.Price) config.USD { return usd(cmp.Or(p.CacheRead, p.Input)) }

// window returns a window for people.
func window(k app.Known) string {
	if k.Assumed {
		return tokens(k.Window) + " assumed"
	}
	return tokens(k.Window)
}

// tokens returns a number of tokens in few letters.
func tokens(n int) string {
	switch {
	case n == 0:
		return "unknown"
	case n >= 1_000_000:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", float64(n)/1e6), "0"), ".") + "M"
	case n >= 1000:
		return strconv.Itoa((n+500)/1000) + "k"
	}
	return strconv.Itoa(n)
}

// prices returns the columns of a price.
func prices(p *catalog.Price) (input, output, again string) {
	switch {
	case p == nil:
		return "unknown", "unknown", "unknown"
	case *p == catalog.Price{}:
		return "free", "free", "free"
	}
	return "$" + usd(p.Input).String(), "$" + usd(p.Output).String(), "$" + cached(p).String()
}

// abilities lists what a model can do.
func abilities(k app.Known) []string {
	var can []string
	if !k.NoTools {
		can = append(can, "tools")
	}
	if k.Images {
		can = append(can, "images")
	}
	if e := effortSpans(k); e != "" {
		can = append(can, "thinks "+e)
	}
	return can
}

// effortSpans names the efforts of a model in few letters: of three and more that
// follow on each other the first and the last, such as low-high.
func effortSpans(k app.Known) string {
	rank := func(e model.Effort) int { return slices.Index(model.Efforts(), e) }
	var spans []string
	for rest := k.Levels(); len(rest) > 0; {
		n := 1
		for n < len(rest) && rank(rest[n]) == rank(rest[n-1])+1 {
			n++
		}
		if n < 3 {
			n = 1
			spans = append(spans, string(rest[0]))
		} else {
			spans = append(spans, string(rest[0]+"-"+rest[n-1]))
		}
		rest = rest[n:]
	}
	return strings.Join(spans, " ")
}

func effortNames(k app.Known) string {
	var names []string
	for _, e := range k.Levels() {
		names = append(names, string(e))
	}
	return strings.Join(names, " ")
}
