//go:build unix

package store_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// cpu returns the time that this process has computed for.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
