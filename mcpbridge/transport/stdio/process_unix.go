//go:build unix

package stdio

import (
	"os"

	"golang.org/x/sys/unix"
)

// A group ends when the last of its processes does, and signals go to all of them.
// They fail when it has ended, which is what their sender wants.

func terminate(p *os.Process) { unix.Kill(-p.Pid, unix.SIGTERM) }

func kill(p *os.Process) { unix.Kill(-p.Pid, unix.SIGKILL) }

// errNoExec is for a file that the system does not know how to run.
const errNoExec = unix.ENOEXEC
