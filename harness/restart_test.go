package harness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// broke is an answer that breaks off after events.
func broke(events ...model.Event) step {
	return fails(&model.Error{Kind: model.Connection, Provider: "p", Message: "cut", Partial: len(events) > 0}, events...)
}

// thinks answers with a thought and a text.
func thinks(thought, text string) step {
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		r := reply(model.StopEnd)
		r.Parts = []llms.ContentPart{
			model.Reasoning{TextContent: llms.TextContent{Text: thought}, Provider: "p/m", Signature: "s"},
			llms.TextContent{Text: text},
		}
		return r, errors.Join(sink(model.Think(thought)), sink(model.Text(text)))
	}
}

// shown writes down what a watcher saw of an answer, a line for each message,
// call, wait and end.
func shown(events []event.Event) []string {
	var out []string
	last := ""
	say := func(kind, id, text string) {
		if head := kind + " " + id + ": "; last == head {
			out[len(out)-1] += text
		} else {
			out = append(out, head+text)
			last = head
		}
	}
	for _, e := range events {
		if _, ok := e.(event.Text); !ok {
			if _, ok := e.(event.Thought); !ok {
				last = ""
			}
		}
		switch e := e.(type) {
		case event.Text:
			say("text", e.MessageID, e.Text)
		case event.Thought:
			say("thought", e.MessageID, e.Text)
		case event.Retry:
			out = append(out, "wait")
		case event.Done:
			if strings.Contains(string(e.Meta), "replaced") {
				out = append(out, "replaced "+e.MessageID)
			} else {
				out = append(out, "done "+e.MessageID)
			}
		case event.ToolCall:
			if e.New || e.Status == event.Completed || e.Status == event.Failed {
				out = append(out, string(e.Status)+" "+e.ID)
			}
		}
	}
	return out
}

// stored writes down the answers of a thread, a line for each part and result.
func stored(bodies []thread.Body) []string {
	var out []string
	for _, b := range bodies {
		switch b := b.(type) {
		case thread.Assistant:
			kind := ""
			if b.Void {
				kind = "void "
			} else if b.Partial {
				kind = "partial "
			}
			for _, p := range b.Parts {
				switch {
				case p.Call != nil:
					out = append(out, kind+"call "+p.Call.ID+": "+p.Call.Args)
				case p.Reasoning != nil:
					out = append(out, kind+"thought "+p.ID+": "+p.Reasoning.Text)
				default:
					out = append(out, kind+"text "+p.ID+": "+p.Text)
				}
			}
		case thread.Result:
			out = append(out, fmt.Sprintf("result %s: %v", b.CallID, b.IsError))
		case thread.Withdrawn:
			out = append(out, "withdrawn")
		}
	}
	return out
}

