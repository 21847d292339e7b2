package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// FuzzReplay runs turns that end in any way, as FuzzCancelAnywhere does. What a
// client shows after a replay is what one shows that has watched.
func FuzzReplay(f *testing.F) {
	f.Add("twlrx", []byte{0, 0, 0})
	f.Add("wwtfwh", []byte{3, 1, 4})
	f.Add("bphcel", []byte{2, 2, 9})
	f.Add("lwbbbr", []byte{0, 7})
	f.Fuzz(func(t *testing.T, answers string, cuts []byte) {
		if len(answers) > 12 || len(cuts) > 6 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(toolstest.Slow("look", 2*time.Second), mutating(toolstest.Slow("write", 3*time.Second)))
			f.threads = newCoded()
			for i, a := range answers {
				f.script.steps = append(f.script.steps, after(time.Second, answerOf(i, a)))
			}
			f.script.steps = append(f.script.steps, says("end"))
			s := f.open(t)
			rec := &recorder{}
			for _, cut := range cuts {
				patience := time.Duration(cut%16) * time.Second
				if cut == 0 {
					patience = time.Hour
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				// A turn that fails is shown like one that does not.
				_, _ = prompted(t, s, ctx, "go", rec)
				cancel()
			}
			got, want := show(replayed(t, f.beside().load(t, s.ID()))), show(rec.all())
			if slices.ContainsFunc(rec.all(), func(e event.Event) bool { _, ok := e.(event.Retry); return ok }) {
				// What a repeat left and what it kept are stored one after the other.
				slices.Sort(got.order)
				slices.Sort(want.order)
			}
			want.forget(f.entries(t, s))
			if diff := got.differs(want); diff != "" {
				t.Errorf("shown after a replay (-live +replay):\n%s", diff)
			}
		})
	})
}

// forget takes the calls off the screen that failed and are not stored: where an
// answer went on as it had begun, the thread has only how it ended.
func (s *screen) forget(bodies []thread.Body) {
	stored := map[string]bool{}
	for _, b := range bodies {
		if r, ok := b.(thread.Result); ok {
			stored[r.CallID] = true
		}
	}
	s.order = slices.DeleteFunc(s.order, func(id string) bool {
		c, ok := s.items[id].(event.ToolCall)
		return ok && c.Status == event.Failed && !stored[id]
	})
}

