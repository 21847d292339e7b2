// Package cli is the command line: one file per command, each of which reads
// its flags, asks [app] for what it needs and prints.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Process is what the operating system gave to this one.
type Process struct {
	Args    []string // without the program's name
	Environ []string // KEY=value
	Stdin   *os.File
	Stdout  io.Writer
	Stderr  io.Writer
}

// Exit codes, as documented in `lorimer help exit-codes` (R-CMD-11).
const (
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitBudget      = 4
	exitInterrupted = 130
)

// An exitError ends the program with a code. Without a cause nothing is printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef returns a mistake of the user in calling the program.
func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// Main runs the command line and returns the exit code.
func Main(p Process) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := newSignals(cancel)
	defer signals.stop()
	root := newRoot(p, signals)
	root.SetArgs(p.Args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	exit, ok := errors.AsType[*exitError](err)
	switch {
	case !ok && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return exitInterrupted // who stopped it knows why
	case !ok:
		exit = &exitError{exitFailed, err}
	case exit.err == nil:
		return exit.code
	}
	fmt.Fprintf(p.Stderr, "lorimer: %s\n", tools.Visible(strings.TrimSpace(exit.Error())))
	return exit.code
}

// newRoot builds the tree of commands. It sets none of cobra's templates: with
// text/template, which calls methods by their names, the linker would have to keep
// every method there is, in a program that is a fifth larger and starts later.
func newRoot(p Process, signals *signals) *cobra.Command {
	g := &globals{process: p, signals: signals}
	asked := false // for the version
	root := &cobra.Command{
		Use:           "lorimer",
		Short:         "An agent server that editors and other programs harness a language model with",
		Long:          text("root"),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked {
				return printVersion(cmd.OutOrStdout())
			}
			if len(args) > 0 {
				return usagef("no command %q; try \"lorimer help\"", args[0])
			}
			if isTerminal(p.Stdin) {
				return cmd.Help()
			}
			return serve(cmd.Context(), g)
		},
		PersistentPreRun: func(*cobra.Command, []string) { signals.listen() },
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; try \"%s --help\"", unread(err), cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelp(root))
	g.flags(root)
	root.AddCommand(newACP(g))
	if len(p.Args) > 0 && p.Args[0] == "acp" {
		// An editor waits for this command each time that it starts: it is not
		// kept waiting for the others.
		root.CompletionOptions.DisableDefaultCmd = true
		return root
	}
	root.Flags().BoolVarP(&asked, "version", "v", false, "version for lorimer") // many try it first
	root.AddCommand(
		newRun(g), newSession(g), newPrompt(g), newModels(g), newSkills(g), newProject(g), newWorkspace(g),
		newTools(g), newMCP(g), newConfig(g), newDoctor(g), newVersion(g),
		newTopic("exit-codes", "What the exit codes mean"),
		newTopic("configuration", "The configuration file, the environment and the flags"),
		newTopic("script", "The script model, for tests and demonstrations"),
	)
	return root
}

// unread says of a flag whose value cannot be read what it takes, where the error
// would name the function that tried.
func unread(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	what := ""
	switch kind := bad.GetFlag().Value.Type(); {
	case errors.Is(err, strconv.ErrRange):
		what = "a number of a possible size"
	case kind == "int":
		what = "a whole number"
	case kind == "bool":
		what = "true or false"
	default:
		return err
	}
	return fmt.Errorf("flag --%s: %q is not %s", bad.GetFlag().Name, bad.GetValue(), what)
}

// newHelp shows the help of a command or a topic.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND or TOPIC]",
		Short: "Help about a command or a topic",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("no help for %q; try \"lorimer help\"", strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// newTopic is a page of help without a command.
func newTopic(name, short string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: text(name)}
}

// isTerminal reports whether a person sits at f.
func isTerminal(f *os.File) bool { return f != nil && isatty.IsTerminal(f.Fd()) }
