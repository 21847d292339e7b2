package harness_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// counts answers with text, and with what a provider has counted.
func counts(u model.Usage, text string) step {
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		return &model.Reply{Stop: model.StopEnd, Usage: u, Parts: []llms.ContentPart{llms.TextContent{Text: text}}}, sink(model.Text(text))
	}
}

// usages returns what rec has heard of the window.
func usages(rec *recorder) (out []event.Usage) {
	for _, e := range rec.events {
		if u, ok := e.(event.Usage); ok {
			out = append(out, u)
		}
	}
	return out
}

// words is a text of n words, each of one token in every tokenizer.
func words(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }

func TestUsageThatNobodyCounts(t *testing.T) { // R-ACP-30
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{
		func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			r, err := wants(want{"a", "look", `{"path":"a"}`})(ctx, req, sink)
			r.Usage = model.Usage{}
			return r, err
		},
		counts(model.Usage{}, words(100)), counts(model.Usage{}, "ok"),
	}
	s := f.open(t)
	_, one := ask(t, s, "go")
	_, two := ask(t, s, words(1000))
	got := append(usages(one), usages(two)...)
	if len(got) != 3 {
		t.Fatalf("%d times told of the window, want 3", len(got))
	}
	before := estimate.Request(f.script.requests()[0])
	for i, u := range got {
		if !u.Estimated || u.Size != 100_000 || u.Used <= before {
			t.Errorf("usage %d = %+v, want an estimate of more than %d", i, u, before)
		}
		before = u.Used
	}
	if grown, least := got[2].Used-got[1].Used, estimate.Tokens(words(1000)); grown < least || grown > 2*least {
		t.Errorf("a message of some %d tokens lets the usage grow by %d", least, grown)
	}
	if out, _ := ask(t, s, "more"); out.Usage != (model.Usage{}) {
		t.Errorf("usage of a turn = %+v, want none: nobody has counted", out.Usage)
	}
	last := new(recorder)
	if err := s.Replay(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	_, three := ask(t, s, "/usage")
	if text := three.text(); !strings.Contains(text, "Input: 0 tokens") && !strings.Contains(text, " 0 ") {
		t.Errorf("/usage says %q, want that nothing was counted", text)
	}
	if got := usages(last); len(got) != 1 || !got[0].Estimated || got[0].Used <= before {
		t.Errorf("a replay tells of the window: %+v, want an estimate of more than %d", got, before)
	}
}

// Numbers of a provider that no request can have are no count.
func TestUsageThatCannotBe(t *testing.T) {
	for name, u := range map[string]model.Usage{
		"below zero":      {Input: -5, Output: -5, Known: true},
		"more than exist": {Input: math.MaxInt, Output: math.MaxInt, Known: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture()
			f.script.steps = []step{counts(u, "ok")}
			out, rec := ask(t, f.open(t), "go")
			if got := usages(rec); len(got) != 1 || !got[0].Estimated || got[0].Used <= 0 {
				t.Errorf("told of the window: %+v, want an estimate", got)
			}
			if out.Usage != (model.Usage{}) {
				t.Errorf("usage of the turn = %+v, want none", out.Usage)
			}
		})
	}
}

// What a window holds is not more than it can, however long a message seems to be.
func TestEstimateStaysInTheWindow(t *testing.T) {
	f := newFixture()
	f.settings.model.Assumed = true
	f.script.steps = []step{counts(model.Usage{}, "ok")}
	_, rec := ask(t, f.open(t), words(200_000))
	if diff := cmp.Diff([]event.Usage{{Used: 100_000, Size: 100_000, Estimated: true}}, usages(rec)); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
}

// Where a provider counts once in a while the estimate goes on from there.
func TestUsageGoesOnFromWhatWasCounted(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{counts(model.Usage{Input: 60_000, Output: 10, Known: true}, "ok"), counts(model.Usage{}, "ok")}
	s := f.open(t)
	_, one := ask(t, s, "go")
	_, two := ask(t, s, words(1000))
	if diff := cmp.Diff([]event.Usage{{Used: 60_010, Size: 100_000}}, usages(one)); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	likely := estimate.Tokens(words(1000))
	if got := usages(two); len(got) != 1 || !got[0].Estimated || got[0].Used < 60_000+likely || got[0].Used > 60_000+4*likely {
		t.Errorf("usage = %+v, want an estimate of 60000 and what was added", got)
	}
}

