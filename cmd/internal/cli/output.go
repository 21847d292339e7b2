package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
			return usagef("%s takes no further argument %q; put what belongs together in quotes, or try \"%s --help\"", cmd.CommandPath(), args[len(names)], cmd.CommandPath())
		}
		return nil
	}
}

// atLeast refuses to do without an argument; more of the last may follow.
func atLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return exactly(names...)(cmd, args[:min(len(args), len(names))])
	}
}

// atMost refuses more arguments than the names given.
func atMost(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return exactly(names[:min(len(args), len(names))]...)(cmd, args)
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

// all runs f for each of several things that the command line names. What goes wrong
// with one of them is told, and the others are seen to all the same. With --json it
// prints what report makes of those for which f worked.
func (g *globals) all(ctx context.Context, cmd *cobra.Command, names []string, f func(name string) error, report func(done []string) any) error {
	done := []string{}
	var failed error
	for _, name := range names {
		switch err := f(name); {
		case err == nil:
			done = append(done, name)
		case len(names) == 1 || ctx.Err() != nil:
			return err
		default:
			fmt.Fprintf(g.process.Stderr, "lorimer: %v\n", err)
			failed = &exitError{code: exitFailed} // it has been told
		}
	}
	if g.json(cmd) {
		return errors.Join(printJSON(cmd.OutOrStdout(), report(done)), failed)
	}
	return failed
}

// printMade prints the id of something that was made.
func (g *globals) printMade(cmd *cobra.Command, what, id string) error {
	if g.json(cmd) {
		return printJSON(cmd.OutOrStdout(), map[string]any{what: id})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), id)
	return err
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
