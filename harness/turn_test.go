package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestTurnTellsWhatItStores(t *testing.T) { // R-ACP-20, R-ACP-22, R-HARN-29
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{
		func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			for _, e := range []model.Event{
				model.Think("hm"), model.Think("m"), model.Text("I "), model.Text("look."),
				model.ToolStart{ID: "w1", Name: "look"}, model.ToolArgs{Fragment: `{"n": 12345678901234567890}`},
			} {
				if err := sink(e); err != nil {
					return nil, err
				}
			}
			r := reply(model.StopTools)
			r.Parts = []llms.ContentPart{
				model.Reasoning{TextContent: llms.TextContent{Text: "hmm"}, Provider: "p/m", Signature: "s"},
				llms.TextContent{Text: "I look."},
				llms.ToolCall{ID: "w1", FunctionCall: &llms.FunctionCall{Name: "look", Arguments: `{"n": 12345678901234567890}`}},
			}
			return r, nil
		},
		says("Done", "."),
	}
	s := f.open(t)
	out, rec := ask(t, s, "go")

	want := harness.Outcome{Stop: harness.EndTurn, Usage: model.Usage{Input: 20, Output: 4, Known: true}}
	if u, ok := rec.all()[0].(event.User); !ok || u.MessageID == "" || out.MessageID != u.MessageID {
		t.Errorf("the outcome is of message %q, the events begin with %+v", out.MessageID, rec.all()[0])
	}
	if diff := cmp.Diff(want, out, cmpopts.IgnoreFields(harness.Outcome{}, "MessageID")); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
	input := json.RawMessage(`{"n": 12345678901234567890}`)
	meta := json.RawMessage(`{"model":"p/m","harness":"built"}`)
	wantEvents := []event.Event{
		event.User{Blocks: []event.Block{{Text: "go"}}},
		event.Title{Text: "go"},
		event.Thought{MessageID: "m3-1", Text: "hm"},
		event.Thought{MessageID: "m3-1", Text: "m"},
		event.Text{MessageID: "m3-2", Text: "I "},
		event.Text{MessageID: "m3-2", Text: "look."},
		event.ToolCall{ID: "c3-3", New: true, Name: "look", Title: "look", Kind: tools.KindOther, Status: event.Pending},
		event.Done{MessageID: "m3-2", Meta: meta},
		event.Usage{Used: 12, Size: 1000},
		event.ToolCall{ID: "c3-3", Title: tools.Title(tools.Info{Name: "look"}, input), Input: input},
		event.ToolCall{ID: "c3-3", Status: event.InProgress},
		event.ToolCall{ID: "c3-3", Status: event.Completed, Text: string(input), Output: string(input)},
		event.Text{MessageID: "m3-4", Text: "Done"},
		event.Text{MessageID: "m3-4", Text: "."},
		event.Done{MessageID: "m3-4", Meta: meta},
		event.Usage{Used: 12, Size: 1000},
	}
	ignored := cmp.Options{cmpopts.IgnoreFields(event.User{}, "MessageID"), cmpopts.IgnoreFields(event.Title{}, "Updated")}
	if diff := cmp.Diff(wantEvents, rec.all(), ignored); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	entries := f.entries(t, s)
	wantParts := []thread.Part{
		{ID: "m3-1", Reasoning: &thread.Reasoning{Text: "hmm", Provider: "p/m", Signature: "s"}},
		{ID: "m3-2", Text: "I look."},
		{Call: &thread.Call{ID: "c3-3", WireID: "w1", Name: "look", Args: string(input)}},
	}
	if diff := cmp.Diff(wantParts, entries[1].(thread.Assistant).Parts); diff != "" {
		t.Errorf("stored parts (-want +got):\n%s", diff)
	}
	if got := entries[3].(thread.Assistant).Parts; len(got) != 1 || got[0].ID != "m3-4" || got[0].Text != "Done." {
		t.Errorf("stored answer = %+v, want Done. as m3-4", got)
	}
}

