package stdio

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives the program a session of its own, so that it has no terminal to ask
// at and can be ended as a whole. When this process dies without ending it, it is
// told, politely: it has something to end itself.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// await waits until the program has ended, and leaves it to be reaped: so long no
// other group can have its number.
func await(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}