// The factor between tokens and estimates is that of the provider, from the thread
// where the process is new.
func TestCalibrationOfAThread(t *testing.T) {
	var used [2]int
	for i, ref := range []string{"p/m", "p/other"} {
		f := newFixture()
		f.settings.model.Window = 1_000_000
		s := f.open(t)
		for n := range 6 { // each prompt has twice the tokens that are estimated of it
			_, err := f.threads.Append(t.Context(), s.ID(), "",
				thread.User{Sent: []thread.Part{{Text: strings.Repeat("word ", 8000)}}},
				thread.Assistant{Model: ref, Parts: []thread.Part{{Text: "ok"}}, Usage: model.Usage{Input: 20_000 * (n + 1), Output: 1, Known: true}})
			if err != nil {
				t.Fatal(err)
			}
		}
		g := f.beside()
		g.settings.model, g.script.steps = f.settings.model, []step{counts(model.Usage{}, "ok")}
		_, rec := ask(t, g.load(t, s.ID()), strings.Repeat("word ", 40_000))
		used[i] = usages(rec)[0].Used
	}
	// 120,000 were counted, and some 50,000 more are estimated.
	if used[0] < 210_000 || used[0] > 225_000 {
		t.Errorf("used = %d after prompts of 2 tokens for an estimated one", used[0])
	}
	if used[1] < 130_000 || used[1] > 145_000 {
		t.Errorf("used = %d after prompts that another model has read", used[1])
	}
}

func TestPreflight(t *testing.T) {
	small := model.Descriptor{Provider: "p", ID: "m", Name: "Small", Window: 10_000}
	with := func(change func(*model.Descriptor)) model.Descriptor {
		d := small
		change(&d)
		return d
	}
	tests := []struct {
		name    string
		model   model.Descriptor
		text    string
		refused bool
	}{
		{"fits", small, words(5000), false},
		{"does not fit", small, words(12_000), true},
		{"just beyond, where windows are rounded", small, words(8_800), false},
		{"seems long, and may be short", small, strings.Repeat(" ", 200_000) + strings.Repeat("=", 100_000), false},
		{"a guessed window", with(func(d *model.Descriptor) { d.Assumed = true }), words(12_000), false},
		{"no window", with(func(d *model.Descriptor) { d.Window = 0 }), words(12_000), false},
		{"nobody reads it", with(func(d *model.Descriptor) { d.Kind = "script" }), words(12_000), false},
		{"Ollama knows better", with(func(d *model.Descriptor) { d.Kind = "ollama" }), words(12_000), false},
		{"a larger window", with(func(d *model.Descriptor) { d.Window = 20_000 }), words(12_000), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.settings.model = tt.model
			f.script.steps = []step{says("ok")}
			s := f.open(t)
			_, err := prompted(t, s, t.Context(), tt.text, new(recorder))
			if !tt.refused {
				if err != nil || len(f.script.requests()) != 1 {
					t.Errorf("%d requests, %v; want an answer", len(f.script.requests()), err)
				}
				return
			}
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.TokenLimit || e.Provider != "p" || e.Temporary() || e.Partial || len(f.script.requests()) > 0 {
				t.Fatalf("%d requests, %v; want one refused unasked", len(f.script.requests()), err)
			}
			for _, part := range []string{"Small", " 10000;", "begin a new session", "models.toml"} {
				if !strings.Contains(e.Message, part) {
					t.Errorf("the error does not say %q: %s", part, e.Message)
				}
			}
			if strings.Contains(e.Message, "\n") {
				t.Errorf("the error has more than a line: %q", e.Message)
			}
			if out, _ := ask(t, s, "shorter"); out.Stop != harness.EndTurn { // the message is not in the way
				t.Errorf("the next message ends with %s", out.Stop)
			}
		})
	}
}

// What a provider has counted tells more than the words do.
func TestPreflightGoesByWhatWasCounted(t *testing.T) {
	tests := []struct {
		name    string
		first   model.Usage
		resumed bool
		refused bool
	}{
		{"counted high", model.Usage{Input: 9_900, Output: 1, Known: true}, false, true},
		{"counted low", model.Usage{Input: 6_000, Output: 1, Known: true}, false, false},
		{"not counted", model.Usage{}, false, false},
		{"by a process before, maybe with more tools", model.Usage{Input: 9_900, Output: 1, Known: true}, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.settings.model.Window = 10_000
			f.script.steps = []step{counts(tt.first, "ok"), says("ok")}
			s := f.open(t)
			ask(t, s, "go")
			if tt.resumed {
				g := f.beside()
				g.settings.model.Window, g.script.steps = 10_000, []step{says("ok")}
				s = g.load(t, s.ID())
			}
			_, err := prompted(t, s, t.Context(), words(1000), new(recorder))
			if e, ok := errors.AsType[*model.Error](err); tt.refused != (ok && e.Kind == model.TokenLimit) {
				t.Errorf("error = %v, want refused %v", err, tt.refused)
			}
		})
	}
}

