package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// names returns the names of commands without those of every session.
func names(cs []harness.Command) []string {
	var out []string
	for _, c := range cs[3:] {
		out = append(out, c.Name)
	}
	return out
}

func TestSkillsAreCommands(t *testing.T) { // R-ACP-14, C013
	f := newFixture()
	f.script.steps = []step{says("the model")}
	f.settings.facts.Skills = append(abc(),
		prompt.Skill{Name: "help", Description: "not the command", Instruction: "Help."},
		prompt.Skill{Name: "z", Description: "\n" + strings.Repeat("so  long ", 100)},
	)
	s := f.open(t)
	want := []harness.Command{
		{Name: "a", Description: "When to a", Hint: "message"},
		{Name: "b", Description: "When to b", Hint: "message"},
		{Name: "c", Description: "When to c", Hint: "message"},
		{Name: "z", Description: strings.Repeat("so long ", 12) + "s...", Hint: "message"},
	}
	if diff := cmp.Diff(want, s.Commands()[3:]); diff != "" {
		t.Errorf("commands of the skills (-want +got):\n%s", diff)
	}
	for _, text := range []string{"/a", "/a look at it", "/help me"} {
		if _, rec := ask(t, s, text); rec.text() != "the model" {
			t.Errorf("%q was answered with %q, want the model", text, rec.text())
		}
	}
	if _, rec := ask(t, s, "/help"); !strings.Contains(rec.text(), "- `/b message` When to b\n") {
		t.Errorf("help:\n%s", rec.text())
	}
}

func TestSkillSource(t *testing.T) { // R-TOOLS-24
	f := newFixture(toolstest.Echo("look"))
	f.settings.facts.Skills = abc()
	f.script.steps = []step{says("x")}
	var sc harness.Scope
	f.scopes = func(s harness.Scope) { sc = s }
	ask(t, f.open(t), "go")
	if got := sc.Skills.Names(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("names = %q", got)
	}
	if got, ok := sc.Skills.Skill("b"); !ok || got != "Do it as b says." {
		t.Errorf("skill b = %q, %v", got, ok)
	}
	if got, ok := sc.Skills.Skill("d"); ok {
		t.Errorf("skill d = %q", got)
	}
	if got, err := sc.Skills.File("b", "more.md"); err != nil || got != "the file more.md of b" {
		t.Errorf("file = %q, %v", got, err)
	}
	if _, err := sc.Skills.File("d", "more.md"); err == nil || !strings.Contains(err.Error(), `"d"`) {
		t.Errorf("file of a skill that is not there: %v", err)
	}
}

func TestChangesOfSkillsAreTold(t *testing.T) { // R-ACP-14
	f := newFixture()
	f.settings.facts.Skills = abc()
	f.script.steps = []step{says("x")}
	var s *harness.Session
	var got []string
	s = f.open(t, func(sp *harness.Spec) {
		sp.Changed = func() { got = append(got, strings.Join(names(s.Commands()), " ")) }
	})
	f.settings.change() // nothing is another
	ask(t, s, "one")
	f.settings.facts.Skills = abc()[:2]
	f.settings.change()
	f.settings.change()
	f.settings.facts.Skills[0].Instruction = "other" // which no list shows
	f.settings.change()
	f.settings.facts.Skills = abc()[2:] // nobody has noticed before the next send
	ask(t, s, "two")
	ask(t, s, "three")
	f.settings.err = errDisk
	f.settings.change()
	f.settings.err = nil
	f.settings.facts.Skills = nil
	if _, err := s.Preview(t.Context()); err != nil { // looks and tells nothing
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a c", "b"}, got); diff != "" {
		t.Errorf("commands told (-want +got):\n%s", diff)
	}
}

// A session watches from its beginning to its end, once, and tells nothing after it.
func TestWatchEndsWithTheSession(t *testing.T) { // R-HARN-10
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{says("x")}
		var told atomic.Int32
		changed := func(sp *harness.Spec) {
			sp.Changed = func() {
				time.Sleep(time.Second) // a client that is slow
				told.Add(1)
			}
		}
		s := f.open(t, changed)
		ask(t, s, "one")
		if n := len(f.settings.watches); n != 1 {
			t.Fatalf("%d watches for a session, want one", n)
		}
		f.settings.facts.Skills = abc()
		go f.settings.change()
		synctest.Wait()
		start := time.Now()
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); told.Load() != 1 || took != time.Second {
			t.Errorf("Close waited %v and came after %d calls, want it to wait for the one", took, told.Load())
		}
		if !f.settings.watches[0].stopped {
			t.Error("a closed session still watches")
		}
		f.settings.facts.Skills = nil
		f.settings.change()
		if _, err := s.Preview(t.Context()); err != nil {
			t.Fatal(err)
		}
		if told.Load() != 1 {
			t.Error("a closed session told of a change")
		}
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("second Close = %v", err)
		}
	})
}

// Close does not wait longer than it is told to.
func TestCloseWhileAChangeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		release := make(chan struct{})
		s := f.open(t, func(sp *harness.Spec) { sp.Changed = func() { <-release } })
		f.settings.facts.Skills = abc()
		go f.settings.change()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v, want the deadline", err)
		}
		close(release)
		if err := s.Close(t.Context()); err != nil {
			t.Errorf("Close afterwards = %v", err)
		}
	})
}

// A turn that does not end with its session tells nothing of it any more.
func TestSendAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		release := make(chan struct{})
		f.settings.freeze = func() { <-release }
		s := f.open(t, func(sp *harness.Spec) { sp.Changed = func() { t.Error("a change was told after Close") } })
		ended := make(chan harness.Outcome)
		go func() {
			out, err := prompted(t, s, t.Context(), "go", &recorder{})
			if err != nil {
				t.Error(err)
			}
			ended <- out
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close = %v, want the deadline", err)
		}
		f.settings.facts.Skills = abc()
		close(release)
		if out := <-ended; out.Stop != harness.Cancelled {
			t.Errorf("outcome = %+v, want cancelled", out)
		}
	})
}

// Sessions, turns and changes at once.
func TestChangesDuringTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", time.Second))
		f.script.steps = []step{wants(want{"", "slow", "{}"}), says("x")}
		var told atomic.Int32
		s := f.open(t, func(sp *harness.Spec) { sp.Changed = func() { told.Add(1) } })
		f.settings.facts.Skills = abc()
		go func() {
			for range 10 {
				f.settings.change()
				time.Sleep(100 * time.Millisecond)
			}
		}()
		ask(t, s, "go")
		if told.Load() != 1 {
			t.Errorf("one change was told %d times", told.Load())
		}
		if got := fmt.Sprint(names(s.Commands())); got != "[a b c]" {
			t.Errorf("commands %s", got)
		}
	})
}
