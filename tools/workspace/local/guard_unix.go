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

// wait is what a guard does: a line names the group, another one says that there
// is nothing to do.
const wait = `read -r leader && [ "$leader" != done ] || exit
read -r line; [ "$line" = done ] || kill -s KILL -- "-$leader"`

// newGuard starts a guard. It is there before the command, since whoever kills
// our group would take one that has not left it yet. Where there is no shell for
// it the command runs without one.
func newGuard() *guard {
	in, hold, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer in.Close()
	cmd := exec.Command("/bin/sh", "-c", wait)
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

// over tells the guard the leader of the group that it is over. A guard that has
// gone hears nothing and does nothing.
func (g *guard) over(leader int) {
	if g != nil {
		io.WriteString(g.hold, strconv.Itoa(leader)+"\n")
	}
}

// dismiss ends the guard, whose command has ended or has not begun.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	io.WriteString(g.hold, "done\n")
	g.hold.Close()
	g.cmd.Wait() // its exit code says nothing
}
