package harness_test

import (
	"context"
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
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// fork opens a session on a copy.
func (f *fixture) fork(t *testing.T, from, at string, change ...func(*harness.Spec)) *harness.Session {
	t.Helper()
	sp := harness.Spec{FS: files{}}
	for _, c := range change {
		c(&sp)
	}
	s, err := f.engine.Fork(t.Context(), from, at, sp)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// said shows the entries of a thread that tell of messages, one word each.
func said(bodies []thread.Body) string {
	var out []string
	for _, b := range bodies {
		switch b := b.(type) {
		case thread.User:
			out = append(out, b.MessageID)
		case thread.Assistant:
			word := "answer"
			if b.Void {
				word = "void"
			}
			for _, p := range b.Parts {
				word += "," + p.ID
				if p.Call != nil {
					word += p.Call.ID
				}
			}
			out = append(out, word)
		case thread.Result:
			out = append(out, b.CallID)
		case thread.Retried:
			out = append(out, "retried")
		}
	}
	return strings.Join(out, " ")
}

func TestForkAt(t *testing.T) { // R-ACP-16, C053
	text := func(id string) thread.Assistant {
		return thread.Assistant{MessageID: id, Parts: []thread.Part{{ID: id, Text: id}}}
	}
	calls := thread.Assistant{MessageID: "m2", Parts: []thread.Part{
		{ID: "m1", Reasoning: &thread.Reasoning{Text: "hm"}}, {ID: "m2", Text: "I look."},
		{Call: &thread.Call{ID: "c1", WireID: "w1", Name: "look"}}, {Call: &thread.Call{ID: "c2", WireID: "w2", Name: "look"}},
	}}
	again := func(id string) thread.Assistant {
		a := text(id)
		a.Void = true
		return a
	}
	log := []thread.Body{
		thread.User{MessageID: "u1"}, calls, thread.Result{CallID: "c2"}, thread.Title{Text: "t"}, thread.Result{CallID: "c1"},
		thread.Title{Text: "later"}, again("m3"), again("n3"), text("m4"),
		thread.User{MessageID: "u2"}, text("m5"), thread.Retried{User: 12}, text("m6"),
	}
	const first = "u1 answer,m1,m2,c1,c2 c2 c1"
	tests := []struct {
		at   string
		want string
		err  error
	}{
		{at: "", want: first + " void,m3 void,n3 answer,m4 u2 answer,m5 retried answer,m6"},
		{at: "u1", want: ""},
		{at: "m1", want: first},
		{at: "m2", want: first},
		{at: "m3", want: first + " void,m3 void,n3 answer,m4"},
		{at: "n3", want: first + " void,m3 void,n3 answer,m4"},
		{at: "m4", want: first + " void,m3 void,n3 answer,m4"},
		{at: "u2", want: first + " void,m3 void,n3 answer,m4"},
		{at: "m5", want: first + " void,m3 void,n3 answer,m4 u2 answer,m5"},
		{at: "m6", want: first + " void,m3 void,n3 answer,m4 u2 answer,m5 retried answer,m6"},
		{at: "m7", err: harness.ErrNoEntry},
		{at: "c1", err: harness.ErrNoEntry},
	}
	for _, tt := range tests {
		t.Run("at "+tt.at, func(t *testing.T) {
			f := newFixture()
			f.script.steps = []step{says("x")}
			s := f.open(t)
			f.store(t, s.ID(), log...)
			before := f.log(t, s.ID())
			c, err := f.engine.Fork(t.Context(), s.ID(), tt.at, harness.Spec{FS: files{}})
			if !errors.Is(err, tt.err) {
				t.Fatalf("Fork = %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(before, f.log(t, s.ID())); diff != "" {
				t.Errorf("the thread has changed (-before +after):\n%s", diff)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.at) {
					t.Errorf("the error %q does not name the message", err)
				}
				return
			}
			if got := said(f.entries(t, c)); got != tt.want {
				t.Errorf("copied %q, want %q", got, tt.want)
			}
			if info, err := f.engine.Info(t.Context(), c.ID()); err != nil || info.Parent != s.ID() {
				t.Errorf("info = %+v, %v, want the parent %s", info, err, s.ID())
			}
			ask(t, c, "go on")
			if got := len(f.log(t, s.ID())); got != len(before) {
				t.Errorf("the thread has %d entries after a turn of its copy, want %d", got, len(before))
			}
			unique(t, f.log(t, c.ID()))
		})
	}
}

// unique checks that no two messages and no two calls of a thread have one id, and
// that its entries are numbered without a gap.
func unique(t *testing.T, log []thread.Entry) {
	t.Helper()
	ids := map[string]bool{}
	once := func(id string) {
		if id != "" && ids[id] {
			t.Errorf("id %s occurs twice", id)
		}
		ids[id] = true
	}
	for i, e := range log {
		if e.Seq != int64(i)+1 {
			t.Errorf("entry %d has the number %d", i+1, e.Seq)
		}
		switch b := e.Body.(type) {
		case thread.User:
			once(b.MessageID)
		case thread.Assistant:
			for _, p := range b.Parts {
				once(p.ID)
				if p.Call != nil {
					once(p.Call.ID)
				}
			}
		}
	}
}

func TestForkOfALiveThread(t *testing.T) { // R-ACP-16
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", time.Minute))
		f.script.steps = []step{says("one"), wants(want{"w", "slow", "{}"}), says("three")}
		s := f.open(t)
		ask(t, s, "first")
		start := time.Now()
		ends := begun(t, s, t.Context(), &recorder{})
		c := f.fork(t, s.ID(), "")
		if got := time.Since(start); got != 0 {
			t.Errorf("the fork waited %v for the turn", got)
		}
		if end := <-ends; end.err != nil || end.out.Stop != harness.EndTurn {
			t.Errorf("the turn ended with %+v", end)
		}
		f.script.steps = append(f.script.steps, says("copy"))
		if out, rec := ask(t, c, "go"); out.Stop != harness.EndTurn || rec.text() != "copy" {
			t.Errorf("turn of the copy: %+v, %q", out, rec.text())
		}
		requests := f.script.requests()
		if got := resultsOf(requests[3]); len(got) != 1 || !strings.HasPrefix(got[0], "Interrupted") {
			t.Errorf("results in the copy = %q, want that the open call was interrupted", got)
		}
	})
}

