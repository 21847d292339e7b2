package workspace

import (
	"context"
	"fmt"
	"time"
)

const (
	dirtyTimeout = 5 * time.Second

	// dirtyLine prints something when the work tree has changes. The monitor
	// that a repository may name is a program, and nobody has allowed it.
	dirtyLine = "git --no-optional-locks -c core.fsmonitor=false status --porcelain"
)

// Dirty returns a function that reports whether the git work tree which dir is
// in has changes that are not committed, files that git does not know included.
// Where there is no work tree, or no git, that is an error.
func Dirty(r Runner) func(ctx context.Context, dir string) (bool, error) {
	return func(ctx context.Context, dir string) (bool, error) {
		printed := false
		exit, err := r.Run(ctx, Command{
			Line:    dirtyLine,
			Dir:     dir,
			Timeout: dirtyTimeout,
			Output:  func([]byte) { printed = true },
		})
		switch {
		case err != nil:
			return false, fmt.Errorf("looking for changes: %w", err)
		case exit.Code != 0 || exit.TimedOut:
			return false, fmt.Errorf("looking for changes: git ended with code %d", exit.Code)
		}
		return printed, nil
	}
}