func TestRepeatDoesNotShowTextTwice(t *testing.T) { // R-HARN-28, R-ACP-22, C110
	look := []model.Event{model.ToolStart{ID: "w", Name: "look"}, model.ToolArgs{Fragment: `{"n"`}}
	tests := []struct {
		name   string
		steps  []step
		shown  []string
		stored []string
		fails  bool
	}{
		{
			"the same again, and more",
			[]step{broke(model.Text("Hello wo")), says("Hel", "lo world", ".")},
			[]string{"text m3-1: Hello wo", "wait", "text m3-1: rld.", "done m3-1"},
			[]string{"text m3-1: Hello world."}, false,
		},
		{
			"exactly the same",
			[]step{broke(model.Text("Hello")), says("Hello")},
			[]string{"text m3-1: Hello", "wait", "done m3-1"},
			[]string{"text m3-1: Hello"}, false,
		},
		{
			"another text",
			[]step{broke(model.Text("Hello wo")), says("Hello", " there")},
			[]string{"text m3-1: Hello wo", "wait", "replaced m3-1", "text m3-2: Hello there", "done m3-2"},
			[]string{"void text m3-1: Hello wo", "text m3-2: Hello there"}, false,
		},
		{
			"a shorter text",
			[]step{broke(model.Text("Hello wo")), says("Hello")},
			[]string{"text m3-1: Hello wo", "wait", "replaced m3-1", "text m3-2: Hello", "done m3-2"},
			[]string{"void text m3-1: Hello wo", "text m3-2: Hello"}, false,
		},
		{
			"the thought differs, the text does not",
			[]step{broke(model.Think("hm"), model.Text("Hel")), thinks("so", "Hello")},
			[]string{"thought m3-1: hm", "text m3-2: Hel", "wait", "replaced m3-1", "thought m3-3: so", "text m3-2: lo", "done m3-2"},
			[]string{"void thought m3-1: hm", "thought m3-3: so", "text m3-2: Hello"}, false,
		},
		{
			"the text differs, the thought goes on",
			[]step{broke(model.Think("hm"), model.Text("Hel")), thinks("hmm", "No")},
			[]string{"thought m3-1: hm", "text m3-2: Hel", "wait", "thought m3-1: m", "replaced m3-2", "text m3-3: No", "done m3-3"},
			[]string{"void text m3-2: Hel", "thought m3-1: hmm", "text m3-3: No"}, false,
		},
		{
			"a call that was complete",
			[]step{broke(model.Text("I look"), look[0], model.ToolArgs{Fragment: "{}"}), says("I look away")},
			[]string{"text m3-1: I look", "pending c3-2", "failed c3-2", "wait", "text m3-1:  away", "done m3-1"},
			[]string{"text m3-1: I look away"}, false,
		},
		{
			"a call, and another text",
			[]step{broke(append([]model.Event{model.Text("I look")}, look...)...), says("No")},
			[]string{"text m3-1: I look", "pending c3-2", "failed c3-2", "wait", "replaced m3-1", "text m3-3: No", "done m3-3"},
			[]string{"void text m3-1: I look", `void call c3-2: {"n"`, "result c3-2: true", "text m3-3: No"}, false,
		},
		{
			"a call alone",
			[]step{broke(look...), says("No")},
			[]string{"pending c3-1", "failed c3-1", "wait", "text m3-2: No", "done m3-2"},
			[]string{"text m3-2: No"}, false,
		},
		{
			"text around a call, and then as one text",
			[]step{broke(model.Text("A"), look[0], model.Text("B")), says("AB")},
			[]string{
				"text m3-1: A", "pending c3-2", "text m3-3: B", "failed c3-2", "wait",
				"replaced m3-1", "replaced m3-3", "text m3-4: AB", "done m3-4",
			},
			[]string{"void text m3-1: A", "void call c3-2: ", "void text m3-3: B", "result c3-2: true", "text m3-4: AB"}, false,
		},
		{
			"a second text that the next attempt does not come to",
			[]step{broke(model.Text("A"), look[0], model.Text("B")), says("A")},
			[]string{"text m3-1: A", "pending c3-2", "text m3-3: B", "failed c3-2", "wait", "replaced m3-3", "done m3-1"},
			[]string{"void call c3-2: ", "void text m3-3: B", "result c3-2: true", "text m3-1: A"}, false,
		},
		{
			"three attempts, each another text",
			[]step{broke(model.Text("one")), broke(model.Text("two")), says("three")},
			[]string{"text m3-1: one", "wait", "replaced m3-1", "text m3-2: two", "wait", "replaced m3-2", "text m3-3: three", "done m3-3"},
			[]string{"void text m3-1: one", "void text m3-2: two", "text m3-3: three"}, false,
		},
		{
			"the second attempt comes less far than the first",
			[]step{broke(model.Text("Hello wo")), broke(model.Text("Hel")), broke(), says("Hello world")},
			[]string{"text m3-1: Hello wo", "wait", "wait", "wait", "text m3-1: rld", "done m3-1"},
			[]string{"text m3-1: Hello world"}, false,
		},
		{
			"all break off: what was shown stays",
			[]step{broke(model.Text("Hello wo")), broke(model.Text("Hello")), broke(model.Text("Hello wor")), broke(model.Text("H"))},
			[]string{"text m3-1: Hello wo", "wait", "wait", "text m3-1: r", "wait", "done m3-1"},
			[]string{"partial text m3-1: Hello wor"}, true,
		},
		{
			"all break off, each in another text",
			[]step{broke(model.Text("a")), broke(model.Text("b")), broke(model.Text("c")), broke(model.Text("d"), look[0])},
			[]string{
				"text m3-1: a", "wait", "replaced m3-1", "text m3-2: b", "wait", "replaced m3-2", "text m3-3: c", "wait",
				"replaced m3-3", "text m3-4: d", "pending c3-5", "failed c3-5", "done m3-4",
			},
			[]string{
				"void text m3-1: a", "void text m3-2: b", "void text m3-3: c",
				"partial text m3-4: d", "partial call c3-5: ", "result c3-5: true",
			}, true,
		},
		{
			"thoughts alone, and then an answer",
			[]step{func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
				return reply(model.StopEnd), sink(model.Think("hm"))
			}, thinks("hm", "Yes")},
			[]string{"thought m3-1: hm", "wait", "text m3-2: Yes", "done m3-2"},
			[]string{"thought m3-1: hm", "text m3-2: Yes"}, false,
		},
		{
			"nothing four times",
			[]step{stops(model.StopEnd)},
			[]string{"wait", "wait", "wait"},
			[]string{"withdrawn"}, true,
		},
		{
			"text that is told all at once",
			[]step{broke(model.Text("Hello wo")), func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
				r := reply(model.StopEnd)
				r.Parts = []llms.ContentPart{llms.TextContent{Text: "Hello"}}
				return r, nil
			}},
			[]string{"text m3-1: Hello wo", "wait", "replaced m3-1", "text m3-2: Hello", "done m3-2"},
			[]string{"void text m3-1: Hello wo", "text m3-2: Hello"}, false,
		},
		{
			"the limit of tokens before a word",
			[]step{broke(model.Text("Hello")), stops(model.StopLength)},
			[]string{"text m3-1: Hello", "wait", "replaced m3-1"},
			[]string{"void text m3-1: Hello"}, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(toolstest.Echo("look"))
				f.script.steps = tt.steps
				s := f.open(t)
				rec := &recorder{}
				if _, err := prompted(t, s, t.Context(), "go", rec); (err != nil) != tt.fails {
					t.Errorf("error = %v, want one: %v", err, tt.fails)
				}
				if diff := cmp.Diff(tt.shown, shown(rec.all())); diff != "" {
					t.Errorf("shown (-want +got):\n%s", diff)
				}
				bodies := f.entries(t, s)
				if diff := cmp.Diff(tt.stored, stored(bodies)); diff != "" {
					t.Errorf("stored (-want +got):\n%s", diff)
				}
				if err := errors.Join(paired(bodies), rec.closed()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// What was left is not what the model is asked with next.
func TestLeftAttemptIsNoPartOfTheConversation(t *testing.T) { // R-HARN-28
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Echo("look"))
		f.script.steps = []step{
			broke(model.Text("left behind"), model.ToolStart{ID: "w", Name: "look"}), says("kept"), says("second"),
		}
		s := f.open(t)
		ask(t, s, "one")
		ask(t, s, "two")
		last := f.script.requests()[2]
		var got []string
		for _, m := range last.Messages {
			for _, p := range m.Parts {
				switch p := p.(type) {
				case llms.TextContent:
					if m.Role == llms.ChatMessageTypeAI {
						got = append(got, p.Text)
					}
				case model.Author:
				default:
					t.Errorf("part %+v, want none but text", p)
				}
			}
		}
		if !slices.Equal(got, []string{"kept"}) {
			t.Errorf("the model is told that it said %q, want what was kept", got)
		}
		if a, b := f.script.requests()[0], f.script.requests()[1]; reuse(t, a, b) != 1 || reuse(t, b, a) != 1 {
			t.Error("the repeat is another request")
		}
	})
}
