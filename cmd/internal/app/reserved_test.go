package app

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt/skills"
)

// The names that no skill can have are those of the commands of a session, which the
// package of skills cannot ask for. compact is kept free for a command to come.
func TestReservedNames(t *testing.T) {
	m := newMachine(t, Apart, "[skills]\ndisabled = [\"*\"]\n") // skills are listed as commands too
	w, err := m.Workspace(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s, err := m.Engine().Open(t.Context(), harness.Spec{FS: w.FS, Runner: w.Runner})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"compact"}
	for _, c := range s.Commands() {
		want = append(want, c.Name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(slices.Compact(want), skills.Reserved()); diff != "" {
		t.Errorf("names that no skill can have (-commands +reserved):\n%s", diff)
	}
}
