//go:build unix

package files

import (
	"errors"
	"os"
)

// syncDir makes what was renamed into a directory durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
