package cli

import (
	"os/exec"
	"syscall"
)

// detach keeps a program out of what this console interrupts.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
