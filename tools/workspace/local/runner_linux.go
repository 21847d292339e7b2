package local

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolate gives the command a session of its own, so that it has no terminal to
// ask at (C077) and can be ended as a whole, and lets it end with this process.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

func (p processes) alive() bool { return len(p.list()) > 0 }

func (p processes) signal(s unix.Signal) {
	unix.Kill(-p.leader, s) // fails when the group is gone, which is what we want
	for _, pid := range p.list() {
		if pid != p.leader {
			unix.Kill(pid, s)
		}
	}
}

// list returns the processes that run. A process that has ended and waits for
// its parent to notice does not count: some parents never do.
func (p processes) list() []int {
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		if unix.Kill(-p.leader, 0) == nil {
			return []int{p.leader}
		}
		return nil
	}
	var pids []int
	for _, d := range dirs {
		if pid, err := strconv.Atoi(d.Name()); err == nil && p.has(filepath.Join("/proc", d.Name())) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// has reports whether the process with that directory under /proc is one of p.
func (p processes) has(dir string) bool {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return false // ended while we looked
	}
	// The name stands in brackets and may hold anything. After it come the
	// state, the parent, the group and the session.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 4 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return false
	}
	leader := strconv.Itoa(p.leader)
	if string(f[2]) == leader || string(f[3]) == leader {
		return true
	}
	if p.mark == "" {
		return false
	}
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+p.mark+"\x00"))
}
