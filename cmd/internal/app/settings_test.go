package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/prompt"
)

// A machine is a home and a directory in it, with a program that is open there.
type machine struct {
	*App
	t    testing.TB
	home string
	dir  string
	log  strings.Builder
}

func newMachine(t testing.TB, keep Keep, content string) *machine {
	t.Helper()
	home := t.TempDir()
	m := &machine{t: t, home: home, dir: filepath.Join(home, "work")}
	m.write("work/.keep", "")
	m.write(".config/lorimer/config.toml", "model = \"offline\"\n"+content)
	m.open(keep)
	return m
}

// open opens the program once more.
func (m *machine) open(keep Keep) {
	m.t.Helper()
	a, err := Open(Options{
		Sources: config.Sources{Home: m.home},
		Keep:    keep,
		Log:     zerolog.New(zerolog.SyncWriter(&m.log)),
		Warn:    func(w config.Warning) { m.t.Errorf("warning: %v", w) },
	})
	if err != nil {
		m.t.Fatal(err)
	}
	m.App = a
	m.t.Cleanup(func() {
		if err := a.Close(m.t.Context()); err != nil && m.t.Context().Err() == nil {
			m.t.Error(err)
		}
	})
}

func (m *machine) write(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// freeze is what a send at p gets.
func (m *machine) freeze(p harness.Place) (harness.Snapshot, error) {
	m.t.Helper()
	if p.Dir == "" {
		p.Dir = m.dir
	}
	c, err := m.Choice(m.t.Context())
	if err != nil {
		return harness.Snapshot{}, err
	}
	return (&settings{m.App}).Freeze(m.t.Context(), p, c)
}

// facts is what a send at p tells the model.
func (m *machine) facts(p harness.Place) prompt.Facts {
	m.t.Helper()
	s, err := m.freeze(p)
	if err != nil {
		m.t.Fatal(err)
	}
	return s.Prompt
}

// Projects are found by id, by name and by the directory (M-18).
func TestFreezeProject(t *testing.T) {
	m := newMachine(t, Stored, "")
	real := filepath.Join(m.home, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, filepath.Join(m.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []place.Project{
		{ID: "work", Name: "The work", Dirs: []string{m.dir}, Instructions: "Be exact."},
		{ID: "real", Name: "Behind the link", Dirs: []string{real}},
		{ID: "other", Name: "work"},
	} {
		if err := m.Places().AddProject(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ project, dir, want string }{
		{"", ".", "The work"},
		{"", "sub", "The work"},
		{"", "link", "The work"}, // as it is written, before what it leads to
		{"", "../real", "Behind the link"},
		{"", "..", ""},
		{"other", ".", "work"},
		{"work", "..", "The work"},
		{"Behind the link", "..", "Behind the link"},
	}
	for _, tt := range tests {
		got := ""
		if p := m.facts(harness.Place{Project: tt.project, Dir: filepath.Join(m.dir, tt.dir)}).Project; p != nil {
			got = p.Name
		}
		if got != tt.want {
			t.Errorf("project %q in %q is %q, want %q", tt.project, tt.dir, got, tt.want)
		}
	}
	if got := m.facts(harness.Place{}).Project.Instructions; got != "Be exact." {
		t.Errorf("instructions = %q", got)
	}
	_, err := m.freeze(harness.Place{Project: "nope"})
	if missing, ok := errors.AsType[*harness.MissingError](err); !ok || *missing != (harness.MissingError{What: "project", ID: "nope"}) {
		t.Errorf("error = %v, want that the project is missing", err)
	}

	m.open(Apart) // another program, which leaves nothing behind
	if p := m.facts(harness.Place{}).Project; p == nil || p.Name != "The work" {
		t.Errorf("apart the project is %v, want that of the database", p)
	}
}

// A project that a link leads to is found when none has the path as it is written.
func TestFreezeProjectBehindALink(t *testing.T) {
	m := newMachine(t, Stored, "")
	real := filepath.Join(m.home, "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(m.dir, "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := m.Places().AddProject(t.Context(), place.Project{ID: "real", Name: "Real", Dirs: []string{real}}); err != nil {
		t.Fatal(err)
	}
	if p := m.facts(harness.Place{Dir: link}).Project; p == nil || p.Name != "Real" {
		t.Errorf("project = %v, want that of the directory behind the link", p)
	}
}

// A bound workspace is told by names, as many as fit, and how many there are beside
// them (R-PROMPT-55).
func TestFreezeWorkspace(t *testing.T) {
	const many, each = 50, 25 // documents, and of them collections and pinned
	m := newMachine(t, Stored, "")
	ctx := t.Context()
	if err := m.Places().AddWorkspace(ctx, place.Workspace{ID: "law", Title: "Law"}); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		d, err := m.Places().Keep(ctx, fmt.Sprintf("%02d.txt", i), "text/plain", fmt.Append(nil, "body ", i))
		if err != nil {
			t.Fatal(err)
		}
		item := place.ItemEdit{Collection: new(fmt.Sprintf("Volume %02d", i/2*2)), Pinned: new(i%2 == 0)}
		if i == 0 {
			item.Collection = nil
		}
		if err := m.Places().AddItem(ctx, "law", d.Key, item); err != nil {
			t.Fatal(err)
		}
	}
	w := m.facts(harness.Place{Workspace: "law"}).Workspace
	if w == nil || w.Bound == nil || w.Catalog != nil || w.Creation != nil {
		t.Fatalf("workspace = %+v, want a summary and nothing else", w)
	}
	s := w.Bound
	if s.ID != "law" || s.Title != "Law" || s.Documents != many || s.AllCollections != each || s.AllPinned != each {
		t.Errorf("summary = %+v", s)
	}
	if s.Collections[0].Title != "Volume 00" || s.Pinned[1].Title != "02.txt" || !strings.HasPrefix(s.Pinned[1].ID, "document:") {
		t.Errorf("collections %v, pinned %v", s.Collections, s.Pinned)
	}
	r, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	told, _, err := r.Parts(prompt.Context{Tools: []prompt.ToolSchema{{Name: "read"}}, Facts: prompt.Facts{Workspace: w}}, time.Now())
	if err != nil || strings.Count(told.Stable, "\n- and 5 more\n") != 2 {
		t.Errorf("%v; want two lists with more than stand in them in:\n%s", err, told.Stable)
	}
	if m.facts(harness.Place{}).Workspace != nil {
		t.Error("a session that is bound to nothing is told of a workspace")
	}
	_, err = m.freeze(harness.Place{Workspace: "nope"})
	if missing, ok := errors.AsType[*harness.MissingError](err); !ok || missing.What != "workspace" || missing.ID != "nope" {
		t.Errorf("error = %v, want that the workspace is missing", err)
	}
}

// What the client says goes over the configuration (M-21).
func TestFreezeClient(t *testing.T) {
	m := newMachine(t, Apart, "locale = \"de\"\npersona = \"You are terse.\"\n")
	f := m.facts(harness.Place{})
	if f.Locale != "de" || *f.Persona != "You are terse." {
		t.Errorf("locale %q, persona %q; want those of the configuration", f.Locale, *f.Persona)
	}
	none := ""
	f = m.facts(harness.Place{Locale: "fr", Persona: &none})
	if f.Locale != "fr" || *f.Persona != "" {
		t.Errorf("locale %q, persona %q; want those of the client", f.Locale, *f.Persona)
	}
}

// What was taken out of a file again holds no longer, in the same session
// (R-PROMPT-17, R-HARN-04).
func TestFreezeReadsAnew(t *testing.T) {
	m := newMachine(t, Apart, "tool_order = [\"zzz\", \"<unlisted-tools>\"]\npersona = \"hi {{ model }}\"\n")
	before := m.facts(harness.Place{})
	if _, _, err := m.prompts.Parts(prompt.Context{Facts: before}, m.clock.now()); err == nil {
		t.Error("the prompt is assembled in spite of its mistakes")
	}
	m.write(".config/lorimer/config.toml", "model = \"offline\"\n[attachments]\ninline_bytes = 7\n")
	m.write(".config/lorimer/models.toml", "[models.offline]\nname = \"Off\"\nwindow = 5000\ntool_usage = 0\nimages = true\nchat_mode_addendum = \"Be kind.\"\n")
	s, err := m.freeze(harness.Place{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.prompts.Parts(prompt.Context{Facts: s.Prompt}, m.clock.now()); err != nil {
		t.Errorf("once mended: %v", err)
	}
	if d := s.Model; d.Name != "Off" || d.Window != 5000 || !d.NoTools || !d.Images || s.Inline != 7 || s.Prompt.Profile.Style != "Be kind." {
		t.Errorf("model %+v, inline %d, profile %+v; want what the files say", d, s.Inline, s.Prompt.Profile)
	}
	m.write(".config/lorimer/models.toml", "[models.offline]\nwindow = -1\n")
	if _, err := m.freeze(harness.Place{}); err == nil || !strings.Contains(err.Error(), "models.toml:2: models.offline.window") {
		t.Errorf("error = %v, want the line of models.toml", err)
	}
}

func TestFreezeInstructions(t *testing.T) {
	m := newMachine(t, Apart, "")
	m.write("AGENTS.md", "Outer.")
	m.write("work/AGENTS.md", "Inner.")
	var got []string
	for _, i := range m.facts(harness.Place{}).Instructions {
		got = append(got, i.Path+": "+strings.TrimSpace(i.Text))
	}
	if diff := cmp.Diff([]string{"../AGENTS.md: Outer.", "AGENTS.md: Inner."}, got); diff != "" {
		t.Errorf("instructions (-want +got):\n%s", diff)
	}

	m.write(".config/lorimer/config.toml", "model = \"offline\"\n[instructions]\nfile_bytes = 100\n")
	m.write("work/AGENTS.md", strings.Repeat("Inner. ", 100))
	s, err := m.freeze(harness.Place{})
	if err != nil || s.NoNested || len(s.Prompt.Instructions) != 2 || len(s.Prompt.Instructions[1].Text) > 300 {
		t.Errorf("above the limit: %+v (%v), want both, the nearest cut", s.Prompt.Instructions, err)
	}
	if told := strings.Join(s.Notices, "\n"); !strings.Contains(told, "AGENTS.md") || !strings.Contains(told, "100") {
		t.Errorf("the user is told %q, want the file and the limit", told)
	}

	m.write(".config/lorimer/config.toml", "model = \"offline\"\n[instructions]\nagents_md = false\n")
	if s, err := m.freeze(harness.Place{}); err != nil || len(s.Prompt.Instructions) > 0 || !s.NoNested {
		t.Errorf("switched off: %v, those of folders too: %v (%v)", s.Prompt.Instructions, s.NoNested, err)
	}
}

func TestFreezeSkills(t *testing.T) {
	skill := func(description string) string {
		return "---\ndescription: " + description + "\n---\nDo it.\n"
	}
	m := newMachine(t, Apart, "[skills]\ndisabled = [\"research\"]\n")
	m.write(".config/lorimer/skills/deploy/SKILL.md", skill("the user's"))
	m.write(".config/lorimer/skills/deploy/steps.md", "One.")
	m.write(".config/lorimer/skills/broken.md", "---\nname: Not A Name\n---\n")
	m.write("work/.agents/skills/deploy/SKILL.md", skill("the workspace's"))
	m.write("work/.agents/skills/lint/SKILL.md", skill("the workspace's"))
	list := func(p harness.Place) string {
		var all []string
		for _, s := range m.facts(p).Skills {
			all = append(all, s.Name+"="+s.Description)
		}
		return strings.Join(all, "; ")
	}
	search := "search=" + func() string {
		for _, s := range m.facts(harness.Place{}).Skills {
			if s.Name == "search" {
				return s.Description
			}
		}
		t.Fatal("no skill search")
		return ""
	}()
	if got, want := list(harness.Place{}), "deploy=the user's; lint=the workspace's; "+search; got != want {
		t.Errorf("skills = %s, want %s", got, want)
	}
	if n := strings.Count(m.log.String(), "broken.md"); n != 1 {
		t.Errorf("the log tells of the broken skill %d times, want once:\n%s", n, m.log.String())
	}
	wire := []prompt.Skill{{Name: "deploy", Description: "the client's", Instruction: "x"}}
	if got, want := list(harness.Place{Skills: wire}), "deploy=the client's; lint=the workspace's; "+search; got != want {
		t.Errorf("with those of the client: %s, want %s", got, want)
	}

	s, err := m.freeze(harness.Place{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.SkillFile("deploy", "steps.md"); err != nil || text != "One." {
		t.Errorf("the file of a skill is %q (%v)", text, err)
	}
	if _, err := s.SkillFile("nope", "steps.md"); err == nil {
		t.Error("a skill that is not there has a file")
	}

	m.write(".config/lorimer/config.toml", "model = \"offline\"\n[skills]\ntrusted = [\"~/work\"]\ndisabled = [\"*\"]\n")
	if got := list(harness.Place{}); got != "" {
		t.Errorf("all are switched off, and there are %s", got)
	}
	m.write(".config/lorimer/config.toml", "model = \"offline\"\n[skills]\ntrusted = [\"~/work\"]\ndisabled = [\"search\", \"research\"]\n")
	if got, want := list(harness.Place{}), "deploy=the workspace's; lint=the workspace's"; got != want {
		t.Errorf("in a trusted workspace: %s, want %s", got, want)
	}
	m.write(".config/lorimer/config.toml", "model = \"offline\"\n[skills]\nworkspace = false\nfolder = \"none\"\ndisabled = [\"search\", \"research\"]\n")
	if got := list(harness.Place{}); got != "" {
		t.Errorf("nobody has a skill, and there are %s", got)
	}
}

// BenchmarkFreeze is what a send reads in a directory with a project, instructions
// and 40 skills.
func BenchmarkFreeze(b *testing.B) {
	m := newMachine(b, Stored, "")
	old := time.Now().Add(-time.Hour) // a file that has just changed is read again
	for i := range 40 {
		name := fmt.Sprintf("work/.agents/skills/skill-%d/SKILL.md", i)
		m.write(name, "---\ndescription: Does one thing well.\n---\n"+strings.Repeat("Do it.\n", 100))
		if err := os.Chtimes(filepath.Join(m.home, name), old, old); err != nil {
			b.Fatal(err)
		}
	}
	m.write("work/AGENTS.md", strings.Repeat("Use tabs.\n", 500))
	if err := m.Places().AddProject(b.Context(), place.Project{ID: "work", Name: "Work", Dirs: []string{m.dir}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.freeze(harness.Place{}); err != nil {
			b.Fatal(err)
		}
	}
}

// A mistake that needs no session is told before there is one (R-PROMPT-04).
func TestOpenWithNamesThatAreTaken(t *testing.T) {
	for _, content := range []string{
		"[[section]]\nname = \"Principles\"\ntext = \"x\"\n",
		"[[section]]\nname = \"harness:identity\"\nscope = \"s\"\ntext = \"x\"\n",
		"[[variable]]\nname = \"model\"\n",
		"[[variable]]\nname = \"Model\"\n",
		"[[hook]]\naction = \"drop\"\nsection = \"harness:identity\"\n",
	} {
		home := t.TempDir()
		file := filepath.Join(home, "c.toml")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Open(Options{Sources: config.Sources{Home: home, Flags: map[string]string{"config": file}}, Log: zerolog.Nop()})
		if err == nil {
			t.Errorf("%q: no error", content)
			if err := a.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// Why folders of skills are not watched is told once, however many sessions there are.
func TestUnwatchedSkills(t *testing.T) {
	m := newMachine(t, Apart, "")
	for _, text := range []string{"no room", "no room", "too many files", "no room"} {
		m.unwatched(errors.New(text))
	}
	for text, want := range map[string]int{"folders of skills are not watched": 2, "no room": 1, "too many files": 1} {
		if got := strings.Count(m.log.String(), text); got != want {
			t.Errorf("%q stands %d times in the log, want %d:\n%s", text, got, want, m.log.String())
		}
	}
}
