package harness_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// room is a workspace at a directory of its own.
type room struct {
	workspace.FS
	dir  string
	more []string
}

func (r room) Dir() string     { return r.dir }
func (r room) Roots() []string { return append([]string{r.dir}, r.more...) }

func in(dir string, more ...string) func(*harness.Spec) {
	return func(sp *harness.Spec) { sp.FS = room{dir: dir, more: more} }
}

func TestLoadOfWhatIsNotThere(t *testing.T) { // C001, R-HARN-01
	f := newFixture()
	f.start(t)
	for id, want := range map[string]error{
		"never-made": harness.ErrNotFound, "../../etc/x": harness.ErrBadID, "": harness.ErrBadID, "..": harness.ErrBadID,
	} {
		if _, err := f.engine.Load(t.Context(), harness.Spec{ID: id, FS: files{}}); !errors.Is(err, want) {
			t.Errorf("Load(%q) = %v, want %v", id, err, want)
		}
		if _, err := f.engine.Info(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("Info(%q) = %v, want %v", id, err, want)
		}
		if err := f.engine.Delete(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("Delete(%q) = %v, want %v", id, err, want)
		}
		if _, err := f.engine.SetTitle(t.Context(), id, "t"); !errors.Is(err, want) {
			t.Errorf("SetTitle(%q) = %v, want %v", id, err, want)
		}
		if err := f.engine.Archive(t.Context(), id, true); !errors.Is(err, want) {
			t.Errorf("Archive(%q) = %v, want %v", id, err, want)
		}
		if _, err := f.engine.Fork(t.Context(), id, "", harness.Spec{FS: files{}}); !errors.Is(err, want) {
			t.Errorf("Fork(%q) = %v, want %v", id, err, want)
		}
	}
}

func TestLoadOfAnEmptyThread(t *testing.T) { // C001: a real but empty session loads
	f := newFixture()
	f.script.steps = []step{says("hello")}
	id := f.open(t).ID()
	s := f.beside().load(t, id)
	if got := replayed(t, s); len(got) != 0 {
		t.Errorf("replay of an empty thread: %v", got)
	}
	g := f.beside()
	g.script.steps = f.script.steps
	if out, rec := ask(t, g.load(t, id), "hi"); out.Stop != harness.EndTurn || rec.text() != "hello" {
		t.Errorf("first turn after a load: %+v, %q", out, rec.text())
	}
}

func TestOptionsComeBack(t *testing.T) { // C016, R-ACP-18
	f := newFixture()
	f.settings.more = []model.Descriptor{{Provider: "p", ID: "other", Thinks: true}}
	s := f.open(t)
	for _, o := range [][2]string{
		{harness.OptionModel, "p/other"}, {harness.OptionMode, "read-only"}, {harness.OptionTools, "off"}, {harness.OptionThinking, "high"},
	} {
		if err := s.SetOption(t.Context(), o[0], o[1]); err != nil {
			t.Fatal(err)
		}
	}
	g := f.beside()
	g.settings.more = f.settings.more
	if diff := cmp.Diff(s.OptionSet(), g.load(t, s.ID()).OptionSet()); diff != "" {
		t.Errorf("options (-open +loaded):\n%s", diff)
	}
}

// Two processes that change different options of a thread both have their way, also
// where one of them does it with a message.
func TestOptionsOfTwoProcesses(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t)
	g := f.beside()
	other := g.load(t, s.ID())
	if err := s.SetOption(t.Context(), harness.OptionThinking, "high"); err != nil {
		t.Fatal(err)
	}
	if err := other.SetMode(t.Context(), "read-only"); err != nil {
		t.Fatal(err)
	}
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	silent := s.Choice()
	silent.Tools = harness.ToolsOff
	in := harness.Input{Blocks: []event.Block{{Text: "x"}}, Choice: &silent}
	if _, err := slot.Prompt(t.Context(), in, &recorder{}); err != nil {
		t.Fatal(err)
	}
	want := harness.Choice{Model: "p/m", Mode: "read-only", Tools: harness.ToolsOff, Thinking: "high", Citations: "registry", Voice: "off"}
	if diff := cmp.Diff(want, f.load(t, s.ID()).Choice()); diff != "" {
		t.Errorf("choice (-want +got):\n%s", diff)
	}
}

