//go:build !linux && !darwin

package store

// full reports whether the disk of dir has no room left, which nobody can tell
// here.
func full(string) bool { return false }
