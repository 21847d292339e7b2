package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/tools"
)

// noArgs refuses arguments with a sentence that names a way out.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument %q; try \"%s --help\"", cmd.CommandPath(), args[0], cmd.CommandPath())
	}
	return nil
}

// exactly refuses any other number of arguments than the names given.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usagef("%s needs %s; try \"%s --help\"", cmd.CommandPath(), names[len(args)], cmd.CommandPath())
		case len(args) > len(names):
			return usagef("%s takes no further argument %q; try \"%s --help\"", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// atLeast refuses to do without an argument.
func atLeast(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("%s needs %s; try \"%s --help\"", cmd.CommandPath(), name, cmd.CommandPath())
		}
		return nil
	}
}

// group is a command that only has others below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usagef("no command \"%s %s\"; try \"%s --help\"", cmd.CommandPath(), args[0], cmd.CommandPath())
		},
	}
	c.AddCommand(below...)
	return c
}

// withJSON adds --json to commands that can print for programs.
func withJSON(c *cobra.Command) *cobra.Command {
	c.Flags().Bool("json", false, "print JSON")
	return c
}

// json reports whether --json was given.
func (g *globals) json(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("json")
	return f != nil && f.Value.String() == "true"
}

// printJSON writes v as indented JSON.
func printJSON(w io.Writer, v any) error {
	enc := encoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// encoder writes JSON that does not steer the terminal it may be read on.
func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(visible{w})
	enc.SetEscapeHTML(false)
	return enc
}

// visible writes JSON, a whole value at a time, as [tools.VisibleJSON] returns it.
type visible struct{ w io.Writer }

func (v visible) Write(p []byte) (int, error) {
	if _, err := v.w.Write(tools.VisibleJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}
