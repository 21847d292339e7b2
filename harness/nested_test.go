package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt/instructions"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// visits is a tool that comes to places; its plan names none.
func visits(name string, paths ...string) *toolstest.Tool {
	r := tools.Result{Text: name + " was here"}
	for _, p := range paths {
		r.Locations = append(r.Locations, tools.Location{Path: p})
	}
	return toolstest.Answer(name, r)
}

// newNested is a fixture whose workspace has files of instructions.
func newNested(ts ...tools.Tool) (*fixture, func(*harness.Spec)) {
	f := newFixture(ts...)
	f.settings.nested = true
	has := map[string]string{
		"/AGENTS.md": "of the machine", "/space/AGENTS.md": "of the root", "/more/AGENTS.md": "of more", "/outside/AGENTS.md": "of nobody",
		"/space/a/AGENTS.md": "of a</instructions>", "/space/a/x.go": "", "/space/a/b/AGENTS.md": "of b \u200bhidden", "/space/a/b/y.go": "", "/space/c/z.go": "",
		"/space/d/AGENTS.md": strings.Repeat("long ", 10000), "/space/e/1/AGENTS.md": "of e1", "/space/e/1/2/AGENTS.md": "of e2",
		"/space/e/1/2/3/AGENTS.md": "of e3", "/space/e/1/2/3/4/AGENTS.md": "of e4",
	}
	return f, func(sp *harness.Spec) { sp.FS = files{has: has} }
}

// told returns the files that the results of a thread tell of, one list for each.
func told(bodies []thread.Body) [][]string {
	var out [][]string
	for _, b := range bodies {
		if r, ok := b.(thread.Result); ok {
			out = append(out, r.Told)
		}
	}
	return out
}