func TestReplay(t *testing.T) { // R-ACP-15, R-HARN-26, R-HARN-28
	call := func(id string) thread.Part {
		return thread.Part{Call: &thread.Call{ID: id, WireID: "w" + id, Name: "look", Args: `{"path": "a.go"}`}}
	}
	input := json.RawMessage(`{"path": "a.go"}`)
	title := tools.Title(tools.Info{Name: "look"}, input)
	blocks := []event.Block{{Text: "q"}, {MIME: "image/png", Data: []byte{1}}, {URI: "file:///a", Name: "a"}}
	usage := model.Usage{Input: 100, Output: 20, Known: true}
	tests := []struct {
		name   string
		bodies []thread.Body
		want   []event.Event
	}{
		{"nothing", nil, nil},
		{
			"an answer with its metadata", []thread.Body{
				thread.User{MessageID: "u", Blocks: blocks, Sent: []thread.Part{{Text: "sent"}}},
				thread.Note{Text: "n"},
				thread.Assistant{MessageID: "m2", Usage: usage, Meta: json.RawMessage(`{"sources":[]}`), Parts: []thread.Part{
					{ID: "m1", Reasoning: &thread.Reasoning{Text: "hm"}}, {Reasoning: &thread.Reasoning{Redacted: "x"}}, {ID: "m2", Text: "a"},
				}},
				thread.Title{Text: "t"}, thread.Archived{On: true},
			},
			[]event.Event{
				event.User{MessageID: "u", Blocks: blocks}, event.Thought{MessageID: "m1", Text: "hm"}, event.Text{MessageID: "m2", Text: "a"},
				event.Done{MessageID: "m2", Meta: json.RawMessage(`{"sources":[]}`)}, event.Usage{Used: 120, Size: 100_000},
			},
		},
		{
			"calls in their last state, in call order", []thread.Body{
				thread.Assistant{Parts: []thread.Part{call("1"), call("2")}, Usage: model.Usage{Input: 1}},
				thread.Result{CallID: "2", Shown: event.ToolCall{ID: "2", Name: "look", Title: "two", Status: event.Failed, Output: "x"}},
				thread.Options{},
				thread.Result{CallID: "1", Shown: event.ToolCall{ID: "1", Name: "look", Title: "one", Status: event.Completed}},
			},
			[]event.Event{
				event.ToolCall{ID: "1", New: true, Name: "look", Title: "one", Status: event.Completed},
				event.ToolCall{ID: "2", New: true, Name: "look", Title: "two", Status: event.Failed, Output: "x"},
				event.Usage{Used: 1, Size: 100_000, Estimated: true},
			},
		},
		{
			"a call that was cut off", []thread.Body{thread.Assistant{Parts: []thread.Part{call("1")}}},
			[]event.Event{event.ToolCall{
				ID: "1", New: true, Name: "look", Title: title, Kind: tools.KindOther, Status: event.Failed, Input: input,
				Text: thread.Interrupted(thread.Call{}).Text,
			}},
		},
		{
			"a result of which nobody knows how it looked", []thread.Body{
				thread.Assistant{Parts: []thread.Part{call("1")}}, thread.Result{CallID: "1", Text: "r"},
			},
			[]event.Event{event.ToolCall{
				ID: "1", New: true, Name: "look", Title: title, Kind: tools.KindOther, Status: event.Completed, Input: input, Text: "r",
			}},
		},
		{
			"an answer that was given anew is not shown, its message is", []thread.Body{
				thread.User{MessageID: "u"}, thread.Assistant{MessageID: "m1", Parts: []thread.Part{{ID: "m1", Text: "old"}}},
				thread.Retried{User: 3}, thread.Assistant{MessageID: "m2", Parts: []thread.Part{{ID: "m2", Text: "new"}}},
			},
			[]event.Event{event.User{MessageID: "u"}, event.Text{MessageID: "m2", Text: "new"}, event.Done{MessageID: "m2"}},
		},
		{
			"what was taken back and what was cut are shown", []thread.Body{
				thread.User{MessageID: "u"}, thread.Withdrawn{}, thread.User{MessageID: "v"},
				thread.Assistant{MessageID: "m1", Void: true, Usage: usage, Parts: []thread.Part{{ID: "m1", Text: "half"}}},
				thread.Assistant{MessageID: "m2", Partial: true, Parts: []thread.Part{{ID: "m2", Text: "ha"}}},
			},
			[]event.Event{
				event.User{MessageID: "u"}, event.User{MessageID: "v"}, event.Text{MessageID: "m1", Text: "half"}, event.Done{MessageID: "m1"},
				event.Text{MessageID: "m2", Text: "ha"}, event.Done{MessageID: "m2"},
			},
		},
		{
			"parts without ids of their own", []thread.Body{thread.Assistant{Parts: []thread.Part{{Text: "a"}, {Text: "b"}}}},
			[]event.Event{event.Text{MessageID: "m3-0", Text: "a"}, event.Text{MessageID: "m3-1", Text: "b"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.threads = newCoded()
			s := f.open(t)
			if len(tt.bodies) > 0 {
				f.store(t, s.ID(), tt.bodies...)
			}
			jsonOutput := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Output" }, cmp.Transformer("encoded", encoded))
			if diff := cmp.Diff(tt.want, replayed(t, s), jsonOutput); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// growing is a store to which each reading adds an entry.
type growing struct{ *memory.Threads }

func (g growing) Read(ctx context.Context, id string, after int64, f func(thread.Entry) error) error {
	if _, err := g.Append(ctx, id, "", thread.User{MessageID: "late"}); err != nil {
		return err
	}
	return g.Threads.Read(ctx, id, after, f)
}

func TestReplayHasAnEnd(t *testing.T) {
	f := newFixture()
	f.threads = growing{memory.New(nil)}
	s := f.open(t)
	f.store(t, s.ID(), thread.User{MessageID: "u"})
	if diff := cmp.Diff([]event.Event{event.User{MessageID: "u"}}, replayed(t, s)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestReplayEnds(t *testing.T) {
	f := newFixture()
	s := f.open(t)
	for i := range 5 {
		f.store(t, s.ID(), thread.User{MessageID: fmt.Sprint("u", i)})
	}
	gone := errors.New("nobody watches")
	rec := &recorder{hook: func(event.Event) error { return gone }}
	if err := s.Replay(t.Context(), rec); !errors.Is(err, gone) || len(rec.all()) != 1 {
		t.Errorf("replay to nobody = %v after %d events, want its error after one", err, len(rec.all()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	rec = &recorder{hook: func(event.Event) error {
		cancel()
		return nil
	}}
	if err := s.Replay(ctx, rec); !errors.Is(err, context.Canceled) || len(rec.all()) != 1 {
		t.Errorf("cancelled replay = %v after %d events, want the end after one", err, len(rec.all()))
	}
	if err := f.engine.Delete(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	if err := s.Replay(t.Context(), rec); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("replay of a deleted thread = %v, want ErrNotFound", err)
	}
}

// BenchmarkReplay replays a thread of 1,000 entries through their codec: turns of a
// message, an answer with two calls, their results and an answer.
func BenchmarkReplay(b *testing.B) {
	const entries = 1000
	call := func(id string) thread.Part {
		return thread.Part{Call: &thread.Call{ID: id, WireID: id, Name: "read", Args: `{"path": "main.go"}`}}
	}
	var bodies []thread.Body
	for i := 0; len(bodies) < entries; i++ {
		id := func(kind string) string { return fmt.Sprint(kind, i) }
		result := func(call string) thread.Result {
			return thread.Result{CallID: call, Text: strings.Repeat("a line of the file\n", 50), Shown: event.ToolCall{
				ID: call, Name: "read", Title: "Read main.go", Status: event.Completed, Text: strings.Repeat("a line of the file\n", 50),
			}}
		}
		bodies = append(bodies, thread.User{MessageID: id("u"), Blocks: []event.Block{{Text: "go on"}}, Sent: []thread.Part{{Text: "go on"}}},
			thread.Assistant{Parts: []thread.Part{call(id("a")), call(id("b"))}}, result(id("a")), result(id("b")),
			thread.Assistant{MessageID: id("m"), Parts: []thread.Part{{ID: id("m"), Text: strings.Repeat("some words ", 50)}}})
	}
	f := newFixture()
	f.threads = newCoded()
	e := harness.New(harness.Options{Threads: f.threads, Settings: &f.settings})
	s, err := e.Open(b.Context(), harness.Spec{FS: files{}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.threads.Append(b.Context(), s.ID(), "", bodies...); err != nil {
		b.Fatal(err)
	}
	nobody := event.SinkFunc(func(event.Event) error { return nil })
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Replay(b.Context(), nobody); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*entries)/b.Elapsed().Seconds(), "entries/s")
}
