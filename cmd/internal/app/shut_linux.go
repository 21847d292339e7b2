package app

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// shut keeps the memory and the environment of this process from other programs
// of the same user, the commands of the model among them: what is kept out of
// their environment, such as the keys of providers, could be read from ours.
func shut() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("setting dumpable: %w", err)
	}
	return nil
}
