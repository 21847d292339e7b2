package harness_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestRetry(t *testing.T) { // R-HARN-26
	f := newFixture(toolstest.Echo("look"))
	f.threads = newCoded()
	f.script.steps = []step{says("zero"), wants(want{"w", "look", "{}"}), says("one"), says("two"), says("three")}
	s := f.open(t)
	ask(t, s, "before")
	ask(t, s, "question")
	rec := &recorder{}
	if out, err := retry(t, s, rec); err != nil || out.Stop != harness.EndTurn || rec.text() != "two" {
		t.Fatalf("retry: %+v, %v, %q", out, err, rec.text())
	}
	requests := f.script.requests()
	if diff := cmp.Diff(requests[1].Messages, requests[3].Messages); diff != "" {
		t.Errorf("the request of the retry differs from the first (-first +retry):\n%s", diff)
	}
	if got := f.traces[2]; got.Harness != "rebuilt" || !slices.Equal(got.Changed, []string{"revision"}) {
		t.Errorf("trace = %+v, want a rebuild for the revision", got)
	}
	want := "answer,m3-1 question answer,c5-1 c5-1 answer,m5-2 retried answer,m9-1"
	entries := f.entries(t, s)
	for i, b := range entries {
		if u, ok := b.(thread.User); ok {
			u.MessageID = u.Blocks[0].Text
			entries[i] = u
		}
	}
	if got := said(entries); got != "before "+want {
		t.Errorf("thread = %q, want %q: the earlier answer stays", got, "before "+want)
	}
	var shown []string
	for _, e := range replayed(t, s) {
		if e, ok := e.(event.Text); ok {
			shown = append(shown, e.Text)
		}
	}
	if diff := cmp.Diff([]string{"zero", "two"}, shown); diff != "" {
		t.Errorf("shown after the retry (-want +got):\n%s", diff)
	}

	g := f.beside(toolstest.Echo("look"))
	g.script.steps = []step{says("three")}
	ask(t, g.load(t, s.ID()), "after")
	seeded := g.script.requests()[0].Messages
	if got := texts(seeded[3]); len(seeded) != 5 || !slices.Equal(got, []string{"two"}) {
		t.Errorf("%d messages after a load, the answer is %q", len(seeded), got)
	}
	ask(t, s, "and again")
	if got := f.traces[len(f.traces)-1]; got.Harness != "reused" {
		t.Errorf("trace of the next send = %+v, want the harness of the retry", got)
	}
}

func TestRetryOfNothing(t *testing.T) { // R-HARN-26
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t)
	if _, err := retry(t, s, &recorder{}); !errors.Is(err, harness.ErrNoEntry) {
		t.Errorf("retry in an empty session = %v, want ErrNoEntry", err)
	}
	if got := len(f.entries(t, s)) + len(f.script.requests()); got != 0 {
		t.Errorf("a retry of nothing left %d entries and requests", got)
	}
	ask(t, s, "go")
}

func TestRetryAfterAFailure(t *testing.T) { // R-HARN-26, C018
	refused := &model.Error{Kind: model.Invalid, Provider: "p", Message: "no"}
	f := newFixture()
	f.script.steps = []step{says("zero"), fails(refused), fails(refused), says("one"), says("two")}
	s := f.open(t)
	ask(t, s, "before")
	if _, err := prompted(t, s, t.Context(), "question", &recorder{}); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if _, err := retry(t, s, &recorder{}); !errors.Is(err, refused) {
		t.Fatalf("first retry = %v, want %v", err, refused)
	}
	rec := &recorder{}
	if _, err := retry(t, s, rec); err != nil || rec.text() != "one" {
		t.Fatalf("second retry: %v, %q", err, rec.text())
	}
	ask(t, s, "after")
	requests := f.script.requests()
	if diff := cmp.Diff(requests[1].Messages, requests[3].Messages); diff != "" {
		t.Errorf("the last retry sends something else (-first +retry):\n%s", diff)
	}
	if got := len(requests[4].Messages); got != 5 {
		t.Errorf("the next request has %d messages, want 5", got)
	}
}

