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
	pids := p.list()        // before any ends, since a parent that has ended leads to no child
	unix.Kill(-p.leader, s) // fails when the group is gone, which is what we want
	for _, pid := range pids {
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
	children := map[int][]int{}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		parent, has := p.has(filepath.Join("/proc", d.Name()))
		if has {
			pids = append(pids, pid)
		} else {
			children[parent] = append(children[parent], pid)
		}
	}
	if p.mark == "" {
		return pids
	}
	// A child may have left the session with an environment of its own.
	for i := 0; i < len(pids); i++ {
		pids = append(pids, children[pids[i]]...)
	}
	return pids
}

// has reports whether the process with that directory under /proc is one of p,
// and which process is its parent, 0 if it does not run.
func (p processes) has(dir string) (parent int, has bool) {
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, false // ended while we looked
	}
	// The name stands in brackets and may hold anything. After it come the
	// state, the parent, the group and the session.
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 4 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return 0, false
	}
	if parent, err = strconv.Atoi(string(f[1])); err != nil {
		return 0, false
	}
	leader := strconv.Itoa(p.leader)
	if string(f[2]) == leader || string(f[3]) == leader {
		return parent, true
	}
	if p.mark == "" {
		return parent, false
	}
	env, err := os.ReadFile(filepath.Join(dir, "environ"))
	return parent, err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+p.mark+"\x00"))
}
