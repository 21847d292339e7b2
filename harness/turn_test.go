package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestStopReasons(t *testing.T) { // R-ACP-27
	pause := stops(model.StopPause, "wait ")
	tests := []struct {
		name  string
		steps []step
		cap   int
		want  harness.Stop
	}{
		{"normal end", []step{says("x")}, 0, harness.EndTurn},
		{"output limit", []step{stops(model.StopLength, "x")}, 0, harness.MaxTokens},
		{"full window", []step{stops(model.StopContext, "x")}, 0, harness.MaxTokens},
		{"refusal", []step{stops(model.StopRefusal)}, 0, harness.Refusal},
		{"pause goes on", []step{pause, says("x")}, 0, harness.EndTurn},
		{"cap without an answer", []step{wants(want{"w", "look", "{}"})}, 3, harness.MaxTurnRequests},
		{"cap with an answer", []step{wants(want{"w", "look", "{}"}), says("x")}, 2, harness.EndTurn},
		{"output limit inside a call", []step{cutCall(model.StopLength)}, 0, harness.MaxTokens},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			f.options.MaxSteps = tt.cap
			f.script.steps = tt.steps
			s := f.open(t)
			out, rec := ask(t, s, "go")
			if out.Stop != tt.want {
				t.Errorf("stop = %q, want %q", out.Stop, tt.want)
			}
			if err := errors.Join(paired(f.entries(t, s)), rec.closed()); err != nil {
				t.Error(err)
			}
		})
	}
}

// cutCall answers with a call whose arguments end in the middle.
func cutCall(stop model.Stop) step {
	inner := wants(want{"w", "look", `{"path":"a`})
	return func(ctx context.Context, r *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		reply, err := inner(ctx, r, sink)
		reply.Stop = stop
		return reply, err
	}
}

func TestStepCap(t *testing.T) { // R-HARN-23
	f := newFixture(toolstest.Echo("look"))
	f.options.MaxSteps = 9
	f.script.steps = []step{wants(want{"w", "look", "{}"})}
	s := f.open(t)
	if out, _ := ask(t, s, "go"); out.Stop != harness.MaxTurnRequests {
		t.Errorf("stop = %q, want %q", out.Stop, harness.MaxTurnRequests)
	}
	reqs := f.script.requests()
	if len(reqs) != 9 {
		t.Fatalf("%d requests, want 9", len(reqs))
	}
	notes := 0
	for i, r := range reqs {
		last := r.Messages[len(r.Messages)-1]
		nudged := i > 0 && last.Role == llms.ChatMessageTypeHuman
		if want := i == 3 || i == 8; nudged != want {
			t.Errorf("request %d ends with a nudge: %v, want %v", i+1, nudged, want)
		}
		if r.NoTools != (i == 8) {
			t.Errorf("request %d: NoTools = %v", i+1, r.NoTools)
		}
		if diff := cmp.Diff(reqs[0].Tools, r.Tools); diff != "" {
			t.Errorf("request %d has other tools: %s", i+1, diff)
		}
	}
	for _, b := range f.entries(t, s) {
		if _, ok := b.(thread.Note); ok {
			notes++
		}
	}
	if notes != 2 {
		t.Errorf("%d notes in the thread, want 2", notes)
	}
	if got := f.entries(t, s); strings.Contains(results(got)[8], "{}") {
		t.Error("the call of the last step ran")
	}
}

func TestShapes(t *testing.T) { // R-HARN-20, R-HARN-21, R-TOOLS-21
	tests := []struct {
		name    string
		noTools bool
		option  string
		want    bool
	}{
		{"tools", false, harness.ToolsOn, true},
		{"auto without a route model keeps tools", false, harness.ToolsAuto, true},
		{"switched off", false, harness.ToolsOff, false},
		{"model without tools", true, harness.ToolsOn, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			f.settings.model.NoTools = tt.noTools
			f.script.steps = []step{says("x")}
			set := &toolstest.Servers{}
			s := f.open(t, func(sp *harness.Spec) { sp.Servers = set })
			if err := s.SetOption(t.Context(), harness.OptionTools, tt.option); err != nil {
				t.Fatal(err)
			}
			ask(t, s, "go")
			r := f.script.requests()[0]
			if got := len(r.Tools) > 0; got != tt.want {
				t.Errorf("tools on the wire: %v, want %v", got, tt.want)
			}
			if _, asked := set.Contacts(); asked > 0 != tt.want {
				t.Errorf("set was asked %d times, want any: %v", asked, tt.want)
			}
			if got := strings.Contains(r.System, "/space"); got != tt.want {
				t.Errorf("environment block: %v, want %v\n%s", got, tt.want, r.System)
			}
			if r.NoTools {
				t.Error("tool choice none without tools on the wire")
			}
		})
	}
}

