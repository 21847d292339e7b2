// Command lorimer harnesses a language model for editors, over the Agent
// Client Protocol on standard input and output, and for the shell.
package main

import (
	"os"

	"github.com/lorimer-dev/lorimer/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(cli.Process{
		Args:    os.Args[1:],
		Environ: os.Environ(),
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
	}))
}
