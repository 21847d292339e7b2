package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

func TestCommands(t *testing.T) { // R-ACP-14, C013
	var got []string
	for _, c := range newFixture().open(t).Commands() {
		if c.Description == "" || strings.HasPrefix(c.Name, "/") {
			t.Errorf("command %+v, want a bare name and a description", c)
		}
		got = append(got, c.Name)
	}
	if diff := cmp.Diff([]string{"retry", "usage", "help"}, got); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// blocks prompts a session with blocks.
func blocks(t *testing.T, s *harness.Session, sink event.Sink, bs ...event.Block) harness.Outcome {
	t.Helper()
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	out, err := slot.Prompt(t.Context(), harness.Input{Blocks: bs}, sink)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWhatIsACommand(t *testing.T) { // R-ACP-29, R-ACP-37, C013
	text := func(s string) event.Block { return event.Block{Text: s} }
	file := event.Block{Text: "/nothing", URI: "file:///a.txt", MIME: "text/plain", Name: "a.txt"}
	tests := []struct {
		name   string
		blocks []event.Block
		want   bool
	}{
		{"alone", []event.Block{text("/help")}, true},
		{"with space around it", []event.Block{text("\n\n /help \n")}, true},
		{"with words that it does not take", []event.Block{text("/help me with this")}, false},
		{"a line of its own", []event.Block{text("/retry\nand shorter")}, false},
		{"after what the editor adds", []event.Block{text("<context>x</context>"), file, text("/help")}, true},
		{"before what the editor adds", []event.Block{text("/help"), file}, true},
		{"not the last text", []event.Block{text("/help"), text("and more")}, false},
		{"in the middle of a text", []event.Block{text("what does /help do")}, false},
		{"unknown", []event.Block{text("/helpme")}, false},
		{"a path", []event.Block{text("/help/x is missing")}, false},
		{"a slash alone", []event.Block{text("/ help")}, false},
		{"another case", []event.Block{text("/Help")}, false},
		{"in a resource", []event.Block{{Text: "/help", URI: "file:///help"}}, false},
		{"a comment", []event.Block{text("// help")}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			f.script.steps = []step{says("the model")}
			s := f.open(t)
			rec := &recorder{}
			out := blocks(t, s, rec, tt.blocks...)
			asked := len(f.script.requests()) > 0
			if out.Stop != harness.EndTurn || asked == tt.want {
				t.Errorf("outcome %q, the model was asked: %v, want a command: %v", out.Stop, asked, tt.want)
			}
			if stored := len(f.entries(t, s)) > 0; stored == tt.want || (len(f.traces) > 0) == tt.want {
				t.Errorf("stored: %v, traced: %v, want neither for a command: %v", stored, len(f.traces) > 0, tt.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	f := newFixture()
	_, rec := ask(t, f.open(t), "/help")
	want := []event.Event{
		event.Text{Text: strings.Join([]string{
			"Commands of this session:",
			"",
			"- `/retry` Answer the last message anew",
			"- `/usage` Show what this session has used so far",
			"- `/help` List the commands",
			"",
			"Anything else that begins with a slash goes to the model as it is written.",
		}, "\n")},
		event.Done{},
	}
	ids := cmpopts.IgnoreFields(event.Text{}, "MessageID")
	if diff := cmp.Diff(want, rec.all(), ids, cmpopts.IgnoreFields(event.Done{}, "MessageID")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Each answer of a command is a message of its own.
func TestCommandsAnswerUnderNewIDs(t *testing.T) { // R-ACP-22
	f := newFixture()
	s := f.open(t)
	seen := map[string]bool{}
	for range 3 {
		_, rec := ask(t, s, "/help")
		id := rec.all()[0].(event.Text).MessageID
		if id == "" || seen[id] {
			t.Errorf("message id %q, want a new one", id)
		}
		seen[id] = true
	}
}

func TestUsage(t *testing.T) {
	counted := func(u model.Usage) step {
		return func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			return &model.Reply{Stop: model.StopEnd, Usage: u}, sink(model.Text("x"))
		}
	}
	f := newFixture()
	f.script.steps = []step{
		counted(model.Usage{Input: 1000, Output: 20, CacheRead: 600, Known: true}),
		counted(model.Usage{Input: 1200, Output: 3, Known: true}),
		counted(model.Usage{}),
	}
	s := f.open(t)
	usage := func() string {
		_, rec := ask(t, s, "/usage")
		return rec.text()
	}
	const form = `This session so far:

- Answers of models: ANSWERS
- Tokens in: IN, of which CACHED came from a cache of the provider
- Tokens out: OUT
- Model of the next message: p/m`
	want := func(answers, in, cached, out string) string {
		return strings.NewReplacer("ANSWERS", answers, "IN", in, "CACHED", cached, "OUT", out).Replace(form)
	}
	if diff := cmp.Diff(want("0", "0", "0", "0"), usage()); diff != "" {
		t.Errorf("before the first message (-want +got):\n%s", diff)
	}
	ask(t, s, "one")
	ask(t, s, "/retry")
	if diff := cmp.Diff(want("2", "2200", "600", "23"), usage()); diff != "" {
		t.Errorf("after an answer and its repeat, which both cost (-want +got):\n%s", diff)
	}
	ask(t, s, "two")
	got := usage()
	if head := want("3", "2200", "600", "23"); !strings.HasPrefix(got, head) || !strings.Contains(got, "did not say what they cost") {
		t.Errorf("after an answer of unknown cost: %q, want %q and that it is missing", got, head)
	}
	if n := len(f.script.requests()); n != 3 {
		t.Errorf("%d requests, want none for /usage", n)
	}
}

func TestUsageOfAThreadThatCannotBeRead(t *testing.T) {
	f := newFixture()
	f.threads = unreadable{f.threads}
	s := f.open(t)
	rec := &recorder{}
	if _, err := prompted(t, s, t.Context(), "/usage", rec); !errors.Is(err, errFull) || len(rec.all()) != 0 {
		t.Errorf("error = %v after %v, want that of the store and nothing said", err, rec.all())
	}
}

// unreadable is a store that cannot read.
type unreadable struct{ harness.Threads }

func (unreadable) Read(context.Context, string, int64, func(thread.Entry) error) error {
	return errFull
}

func TestRetryCommand(t *testing.T) { // R-HARN-26
	f := newFixture()
	f.script.steps = []step{says("first"), says("second")}
	s := f.open(t)
	if out, rec := ask(t, s, "/retry"); out.Stop != harness.EndTurn || !strings.Contains(rec.text(), "no message") {
		t.Errorf("in an empty session: %q, %q", out.Stop, rec.text())
	}
	if got := len(f.entries(t, s)) + len(f.script.requests()); got != 0 {
		t.Errorf("%d entries and requests, want none", got)
	}
	ask(t, s, "question")
	rec := &recorder{}
	blocks(t, s, rec, event.Block{Text: "x", URI: "file:///x", Name: "x"}, event.Block{Text: "/retry"})
	if rec.text() != "second" {
		t.Errorf("answer = %q, want the second", rec.text())
	}
	reqs := f.script.requests()
	if diff := cmp.Diff(reqs[0].Messages, reqs[1].Messages); len(reqs) != 2 || diff != "" {
		t.Errorf("the second of %d requests differs (-first +second):\n%s", len(reqs), diff)
	}
}

func TestCommandWaitsItsTurn(t *testing.T) { // R-ACP-25
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{after(time.Minute, says("slow"))}
		s := f.open(t)
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		before := make(chan error, 1)
		go func() {
			_, err := slot.Prompt(t.Context(), harness.Input{Blocks: []event.Block{{Text: "go"}}}, &recorder{})
			before <- err
		}()
		start := time.Now()
		ask(t, s, "/usage")
		if err := <-before; err != nil {
			t.Error(err)
		}
		if got := time.Since(start); got != time.Minute {
			t.Errorf("the command was answered after %v, want after the turn before it", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if out, err := prompted(t, s, ctx, "/help", &recorder{}); err != nil || out.Stop != harness.Cancelled {
			t.Errorf("a cancelled command: %+v, %v", out, err)
		}
	})
}

func TestCommandForNobody(t *testing.T) {
	gone := errors.New("pipe is closed")
	s := newFixture().open(t)
	if _, err := prompted(t, s, t.Context(), "/help", &recorder{hook: func(event.Event) error { return gone }}); !errors.Is(err, gone) {
		t.Errorf("error = %v, want the sink's", err)
	}
}
