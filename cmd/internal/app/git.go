package app

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// dirty reports whether the git work tree in dir has changes that are not
// committed. A directory without git has none to lose by it.
func dirty(ctx context.Context, dir string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "--no-optional-locks", "status", "--porcelain")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return false, fmt.Errorf("asking git for changes: %w", err)
	}
	return len(bytes.TrimSpace(out)) > 0, nil
}
