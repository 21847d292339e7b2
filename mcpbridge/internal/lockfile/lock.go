// Package lockfile lets one program at a time have a file: what it reads and writes back
// is not written by another in between.
package lockfile

import (
	"context"
	"errors"
	"os"
	"time"
)

// lockPause is how long somebody who waits for a lock looks away.
const lockPause = 20 * time.Millisecond

// errLocked tells that somebody else has the lock of a file.
var errLocked = errors.New("it is locked")

// Lock waits until nobody else holds the lock of path, in this program or another,
// and returns what gives it back. A program that ends gives back what it holds. On a
// file system without locks everybody gets it.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := tryLock(path)
		if err == nil {
			return func() {
				os.Remove(path) // before others may have it, and only for tidiness
				f.Close()
			}, nil
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// tryLock returns the file that holds the lock until it is closed.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	// Who had it before has taken the file away, and others may hold a new one.
	held, err := f.Stat()
	if err != nil {
		f.Close() // nothing was written
		return nil, err
	}
	if there, err := os.Stat(path); err != nil || !os.SameFile(held, there) {
		f.Close() // nothing was written
		return nil, errLocked
	}
	return f, nil
}
