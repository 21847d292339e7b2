//go:build linux || darwin

package store

import "golang.org/x/sys/unix"

// least is the room, in bytes, that a change may need beside what it writes.
const least = 128 << 10

// full reports whether the disk of dir has no room left for a change. The driver
// tells of a write that found none like of any that failed.
func full(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && uint64(s.Bavail)*uint64(s.Bsize) < least
}
