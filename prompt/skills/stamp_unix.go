//go:build unix

package skills

import (
	"io/fs"
	"syscall"
)

// nonblock keeps the opening of a named pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// inode returns what tells a file from another one with the same name.
func inode(info fs.FileInfo) [2]uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return [2]uint64{uint64(st.Dev), uint64(st.Ino)}
	}
	return [2]uint64{}
}
