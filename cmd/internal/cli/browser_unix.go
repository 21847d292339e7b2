//go:build unix

package cli

import (
	"os/exec"
	"syscall"
)

// detach keeps a program out of what this terminal interrupts.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
