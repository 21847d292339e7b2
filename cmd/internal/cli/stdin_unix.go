//go:build unix

package cli

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ready reports whether f has something to read, or has ended, within d.
func ready(f *os.File, d time.Duration) bool {
	end := time.Now().Add(d)
	for {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(0, time.Until(end)).Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		return err == nil && n > 0
	}
}
