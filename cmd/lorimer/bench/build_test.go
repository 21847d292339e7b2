package main

import (
	"os/exec"
	"testing"
)

// TestWithoutStore: what stands in for the store has all that the program uses of
// it.
func TestWithoutStore(t *testing.T) {
	overlay, err := withoutStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-overlay", overlay, module+"cmd/internal/app").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
