//go:build !linux

package store_test

import "errors"

// keepOnFullDisk needs a disk that only Linux lets a test make.
func keepOnFullDisk(string) error { return errors.ErrUnsupported }
