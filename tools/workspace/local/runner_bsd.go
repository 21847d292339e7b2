//go:build unix && !linux

package local

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives the command a session of its own, so that it has no terminal to
// ask at (C077) and can be ended as a whole.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func (p processes) alive() bool { return unix.Kill(-p.leader, 0) == nil }

// signal fails when the group is gone, which is what its caller wants.
func (p processes) signal(s unix.Signal) { unix.Kill(-p.leader, s) }
