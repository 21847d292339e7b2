//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// command returns lorimer in a directory of its own, and what it will have
// written to standard error.
func command(t *testing.T, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	cmd, stderr = exec.Command("lorimer", args...), new(bytes.Buffer)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), raceOptions()}
	cmd.Stderr = stderr
	return cmd, stderr
}

// R-CMD-11: an interrupted command ends what it has started, and says by its exit
// code alone that it was interrupted.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	cmd, stderr := command(t, "tools", "call", "bash", `{"command":"echo up > up; sleep 600"}`, "--mode", "auto")
	up := filepath.Join(cmd.Dir, "up")
	if err := syscall.Mkfifo(up, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(up); err != nil { // waits for the command
		t.Error(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Error(err)
	}
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || stderr.Len() > 0 {
		t.Errorf("exit code %d (%v) and on standard error %q, want 130 and nothing", code, err, stderr)
	}
}

// The input of a tool is read whole or not at all.
func TestLongInput(t *testing.T) {
	t.Parallel()
	cmd, stderr := command(t, "tools", "call", "read", "-")
	cmd.Stdin = strings.NewReader(`{"path":"f"}` + strings.Repeat(" ", 16<<20))
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stderr.String(), "more than 16 MiB") {
		t.Errorf("exit code %d (%v) and on standard error %q, want 2 and the limit", code, err, stderr)
	}
}
