package harness_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
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
				if p, ok := p.(llms.TextContent); ok && m.Role == llms.ChatMessageTypeAI {
					got = append(got, p.Text)
				} else if !ok {
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

// FuzzPiecesAddUp lets attempts say anything and break off anywhere. The pieces
// of each message add up to the one part of the thread with its id (R-ACP-22),
// and a message is closed as replaced exactly when its part is void (R-HARN-28).
func FuzzPiecesAddUp(f *testing.F) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		data := make([]byte, r.IntN(60))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := dice(data)
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(toolstest.Echo("look"))
			for range 1 + d.roll(5) {
				f.script.steps = append(f.script.steps, d.attempt())
			}
			f.script.steps = append(f.script.steps, says("hello world"))
			s := f.open(t)
			rec := &recorder{}
			if _, err := prompted(t, s, t.Context(), "go", rec); err != nil {
				if _, ok := errors.AsType[*model.Error](err); !ok {
					t.Fatal(err)
				}
			}
			bodies := f.entries(t, s)
			told, replaced := tellings(rec.all())
			kept, void := keepings(t, bodies)
			if diff := cmp.Diff(told, kept); diff != "" {
				t.Errorf("messages (-told +kept):\n%s", diff)
			}
			if diff := cmp.Diff(replaced, void); diff != "" {
				t.Errorf("messages that did not hold (-told +kept):\n%s", diff)
			}
			if err := errors.Join(paired(bodies), rec.closed()); err != nil {
				t.Error(err)
			}
		})
	})
}

// tellings returns the messages of a turn by their ids, and which were replaced.
func tellings(events []event.Event) (text map[string]string, replaced map[string]bool) {
	text, replaced = map[string]string{}, map[string]bool{}
	for _, e := range events {
		switch e := e.(type) {
		case event.Text:
			text[e.MessageID] += e.Text
		case event.Thought:
			text[e.MessageID] += e.Text
		case event.Done:
			if strings.Contains(string(e.Meta), "replaced") {
				replaced[e.MessageID] = true
			}
		}
	}
	return text, replaced
}

// keepings returns the messages of a thread by their ids, and which are void.
func keepings(t *testing.T, bodies []thread.Body) (text map[string]string, void map[string]bool) {
	t.Helper()
	text, void = map[string]string{}, map[string]bool{}
	for _, b := range bodies {
		a, ok := b.(thread.Assistant)
		if !ok {
			continue
		}
		for _, p := range a.Parts {
			if p.Call != nil {
				continue
			}
			if _, ok := text[p.ID]; ok {
				t.Errorf("two parts have the id %s", p.ID)
			}
			text[p.ID] = p.Text
			if p.Reasoning != nil {
				text[p.ID] = p.Reasoning.Text
			}
			if a.Void {
				void[p.ID] = true
			}
		}
	}
	return text, void
}

// Dice are bytes that choices are made with; at their end each choice is the
// first.
type dice []byte

func (d *dice) roll(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

// attempt makes an answer that resembles others of its kind: it breaks off, or
// is whole, or is whole and told all at once.
func (d *dice) attempt() step {
	words := []string{"hello", "hello world", "hello there", "h\u00e9", "a"}
	var events []model.Event
	r := reply(model.StopEnd)
	calls := 0
	for last := 0; d.roll(4) > 0 && len(events) < 10; {
		kind := 1 + d.roll(3)
		text := words[d.roll(len(words))]
		cut := d.roll(len(text))
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		switch {
		case kind == 3:
			events = append(events, model.ToolStart{Index: calls, ID: fmt.Sprint("w", calls), Name: "gone"})
			calls++
		case kind == last:
			continue // it would be the same message
		case kind == 2:
			events = append(events, model.Think(text[:cut]), model.Think(text[cut:]))
			r.Parts = append(r.Parts, model.Reasoning{TextContent: llms.TextContent{Text: text}, Provider: "p/m"})
		default:
			events = append(events, model.Text(text[:cut]), model.Text(text[cut:]))
			r.Parts = append(r.Parts, llms.TextContent{Text: text})
		}
		last = kind
	}
	end := d.roll(4)
	switch {
	case end < 2 || calls > 0:
		return broke(events...)
	case end == 2:
		events = nil // told all at once
	}
	return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		for _, e := range events {
			if err := sink(e); err != nil {
				return nil, err
			}
		}
		return r, nil
	}
}

