package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// mutating declares that a tool changes files.
func mutating(t *toolstest.Tool) *toolstest.Tool {
	t.Describe.Effect = tools.Edits
	return t
}

func TestCallsRunBesideEachOther(t *testing.T) { // R-TOOLS-07
	many := func(name string, n int) (calls []want) {
		for i := range n {
			calls = append(calls, want{fmt.Sprint(name, i), name, fmt.Sprintf(`{"i":%d}`, i)})
		}
		return calls
	}
	tests := []struct {
		name  string
		calls []want
		want  time.Duration
	}{
		{"four reads take the time of one", many("read", 4), time.Second},
		{"eight reads take the time of two", many("read", 8), 2 * time.Second},
		{"changes wait for each other", many("write", 3), 3 * time.Second},
		{"a change waits for the reads before it", append(many("read", 2), many("write", 1)...), 2 * time.Second},
		{"reads wait for the change before them", append(many("write", 1), many("read", 2)...), 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(toolstest.Slow("read", time.Second), mutating(toolstest.Slow("write", time.Second)))
				f.script.steps = []step{wants(tt.calls...), says("x")}
				start := time.Now()
				_, rec := ask(t, f.open(t), "go")
				if got := time.Since(start); got != tt.want {
					t.Errorf("the turn took %v, want %v", got, tt.want)
				}
				if err := rec.closed(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestResultsKeepCallOrder(t *testing.T) { // R-TOOLS-07
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", time.Minute), toolstest.Echo("quick"))
		f.script.steps = []step{wants(want{"a", "slow", `{"n":1}`}, want{"b", "quick", `{"n":2}`}), says("x")}
		s := f.open(t)
		start := time.Now()
		told := map[string]time.Duration{}
		rec := &recorder{hook: func(e event.Event) error {
			if c, ok := e.(event.ToolCall); ok && c.Status == event.Completed {
				told[c.Text] = time.Since(start)
			}
			return nil
		}}
		if _, err := prompted(t, s, t.Context(), "go", rec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]time.Duration{`{"n":1}`: time.Minute, `{"n":2}`: 0}, told); diff != "" {
			t.Errorf("times of the results (-want +got):\n%s", diff)
		}
		r := f.script.requests()[1]
		if got := resultsOf(r); !cmp.Equal(got, []string{`{"n":1}`, `{"n":2}`}) {
			t.Errorf("results for the model = %q, want them in call order", got)
		}
	})
}

func TestFaultyToolsBecomeResults(t *testing.T) { // R-TOOLS-05, R-TOOLS-06, R-TOOLS-07, C079
	secret := errors.New("open /home/user/.config/key: denied")
	plans := toolstest.Echo("plans")
	plans.OnPlan = func(context.Context, json.RawMessage) (tools.Plan, error) {
		return tools.Plan{}, tools.Publicf("no such file: a.go")
	}
	raises := toolstest.Echo("raises")
	raises.OnPlan = func(context.Context, json.RawMessage) (tools.Plan, error) { panic("plan") }
	f := newFixture(
		toolstest.Panic("panics", "boom"), toolstest.Fail("fails", secret), plans, raises,
		toolstest.Answer("mute", tools.Result{}), toolstest.Answer("huge", tools.Result{Text: strings.Repeat("é", 200_000)}),
		toolstest.Answer("garbled", tools.Result{Text: "a\xffb"}),
	)
	tests := []struct {
		tool string
		want event.Status
		text string // contained
	}{
		{"panics", event.Failed, "internal error"},
		{"fails", event.Failed, "internal error"},
		{"plans", event.Failed, "no such file: a.go"},
		{"raises", event.Failed, "internal error"},
		{"mute", event.Completed, "no output"},
		{"huge", event.Completed, "bytes cut]"},
		{"garbled", event.Completed, "a\uFFFDb"},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			f.script = script{steps: []step{wants(want{"w", tt.tool, "{}"}), says("x")}}
			s := f.open(t)
			_, rec := ask(t, s, "go")
			r := f.entries(t, s)[2].(thread.Result)
			if r.Shown.Status != tt.want || !strings.Contains(r.Text, tt.text) {
				t.Errorf("result = %s %.80q, want %s with %q", r.Shown.Status, r.Text, tt.want, tt.text)
			}
			if strings.Contains(r.Text, "/home") || strings.Contains(r.Text, "boom") {
				t.Errorf("the model reads a secret: %q", r.Text)
			}
			if !utf8.ValidString(r.Text) || len(r.Text) > 130<<10 {
				t.Errorf("result of %d bytes, valid: %v", len(r.Text), utf8.ValidString(r.Text))
			}
			if err := rec.closed(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownTools(t *testing.T) { // C114, R-TOOLS-23
	tests := []struct{ name, call, want string }{
		{"near name", "read_file", "Near names: read."},
		{"empty name", "", `There is no tool ""`},
		{"nothing near", strings.Repeat("x", 500), "xxx..."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(toolstest.Echo("read"))
			call := wants(want{"w", tt.call, "{}"})
			f.script.steps = []step{call, call, call, says("I cannot.")}
			s := f.open(t)
			out, rec := ask(t, s, "go")
			if out.Stop != harness.EndTurn || rec.text() != "I cannot." {
				t.Errorf("turn ended with %q, %q", out.Stop, rec.text())
			}
			for _, text := range results(f.entries(t, s)) {
				if !strings.Contains(text, tt.want) || len(text) > 200 {
					t.Errorf("result = %q, want it to name %q", text, tt.want)
				}
			}
			reqs := f.script.requests()
			if len(reqs) != 4 || !reqs[3].NoTools || reqs[2].NoTools || len(reqs[3].Tools) != 1 {
				t.Errorf("%d requests; the fourth asks without tool calls: %v", len(reqs), reqs[len(reqs)-1].NoTools)
			}
			if err := rec.closed(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownToolsForEver(t *testing.T) { // C114
	f := newFixture(toolstest.Echo("read"))
	f.script.steps = []step{wants(want{"w", "nope", "{}"})}
	out, _ := ask(t, f.open(t), "go")
	if got := len(f.script.requests()); out.Stop != harness.MaxTurnRequests || got != 4 {
		t.Errorf("stop = %q after %d requests, want %q after 4", out.Stop, got, harness.MaxTurnRequests)
	}
}

func TestSameFaultyCall(t *testing.T) { // C113, C101, C102
	tests := []struct{ name, args string }{
		{"cut", `{"path":"a`},
		{"no object", `[]`},
		{"two objects", `{"a":1}{"a":1}`},
		{"missing member", `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			read := toolstest.Echo("read")
			read.Describe.Schema = json.RawMessage(`{"type":"object","required":["path"]}`)
			f := newFixture(read)
			f.script.steps = []step{wants(want{"", "read", tt.args})}
			s := f.open(t)
			out, rec := ask(t, s, "go")
			if got := len(read.Calls()); got != 0 {
				t.Errorf("the tool ran %d times", got)
			}
			texts := results(f.entries(t, s))
			if len(texts) != 7 || !strings.Contains(texts[2], "blocked") || strings.Contains(texts[1], "blocked") {
				t.Errorf("results = %q, want the third to block the tool", texts)
			}
			if out.Stop != harness.MaxTurnRequests {
				t.Errorf("stop = %q", out.Stop)
			}
			reqs := f.script.requests()
			if c := reqs[3].Callable; c == nil || len(c) != 0 {
				t.Errorf("callable after the block = %v, want none", c)
			}
			if err := errors.Join(rec.closed(), paired(f.entries(t, s))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestArgumentsThatCountAsNone(t *testing.T) { // C102
	for _, args := range []string{"", "null"} {
		read := toolstest.Echo("read")
		f := newFixture(read)
		f.script.steps = []step{wants(want{"w", "read", args}), says("x")}
		ask(t, f.open(t), "go")
		calls := read.Calls()
		if len(calls) != 1 || string(calls[0].Input) != "{}" {
			t.Errorf("arguments %q: calls %v, want one with {}", args, calls)
		}
	}
}

func TestCallLimit(t *testing.T) { // R-TOOLS-30
	read := toolstest.Echo("read")
	read.Describe.Limit = 2
	f := newFixture(read)
	call := wants(want{"", "read", "{}"})
	f.script.steps = []step{call, call, call, says("x"), call, says("y")}
	s := f.open(t)
	ask(t, s, "go")
	texts := results(f.entries(t, s))
	if len(texts) != 3 || texts[1] != "{}" || !strings.Contains(texts[2], "Answer with what you have") {
		t.Errorf("results = %q, want the third to be refused", texts)
	}
	ask(t, s, "again")
	if got := results(f.entries(t, s))[3]; got != "{}" {
		t.Errorf("first call of the next turn = %q, want it to run", got)
	}
}

func TestReadOnlyWithholdsTools(t *testing.T) { // R-TOOLS-08, R-ACP-40
	write := mutating(toolstest.Echo("write"))
	f := newFixture(toolstest.Echo("read"), write)
	f.script.steps = []step{wants(want{"w", "write", "{}"}), says("x")}
	s := f.open(t)
	if err := s.SetMode(t.Context(), approve.ReadOnly); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "go")
	if r := f.script.requests()[0]; len(r.Tools) != 1 || r.Tools[0].Name != "read" {
		t.Errorf("tools on the wire = %v, want read alone", r.Tools)
	}
	if len(write.Calls()) != 0 {
		t.Error("a withheld tool ran")
	}
	if got := results(f.entries(t, s))[0]; !strings.Contains(got, "not available") {
		t.Errorf("result = %q", got)
	}
}

func TestPlanIsShownBeforeTheQuestion(t *testing.T) { // R-ACP-23, R-ACP-44, C036
	old := "a"
	plan := tools.Plan{
		Title: "a.go\nx", Locations: []tools.Location{{Path: "/space/a.go"}},
		Diffs: []tools.Diff{{Path: "/space/a.go", Old: &old, New: "b"}},
	}
	write := mutating(toolstest.Answer("write", tools.Result{Text: "Written.", Diffs: plan.Diffs}))
	write.OnPlan = func(context.Context, json.RawMessage) (tools.Plan, error) { return plan, nil }
	f := newFixture(write)
	f.script.steps = []step{wants(want{"w", "write", `{"path":"a.go"}`}), says("x")}
	rec := &recorder{}
	asks := 0
	user := approver(func(_ context.Context, q approve.Question) (approve.Answer, error) {
		asks++
		ids, states := rec.statuses()
		if len(ids) != 1 || ids[0] != q.CallID || !cmp.Equal(states[ids[0]], []event.Status{event.Pending}) {
			t.Errorf("asked about %s with the calls %v", q.CallID, states)
		}
		if q.Plan.Title != `a.go\nx` {
			t.Errorf("title of the question = %q, want one line", q.Plan.Title)
		}
		return approve.AllowOnce, nil
	})
	s := f.open(t, func(sp *harness.Spec) {
		sp.Approver = user
		sp.Choice = &harness.Choice{Model: "p/m", Mode: approve.Ask}
	})
	if _, err := prompted(t, s, t.Context(), "go", rec); err != nil {
		t.Fatal(err)
	}
	if got := len(write.Calls()); asks != 1 || got != 1 {
		t.Errorf("asked %d times, ran %d times, want once each", asks, got)
	}
	shown := f.entries(t, s)[2].(thread.Result).Shown
	want := event.ToolCall{
		ID: shown.ID, Name: "write", Title: `a.go\nx`, Kind: tools.KindOther, Status: event.Completed,
		Input: json.RawMessage(`{"path":"a.go"}`), Locations: plan.Locations, Diffs: plan.Diffs, Output: "Written.",
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("call as it was last seen (-want +got):\n%s", diff)
	}
	_, states := rec.statuses()
	if diff := cmp.Diff([]event.Status{event.Pending, event.InProgress, event.Completed}, states[shown.ID]); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
}

// approver is a function as an [approve.Approver].
type approver func(context.Context, approve.Question) (approve.Answer, error)

func (a approver) Approve(ctx context.Context, q approve.Question) (approve.Answer, error) {
	return a(ctx, q)
}

func TestRefusedCalls(t *testing.T) { // R-ACP-41, R-CMD-11, C041, C050
	tests := []struct {
		name    string
		user    approve.Approver
		unasked int
	}{
		{"the user says no", approver(func(context.Context, approve.Question) (approve.Answer, error) { return approve.Deny, nil }), 0},
		{"nobody to ask", nil, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			write, run := mutating(toolstest.Echo("write")), mutating(toolstest.Echo("run"))
			f := newFixture(write, run)
			f.script.steps = []step{wants(want{"a", "run", "{}"}), wants(want{"b", "write", "{}"}), says("I stop.")}
			s := f.open(t, func(sp *harness.Spec) {
				sp.Approver = tt.user
				sp.Choice = &harness.Choice{Model: "p/m", Mode: approve.Ask}
			})
			out, rec := ask(t, s, "go")
			if len(write.Calls())+len(run.Calls()) != 0 {
				t.Error("a refused tool ran")
			}
			if out.Stop != harness.EndTurn || out.Unasked != tt.unasked {
				t.Errorf("outcome = %+v, want end_turn with %d unasked", out, tt.unasked)
			}
			_, states := rec.statuses()
			for id, got := range states {
				if !cmp.Equal(got, []event.Status{event.Pending, event.Failed}) {
					t.Errorf("call %s went through %q", id, got)
				}
			}
			entries := f.entries(t, s)
			if err := paired(entries); err != nil {
				t.Error(err)
			}
			for _, text := range results(entries) {
				if !strings.Contains(strings.ToLower(text), "ask") {
					t.Errorf("refusal %q does not tell the model to ask", text)
				}
			}
		})
	}
}

func TestLiveOutput(t *testing.T) { // valid UTF-8 whatever the pieces
	chatty := toolstest.Chatty("run", "a\xc3", "\xa9b", "\xff", "c\xe2\x82")
	f := newFixture(chatty)
	f.script.steps = []step{wants(want{"w", "run", "{}"}), says("x")}
	_, rec := ask(t, f.open(t), "go")
	var got []string
	ended := false
	for _, e := range rec.all() {
		switch e := e.(type) {
		case event.Output:
			if ended {
				t.Error("output after the result")
			}
			got = append(got, e.Data)
		case event.ToolCall:
			ended = ended || e.Status == event.Completed
		}
	}
	if diff := cmp.Diff([]string{"a", "éb", "\uFFFD", "c", "\uFFFD"}, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestLateOutputIsDropped(t *testing.T) {
	var late func([]byte)
	run := toolstest.Echo("run")
	run.OnRun = func(_ context.Context, c tools.Call) (tools.Result, error) {
		late = c.Output
		return tools.Result{Text: "ok"}, nil
	}
	f := newFixture(run)
	f.script.steps = []step{wants(want{"w", "run", "{}"}), says("x")}
	_, rec := ask(t, f.open(t), "go")
	n := len(rec.all())
	late([]byte("too late"))
	if got := len(rec.all()); got != n {
		t.Errorf("%d events after the turn", got-n)
	}
}

func TestCallIDsAreOurs(t *testing.T) { // models repeat ids, or give none
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{
		wants(want{"same", "look", "{}"}, want{"same", "look", "{}"}), wants(want{"same", "look", "{}"}, want{"", "look", "{}"}),
		says("x"),
	}
	s := f.open(t)
	_, rec := ask(t, s, "go")
	ids, _ := rec.statuses()
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			t.Errorf("id %s is given twice", id)
		}
		seen[id] = true
	}
	reqs := f.script.requests()
	if err := noRepeat(reqs[len(reqs)-1]); err != nil || len(ids) != 4 {
		t.Errorf("%d calls: %v", len(ids), err)
	}
}
