package cli

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newConfig(g *globals) *cobra.Command {
	origin := false
	show := withJSON(&cobra.Command{
		Use:   "show",
		Short: "Print every setting with its value",
		Long:  text("config-show"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.load()
			if err != nil {
				return err
			}
			values := c.Values()
			if g.json(cmd) {
				return printJSON(cmd.OutOrStdout(), values)
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, v := range values {
				v.Value = cmp.Or(v.Value, "(not set)")
				if origin {
					fmt.Fprintf(w, "%s\t= %s\t%s\n", v.Key, v.Value, v.Origin)
				} else {
					fmt.Fprintf(w, "%s\t= %s\n", v.Key, v.Value)
				}
			}
			return w.Flush()
		},
	})
	show.Flags().BoolVar(&origin, "origin", false, "add where each value comes from")
	return group("config", "Look at the configuration", show)
}
