package local

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// RunnerOptions tunes a runner. The zero value is right for most uses.
type RunnerOptions struct {
	Env   []string      // default: the environment of this process
	Drop  []string      // names of variables that commands must not see, such as the keys of providers (C133)
	Login *LoginPath    // asked for PATH before the first command; nil leaves PATH alone
	Grace time.Duration // from the polite signal to the kill; default 1s
	Drain time.Duration // how long output is still read after the shell has ended; default 300ms
}

// A Runner runs commands as children of this process, each in a session of its
// own without a terminal, and with nothing to read. It is safe for concurrent
// use.
type Runner struct{ o RunnerOptions }

// NewRunner returns a runner.
func NewRunner(o RunnerOptions) *Runner {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Grace = cmp.Or(o.Grace, time.Second)
	o.Drain = cmp.Or(o.Drain, 300*time.Millisecond)
	return &Runner{o: o}
}

// Run runs c with bash, or the system's shell where there is no bash. It keeps
// the contract of [workspace.Runner], and calls c.Output from one goroutine at
// a time and never after it has returned. When ctx ends the commands get a
// polite signal and then a kill, and Run returns ctx's error with the exit.
func (r *Runner) Run(ctx context.Context, c workspace.Command) (workspace.Exit, error) {
	if err := ctx.Err(); err != nil {
		return workspace.Exit{Code: -1}, err
	}
	env, mark := r.env(ctx)
	cmd := shellCommand(c.Line)
	cmd.Dir = c.Dir
	cmd.Env = env
	return r.run(ctx, cmd, mark, c)
}

func (r *Runner) run(ctx context.Context, cmd *exec.Cmd, mark string, c workspace.Command) (workspace.Exit, error) {
	out, in, err := os.Pipe()
	if err != nil {
		return workspace.Exit{Code: -1}, fmt.Errorf("opening pipe: %w", err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = in, in // one pipe keeps the order
	isolate(cmd)

	g := newGuard()
	defer g.dismiss()
	// Where the system ends a child with its parent, the parent is the thread
	// that started it, which therefore must last as long as the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err = cmd.Start()
	in.Close()
	if err != nil {
		return workspace.Exit{Code: -1}, fmt.Errorf("starting shell: %w", err)
	}
	g.over(cmd.Process.Pid)
	read := make(chan struct{})
	go func() {
		defer close(read)
		copyOutput(out, c.Output)
	}()
	ended := make(chan *os.ProcessState, 1)
	go func() {
		cmd.Wait() // an exit code other than 0 is an error too; the state says all
		ended <- cmd.ProcessState
	}()

	p := processes{leader: cmd.Process.Pid, mark: mark}
	exit, err := r.await(ctx, p, c.Timeout, ended, read)
	// All writers are gone, unless one got away to where nobody finds it.
	if !waitFor(read, r.o.Drain) {
		out.SetReadDeadline(time.Now()) // a pipe has deadlines, and a failed one only reads longer
	}
	<-read
	return exit, err
}

// await waits until the shell and what it started are gone, and sees to it. It
// returns ctx's error if ctx was the reason.
func (r *Runner) await(ctx context.Context, p processes, limit time.Duration, ended <-chan *os.ProcessState, read <-chan struct{}) (exit workspace.Exit, err error) {
	var expired <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		expired = t.C
	}
	select {
	case state := <-ended:
		select {
		case <-read:
		case <-ctx.Done():
		case <-time.After(r.o.Drain):
		}
		p.mark = "" // who left the session of a command that ended well meant to stay
		p.end(r.o.Grace)
		return exitOf(state), ctx.Err()
	case <-expired:
		exit.TimedOut = true
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.end(r.o.Grace)
	select {
	case state := <-ended:
		e := exitOf(state)
		exit.Code, exit.Signal = e.Code, e.Signal
	case <-time.After(time.Second):
		// It belongs to another user, or hangs in the kernel. The goroutine
		// that waits for it ends with it.
		exit.Code = -1
	}
	return exit, err
}

// waitFor reports whether c was closed within d.
func waitFor(c <-chan struct{}, d time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(d):
		return false
	}
}

// copyOutput reads until the end, an error or a deadline.
func copyOutput(f *os.File, output func([]byte)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(buf)
		if n > 0 && output != nil {
			output(buf[:n])
		}
		if err != nil {
			return
		}
	}
}
