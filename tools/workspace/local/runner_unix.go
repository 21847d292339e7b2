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
func shellCommand(line string) *exec.Cmd {
	shell := "/bin/bash"
	if _, err := os.Stat(shell); err != nil {
		if shell, err = exec.LookPath("bash"); err != nil {
			shell = "/bin/sh"
		}
	}
	return exec.Command(shell, "-c", line)
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
func (p processes) gone(d time.Duration) bool {
	const step = 5 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	for range d/step + 1 {
		if !p.alive() {
			return true
		}
		<-tick.C
	}
	return !p.alive()
}