// Options that a message brings are stored with it or not at all, and hold from then
// on.
func TestMessageBringsOptions(t *testing.T) {
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{says("one"), says("two")}
	s := f.open(t)
	say := func(s *harness.Session, text string, c harness.Choice) error {
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		_, err = slot.Prompt(t.Context(), harness.Input{Blocks: []event.Block{{Text: text}}, Choice: &c}, &recorder{})
		return err
	}
	had := s.Choice()
	strict, silent, wild := had, had, had
	strict.Mode, silent.Tools, wild.Mode = "read-only", harness.ToolsOff, "wild"

	other := thread.Holder{Token: "other", Host: "far"}
	if err := f.threads.Lock(t.Context(), s.ID(), other, time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := say(s, "x", strict); !errors.Is(err, harness.ErrBusy) {
		t.Errorf("prompt of a busy thread: %v, want ErrBusy", err)
	}
	if err := f.threads.Unlock(t.Context(), s.ID(), other.Token); err != nil {
		t.Fatal(err)
	}
	if err := say(s, "x", wild); !errors.Is(err, harness.ErrOption) {
		t.Errorf("prompt with a mode that there is not: %v, want ErrOption", err)
	}
	if got := f.load(t, s.ID()).Choice(); s.Choice() != had || got != had {
		t.Errorf("choice = %+v, stored %+v; want nothing changed", s.Choice(), got)
	}
	for _, message := range []struct {
		text   string
		choice harness.Choice
	}{{"x", strict}, {"/retry", silent}} {
		if err := say(s, message.text, message.choice); err != nil {
			t.Fatal(err)
		}
		if got := f.load(t, s.ID()).Choice(); s.Choice() != message.choice || got != message.choice {
			t.Errorf("after %q the choice is %+v, stored %+v; want %+v", message.text, s.Choice(), got, message.choice)
		}
	}
	if n := len(f.script.requests()[1].Tools); n != 0 {
		t.Errorf("the model was offered %d tools with the message that turned them off", n)
	}
}

func TestStoredOptionsThatAreNoneAnyMore(t *testing.T) { // C017
	f := newFixture()
	id := f.open(t).ID()
	f.store(t, id, thread.Options{Values: map[string]string{
		harness.OptionModel: "gone/model", harness.OptionMode: "yolo", harness.OptionTools: "", "colour": "red",
		harness.OptionThinking: "enormous", harness.OptionCitations: "footnotes", harness.OptionVoice: "loud",
	}})
	want := harness.Choice{Model: "gone/model", Mode: "auto", Tools: harness.ToolsOn, Citations: "registry", Voice: "off"}
	if diff := cmp.Diff(want, f.load(t, id).Choice()); diff != "" {
		t.Errorf("choice (-want +got):\n%s", diff)
	}
}

func TestLoadInAnotherDirectory(t *testing.T) { // R-ACP-15, C009
	f := newFixture()
	f.script.steps = []step{says("one")}
	s := f.open(t, in("/a", "/a-more"))
	ask(t, s, "first")
	before := f.log(t, s.ID())

	g := f.beside()
	g.script.steps = []step{says("two")}
	s = g.load(t, s.ID(), in("/b", "/b-more"))
	if _, err := s.Preview(t.Context()); err != nil {
		t.Fatal(err)
	}
	replayed(t, s)
	if got := f.log(t, s.ID()); len(got) != len(before) {
		t.Errorf("loading stored %v", got[len(before):])
	}
	ask(t, s, "second")
	ask(t, s, "third")
	moves := 0
	for _, e := range f.log(t, s.ID()) {
		if m, ok := e.Body.(thread.Moved); ok {
			moves++
			if diff := cmp.Diff(thread.Moved{Cwd: "/b", Roots: []string{"/b-more"}}, m); diff != "" {
				t.Errorf("stored move (-want +got):\n%s", diff)
			}
		}
	}
	if moves != 1 {
		t.Errorf("%d moves stored, want one", moves)
	}
	last := g.script.requests()[1].Messages[2]
	if said := fmt.Sprint(last.Parts[0]); !strings.Contains(said, "/b") || !strings.Contains(said, "/b-more") {
		t.Errorf("the model was told %q, want the new directories before the message", said)
	}
	if info, err := g.engine.Info(t.Context(), s.ID()); err != nil || info.Cwd != "/b" || !slices.Equal(info.Roots, []string{"/b-more"}) {
		t.Errorf("info = %+v, %v", info, err)
	}
}

func TestTitleAndArchive(t *testing.T) {
	f := newFixture()
	id := f.open(t).ID()
	long := strings.Repeat("ä", 300)
	for _, tt := range []struct {
		name, title, want string
		err               error
	}{
		{"as it is", "My thread", "My thread", nil},
		{"on one line", " a\n b\t\r\nc ", "a b c", nil},
		{"escapes are written out", "a\x1b[2Jb", `a\x1b[2Jb`, nil},
		{"cut", long, strings.Repeat("ä", 197) + "...", nil},
		{"empty", "", "", harness.ErrTitle},
		{"nothing that shows", " \n\t", "", harness.ErrTitle},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.engine.SetTitle(t.Context(), id, tt.title)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("SetTitle = %q, %v, want %q, %v", got, err, tt.want, tt.err)
			}
			if info, err := f.engine.Info(t.Context(), id); err != nil || tt.err == nil && (info.Title != tt.want || !info.Named) {
				t.Errorf("info has the title %q, %v", info.Title, err)
			}
		})
	}
	for _, on := range []bool{true, false} {
		if err := f.engine.Archive(t.Context(), id, on); err != nil {
			t.Fatal(err)
		}
		if info, err := f.engine.Info(t.Context(), id); err != nil || info.Archived != on {
			t.Errorf("archived = %v, %v, want %v", info.Archived, err, on)
		}
	}
}

