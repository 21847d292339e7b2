package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/tools"
)

func newModelsShow(g *globals) *cobra.Command {
	ask := false
	show := withJSON(&cobra.Command{
		Use:   "show MODEL",
		Short: "Say what is known of a model, from where, and what it takes to use it",
		Long:  text("models-show"),
		Args:  exactly("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.with(cmd.Context(), app.Apart, func(ctx context.Context, a *app.App) error {
				s, failed, err := a.Show(ctx, args[0], ask)
				if err != nil {
					return err
				}
				if failed != nil {
					fmt.Fprintf(g.process.Stderr, "lorimer: %s\n", tools.Line(failed.Error(), 4*tools.MaxTitle))
					failed = &exitError{code: exitFailed} // it has been told
				}
				if g.json(cmd) {
					return errors.Join(printJSON(cmd.OutOrStdout(), shownOf(s)), failed)
				}
				return errors.Join(printModel(cmd, s), failed)
			})
		},
	})
	show.Flags().BoolVar(&ask, "ask", false, "ask its server first")
	return show
}

// A shownModel is what programs are told of one model.
type shownModel struct {
	modelSummary
	BaseURL string   `json:"baseUrl,omitempty"`
	Key     string   `json:"key"` // where it is; "" is nowhere
	Keyless bool     `json:"keyless"`
	Missing []string `json:"missing"`
}

func shownOf(s app.Shown) shownModel {
	out := shownModel{modelSummary: modelOf(s.Known, s.Default), BaseURL: s.Address, Key: s.KeyFrom, Keyless: s.Keyless, Missing: s.Missing}
	if out.Missing == nil {
		out.Missing = []string{}
	}
	return out
}

// printModel prints a line for each thing: what it is, the value, where it is from.
func printModel(cmd *cobra.Command, s app.Shown) error {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	row := func(what, value, from string) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", what, tools.Line(value, 4*tools.MaxTitle), tools.Line(from, 4*tools.MaxTitle))
	}
	ref, first := s.Ref(), ""
	if s.Default {
		first = "new sessions begin with it"
	}
	row("model", ref, first)
	row("name", cmp.Or(s.Name, s.ID), s.From[app.FactName])
	if s.Provider != "" {
		row("provider", s.Title, "")
	}
	row("protocol", s.Kind, s.KindFrom)
	if s.Provider != "" {
		row("address", s.Address, s.BaseFrom)
		row("key", keyPlace(s), "")
	}
	row("window", exact(s.Window), s.From[app.FactWindow])
	row("answer", exact(s.Output), s.From[app.FactOutput])
	row("tools", yes(!s.NoTools), s.From[app.FactTools])
	row("images", yes(s.Images), s.From[app.FactImages])
	row("efforts", cmp.Or(effortNames(s.Known), "none"), s.From[app.FactEfforts])
	row("price", price(s.Price), s.From[app.FactPrice])
	if err := w.Flush(); err != nil {
		return err
	}
	for _, line := range s.Missing {
		fmt.Fprintf(&table, "%-8s  %s\n", "missing", tools.Line(line, 4*tools.MaxTitle))
	}
	for line := range strings.Lines(table.String()) {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// price returns all of a price.
func price(p *catalog.Price) string {
	if p == nil || *p == (catalog.Price{}) {
		input, _, _ := prices(p)
		return input
	}
	return fmt.Sprintf("$%s in, $%s out, $%s cached, $%s to cache, for a million tokens", usd(p.Input), usd(p.Output), cached(p), usd(cmp.Or(p.CacheWrite, p.Input)))
}

// keyPlace says where the key is.
func keyPlace(s app.Shown) string {
	switch {
	case s.KeyFrom != "":
		return s.KeyFrom
	case s.Keyless:
		return "none needed"
	}
	return "none"
}

// exact returns a number of tokens.
func exact(n int) string {
	if n == 0 {
		return "unknown"
	}
	return strconv.Itoa(n) + " tokens"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
