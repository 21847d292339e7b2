package harness_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
)

// at makes a session belong to a project and a workspace.
func at(project, workspace string) func(*harness.Spec) {
	return func(sp *harness.Spec) { sp.Place.Project, sp.Place.Workspace = project, workspace }
}

// bounds returns where a thread says that it belongs, in order.
func (f *fixture) bounds(t *testing.T, id string) []thread.Bound {
	t.Helper()
	var out []thread.Bound
	err := f.threads.Read(t.Context(), id, 0, func(e thread.Entry) error {
		if b, ok := e.Body.(thread.Bound); ok {
			out = append(out, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPlaceOfASession(t *testing.T) { // R-PROMPT-28, R-PROMPT-55
	f := newFixture()
	f.settings.places = []string{"p", "q", "w"}
	f.script.steps = []step{says("x")}
	persona := "Be kind."
	skills := abc()
	s := f.open(t, at("p", ""), func(sp *harness.Spec) {
		sp.Place.Locale, sp.Place.Persona, sp.Place.Skills = "de", &persona, skills
		sp.Place.Session, sp.Place.Dir = "someone", "/elsewhere"
	})
	want := harness.Place{Session: s.ID(), Dir: "/space", Project: "p", Locale: "de", Persona: &persona, Skills: skills}
	ask(t, s, "one")
	if diff := cmp.Diff(want, f.settings.place); diff != "" {
		t.Errorf("place of a send (-want +got):\n%s", diff)
	}
	ask(t, s, "two")
	if diff := cmp.Diff([]thread.Bound{{Project: "p"}}, f.bounds(t, s.ID())); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}

	other := f.load(t, s.ID(), at("", "w"))
	ask(t, other, "three")
	if got := f.settings.place; got.Project != "p" || got.Workspace != "w" {
		t.Errorf("loaded at %+v, want the project of the thread and the workspace of the client", got)
	}
	ask(t, f.load(t, s.ID(), at("q", "")), "four")
	if diff := cmp.Diff([]thread.Bound{{Project: "p"}, {Project: "p", Workspace: "w"}, {Project: "q", Workspace: "w"}}, f.bounds(t, s.ID())); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}

	sp := harness.Spec{FS: files{}}
	copied, err := f.engine.Fork(t.Context(), s.ID(), "", sp)
	if err != nil {
		t.Fatal(err)
	}
	ask(t, copied, "five")
	if got := f.settings.place; got.Project != "q" || got.Workspace != "w" {
		t.Errorf("the copy is at %+v", got)
	}
	if got := f.bounds(t, copied.ID()); len(got) != 3 {
		t.Errorf("stored in the copy: %+v, want no more than was copied", got)
	}
	var first string
	for _, b := range f.entries(t, s) {
		if u, ok := b.(thread.User); ok && u.Blocks[0].Text == "three" {
			first = u.MessageID
		}
	}
	if copied, err = f.engine.Fork(t.Context(), s.ID(), first, sp); err != nil {
		t.Fatal(err)
	}
	if info, err := f.engine.Info(t.Context(), copied.ID()); err != nil || info.Project != "q" || info.Bound != "w" {
		t.Errorf("a copy of the beginning is at %+v, %v; want where the thread is", info, err)
	}
}

func TestPlaceThatIsMissing(t *testing.T) { // R-PROMPT-55
	f := newFixture()
	f.settings.places = []string{"p", "w"}
	f.script.steps = []step{says("x")}
	s := f.open(t, at("p", "w"))
	plain := f.open(t)
	ask(t, plain, "hi")
	reads, settled := f.settings.reads.Load(), f.settings.settled.Load()
	f.load(t, plain.ID())
	if got := f.settings.settled.Load(); got != settled {
		t.Error("a session that belongs nowhere was looked for")
	}
	f.load(t, s.ID())
	if got := f.settings.reads.Load(); got != reads {
		t.Error("all settings were read to open a session, and with them the key of its model")
	}
	tests := []struct {
		name               string
		project, workspace string
		want               string
	}{
		{"project", "nope", "", `there is no project "nope"; "lorimer project list" shows those that there are`},
		{"workspace", "p", "nope", `there is no workspace "nope"; "lorimer workspace list" shows those that there are`},
	}
	for _, tt := range tests {
		sp := harness.Spec{FS: files{}}
		at(tt.project, tt.workspace)(&sp)
		_, opened := f.engine.Open(t.Context(), sp)
		sp.ID = plain.ID()
		_, loaded := f.engine.Load(t.Context(), sp)
		sp.ID = ""
		_, forked := f.engine.Fork(t.Context(), plain.ID(), "", sp)
		for how, err := range map[string]error{"opened": opened, "loaded": loaded, "forked": forked} {
			missing, ok := errors.AsType[*harness.MissingError](err)
			if !ok || missing.What != tt.name || missing.ID != "nope" || err.Error() != tt.want {
				t.Errorf("%s with an unknown %s: %v, want %q", how, tt.name, err, tt.want)
			}
		}
	}
	if page, err := f.engine.List(t.Context(), thread.Query{}); err != nil || len(page.Threads) != 2 {
		t.Errorf("%d threads, %v; want the two that were opened", len(page.Threads), err)
	}

	f.settings.places = []string{"w"} // the project is deleted
	_, err := prompted(t, s, t.Context(), "one", &recorder{})
	const gone = `the project "p" of this session is not there any more; open the session again to go on without it`
	if missing, ok := errors.AsType[*harness.MissingError](err); !ok || missing.Error() != gone {
		t.Errorf("send in a project that is gone: %v, want %s", err, gone)
	}
	loaded := f.load(t, s.ID())
	var notices []string
	for range 2 {
		_, rec := ask(t, loaded, "two")
		for _, e := range rec.all() {
			if n, ok := e.(event.Notice); ok {
				notices = append(notices, n.Text)
			}
		}
	}
	if len(notices) != 1 || !strings.Contains(notices[0], `the project "p"`) {
		t.Errorf("notices = %q, want one that names the project", notices)
	}
	if diff := cmp.Diff([]thread.Bound{{Project: "p", Workspace: "w"}, {Workspace: "w"}}, f.bounds(t, s.ID())); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	f.settings.places = nil
	if got := f.load(t, s.ID()); got == nil {
		t.Error("a session whose workspace is gone cannot be loaded")
	}
}

// A session that names its project by the name stays in it when that changes.
func TestPlaceByName(t *testing.T) { // M-18
	f := newFixture()
	f.settings.places, f.settings.id = []string{"The Name", "w"}, "p"
	f.script.steps = []step{says("x")}
	s := f.open(t, at("The Name", "w"))
	f.settings.places = []string{"p", "w"} // the project is renamed
	ask(t, s, "one")
	if diff := cmp.Diff([]thread.Bound{{Project: "p", Workspace: "w"}}, f.bounds(t, s.ID())); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	ask(t, f.open(t, at("", "w")), "two")
	if got := f.settings.place.Project; got != "" {
		t.Errorf("a session that names no project is at %q", got)
	}
}

// A project and a workspace may have one id.
func TestPlaceWithoutItsNamesake(t *testing.T) { // R-PROMPT-55
	f := newFixture()
	f.settings.places = []string{"same"}
	f.script.steps = []step{says("x")}
	s := f.open(t, at("same", "same"))
	f.settings.places = []string{"project same"}
	_, rec := ask(t, f.load(t, s.ID()), "one")
	var notices []string
	for _, e := range rec.all() {
		if n, ok := e.(event.Notice); ok {
			notices = append(notices, n.Text)
		}
	}
	if len(notices) != 1 || !strings.Contains(notices[0], `the workspace "same"`) {
		t.Errorf("notices = %q, want one that names the workspace", notices)
	}
	if got := f.settings.place; got.Project != "same" || got.Workspace != "" {
		t.Errorf("the session is at %+v, want the project", got)
	}
}

// What else is wrong with the settings shows when a message is sent (C017).
func TestPlaceWhileTheSettingsAreBroken(t *testing.T) {
	f := newFixture()
	f.settings.places, f.settings.err = []string{"p"}, errDisk
	f.settings.facts = prompt.Facts{}
	f.script.steps = []step{says("x")}
	s := f.open(t, at("p", ""))
	if _, err := prompted(t, s, t.Context(), "one", &recorder{}); !errors.Is(err, errDisk) {
		t.Errorf("error = %v", err)
	}
	f.settings.err = nil
	ask(t, s, "two")
}
