//go:build unix

package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// running reports whether a process has the id. One of another user does too.
func running(id int) bool { return !errors.Is(unix.Kill(id, 0), unix.ESRCH) }
