package process

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A process that was killed keeps its id until its parent has noticed.
func TestDeadBeforeItsParentNotices(t *testing.T) {
	p, cmd := child(t)
	p.Started, _ = started(p.ID)
	if p.Started == "" || p.Dead() {
		t.Fatalf("a running process started at %q and is dead: %v", p.Started, p.Dead())
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, p.ID, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if !p.Dead() {
		t.Error("a killed process is not dead")
	}
}
