//go:build unix

package wire

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Stdio takes standard input and output for the protocol alone, and returns
// them with standard error, where the log goes (R-ACP-08). File descriptor 1
// becomes standard error, so that a stray print of a library or a child goes to
// the log, and file descriptor 0 becomes the null device, so that none of them
// eats a byte of a request. [os.Stdout] and [os.Stderr] become log.
//
// A write to out or to log without a reader is an error. Of the descriptors 1 and
// 2 it would be a signal that ends the process, which is why both are others.
//
// in has a Close that ends a Read under way, and a Read ends with [ErrClosed]
// when the reader of out is known to be gone: an agent that has nothing to say
// would not notice otherwise. Stdio is meant for the main
// package, which calls it once, before anything else is started.
func Stdio() (in io.Reader, out, log *os.File, err error) {
	var fds [3]int
	for fd := range fds {
		if fds[fd], err = aside(fd); err != nil {
			return nil, nil, nil, fmt.Errorf("keeping file descriptor %d aside: %w", fd, err)
		}
	}
	if err := replaceStdio(); err != nil {
		return nil, nil, nil, err
	}
	input, err := newInput(fds[0], fds[1])
	if err != nil {
		return nil, nil, nil, fmt.Errorf("preparing standard input: %w", err)
	}
	input.replaced = [...]*os.File{os.Stdout, os.Stderr}
	out, log = os.NewFile(uintptr(fds[1]), "stdout"), os.NewFile(uintptr(fds[2]), "stderr")
	os.Stdout, os.Stderr = log, log
	return input, out, log, nil
}

// replaceStdio takes the protocol away from the descriptors 0 and 1.
func replaceStdio() error {
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	defer unix.Close(null) // nothing was written to it
	if err := unix.Dup2(null, 0); err != nil {
		return fmt.Errorf("replacing standard input: %w", err)
	}
	if err := unix.Dup2(2, 1); err != nil {
		return fmt.Errorf("replacing standard output: %w", err)
	}
	return nil
}

// aside returns another descriptor of what fd is, which children do not get.
func aside(fd int) (int, error) {
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
}

// An input reads from a descriptor in blocking mode, whose file may be shared
// with other processes and so is left in that mode, and can be closed
// nevertheless while a Read is under way.
type input struct {
	fd   int
	wake *os.File // the writing end of a pipe; its end wakes Read
	woke *os.File // the reading end

	poll [3]unix.PollFd // the input, woke and the output; belongs to Read

	// What os.Stdout and os.Stderr were. A file that nothing refers to any more
	// closes its descriptor, and these are 1 and 2.
	replaced [2]*os.File
}

// newInput returns the input fd, which ends when the reader of the output out is
// gone.
func newInput(fd, out int) (*input, error) {
	woke, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in := &input{fd: fd, wake: wake, woke: woke}
	in.poll = [3]unix.PollFd{
		{Fd: int32(fd), Events: unix.POLLIN},
		{Fd: int32(woke.Fd()), Events: unix.POLLIN},
		{Fd: int32(out)}, // errors are told without being asked for
	}
	return in, nil
}

// Read reads into p, from one goroutine at a time.
func (in *input) Read(p []byte) (int, error) {
	for {
		_, err := unix.Poll(in.poll[:], -1)
		switch {
		case err == nil && in.poll[1].Revents != 0:
			return 0, os.ErrClosed
		case err == nil && lost(in.poll[2]):
			return 0, fmt.Errorf("%w: the output has no reader", ErrClosed)
		}
		n := 0
		if err == nil {
			n, err = unix.Read(in.fd, p)
		}
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
			continue
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Close ends a Read that is under way, and all later ones. The descriptor stays
// open, for it may be in use.
func (in *input) Close() error { return in.wake.Close() }

// HungUp reports whether w is known to have lost its reader.
func HungUp(w io.Writer) bool {
	f, ok := w.(syscall.Conn)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = conn.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(fds, 0)
		gone = err == nil && lost(fds[0])
	})
	return err == nil && gone
}

// lost reports whether the other end of an output that was polled is gone. Some
// systems cannot poll a device and say that it is invalid, which tells nothing.
func lost(p unix.PollFd) bool { return p.Revents&(unix.POLLERR|unix.POLLHUP) != 0 }