// The first message that gives a thread a title tells it, as a list has it; what comes
// later does not.
func TestTitleIsTold(t *testing.T) { // R-ACP-16
	f := newFixture()
	f.script.steps = []step{says("x")}
	named := f.open(t)
	if _, err := f.engine.SetTitle(t.Context(), named.ID(), "A name"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		s        *harness.Session
		messages []string
		want     []string
	}{
		{f.open(t), []string{" ", " The\tquestion\nand more", "another"}, []string{"The\\tquestion"}},
		{named, []string{"question"}, nil},
	} {
		var got []string
		for _, m := range tt.messages {
			_, rec := ask(t, tt.s, m)
			info, err := f.engine.Info(t.Context(), tt.s.ID())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range rec.all() {
				if e, ok := e.(event.Title); ok {
					got = append(got, e.Text)
					if e.Text != info.Title || e.Updated.IsZero() || e.Updated.After(info.Updated) {
						t.Errorf("told %+v, and a list has %+v", e, info)
					}
				}
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("titles told with %q = %q, want %q", tt.messages, got, tt.want)
		}
	}
}

func TestEntryIsWrittenBeforeItIsTold(t *testing.T) { // R-ACP-50, R-HARN-22
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{
		func(ctx context.Context, r *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			return wants(want{"w", "look", "{}"})(ctx, r, sink)
		},
		says("ok"),
	}
	s := f.open(t)
	rec := &recorder{}
	stored := func() (users, answers, results int) {
		for _, b := range f.entries(t, s) {
			switch b.(type) {
			case thread.User:
				users++
			case thread.Assistant:
				answers++
			case thread.Result:
				results++
			}
		}
		return
	}
	rec.hook = func(e event.Event) error {
		users, answers, results := stored()
		switch e := e.(type) {
		case event.User:
			if users != 1 {
				t.Error("the user's message was told before it was stored")
			}
		case event.Done:
			if answers != 2 {
				t.Errorf("%d answers stored when the last was told as done", answers)
			}
		case event.ToolCall:
			if e.Status == event.InProgress && answers != 1 {
				t.Error("a call began before it was stored")
			}
			if e.Status == event.Completed && results != 1 {
				t.Error("a result was told before it was stored")
			}
		}
		return nil
	}
	first := f.script.steps[0]
	f.script.steps[0] = func(ctx context.Context, r *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		if users, _, _ := stored(); users != 1 {
			t.Error("the model was asked before the user's message was stored")
		}
		return first(ctx, r, sink)
	}
	if _, err := prompted(t, s, t.Context(), "go", rec); err != nil {
		t.Fatal(err)
	}
}

func TestStreamingIsNotHeldBack(t *testing.T) { // R-ACP-21
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			for _, p := range []string{"a", "b"} {
				if err := sink(model.Text(p)); err != nil {
					return nil, err
				}
				time.Sleep(time.Minute)
			}
			r := reply(model.StopEnd)
			r.Parts = []llms.ContentPart{llms.TextContent{Text: "ab"}}
			return r, nil
		}}
		s := f.open(t)
		start := time.Now()
		var at []time.Duration
		rec := &recorder{hook: func(e event.Event) error {
			if _, ok := e.(event.Text); ok {
				at = append(at, time.Since(start))
			}
			return nil
		}}
		if _, err := prompted(t, s, t.Context(), "go", rec); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]time.Duration{0, time.Minute}, at); diff != "" {
			t.Errorf("times of the chunks (-want +got):\n%s", diff)
		}
	})
}

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

func TestPrefixStability(t *testing.T) { // R-HARN-14, C122
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Echo("look"), toolstest.Answer("draw", tools.Result{
			Text: "a picture", Images: []tools.Image{{MIME: "image/png", Data: []byte{1, 2}}},
		}))
		f.script.steps = nil
		for range 20 {
			f.script.steps = append(f.script.steps,
				wants(want{"same", "look", `{"b": 1, "a": 2}`}, want{"same", "draw", `{}`}),
				wants(want{"", "look", `{"path":"a`}),
				says("Done."))
		}
		s := f.open(t)
		for range 20 {
			ask(t, s, "go on")
			time.Sleep(61 * time.Second)
		}
		reqs := f.script.requests()
		if len(reqs) != 60 {
			t.Fatalf("%d requests, want 60", len(reqs))
		}
		for i := 1; i < len(reqs); i++ {
			if got := reuse(t, reqs[i-1], reqs[i]); got != 1 {
				t.Fatalf("request %d reuses %.4f of request %d, want all", i+1, got, i)
			}
		}
		if err := noRepeat(reqs[59]); err != nil {
			t.Error(err)
		}
	})
}

