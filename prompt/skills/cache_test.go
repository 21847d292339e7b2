package skills

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/lorimer-dev/lorimer/prompt"
)

// What a client has sent for a session is looked at once, and again only where it
// says something else (R-PROMPT-45).
func TestWireIsReadOnce(t *testing.T) {
	lib := new(Library)
	p := Places{Wire: []prompt.Skill{
		{Name: "a", Description: "For a.", Instruction: "Do\u200b a."},
		{Name: "b", Description: "For b.", Instruction: "Do\u200b b."},
		{Name: "Bad Name", Description: "For c.", Instruction: "Do c."},
	}}
	text := func() (out []*byte) {
		t.Helper()
		found, problems := lib.Find(p)
		if len(found) != 4 || found[0].Name != "a" || found[1].Name != "b" || len(problems) != 3 { // with the built-in ones
			t.Fatalf("Find = %+v, %q", found, problems)
		}
		return []*byte{unsafe.StringData(found[0].Instruction), unsafe.StringData(found[1].Instruction)}
	}
	first, again := text(), text()
	if first[0] != again[0] || first[1] != again[1] {
		t.Error("skills of the client are revealed anew")
	}
	p.Wire[1].Instruction = "Do\u200b more."
	if changed := text(); changed[0] != first[0] || changed[1] == first[1] {
		t.Errorf("after the second has changed: %p %p, want the first as it was and another second: %p %p", changed[0], changed[1], first[0], first[1])
	}
}

// Skills of sessions that are gone are not kept without end.
func TestWireIsForgotten(t *testing.T) {
	lib := new(Library)
	for i := range 10 {
		var p Places
		for j := range 5 {
			p.Wire = append(p.Wire, prompt.Skill{Name: fmt.Sprintf("a-%d-%d", i, j), Description: "For a.", Instruction: strings.Repeat("y", 1<<20)})
		}
		lib.Find(p)
		if n := len(lib.sent); n > 5+maxSent>>20 {
			t.Fatalf("%d skills of 1 MiB are kept after %d rounds", n, i+1)
		}
	}
}

// BenchmarkWire is what a send pays for 500 skills of a client.
func BenchmarkWire(b *testing.B) {
	lib := new(Library)
	var p Places
	for i := range 500 {
		p.Wire = append(p.Wire, prompt.Skill{Name: fmt.Sprintf("a-%d", i), Description: "For a.", Instruction: strings.Repeat("Do it.\n", 3600) + fmt.Sprint(i)})
	}
	lib.Find(p)
	for b.Loop() {
		lib.Find(p)
	}
}