func TestForkGetsOptionsDirectoriesAndItsOwnWay(t *testing.T) { // R-ACP-16
	f := newFixture()
	f.settings.more = []model.Descriptor{{Provider: "p", ID: "other"}}
	f.script.steps = []step{says("x")}
	s := f.open(t, in("/a"))
	if err := s.SetOption(t.Context(), harness.OptionModel, "p/other"); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "first")
	if err := f.engine.Archive(t.Context(), s.ID(), true); err != nil {
		t.Fatal(err)
	}
	c := f.fork(t, s.ID(), "", in("/b"), func(sp *harness.Spec) { sp.ID = "copy" })
	if c.ID() != "copy" || c.Choice().Model != "p/other" {
		t.Errorf("copy %s has chosen %+v", c.ID(), c.Choice())
	}
	info, err := f.engine.Info(t.Context(), c.ID())
	if err != nil || info.Cwd != "/b" || info.Archived || info.Options[harness.OptionModel] != "p/other" || info.Title != "first" {
		t.Errorf("info = %+v, %v", info, err)
	}
	ask(t, c, "second")
	requests := f.script.requests()
	if got := fmt.Sprint(requests[len(requests)-1].Messages); strings.Count(got, "/b") != 1 {
		t.Errorf("messages = %v, want that they tell of /b once", got)
	}
	ask(t, s, "third")
	requests = f.script.requests()
	if got := fmt.Sprint(requests[len(requests)-1].Messages); strings.Contains(got, "second") || strings.Contains(got, "/b") {
		t.Errorf("messages = %v, want none of the copy", got)
	}
	users := func(id string) (ids []string) {
		for _, e := range f.log(t, id) {
			if u, ok := e.Body.(thread.User); ok {
				ids = append(ids, u.MessageID)
			}
		}
		return ids
	}
	if a, b := users(s.ID()), users(c.ID()); a[0] != b[0] || slices.Contains(b, a[1]) {
		t.Errorf("messages of the thread %q, of the copy %q", a, b)
	}
}

func TestForkThatCannotBe(t *testing.T) { // R-HARN-01
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t, func(sp *harness.Spec) { sp.ID = "mine" })
	for _, tt := range []struct {
		name, from, id string
		want           error
	}{
		{"of nothing", "none", "", harness.ErrNotFound},
		{"of a path", "../x", "", harness.ErrBadID},
		{"to a path", "mine", "../x", harness.ErrBadID},
		{"to itself", "mine", "mine", harness.ErrTaken},
	} {
		if _, err := f.engine.Fork(t.Context(), tt.from, "", harness.Spec{ID: tt.id, FS: files{}}); !errors.Is(err, tt.want) {
			t.Errorf("fork %s = %v, want %v", tt.name, err, tt.want)
		}
	}
	if err := f.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.engine.Fork(t.Context(), s.ID(), "", harness.Spec{FS: files{}}); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("fork after the end = %v, want ErrClosed", err)
	}
	if _, err := f.engine.Load(t.Context(), harness.Spec{ID: s.ID(), FS: files{}}); !errors.Is(err, harness.ErrClosed) {
		t.Errorf("load after the end = %v, want ErrClosed", err)
	}
}

// What a client shows of a copy is what it shows of the thread.
func TestForkIsShownAlike(t *testing.T) {
	f := newFixture(toolstest.Echo("look"))
	f.threads = newCoded()
	f.script.steps = []step{wants(want{"w", "look", "{}"}), says("one"), says("two")}
	s := f.open(t)
	for range 2 {
		ask(t, s, "go")
	}
	live := replayed(t, s)
	last := ""
	for _, e := range live {
		if e, ok := e.(event.Text); ok {
			last = e.MessageID
		}
	}
	for _, at := range []string{"", last} {
		if diff := show(replayed(t, f.fork(t, s.ID(), at))).differs(show(live)); diff != "" {
			t.Errorf("fork at %q (-thread +copy):\n%s", at, diff)
		}
	}
}

// C053: the outcome of a turn names the message of the user, where the thread has
// one to fork at.
func TestOutcomeNamesTheMessage(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("one"), says("two")}
	s := f.open(t)
	tests := []struct {
		name, id, text string
		ended          bool // before the turn begins
		want           string
	}{
		{"named by the client", "u1", "x", false, "u1"},
		{"answered anew", "u2", "/retry", false, "u1"},
		{"a command that stores nothing", "u3", "/help", false, ""},
		{"cancelled while it waits", "u4", "x", true, ""},
	}
	for _, tt := range tests {
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if tt.ended {
			cancel()
		}
		in := harness.Input{MessageID: tt.id, Blocks: []event.Block{{Text: tt.text}}}
		out, err := slot.Prompt(ctx, in, &recorder{})
		cancel()
		if err != nil || out.MessageID != tt.want {
			t.Errorf("%s: the outcome is of message %q (%v), want %q", tt.name, out.MessageID, err, tt.want)
		}
	}
}