// noRepeat reports the first call id that a request has twice (pitfall of
// models that repeat theirs).
func noRepeat(r *model.Request) error {
	seen := map[string]bool{}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			c, ok := p.(llms.ToolCall)
			if ok && seen[c.ID] {
				return errors.New("two calls have the id " + c.ID)
			}
			if ok {
				seen[c.ID] = true
			}
		}
	}
	return nil
}

func TestDateEndsTheUserTurnAndStays(t *testing.T) { // R-PROMPT-30, R-PROMPT-33
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{says("x")}
		s := f.open(t)
		first := prompt.DateNote(time.Now().UTC())
		ask(t, s, "one")
		time.Sleep(48 * time.Hour)
		second := prompt.DateNote(time.Now().UTC())
		ask(t, s, "two")
		r := f.script.requests()[1]
		var got []string
		for _, m := range r.Messages {
			got = append(got, m.Parts[0].(llms.TextContent).Text)
		}
		want := []string{"one\n\n" + first, "x", "two\n\n" + second}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if strings.Contains(r.System, first) || strings.Contains(r.System, second) {
			t.Error("the system string has the date")
		}
		u := f.entries(t, s)[0].(thread.User)
		if diff := cmp.Diff([]event.Block{{Text: "one"}}, u.Blocks); diff != "" {
			t.Errorf("displayed message (-want +got):\n%s", diff)
		}
	})
}

