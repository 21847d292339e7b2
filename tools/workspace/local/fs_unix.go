//go:build unix

package local

import (
	"io/fs"
	"syscall"
)

// nonblock keeps the opening of a pipe or a device from waiting.
const nonblock = syscall.O_NONBLOCK

// hardLinked reports whether the file has further names.
func hardLinked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// sameOwner reports whether a and b have the same user and group.
func sameOwner(a, b fs.FileInfo) bool {
	sa, okA := a.Sys().(*syscall.Stat_t)
	sb, okB := b.Sys().(*syscall.Stat_t)
	return !okA || !okB || sa.Uid == sb.Uid && sa.Gid == sb.Gid
}
