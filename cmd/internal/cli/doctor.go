package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/cmd/internal/doctor"
	"github.com/lorimer-dev/lorimer/tools"
)

func newDoctor(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and say what was found",
		Long:  text("doctor"),
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			reports, healthy := doctor.Run(cmd.Context(), app.Checks(g.sources(), g.process.Environ))
			if g.json(cmd) {
				if err := printJSON(cmd.OutOrStdout(), reports); err != nil {
					return err
				}
			} else {
				for _, r := range reports {
					for _, f := range r.Findings {
						fmt.Fprintf(cmd.OutOrStdout(), "%-4s  %-13s  %s\n", f.State, r.Check, tools.Visible(f.Text))
					}
				}
			}
			if !healthy {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	})
}