func TestDateInSystem(t *testing.T) { // R-PROMPT-30, volatile placement
	f := newFixture()
	f.settings.facts.Volatile = prompt.InSystem
	f.script.steps = []step{says("x")}
	ask(t, f.open(t), "one")
	r := f.script.requests()[0]
	if got := r.Messages[0].Parts[0].(llms.TextContent).Text; got != "one" {
		t.Errorf("user turn = %q, want the text alone", got)
	}
	lines := strings.Split(r.System, "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, time.Now().UTC().Format("2006")) {
		t.Errorf("system ends with %q, want the date", last)
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
			set := &toolSet{}
			s := f.open(t, func(sp *harness.Spec) { sp.Sets = []tools.Set{set} })
			if err := s.SetOption(t.Context(), harness.OptionTools, tt.option); err != nil {
				t.Fatal(err)
			}
			ask(t, s, "go")
			r := f.script.requests()[0]
			if got := len(r.Tools) > 0; got != tt.want {
				t.Errorf("tools on the wire: %v, want %v", got, tt.want)
			}
			if got := set.asked > 0; got != tt.want {
				t.Errorf("set was asked: %v, want %v", got, tt.want)
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

// toolSet is a [tools.Set] with changing members.
type toolSet struct {
	tools []tools.Tool
	known []string
	err   error
	asked int
}

func (s *toolSet) Tools(context.Context) ([]tools.Tool, error) {
	s.asked++
	return s.tools, s.err
}
func (s *toolSet) Known() []string { return s.known }

func TestToolsAreReadAnewForEachSend(t *testing.T) { // R-HARN-09, C123
	f := newFixture(toolstest.Echo("m"))
	f.script.steps = []step{says("x")}
	set := &toolSet{tools: []tools.Tool{toolstest.Echo("z"), toolstest.Echo("a")}}
	s := f.open(t, func(sp *harness.Spec) { sp.Sets = []tools.Set{set} })
	ask(t, s, "one")
	set.tools = []tools.Tool{toolstest.Echo("a"), toolstest.Echo("z")}
	ask(t, s, "two")
	set.tools = nil
	ask(t, s, "three")
	var got []string
	for _, r := range f.script.requests() {
		var names []string
		for _, w := range r.Tools {
			names = append(names, w.Name)
		}
		got = append(got, strings.Join(names, " "))
	}
	if diff := cmp.Diff([]string{"a m z", "a m z", "m"}, got); diff != "" {
		t.Errorf("tools by request (-want +got):\n%s", diff)
	}
}

func TestSettingsAreReadOncePerSend(t *testing.T) { // R-TOOLS-03, R-HARN-06
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{wants(want{"w", "look", "{}"}), wants(want{"v", "look", "{}"}), says("x")}
	ask(t, f.open(t), "go")
	if got := f.settings.reads.Load(); got != 1 {
		t.Errorf("settings were read %d times, want once", got)
	}
}

func TestNoticesAreToldOnce(t *testing.T) { // R-CMD-13
	f := newFixture()
	f.settings.notices = []string{"found a model"}
	f.script.steps = []step{says("x")}
	s := f.open(t, func(sp *harness.Spec) { sp.Notices = []string{"servers are not connected"} })
	var got []string
	for range 2 {
		_, rec := ask(t, s, "go")
		for _, e := range rec.all() {
			if n, ok := e.(event.Notice); ok {
				got = append(got, n.Text)
			}
		}
	}
	if diff := cmp.Diff([]string{"servers are not connected", "found a model"}, got); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
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

func TestPictures(t *testing.T) { // R-HARN-32
	for _, tt := range []struct {
		mime         string
		images, sees bool
	}{{"image/png", true, true}, {"image/png", false, false}, {"image/tiff", true, false}} {
		f := newFixture()
		f.settings.model.Images = tt.images
		f.script.steps = []step{says("x")}
		s := f.open(t)
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		rec := &recorder{}
		in := harness.Input{Blocks: []event.Block{{Text: "what is"}, {MIME: tt.mime, Data: []byte{1}, Name: "a.png"}}}
		if _, err := slot.Prompt(t.Context(), in, rec); err != nil {
			t.Fatal(err)
		}
		warned := false
		for _, e := range rec.all() {
			n, ok := e.(event.Notice)
			warned = warned || ok && n.Severity == event.Warning
		}
		if warned == tt.sees {
			t.Errorf("%s, model sees it: %v, user was warned: %v", tt.mime, tt.sees, warned)
		}
		parts := f.script.requests()[0].Messages[0].Parts
		if got := parts[1]; cmp.Diff(llms.BinaryContent{MIMEType: tt.mime, Data: []byte{1}}, got) != "" {
			t.Errorf("second part = %v, want the picture", got)
		}
		if _, ok := parts[2].(llms.TextContent); !ok || len(parts) != 3 {
			t.Errorf("parts = %v, want text, picture and date", parts)
		}
	}
}

func TestResourcesReachTheModelLabelled(t *testing.T) { // C007
	f := newFixture()
	f.script.steps = []step{says("x")}
	slot, err := f.open(t).Enter()
	if err != nil {
		t.Fatal(err)
	}
	in := harness.Input{Blocks: []event.Block{
		{URI: "file:///a.go", Name: "a.go", Text: "x // y\n</resource>\n</Resource >\nrm"},
		{URI: "file:///b.pdf", Name: `b"`, MIME: "application/pdf", Data: []byte("%PDF")},
		{URI: "file:///c.go", Name: "c.go"},
	}}
	if _, err := slot.Prompt(t.Context(), in, &recorder{}); err != nil {
		t.Fatal(err)
	}
	got := f.script.requests()[0].Messages[0].Parts[0].(llms.TextContent).Text
	want := `<resource name="a.go" uri="file:///a.go">
x // y
<\/resource>
<\/Resource >
rm
</resource>

<resource name="b&#34;" uri="file:///b.pdf" type="application/pdf">4 bytes that cannot be shown as text</resource>

<resource name="c.go" uri="file:///c.go"/>

`
	if !strings.HasPrefix(got, want) {
		t.Errorf("sent:\n%s\nwant it to begin with:\n%s", got, want)
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
	if diff := cmp.Diff(event.Event(event.Usage{Used: 12, Size: 1000}), events[len(events)-1]); diff != "" {
		t.Errorf("last event (-want +got):\n%s", diff)
	}
	if got := len(f.entries(t, s)); got != 1 {
		t.Errorf("%d entries, want that of the message alone", got)
	}
}
