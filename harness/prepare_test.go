package harness_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// prepared is a session with a thread of messages, and how it prepares to send one
// more, with all that can go with it. The harness is there.
func prepared(t testing.TB, messages int) func() {
	t.Helper()
	f := newFixture(toolstest.Echo("read-context"))
	for i := range 60 {
		f.tools = append(f.tools, toolstest.Echo(fmt.Sprint("tool", i)))
	}
	f.options.Documents, f.options.Idle, f.settings.inline = memory.NewPlaces(nil), -1, 1024
	for i := range 40 {
		f.settings.facts.Skills = append(f.settings.facts.Skills, prompt.Skill{Name: fmt.Sprint("skill", i), Description: "when", Instruction: "how"})
	}
	if err := f.threads.Create(t.Context(), "a", thread.Created{Cwd: "/space"}); err != nil {
		t.Fatal(err)
	}
	call := &thread.Call{ID: "c", WireID: "c", Name: "tool1", Args: "{}"}
	for range messages / 2 {
		_, err := f.threads.Append(t.Context(), "a", "",
			thread.User{Sent: []thread.Part{{Text: "question"}}}, thread.Assistant{Parts: []thread.Part{{Call: call}}},
			thread.Result{CallID: "c", Text: "result", Answers: []tools.Answer{{Question: "Which?"}}},
			thread.Assistant{Parts: []thread.Part{{Text: "answer"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	f.start(t)
	s, err := f.engine.Load(t.Context(), harness.Spec{ID: "a", FS: files{}, Choice: &harness.Choice{Model: "p/m", Voice: harness.VoiceOn}})
	if err != nil {
		t.Fatal(err)
	}
	in := harness.Input{MessageID: "u", Blocks: []event.Block{{Text: "/skill1 go"}, {URI: "file:///a", Text: "text"}}}
	prepare := func() {
		if err := s.Prepare(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	prepare() // builds the harness, which reads the thread
	return prepare
}

// A send is prepared without a look at what came before.
func TestPreparingASendDoesNotGrow(t *testing.T) {
	var allocs, bytes [2]float64
	for i, messages := range []int{10, 10_000} {
		prepare := prepared(t, messages)
		allocs[i] = testing.AllocsPerRun(20, prepare)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 20 {
			prepare()
		}
		runtime.ReadMemStats(&after)
		bytes[i] = float64(after.TotalAlloc-before.TotalAlloc) / 20
	}
	if allocs[1] > allocs[0]*1.01 { // maps may need one more
		t.Errorf("%v allocations after 10,000 messages, %v after 10", allocs[1], allocs[0])
	}
	if bytes[1] > bytes[0]*1.1 {
		t.Errorf("%.0f bytes after 10,000 messages, %.0f after 10", bytes[1], bytes[0])
	}
}

func BenchmarkPrepare(b *testing.B) {
	for _, messages := range []int{10, 10_000} {
		b.Run(fmt.Sprint("messages=", messages), func(b *testing.B) {
			prepare := prepared(b, messages)
			b.ReportAllocs()
			for b.Loop() {
				prepare()
			}
		})
	}
}

// A turn takes as long after many messages as after few: what was estimated stays
// estimated.
func BenchmarkLongThread(b *testing.B) {
	for _, messages := range []int{10, 10_000} {
		b.Run(fmt.Sprint("messages=", messages), func(b *testing.B) {
			f := newFixture()
			f.options.Idle, f.settings.model.Window = -1, 100_000_000
			f.script.steps = []step{counts(model.Usage{}, "answer")}
			text := strings.Repeat("question ", 500)
			bodies := []thread.Body{thread.User{Sent: []thread.Part{{Text: text}}}, thread.Assistant{Parts: []thread.Part{{Text: "answer"}}}}
			if err := f.threads.Create(b.Context(), "a", thread.Created{Cwd: "/space"}); err != nil {
				b.Fatal(err)
			}
			for range messages / 2 {
				if _, err := f.threads.Append(b.Context(), "a", "", bodies...); err != nil {
					b.Fatal(err)
				}
			}
			f.start(b)
			s, err := f.engine.Load(b.Context(), harness.Spec{ID: "a", FS: files{}})
			if err != nil {
				b.Fatal(err)
			}
			turn := func() {
				slot, err := s.Enter()
				if err != nil {
					b.Fatal(err)
				}
				if _, err := slot.Prompt(b.Context(), harness.Input{Blocks: []event.Block{{Text: "go"}}}, new(recorder)); err != nil {
					b.Fatal(err)
				}
			}
			turn() // builds the harness, which reads the thread
			b.ReportAllocs()
			for b.Loop() {
				turn()
			}
		})
	}
}
