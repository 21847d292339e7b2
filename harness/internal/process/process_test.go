package process

import (
	"os"
	"os/exec"
	"testing"
)

// child starts this program once more, with nothing to do but to wait for the end
// of its input, and returns how to end it.
func child(t *testing.T) (Process, *exec.Cmd) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), "PROCESS_TEST_CHILD=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // may be closed already
		_ = cmd.Wait() // may have been waited for
	})
	p := Self()
	p.ID, p.Started = cmd.Process.Pid, ""
	return p, cmd
}

func TestChild(t *testing.T) {
	if os.Getenv("PROCESS_TEST_CHILD") == "" {
		t.Skip("only as the child of another test")
	}
	buf := make([]byte, 1)
	if n, _ := os.Stdin.Read(buf); n != 0 {
		t.Error("there was input")
	}
}

func TestDead(t *testing.T) {
	self := Self()
	if self.Place == "" || self.Host == "" {
		t.Skip("the system does not tell processes apart")
	}
	ended, cmd := child(t)
	if ended.Dead() {
		t.Error("a running process is dead")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child was not killed")
	}
	with := func(p Process, change func(*Process)) Process {
		change(&p)
		return p
	}
	tests := []struct {
		name string
		p    Process
		want bool
	}{
		{"this process", self, false},
		{"this process, its start unknown", with(self, func(p *Process) { p.Started = "" }), false},
		{"an earlier process with the id of this one", with(self, func(p *Process) { p.Started = "1" }), self.Started != ""},
		{"one that has ended", ended, true},
		{"one of another host", with(ended, func(p *Process) { p.Host += "x" }), false},
		{"one of another place", with(ended, func(p *Process) { p.Place += "x" }), false},
		{"one whose place is unknown", with(ended, func(p *Process) { p.Place = "" }), false},
		{"one without an id", with(ended, func(p *Process) { p.ID = 0 }), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.p.Dead(); got != tt.want {
				t.Errorf("Dead() = %v, want %v", got, tt.want)
			}
		})
	}
}
