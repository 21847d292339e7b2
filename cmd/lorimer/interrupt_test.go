//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
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

// ends waits for the end of a command, which a test that fails does not wait for
// without end, and returns the exit code.
func ends(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Wait() // how it ended is in its state
	return cmd.ProcessState.ExitCode()
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
	if code := ends(t, cmd); code != 130 || stderr.Len() > 0 {
		t.Errorf("exit code %d and on standard error %q, want 130 and nothing", code, stderr)
	}
}

// R-ACP-05: a signal ends the agent also while something does not hear of its
// cancellation: here the reading of a script that never comes.
func TestSignalWhileStuck(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "script")
	if err := syscall.Mkfifo(script, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := command(t, "acp", "--model", "script:"+script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"_meta":{"lorimer.dev":{"sessionId":"s"}}}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"x"}]}}
`, cmd.Dir)
	f, err := os.OpenFile(script, os.O_WRONLY, 0) // waits for the prompt
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d, want 0; standard error:\n%s", code, stderr)
	}
}

// R-ACP-05: a signal ends an agent in order that nobody has spoken to.
func TestSignalBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	cmd, _ := command(t, "acp", "--log-level", "debug")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd.Stderr = nil
	diag, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewScanner(diag)
	for log.Scan() && !strings.Contains(log.Text(), "nobody has spoken yet") {
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if code := ends(t, cmd); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// A signal that comes twice, from the terminal and from a launcher that passes it
// on, does not keep the program from ending what it has started.
func TestInterruptTwice(t *testing.T) {
	t.Parallel()
	// The command says so when it is asked to end, and goes on, so that the second
	// signal finds the program waiting for it.
	cmd, stderr := command(t, "tools", "call", "bash",
		`{"command":"trap 'echo asked' TERM; exec >up; echo up; while :; do sleep 600 & wait; done"}`, "--mode", "auto")
	path := filepath.Join(cmd.Dir, "up")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up, err := os.Open(path) // waits for the command
	if err != nil {
		t.Fatal(err)
	}
	defer up.Close()
	if err := up.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Error(err)
	}
	said := bufio.NewReader(up)
	for _, want := range []string{"up\n", "asked\n"} {
		if line, err := said.ReadString('\n'); line != want {
			t.Fatalf("the command said %q (%v), want %q", line, err, want)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	if code := ends(t, cmd); code != 130 || stderr.Len() > 0 {
		t.Errorf("exit code %d and on standard error %q, want 130 and nothing", code, stderr)
	}
	if _, err := io.ReadAll(said); err != nil {
		t.Errorf("a command has survived: %v", err)
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