func TestDelete(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t, func(sp *harness.Spec) { sp.ID = "mine" })
	ask(t, s, "one")
	if err := f.engine.Delete(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := prompted(t, s, t.Context(), "two", &recorder{}); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("prompt in a deleted thread = %v, want ErrNotFound", err)
	}
	again := f.open(t, func(sp *harness.Spec) { sp.ID = "mine" })
	ask(t, again, "three")
	requests := f.script.requests()
	if got := requests[len(requests)-1].Messages; len(got) != 1 {
		t.Errorf("a new thread of the same name begins with %d messages, want one", len(got))
	}
	if got := f.traces[len(f.traces)-1].Harness; got != "built" {
		t.Errorf("harness of the new thread = %q, want it built", got)
	}
}

// A harness that has lived on while another process deleted its thread and made
// a new one of the same name forgets what it knew, however long the new one is.
func TestThreadOfTheSameName(t *testing.T) {
	for answers, want := range map[int]int{0: 1, 3: 7} {
		f := newFixture()
		f.script.steps = []step{says("x")}
		named := func(sp *harness.Spec) { sp.ID = "mine" }
		s := f.open(t, named)
		ask(t, s, "secret")
		g := f.beside()
		g.start(t)
		if err := g.engine.Delete(t.Context(), s.ID()); err != nil {
			t.Fatal(err)
		}
		other := g.open(t, named)
		for range answers {
			g.script.steps = append(g.script.steps, says("y"))
			ask(t, other, "another")
		}
		ask(t, s, "two")
		got := f.script.requests()[1].Messages
		if len(got) != want {
			t.Errorf("after %d answers the request has %d messages, want %d", answers, len(got), want)
		}
		if strings.Contains(fmt.Sprint(got), "secret") {
			t.Errorf("after %d answers the model is sent what was deleted: %v", answers, got)
		}
	}
}

// The same holds for one that says that it was made at the same time.
func TestThreadThatWasReplaced(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t)
	ask(t, s, "secret")
	log := f.log(t, s.ID())
	for i, e := range log {
		if u, ok := e.Body.(thread.User); ok {
			u.Blocks, u.Sent = []event.Block{{Text: "redacted"}}, []thread.Part{{Text: "redacted"}}
			log[i].Body = u
		}
	}
	if err := f.threads.Delete(t.Context(), s.ID()); err != nil {
		t.Fatal(err)
	}
	if err := f.threads.Restore(t.Context(), s.ID(), log); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "two")
	got := fmt.Sprint(f.script.requests()[1].Messages)
	if strings.Contains(got, "secret") || !strings.Contains(got, "redacted") {
		t.Errorf("the model is sent %v, want the thread as it is now", got)
	}
}