// R-HARN-22, R-HARN-26: a message for which no model can be set up is kept, and can be
// answered when one can. The model sees nothing of it before that.
func TestRetryAfterAFailedBuild(t *testing.T) {
	refused := &model.Error{Kind: model.Auth, Provider: "p", Message: "no key"}
	for before, want := range map[int][]int{0: {1, 3}, 1: {1, 3, 5}} {
		f := newFixture()
		f.script.steps = []step{says("x")}
		s := f.open(t)
		for range before {
			ask(t, s, "before")
		}
		open, key := f.settings.open, f.settings.model.KeyDigest
		f.settings.open = func(context.Context) (model.Streamer, error) { return nil, refused }
		f.settings.model.KeyDigest = ""
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		other := s.Choice()
		other.Tools = harness.ToolsOff
		in := harness.Input{MessageID: "q", Blocks: []event.Block{{Text: "question"}}, Choice: &other}
		rec := &recorder{}
		out, err := slot.Prompt(t.Context(), in, rec)
		if !errors.Is(err, refused) || out.MessageID != "q" {
			t.Errorf("outcome = %+v, %v; want message q and the error of the build", out, err)
		}
		events := []event.Event{event.User{MessageID: "q", Blocks: in.Blocks}}
		if before == 0 {
			events = append(events, event.Title{Text: "question"})
		}
		if diff := cmp.Diff(events, rec.all(), cmpopts.IgnoreFields(event.Title{}, "Updated")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		entries := f.entries(t, s)
		if _, err := retry(t, s, &recorder{}); !errors.Is(err, refused) {
			t.Errorf("a retry without a model = %v, want %v", err, refused)
		}
		if got := f.entries(t, s); len(entries) != 2*before+2 || len(got) != len(entries) {
			t.Errorf("%d entries, %d after a retry; want %d", len(entries), len(got), 2*before+2)
		}
		if s.Choice() == other {
			t.Error("the options of a message that was not answered hold")
		}
		f.settings.open, f.settings.model.KeyDigest = open, key
		if _, err := retry(t, s, &recorder{}); err != nil {
			t.Fatal(err)
		}
		ask(t, s, "after")
		var got []int
		for _, r := range f.script.requests() {
			got = append(got, len(r.Messages))
		}
		if !slices.Equal(got, want) {
			t.Errorf("requests have %v messages, want %v", got, want)
		}
	}
}

// A message that is cancelled while a model is set up for it is not stored.
func TestCancelledBuildStoresNothing(t *testing.T) {
	f := newFixture()
	s := f.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.settings.open = func(ctx context.Context) (model.Streamer, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if out, err := prompted(t, s, ctx, "question", &recorder{}); err != nil || out.Stop != harness.Cancelled || out.MessageID != "" {
		t.Errorf("outcome = %+v, %v; want cancelled and no message", out, err)
	}
	if got := f.entries(t, s); len(got) != 0 {
		t.Errorf("entries = %v, want none", got)
	}
}

func TestRetryThatIsCancelled(t *testing.T) { // R-HARN-26, R-HARN-27
	f := newFixture()
	f.script.steps = []step{says("old"), hangs(model.Text("half")), says("next")}
	s := f.open(t)
	ask(t, s, "question")
	ctx, cancel := context.WithCancel(t.Context())
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{hook: func(e event.Event) error {
		if _, ok := e.(event.Text); ok {
			cancel()
		}
		return nil
	}}
	if out, err := slot.Prompt(ctx, harness.Input{Retry: true}, rec); err != nil || out.Stop != harness.Cancelled {
		t.Fatalf("cancelled retry: %+v, %v", out, err)
	}
	ask(t, s, "go on")
	last := f.script.requests()[2].Messages
	if got := texts(last[1]); len(last) != 3 || !slices.Equal(got, []string{"half"}) {
		t.Errorf("the next request has the answer %q in %d messages, want what came of the retry", got, len(last))
	}
}

// A budget of a message that is answered anew starts afresh, and is another one
// than that of any other message.
func TestKeys(t *testing.T) { // R-HARN-26
	f := newFixture()
	f.script.steps = []step{says("x")}
	var keys []string
	s := f.open(t)
	f.scopes = func(sc harness.Scope) { keys = append(keys, sc.Key) }
	id := func(id string) harness.Input {
		return harness.Input{MessageID: id, Blocks: []event.Block{{Text: "go"}}}
	}
	for _, in := range []harness.Input{id("a"), {Retry: true}, id("b"), {MessageID: "c", Retry: true}} {
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := slot.Prompt(t.Context(), in, &recorder{}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a#0", "a#1", "b#1", "b#2"}, keys); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// The message that is answered anew may have pictures, and the model may be
// another one by then.
func TestRetryWithAModelThatSeesNothing(t *testing.T) { // R-HARN-32
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t)
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	blocks := []event.Block{{Text: "what is it?"}, {MIME: "image/png", Data: []byte{1}}}
	if _, err := slot.Prompt(t.Context(), harness.Input{Blocks: blocks}, &recorder{}); err != nil {
		t.Fatal(err)
	}
	f.settings.model.Images = false
	rec := &recorder{}
	if _, err := retry(t, s, rec); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(rec.all(), func(e event.Event) bool { n, ok := e.(event.Notice); return ok && n.Severity == event.Warning }) {
		t.Errorf("events = %v, want a warning", rec.all())
	}
}

// The directory of a session is stored also by a turn that answers anew.
func TestRetryInAnotherDirectory(t *testing.T) { // R-ACP-15, R-HARN-26
	f := newFixture(toolstest.Answer("look", tools.Result{Text: "seen"}))
	f.script.steps = []step{says("old")}
	s := f.open(t, in("/a"))
	ask(t, s, "question")
	g := f.beside()
	g.script.steps = []step{says("new")}
	s = g.load(t, s.ID(), in("/b"))
	for range 2 {
		if _, err := retry(t, s, &recorder{}); err != nil {
			t.Fatal(err)
		}
		requests := g.script.requests()
		last := requests[len(requests)-1].Messages
		if got := len(last[0].Parts); len(last) != 1 || got != 2 {
			t.Errorf("the request has %d messages, the first of %d parts; want the message and the move", len(last), got)
		}
	}
	if info, err := g.engine.Info(t.Context(), s.ID()); err != nil || info.Cwd != "/b" || info.Revision != 2 {
		t.Errorf("info = %+v, %v", info, err)
	}
}
