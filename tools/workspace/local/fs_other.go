//go:build !unix

package local

import "io/fs"

// nonblock is not needed where opening does not wait.
const nonblock = 0

func hardLinked(fs.FileInfo) bool { return false }

func sameOwner(_, _ fs.FileInfo) bool { return true }
