package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersion(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := map[string]string{"version": version(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
			if g.json(cmd) {
				return printJSON(cmd.OutOrStdout(), out)
			}
			return printVersion(cmd.OutOrStdout())
		},
	})
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintln(w, "lorimer", version())
	return err
}

// version returns the version of the module that was built, without its v, or
// "devel" for a working tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}
