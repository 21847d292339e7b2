package harness_test

import (
	"context"
	"encoding/json"
	"slices"
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
		event.Usage{Used: 12, Size: 100_000},
		event.ToolCall{ID: "c3-3", Title: tools.Title(tools.Info{Name: "look"}, input), Input: input},
		event.ToolCall{ID: "c3-3", Status: event.InProgress},
		event.ToolCall{ID: "c3-3", Status: event.Completed, Text: string(input), Output: string(input)},
		event.Text{MessageID: "m3-4", Text: "Done"},
		event.Text{MessageID: "m3-4", Text: "."},
		event.Done{MessageID: "m3-4", Meta: meta},
		event.Usage{Used: 12, Size: 100_000},
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