func TestErrorsLeaveTheSessionUsable(t *testing.T) { // R-PROMPT-17, C018
	broken := &model.Error{Kind: model.Invalid, Provider: "p", Message: "no"}
	cut := &model.Error{Kind: model.Connection, Provider: "p", Message: "cut", Final: true}
	tests := []struct {
		name     string
		spoil    func(*fixture)
		repair   func(*fixture)
		requests int // before the repair
		check    func(error) bool
	}{
		{
			"settings", func(f *fixture) { f.settings.err = errors.New("no such model") },
			func(f *fixture) { f.settings.err = nil }, 0, func(err error) bool { return err.Error() == "no such model" },
		},
		{
			"assembly", func(f *fixture) { f.settings.facts.ToolOrder = &[]string{"zzz", "<unlisted-tools>"} },
			func(f *fixture) { f.settings.facts.ToolOrder = nil }, 0,
			func(err error) bool { _, ok := errors.AsType[*prompt.Error](err); return ok },
		},
		{
			"model", func(f *fixture) { f.script.steps = []step{fails(broken), says("back")} },
			func(*fixture) {}, 1, func(err error) bool { return errors.Is(err, broken) },
		},
		{
			"model in the middle", func(f *fixture) {
				f.script.steps = []step{
					fails(cut, model.Text("half"), model.ToolStart{ID: "w", Name: "look"}, model.ToolArgs{Fragment: `{"a`}),
					says("back"),
				}
			},
			func(*fixture) {}, 1, func(err error) bool { return errors.Is(err, cut) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			f.script.steps = []step{says("back")}
			tt.spoil(f)
			s := f.open(t)
			rec := &recorder{}
			_, err := prompted(t, s, t.Context(), "go", rec)
			if err == nil || !tt.check(err) {
				t.Fatalf("error = %v", err)
			}
			if got := len(f.script.requests()); got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
			if err := errors.Join(rec.closed(), paired(f.entries(t, s))); err != nil {
				t.Error(err)
			}
			tt.repair(f)
			if out, rec := ask(t, s, "again"); out.Stop != harness.EndTurn || rec.text() != "back" {
				t.Errorf("next prompt: %q, %q", out.Stop, rec.text())
			}
		})
	}
}

// A message that no provider takes is told to the user and does not spoil the
// requests after it; one that was answered in part stays (C018).
func TestFailedMessageIsTakenBack(t *testing.T) {
	refused := &model.Error{Kind: model.Invalid, Provider: "p", Message: "no"}
	cut := &model.Error{Kind: model.Connection, Provider: "p", Message: "cut", Final: true}
	for _, tt := range []struct {
		name string
		step step
		want int // messages of the next request
	}{
		{"nothing was answered", fails(refused), 1},
		{"half was answered", fails(cut, model.Text("half")), 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.script.steps = []step{tt.step, says("back")}
			s := f.open(t)
			if _, err := prompted(t, s, t.Context(), "first", &recorder{}); err == nil {
				t.Fatal("the first prompt worked")
			}
			ask(t, s, "second")
			requests := f.script.requests()
			if got := len(requests[len(requests)-1].Messages); got != tt.want {
				t.Errorf("the next request has %d messages, want %d", got, tt.want)
			}
		})
	}
}

func TestRepeatsOfATurnShareAnAllowance(t *testing.T) { // R-HARN-24, R-HARN-25
	synctest.Test(t, func(t *testing.T) {
		limited := fails(&model.Error{Kind: model.RateLimit, Provider: "p", RetryAfter: 50 * time.Second})
		f := newFixture(toolstest.Echo("look"))
		f.script.steps = []step{limited, wants(want{"w", "look", "{}"}), limited, wants(want{"v", "look", "{}"}), limited, says("x")}
		s := f.open(t)
		rec := &recorder{}
		start := time.Now()
		_, err := prompted(t, s, t.Context(), "go", rec)
		if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Kind != model.RateLimit {
			t.Errorf("error = %v, want the third rate limit", err)
		}
		if got := time.Since(start); got != 100*time.Second {
			t.Errorf("the turn waited %v, want 100s of the 120s", got)
		}
		shown := 0
		for _, e := range rec.all() {
			if r, ok := e.(event.Retry); ok && r.Wait == 50*time.Second && strings.Contains(r.Reason, "rate limit") {
				shown++
			}
		}
		if shown != 2 {
			t.Errorf("%d waits were shown, want 2", shown)
		}
		f.script.steps = append(f.script.steps[:5:5], limited, says("back"))
		if out, rec := ask(t, s, "again"); out.Stop != harness.EndTurn || rec.text() != "back" {
			t.Errorf("next turn: %q, %q", out.Stop, rec.text())
		}
	})
}

func TestEmptyAnswerTellsItsUsage(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{stops(model.StopLength)}
	s := f.open(t)
	_, rec := ask(t, s, "go")
	events := rec.all()
	if diff := cmp.Diff(event.Event(event.Usage{Used: 12, Size: 100_000}), events[len(events)-1]); diff != "" {
		t.Errorf("last event (-want +got):\n%s", diff)
	}
	if got := len(f.entries(t, s)); got != 1 {
		t.Errorf("%d entries, want that of the message alone", got)
	}
}
