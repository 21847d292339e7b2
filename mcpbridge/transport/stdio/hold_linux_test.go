package stdio_test

import (
	"os"
	"os/exec"
	"testing"
)

// A program ends with this process, also when that is killed and the program does not
// look at its input.
func TestProgramEndsWithItsParent(t *testing.T) {
	log := t.TempDir() + "/log"
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), "STDIO_TEST_HOLDS="+log)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the process that holds the program: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	holder.Wait()
	c := &client{t: t, log: log}
	await(t, c.events()[0].PID)
	if !c.has("signal") {
		t.Errorf("the program was not asked to end: %+v", c.events())
	}
}
