//go:build unix

package local

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// A guard is a process that ends a command's group when this process has died
// without doing so, as it does when an editor kills it. It waits, in a session
// of its own, for the end of a pipe whose other end only we hold.
type guard struct {
	cmd  *exec.Cmd
	hold *os.File
}

// wait is what a guard does: a line tells it that its work is not needed.
const wait = `read -r line; [ "$line" = done ] || kill -s KILL -- "-$1"`

// newGuard starts a guard over the group of a leader. Where there is no shell for
// it the command runs without one.
func newGuard(leader int) *guard {
	in, hold, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer in.Close()
	cmd := exec.Command("/bin/sh", "-c", wait, "sh", strconv.Itoa(leader))
	cmd.Dir = "/"
	cmd.Env = []string{}
	cmd.Stdin = in
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		hold.Close()
		return nil
	}
	return &guard{cmd, hold}
}

// dismiss ends the guard, whose command has ended.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	io.WriteString(g.hold, "done\n") // one that has gone hears nothing and does nothing
	g.hold.Close()
	g.cmd.Wait() // its exit code says nothing
}