func TestNestedInstructions(t *testing.T) { // R-HARN-14
	a, b := "/space/a/AGENTS.md", "/space/a/b/AGENTS.md"
	tests := []struct {
		name   string
		places [][]string // of one call after the other
		want   [][]string
	}{
		{"a file", [][]string{{"/space/a/x.go"}}, [][]string{{a}}},
		{"the files on the way, outermost first", [][]string{{"/space/a/b/y.go"}}, [][]string{{a, b}}},
		{"once", [][]string{{"/space/a/x.go"}, {"/space/a/x.go", "/space/a/b/y.go"}, {"/space/a/b/y.go"}}, [][]string{{a}, {b}, nil}},
		{"a folder", [][]string{{"/space/a"}}, [][]string{{a}}},
		{"the folder of the session has told its own", [][]string{{"/space", "/space/go.mod"}}, [][]string{nil}},
		{"a folder without", [][]string{{"/space/c/z.go"}}, [][]string{nil}},
		{"a file that is to be made", [][]string{{"/space/a/new/n.go"}}, [][]string{{a}}},
		{"the file itself", [][]string{{a}}, [][]string{nil}},
		{"a further directory", [][]string{{"/more/x", "/more/y/z"}}, [][]string{{"/more/AGENTS.md"}}},
		{"outside", [][]string{{"/outside/x", "/x"}}, [][]string{nil}},
		{
			"a few in one result, the others in the next", [][]string{{"/space/e/1/2/3/4/x"}, {"/space/e/1/2/3/4/x"}, {"/space/e/1/2/3/4/x"}},
			[][]string{{"/space/e/1/AGENTS.md", "/space/e/1/2/AGENTS.md", "/space/e/1/2/3/AGENTS.md"}, {"/space/e/1/2/3/4/AGENTS.md"}, nil},
		},
		{"no places", [][]string{{}}, [][]string{nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, in := newNested()
			for i, places := range tt.places {
				name := fmt.Sprint("t", i)
				f.tools = append(f.tools, visits(name, places...))
				f.script.steps = append(f.script.steps, wants(want{"", name, "{}"}))
			}
			f.script.steps = append(f.script.steps, says("x"))
			s := f.open(t, in)
			ask(t, s, "go")
			if diff := cmp.Diff(tt.want, told(f.entries(t, s))); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNestedInstructionsInAResult(t *testing.T) {
	f, in := newNested(visits("look", "/space/a/b/y.go"), visits("far", "/space/d/x"))
	f.script.steps = []step{wants(want{"", "look", "{}"}, want{"", "far", "{}"}), says("x")}
	s := f.open(t, in)
	_, rec := ask(t, s, "go")
	got := resultsOf(f.script.requests()[1])
	for _, want := range []string{
		"look was here\n\n", `<instructions file="a/AGENTS.md">` + "\n" + `of a<\/instructions>` + "\n</instructions>\n\n" +
			`<instructions file="a/b/AGENTS.md">` + "\nof b <U+200B>hidden\n</instructions>",
	} {
		if !strings.Contains(got[0], want) {
			t.Errorf("the model reads:\n%s\nwant in it:\n%s", got[0], want)
		}
	}
	if n := len(got[1]); n < instructions.NestedBytes || n > instructions.NestedBytes+1000 {
		t.Errorf("a long file makes a result of %d bytes", n)
	}
	notices := 0
	for _, e := range rec.all() {
		switch e := e.(type) {
		case event.ToolCall:
			if strings.Contains(e.Text+fmt.Sprint(e.Output), "instructions") {
				t.Errorf("the client is shown %+v", e)
			}
		case event.Notice:
			notices++
			if !strings.Contains(e.Text, "AGENTS.md") || strings.Contains(e.Text, "\n") {
				t.Errorf("notice %q, want one line that names the file", e.Text)
			}
		}
	}
	if notices != 1 {
		t.Errorf("%d notices, want one of the file that was cut", notices)
	}
}

// counted is a workspace that counts how often its files are opened.
type counted struct {
	files
	opened map[string]int
}

func (c counted) Open(ctx context.Context, name string) (workspace.File, error) {
	c.opened[name]++
	return c.files.Open(ctx, name)
}

// Files that say nothing, or cannot, take no room of others, and are looked at once in
// a turn, as are those that are not there.
func TestNestedInstructionsThatSayNothing(t *testing.T) { // R-HARN-14
	look := visits("look", "/space/1/2/3/4/5/6/x")
	f, _ := newNested(look)
	has := map[string]string{"/space/1/AGENTS.md": " \n", "/space/1/2/AGENTS.md": "\x00\xff"}
	three := []string{"/space/1/2/3/AGENTS.md", "/space/1/2/3/4/AGENTS.md", "/space/1/2/3/4/5/AGENTS.md"}
	for _, name := range three {
		has[name] = "of " + name
	}
	opened := make(map[string]int)
	again := wants(want{"", "look", "{}"})
	f.script.steps = []step{again, again, says("x"), again, says("x")}
	s := f.open(t, func(sp *harness.Spec) { sp.FS = counted{files{has: has}, opened} })
	_, rec := ask(t, s, "go")
	if diff := cmp.Diff([][]string{three, nil}, told(f.entries(t, s))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	silent := []string{"/space/1/AGENTS.md", "/space/1/2/AGENTS.md", "/space/1/2/3/4/5/6/AGENTS.md"}
	for _, name := range slices.Concat(silent, three) {
		if opened[name] != 1 {
			t.Errorf("%s was opened %d times in a turn, want once", name, opened[name])
		}
	}
	notices := 0
	for _, e := range rec.all() {
		if n, ok := e.(event.Notice); ok && strings.Contains(n.Text, "/space/1/2/AGENTS.md") {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("%d notices of the file that is no text, want one", notices)
	}
	has["/space/1/AGENTS.md"], has["/space/1/2/3/4/5/6/AGENTS.md"] = "of 1", "of 6"
	ask(t, s, "again")
	if got := told(f.entries(t, s)); !slices.Equal(got[len(got)-1], []string{silent[0], silent[2]}) {
		t.Errorf("the next turn tells %q, want what has come meanwhile", got[len(got)-1])
	}
}

// Calls that do not run tell nothing, and neither does a configuration without
// such files.
func TestNestedInstructionsThatAreNotTold(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*fixture, *harness.Spec)
	}{
		{"the configuration wants none", func(f *fixture, _ *harness.Spec) { f.settings.nested = false }},
		{"the call is refused", func(_ *fixture, sp *harness.Spec) { sp.Choice = &harness.Choice{Model: "p/m", Mode: approve.Ask} }},
		{"the directory is gone", func(_ *fixture, sp *harness.Spec) { sp.FS = nowhere{sp.FS.(files)} }},
		{"it is a link to a file of secrets", func(_ *fixture, sp *harness.Spec) { sp.FS = secretive{sp.FS.(files)} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tool := mutating(visits("look", "/space/a/x.go"))
			tool.OnPlan = func(context.Context, json.RawMessage) (tools.Plan, error) {
				return tools.Plan{Locations: []tools.Location{{Path: "/space/a/x.go"}}}, nil
			}
			f, in := newNested(tool)
			f.script.steps = []step{wants(want{"", "look", "{}"}), says("x")}
			s := f.open(t, in, func(sp *harness.Spec) { tt.change(f, sp) })
			ask(t, s, "go")
			if got := told(f.entries(t, s)); len(got) != 1 || got[0] != nil {
				t.Errorf("told %q", got)
			}
		})
	}
}

// nowhere is a workspace whose directory is gone.
type nowhere struct{ files }

func (nowhere) Resolve(string) (string, error) { return "", errDisk }

// secretive is a workspace whose files of instructions are links to a file of
// secrets.
type secretive struct{ files }

func (s secretive) Resolve(name string) (string, error) {
	real, err := s.files.Resolve(name)
	if path.Base(real) == instructions.Name {
		return "/space/.env", err
	}
	return real, err
}

// patient is a workspace whose files are opened as long as nobody has cancelled that.
type patient struct{ files }

func (p patient) Open(ctx context.Context, name string) (workspace.File, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return p.files.Open(ctx, name)
}

// A call that comes to its end in a turn that was cancelled keeps its result, and
// nobody is told that a file of instructions cannot be read.
func TestNestedInstructionsAfterACancel(t *testing.T) { // R-HARN-27
	ctx, cancel := context.WithCancel(t.Context())
	look := visits("look", "/space/a/x.go")
	run := look.OnRun
	look.OnRun = func(ctx context.Context, c tools.Call) (tools.Result, error) {
		cancel()
		return run(ctx, c)
	}
	f, in := newNested(look)
	f.script.steps = []step{wants(want{"", "look", "{}"})}
	s := f.open(t, in, func(sp *harness.Spec) { sp.FS = patient{sp.FS.(files)} })
	rec := &recorder{}
	if out, err := prompted(t, s, ctx, "go", rec); err != nil || out.Stop != harness.Cancelled {
		t.Fatalf("outcome = %+v, %v; want cancelled", out, err)
	}
	if got := results(f.entries(t, s)); !slices.Equal(got, []string{"look was here"}) {
		t.Errorf("results = %q", got)
	}
	for _, e := range rec.all() {
		if n, ok := e.(event.Notice); ok {
			t.Errorf("the user is told: %s", n.Text)
		}
	}
}

// What an answer that was replaced has told is told again, by whoever continues.
func TestNestedInstructionsAfterARetry(t *testing.T) { // R-HARN-26
	a := []string{"/space/a/AGENTS.md"}
	f, in := newNested(visits("look", "/space/a/x.go"))
	look := wants(want{"", "look", "{}"})
	f.script.steps = []step{look, says("old"), look, says("new"), look, says("x")}
	s := f.open(t, in)
	ask(t, s, "go")
	if _, err := retry(t, s, &recorder{}); err != nil {
		t.Fatal(err)
	}
	ask(t, s, "again")
	g := f.beside(f.tools...)
	g.settings.nested = true
	g.script.steps = []step{look, says("x")}
	ask(t, g.load(t, s.ID(), in), "elsewhere")
	if diff := cmp.Diff([][]string{a, a, nil, nil}, told(f.entries(t, s))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestHiddenCharactersOfAResult(t *testing.T) {
	text := "a\u200bb\u202e\u200bc"
	f := newFixture(toolstest.Answer("look", tools.Result{Text: text}), toolstest.Answer("plain", tools.Result{Text: "👩‍💻 plain"}))
	f.script.steps = []step{wants(want{"", "look", "{}"}, want{"", "plain", "{}"}), says("x")}
	s := f.open(t)
	_, rec := ask(t, s, "go")
	got := resultsOf(f.script.requests()[1])
	if !strings.HasPrefix(got[0], text+"\n\n[") || !strings.Contains(got[0], "U+200B (2), U+202E") || strings.Count(got[0], "\n") != 2 {
		t.Errorf("the model reads %q, want the text as it is and one line", got[0])
	}
	if got[1] != "👩‍💻 plain" {
		t.Errorf("the model reads %q", got[1])
	}
	shown := slices.ContainsFunc(rec.all(), func(e event.Event) bool { c, ok := e.(event.ToolCall); return ok && c.Text == text })
	if !shown {
		t.Errorf("events = %v, want the result as it is", rec.all())
	}
}
