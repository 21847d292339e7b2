//go:build unix && !linux

package stdio

import (
	"os/exec"
	"syscall"
)

// isolate gives the program a session of its own, so that it has no terminal to ask
// at and can be ended as a whole.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// await waits until the program has ended.
func await(cmd *exec.Cmd) {
	_ = cmd.Wait() // the state says all
}