// Thoughts that a model may not read again are not held against what comes next.
func TestPreflightForgetsThoughts(t *testing.T) {
	f := newFixture()
	f.settings.model.Window = 10_000
	f.script.steps = []step{
		counts(model.Usage{Input: 2_000, Output: 6_000, Known: true}, "ok"), // with thoughts that nobody sees
		counts(model.Usage{Input: 9_000, Output: 1, Known: true}, "ok"),
		says("ok"),
	}
	s := f.open(t)
	for _, text := range []string{"go", "go on", words(3000)} {
		if out, _ := ask(t, s, text); out.Stop != harness.EndTurn {
			t.Errorf("turn %.5q ends with %s", text, out.Stop)
		}
	}
}

// A long step is refused as well: what its tools have said is kept, and the error
// says what to do.
func TestPreflightInTheMiddleOfATurn(t *testing.T) {
	f := newFixture(toolstest.Answer("read", tools.Result{Text: words(12_000)}))
	f.settings.model.Window = 10_000
	f.script.steps = []step{wants(want{"a", "read", `{}`}), says("ok")}
	s := f.open(t)
	_, err := prompted(t, s, t.Context(), "go", new(recorder))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.TokenLimit || len(f.script.requests()) != 1 {
		t.Errorf("%d requests, %v; want the second refused unasked", len(f.script.requests()), err)
	}
	if err := paired(f.entries(t, s)); err != nil {
		t.Error(err)
	}
}

// Results that go as a line of text may be much shorter there than they are.
func TestPreflightOfWhatIsTold(t *testing.T) { // C-33
	tests := []struct {
		name   string
		author string
		off    bool // tools
		asked  bool
	}{
		{"of the model itself", "p/m", false, false},
		{"of its vendor", "p/other", false, false},
		{"of another vendor", "q/m", false, true},
		{"without tools", "p/m", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			f.settings.model.Window, f.script.steps = 10_000, []step{says("ok")}
			s := f.open(t)
			_, err := f.threads.Append(t.Context(), s.ID(), "", thread.User{Sent: []thread.Part{{Text: "go"}}},
				thread.Assistant{Model: tt.author, Parts: []thread.Part{{Call: &thread.Call{ID: "c", WireID: "c", Name: "look", Args: "{}"}}}},
				thread.Result{CallID: "c", Text: words(20_000)}, thread.Assistant{Model: tt.author, Parts: []thread.Part{{Text: "done"}}})
			if err != nil {
				t.Fatal(err)
			}
			if tt.off {
				setOption(t, s, harness.OptionTools, harness.ToolsOff)
			}
			_, err = prompted(t, s, t.Context(), "go on", new(recorder))
			if e, ok := errors.AsType[*model.Error](err); tt.asked != (err == nil) || !tt.asked && (!ok || e.Kind != model.TokenLimit) {
				t.Errorf("error = %v, want asked %v", err, tt.asked)
			}
		})
	}
}

// A gauge looks at what is new, also where a conversation goes back and on another
// way.
func TestGaugeCountsWhatIsThere(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{
		counts(model.Usage{}, "one"), counts(model.Usage{}, words(500)), fails(&model.Error{Kind: model.Invalid}),
		counts(model.Usage{}, "two"), counts(model.Usage{}, "three"),
	}
	s := f.open(t)
	ask(t, s, "go")
	ask(t, s, "go on")
	if _, err := prompted(t, s, t.Context(), words(3000), new(recorder)); err == nil { // withdrawn
		t.Fatal("no error")
	}
	ask(t, s, words(20))
	_, rec := ask(t, s, words(30))
	req := f.script.requests()[4]
	var k estimate.Calibration
	want := k.Tokens(estimate.Request(req)) + k.Tokens(estimate.Tokens("three"))
	if got := usages(rec); len(got) != 1 || got[0].Used != want {
		t.Errorf("usage = %+v, want %d: %v", got, want, sizes(req))
	}
}

func sizes(req *model.Request) (out []string) {
	for _, m := range req.Messages {
		out = append(out, fmt.Sprintf("%s %d", m.Role, estimate.Parts(m.Parts).Likely))
	}
	return out
}
