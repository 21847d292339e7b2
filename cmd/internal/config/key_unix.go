//go:build unix

package config

import (
	"os/exec"
	"syscall"
)

// endWithChildren makes the end of cmd's context end its children too.
func endWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
