package local_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

const detached = `setsid sh -c 'echo $$ >> pids; echo part; exec sleep 1000' & wait`

func TestDetachedEndsWithTheCall(t *testing.T) {
	t.Parallel()
	t.Run("by time limit", func(t *testing.T) { endByLimit(t, detached) })
	t.Run("by cancel", func(t *testing.T) { endByCancel(t, detached) })
}

// A process that left the session with an environment of its own ends, too.
func TestStrangerEndsWithTheCall(t *testing.T) {
	t.Parallel()
	const stranger = `env -i setsid /bin/sh -c 'echo $$ >> pids; echo part; exec sleep 1000' & wait`
	t.Run("by time limit", func(t *testing.T) { endByLimit(t, stranger) })
	t.Run("by cancel", func(t *testing.T) { endByCancel(t, stranger) })
}

func TestDetachedStaysAfterSuccess(t *testing.T) {
	dir := t.TempDir()
	_, err := local.NewRunner(local.RunnerOptions{}).Run(t.Context(), workspace.Command{
		Line:    `setsid sh -c 'echo $$ > pids; exec sleep 1000' >/dev/null 2>&1 & while [ ! -s pids ]; do :; done`,
		Dir:     dir,
		Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids(t, filepath.Join(dir, "pids")) {
		if !running(pid) {
			t.Errorf("process %d was ended", pid)
		}
		syscall.Kill(pid, syscall.SIGKILL)
	}
}