func TestErrorsOfEachKind(t *testing.T) { // R-HARN-24, R-HARN-25
	fail := func(kind model.Kind, after time.Duration, final bool) step {
		return fails(&model.Error{Kind: kind, Provider: "p", Message: "no", RetryAfter: after, Final: final})
	}
	times := func(n int, s step) []step { return slices.Repeat([]step{s}, n) }
	const s = time.Second
	tests := []struct {
		name     string
		steps    []step
		requests int
		least    time.Duration // waited, with what the jitter may add
		most     time.Duration
		ends     string // what the user reads if it is an error
	}{
		{"overloaded", times(3, fail(model.Overloaded, 0, false)), 4, s * 7 / 4, s * 21 / 4, ""},
		{"overloaded for ever", times(20, fail(model.Overloaded, 0, false)), 13, 40 * s, 120 * s, "gave up after 12 repeats"},
		{"no connection", times(1, fail(model.Connection, 0, false)), 2, s / 4, s * 3 / 4, ""},
		{"rate limit with a time", times(1, fail(model.RateLimit, 9*s, false)), 2, 9 * s, 9 * s, ""},
		{"rate limit without", times(9, fail(model.RateLimit, 0, false)), 3, s * 3 / 4, s * 9 / 4, "gave up after 2 repeats"},
		{"rate limit for days", times(1, fail(model.RateLimit, 400*time.Hour, false)), 1, 0, 0, "it can be asked again after"},
		{"quota", times(1, fail(model.Quota, 0, false)), 1, 0, 0, "quota"},
		{"context overflow", times(1, fail(model.TokenLimit, 0, false)), 1, 0, 0, "context overflow"},
		{"refused", times(1, fail(model.Refused, 0, false)), 1, 0, 0, "refused"},
		{"a bad key", times(1, fail(model.Auth, 0, false)), 1, 0, 0, "authentication"},
		{"final", times(1, fail(model.Overloaded, 0, true)), 1, 0, 0, "overloaded"},
		{"broken off", times(1, broke(model.Text("x"))), 2, s, 3 * s, ""},
		{"broken off for ever", times(9, broke(model.Text("x"))), 4, 7 * s, 21 * s, "gave up after 3 repeats"},
		{"empty", times(1, stops(model.StopEnd)), 2, s / 4, s / 4, ""},
		{"empty for ever", times(9, stops(model.StopEnd)), 4, s / 4, 19 * s, "empty answer 4 times"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.script.steps = append(slices.Clone(tt.steps), says("x y"))
				session := f.open(t)
				rec := &recorder{}
				start := time.Now()
				out, err := prompted(t, session, t.Context(), "go", rec)
				if got := time.Since(start); got < tt.least || got > tt.most {
					t.Errorf("waited %v, want %v to %v", got, tt.least, tt.most)
				}
				if got := len(f.script.requests()); got != tt.requests {
					t.Errorf("%d requests, want %d", got, tt.requests)
				}
				waits := 0
				for _, e := range rec.all() {
					if e, ok := e.(event.Retry); ok {
						waits++
						if e.Attempt != waits || e.Reason == "" || strings.Contains(e.Reason, "\n") {
							t.Errorf("wait %d is told as %+v", waits, e)
						}
					}
				}
				if waits != tt.requests-1 {
					t.Errorf("%d waits were told, want %d", waits, tt.requests-1)
				}
				if tt.ends == "" {
					if err != nil || out.Stop != harness.EndTurn || rec.text() != "x y" {
						t.Errorf("outcome = %+v, %v with %q", out, err, rec.text())
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), tt.ends) {
					t.Errorf("error = %v, want it to say %q", err, tt.ends)
				}
			})
		})
	}
}

// What a model took before it broke off is part of the turn's cost.
func TestBrokenAttemptCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
			return reply(model.StopEnd), nil // empty
		}, says("x")}
		out, _ := ask(t, f.open(t), "go")
		if want := (model.Usage{Input: 20, Output: 4, Known: true}); out.Usage != want {
			t.Errorf("usage = %+v, want %+v", out.Usage, want)
		}
	})
}

func TestCancelWhileARepeatWaits(t *testing.T) { // R-HARN-27
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Echo("look"))
		f.script.steps = []step{broke(model.Text("half"), model.ToolStart{ID: "w", Name: "look"}), says("next")}
		s := f.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		rec := &recorder{hook: func(e event.Event) error {
			if _, ok := e.(event.Retry); ok {
				cancel()
			}
			return nil
		}}
		start := time.Now()
		out, err := prompted(t, s, ctx, "go", rec)
		if err != nil || out.Stop != harness.Cancelled || time.Since(start) != 0 {
			t.Errorf("outcome = %+v, %v after %v, want cancelled at once", out, err, time.Since(start))
		}
		if got := len(f.script.requests()); got != 1 {
			t.Errorf("%d requests, want one", got)
		}
		if diff := cmp.Diff([]string{"partial text m3-1: half"}, stored(f.entries(t, s))); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if err := rec.closed(); err != nil {
			t.Error(err)
		}
		if out, rec := ask(t, s, "and now"); out.Stop != harness.EndTurn || rec.text() != "next" {
			t.Errorf("next prompt: %q, %q", out.Stop, rec.text())
		}
	})
}
