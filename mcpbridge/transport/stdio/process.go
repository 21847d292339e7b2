package stdio

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

const (
	// grace is how long each step of a polite end takes at most.
	grace = 2 * time.Second

	// lag is how long the end of the output may be behind that of a program that has
	// left nothing behind.
	lag = 100 * time.Millisecond

	// drain is how long output is read after the end of a program while something
	// that it started keeps it open.
	drain = 300 * time.Millisecond

	// mute is how long a program may live on without its output.
	mute = 500 * time.Millisecond

	// reaping is how long it takes at most from the kill until everything is gone.
	reaping = 2 * time.Second
)

// A process is a program, the processes that it started, and the pipes to it.
type process struct {
	cmd          *exec.Cmd
	in, out, err *os.File
	stderr       *tail
	exited       chan struct{} // closed when the program has ended

	mu      sync.Mutex // guards the fields below
	reaped  bool       // its number may be another's
	cause   error      // why it was ended by this side
	leaving bool       // it is to end by itself
}

// startProcess starts the program at path.
func startProcess(path string, o Options) (*process, error) {
	p := &process{
		cmd: &exec.Cmd{
			Path: path, Args: append([]string{o.Command}, o.Args...), Dir: o.Dir,
			Env: append([]string{}, o.Env...), // nil would be all that this process has
		},
		stderr: &tail{secrets: newSecrets(o.Secrets)},
		exited: make(chan struct{}),
	}
	isolate(p.cmd)
	theirs, err := p.pipes()
	if err == nil {
		started := make(chan error, 1)
		go p.run(started) // tend waits for it
		err = <-started
	}
	closeAll(theirs)
	if err != nil {
		p.close()
		return nil, startError(path, o, err)
	}
	return p, nil
}

// pipes makes the pipes and returns the ends of the program. They are files, so that
// waiting for the program never means waiting for what is read from them.
func (p *process) pipes() (theirs []*os.File, err error) {
	open := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	in, ours := open()
	p.in = ours
	ours, out := open()
	p.out = ours
	ours, errs := open()
	p.err = ours
	if err != nil {
		err = fmt.Errorf("opening a pipe: %w", err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	return []*os.File{in, out, errs}, err
}

// close closes the ends of this side.
func (p *process) close() { closeAll([]*os.File{p.in, p.out, p.err}) }

// closeAll closes files; nil is none.
func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the input may be closed before, and none holds what is lost
	}
}

// run starts the program and waits for its end. Where the system tells a child of the
// death of its parent, the parent is the thread that started it, which therefore must
// last as long as the child.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	await(p.cmd)
	close(p.exited)
}

// tend reads the output with read until the program is gone, and what it has started.
// It returns why.
func (p *process) tend(read func(io.Reader)) *transport.GoneError {
	output := begin(func() { read(p.out) })
	words := begin(func() { listen(p.err, p.stderr) })
	select {
	case <-p.exited:
	case <-output:
		p.last()
	}
	left := !within(lag, output)
	p.clear(output, words)
	p.reap()
	p.close()
	return p.gone(left)
}

// gone returns how and why the program has ended; left tells that something was left
// behind.
func (p *process) gone(left bool) *transport.GoneError {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone := &transport.GoneError{Cause: p.cause, Stderr: p.stderr.String()}
	if state := p.cmd.ProcessState; state != nil {
		gone.State = state.String()
		if gone.Cause == nil && left && state.Success() {
			gone.Cause = errLeft
		}
	}
	return gone
}

// listen copies what r has, with less memory than [io.Copy] holds all the while.
func listen(r io.Reader, t *tail) {
	buf := make([]byte, 2<<10)
	for {
		n, err := r.Read(buf)
		t.Write(buf[:n])
		if err != nil {
			return
		}
	}
}

// begin runs f and returns what is closed when it has returned.
func begin(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

// last waits for the end of a program that has closed its output.
func (p *process) last() {
	wait := mute
	if p.isLeaving() {
		wait = grace // it is to be killed by those who want it to leave
	}
	if !within(wait, p.exited) {
		p.end(errOutput)
	}
	<-p.exited
}

// clear ends what the program has left behind, and what reads its output.
func (p *process) clear(output, words <-chan struct{}) {
	p.signal(terminate)
	wait := drain
	if p.isLeaving() {
		wait = grace
	}
	within(wait, output, words)
	p.signal(kill)
	if !within(drain, output, words) { // something has left the group and holds them
		past := time.Unix(1, 0)
		p.out.SetReadDeadline(past)
		p.err.SetReadDeadline(past)
		within(drain, output, words) // no system that has deadlines needs that long
	}
}

// within waits until all of done are closed, at most for d, and reports whether they
// are.
func within(d time.Duration, done ...<-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for _, c := range done {
		select {
		case <-c:
		case <-t.C:
			return false
		}
	}
	return true
}

// reap lets the system forget the program, whose number is free then.
func (p *process) reap() {
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	_ = p.cmd.Wait() // an exit code other than 0 is an error too; the state says all
}

// end kills the program and its group, unless it has ended by itself. The first cause
// counts.
func (p *process) end(cause error) {
	select {
	case <-p.exited:
		return
	default:
	}
	p.mu.Lock()
	if p.cause == nil {
		p.cause = cause
	}
	p.mu.Unlock()
	p.signal(kill)
}

// signal sends a signal to the group, unless that can have become another one.
func (p *process) signal(send func(*os.Process)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		send(p.cmd.Process)
	}
}

// leave waits for the end of the program, whose input is closed, and of its group: it
// is asked to end after a while, and killed after another, or when ctx ends. Done is
// closed when tend has returned; leave reports whether that came to be.
func (p *process) leave(ctx context.Context, done <-chan struct{}) bool {
	p.mu.Lock()
	p.leaving = true
	if p.cause == nil {
		p.cause = errClosed
	}
	p.mu.Unlock()
	step := grace
	if end, ok := ctx.Deadline(); ok {
		step = min(step, time.Until(end)*2/5) // the rest is for the kill
	}
	for _, send := range []func(*os.Process){terminate, kill} {
		if soon(ctx, step, done) {
			return true
		}
		p.signal(send)
	}
	return within(reaping, done)
}

// soon waits until done is closed, at most for d and until ctx ends, and reports
// whether it is.
func soon(ctx context.Context, d time.Duration, done <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *process) isLeaving() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.leaving
}
