//go:build unix

package local

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// shellCommand returns the command that runs line.
func shellCommand(line string) *exec.Cmd { return exec.Command(Shell(), "-c", line) }

// Shell returns the path of what runs commands.
func Shell() string {
	shell := "/bin/bash"
	if _, err := os.Stat(shell); err != nil {
		if shell, err = exec.LookPath("bash"); err != nil {
			shell = "/bin/sh"
		}
	}
	return shell
}

func exitOf(s *os.ProcessState) workspace.Exit {
	e := workspace.Exit{Code: s.ExitCode()}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		e.Signal = unix.SignalName(w.Signal())
	}
	return e
}

// processes are a shell and what it started.
type processes struct {
	leader int    // of the session and of its first group
	mark   string // in the environment of all; "" looks only at the session
}

// end ends those that still run: politely, after grace by force. It returns
// when they are gone, or after another second for those that the kernel does
// not let go or that belong to somebody else.
func (p processes) end(grace time.Duration) {
	if !p.alive() {
		return
	}
	p.signal(unix.SIGTERM)
	p.signal(unix.SIGCONT) // a stopped process would not hear it
	if p.gone(grace) {
		return
	}
	p.signal(unix.SIGKILL)
	p.gone(time.Second)
}

// gone waits for the end of all, at most for d.
func (p processes) gone(d time.Duration) bool { return until(d, func() bool { return !p.alive() }) }

// until asks until the answer is yes, at most for d, and returns the last answer.
// To ask may take long, on a machine with many processes: it is d that counts and
// not how often was asked, and it is asked less and less often.
func until(d time.Duration, yes func() bool) bool {
	end := time.Now().Add(d)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if yes() {
			return true
		}
		left := time.Until(end)
		if left <= 0 {
			return false
		}
		time.Sleep(min(wait, left))
	}
}
