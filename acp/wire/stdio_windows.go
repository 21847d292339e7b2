package wire

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// Stdio takes standard input and output for the protocol alone, and returns
// them with standard error, where the log goes (R-ACP-08). The standard output of
// the process becomes standard error, so that a stray print goes to the log.
// Stdio is meant for the main package, which calls it once, before anything else
// is started.
func Stdio() (in io.Reader, out, log *os.File, err error) {
	out = os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, nil, fmt.Errorf("replacing standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return os.Stdin, out, os.Stderr, nil
}

// HungUp reports whether w is known to have lost its reader, which a pipe of
// this system does not tell before it is written to.
func HungUp(io.Writer) bool { return false }
