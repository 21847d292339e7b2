//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// offered sends a message and returns the tools that the model was told of.
func (e *editor) offered(session string) []string {
	e.t.Helper()
	e.system(session)
	return e.lastRequest(session).Tools
}

// except returns the names without some.
func except(all []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(some, name) })
}

// Row 98 (R-PROMPT-09, R-PROMPT-20): an order may name a tool that is not offered in
// this session: one that the mode withholds, and each where tools are off or the
// model cannot call any. It is simply absent.
func TestRow098KnownAndHidden(t *testing.T) {
	t.Parallel()
	const order = "tool_order = [\"write\", \"<unlisted-tools>\", \"bash\"]\n"
	e := speaks(t, "")
	s := e.session()
	all := e.offered(s)
	e.set(s, "mode", "read-only")
	reading := e.offered(s)
	if slices.Contains(reading, "write") || slices.Contains(reading, "bash") || !slices.Contains(reading, "read") {
		t.Errorf("tools of the mode read-only = %q", reading)
	}
	e.file(configFile, order)
	if got := e.offered(s); !slices.Equal(got, reading) {
		t.Errorf("tools in an order that names hidden ones = %q, want %q", got, reading)
	}
	e.set(s, "mode", "ask")
	if got, want := e.offered(s), slices.Concat([]string{"write"}, except(all, "write", "bash"), []string{"bash"}); !slices.Equal(got, want) {
		t.Errorf("tools in the mode ask = %q, want %q", got, want)
	}
	e.set(s, "tools", "off")
	if got := e.offered(s); len(got) > 0 {
		t.Errorf("tools = %q while they are off", got)
	}
	e.set(s, "tools", "on")
	e.file(profilesFile, "[models.\"*\"]\ntool_usage = 0\n")
	if got := e.offered(s); len(got) > 0 {
		t.Errorf("tools = %q of a model that cannot call any", got)
	}
	e.prints("prompt", "render", "--model", "offline")
	e.file(configFile, "tool_order = [\"zzz\", \"<unlisted-tools>\"]\n")
	f := e.wait(e.send("session/prompt", say(s, "hello")))
	checkFailure(t, f, -32603, "PROMPT_ASSEMBLY", false)
	hasWords(t, f.Error.Message, []string{"zzz", strings.Join(all, ", ")})
}

// Row 98: hooks may name what is hidden too.
func TestRow098HooksOnHiddenTools(t *testing.T) {
	t.Parallel()
	e := speaks(t, hook(`action = "drop"`, `tool = "bash"`)+hook(`action = "reorder"`, `target = "tools"`, `order = ["write", "read"]`), "--mode", "read-only")
	s := e.session()
	if got := e.offered(s); got[0] != "read" || slices.Contains(got, "write") {
		t.Errorf("tools = %q, want read first and no write", got)
	}
	e.set(s, "tools", "off")
	e.offered(s)
}

// Row 105 (R-PROMPT-20a): without an order tools are sorted by their names, byte by
// byte, in the trace and on the wire of a provider.
func TestRow105ByName(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	for _, p := range bothProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t).reaches(m)
			e.env = append(e.env, "LC_ALL=de_DE.UTF-8") // the order is that of no language
			e.acp("--model", p.model)
			got := e.offered(e.open(nil))
			if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) || !slices.Contains(got, "read-context") {
				t.Errorf("tools = %q, want them by name", got)
			}
		})
	}
	t.Run("on the wire", func(t *testing.T) {
		t.Parallel()
		m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
		e := newEditor(t).reaches(m)
		e.file(configFile, "tool_order = [\"write\", \"<unlisted-tools>\", \"bash\"]\n")
		e.acp("--model", gpt)
		s := e.open(nil)
		traced := e.offered(s)
		var body struct {
			Tools []struct{ Function struct{ Name string } }
		}
		if err := json.Unmarshal(m.Requests()[0].Body, &body); err != nil {
			t.Fatal(err)
		}
		var sent []string
		for _, tool := range body.Tools {
			sent = append(sent, tool.Function.Name)
		}
		if !slices.Equal(sent, traced) || sent[0] != "write" || sent[len(sent)-1] != "bash" {
			t.Errorf("tools on the wire = %q, in the trace %q; want both in the order of the configuration", sent, traced)
		}
	})
}

// Row 106 (R-PROMPT-20b): the listed tools take their places, and the others stand by
// name where the rest goes.
func TestRow106OrderWithRest(t *testing.T) {
	t.Parallel()
	e := speaks(t, "")
	s := e.session()
	all := e.offered(s)
	for _, tt := range []struct {
		order string
		want  []string
	}{
		{`["write", "<unlisted-tools>", "bash"]`, slices.Concat([]string{"write"}, except(all, "write", "bash"), []string{"bash"})},
		{`["<unlisted-tools>"]`, all},
		{`["<unlisted-tools>", "bash", "ask_user"]`, append(except(all, "bash", "ask_user"), "bash", "ask_user")},
		{`["write", "read", "glob", "<unlisted-tools>"]`, append([]string{"write", "read", "glob"}, except(all, "write", "read", "glob")...)},
	} {
		e.file(configFile, "tool_order = "+tt.order+"\n")
		if got := e.offered(s); !slices.Equal(got, tt.want) {
			t.Errorf("tools by %s = %q, want %q", tt.order, got, tt.want)
		}
		var assembled []string
		for _, tool := range e.offlineSheet().Tools {
			assembled = append(assembled, tool.Name)
		}
		if !slices.Equal(assembled, tt.want) {
			t.Errorf("lorimer prompt render by %s = %q, want %q", tt.order, assembled, tt.want)
		}
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	list, err := json.Marshal(slices.Insert(slices.Clone(backwards), 3, "<unlisted-tools>"))
	if err != nil {
		t.Fatal(err)
	}
	e.file(configFile, fmt.Sprintf("tool_order = %s\n", list))
	if got := e.offered(s); !slices.Equal(got, backwards) {
		t.Errorf("tools by a list of all = %q, want %q", got, backwards)
	}
}

// Row 107 (R-PROMPT-20c): an order that no set of tools could mend keeps the program
// from starting.
func TestRow107OrderThatCannotBe(t *testing.T) {
	t.Parallel()
	const rest = "<unlisted-tools>"
	for _, tt := range []struct {
		name, order string
		word        string
	}{
		{"no marker", `["bash"]`, rest},
		{"empty", `[]`, rest},
		{"two markers", `["<unlisted-tools>", "<unlisted-tools>"]`, rest},
		{"two markers around a name", `["<unlisted-tools>", "bash", "<unlisted-tools>"]`, rest},
		{"a name twice", `["x", "x", "<unlisted-tools>"]`, `"x"`},
		{"a name on both sides", `["bash", "<unlisted-tools>", "bash"]`, `"bash"`},
		{"another marker", `["bash", "<unlisted-tool>"]`, rest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkNoStart(t, "\ntool_order = "+tt.order+"\n", []string{"config.toml:2", "tool_order", tt.word})
		})
	}
}

// Row 108 (R-PROMPT-20d): an order with a name that no tool has fails each message,
// with the name and those that there are.
func TestRow108UnknownTool(t *testing.T) {
	t.Parallel()
	all := speaks(t, "")
	names := all.offered(all.session())
	known := "known: " + strings.Join(names, ", ")
	for _, m := range []mistake{
		{"one", "tool_order = [\"zzz\", \"<unlisted-tools>\"]\n", "", []string{"config.toml:1: ", "tool_order", `no tool "zzz";`, known}},
		{"two among others", "tool_order = [\"write\", \"zzz\", \"<unlisted-tools>\", \"aaa\", \"bash\"]\n", "", []string{"config.toml:1: ", "tool_order", `no tool "zzz", "aaa";`, known}},
		{"another case", "tool_order = [\"Bash\", \"<unlisted-tools>\"]\n", "", []string{"config.toml:1: ", "tool_order", `no tool "Bash";`, known}},
		{"what the mode withholds is known", "mode = \"read-only\"\ntool_order = [\"write\", \"zzz\", \"<unlisted-tools>\"]\n", "", []string{"config.toml:2: ", "tool_order", `no tool "zzz";`, known}},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, m, "PROMPT_ASSEMBLY")
		})
	}
}

// Row 110 (R-PROMPT-20f), as far as it can be asked from outside: the marker of an
// order is the name of no tool. A tool of the user's own, which could bear it, is not
// part of the program; that an assembly with one fails shows in code.
func TestRow110MarkerIsNoTool(t *testing.T) {
	t.Parallel()
	for _, m := range []mistake{
		{"to drop", hook(`action = "drop"`, `tool = "<unlisted-tools>"`), "", []string{"config.toml:1", "<unlisted-tools>", "known: "}},
		{"to reorder", hook(`action = "reorder"`, `target = "tools"`, `order = ["<unlisted-tools>"]`), "", []string{"config.toml:1", "<unlisted-tools>", "known: "}},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, m, "PROMPT_ASSEMBLY")
		})
	}
}

// Row 113 (R-HARN-06, C-05): all that a prompt is made of changes while the first of
// three steps runs. The steps are sent the same prompt and the same tools, and the
// next message has all of the change.
func TestRow113FrozenForATurn(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.prints("project", "add", "Shop", "--instructions", "Instructed before.")
	e.seed("AGENTS.md", "Agents before.\n")
	e.file(configFile, "persona = \"Persona before.\"\n"+teamConfig)
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl",
		`{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe; echo $x"}}]}
{"match": {"contains": "step two"}, "tools": [{"name": "glob", "args": {"pattern": "*.md"}}]}
`+always))
	s := e.open(nil)
	started, pipe := e.fifo("started"), e.fifo("pipe")
	turn := e.send("session/prompt", say(s, "run"))
	started.get()
	before := e.steps(s)[0]

	e.file(configFile, "persona = \"Persona after.\"\ntool_order = [\"write\", \"<unlisted-tools>\"]\n[context]\nname = \"Ada\"\n"+
		strings.ReplaceAll(teamConfig, "blue", "red")+hook(`action = "drop"`, `section = "Link previews"`)+hook(`action = "drop"`, `tool = "edit"`))
	e.file(profilesFile, "[models.\"script:*\"]\nchat_mode_addendum = \"Style after.\"\n")
	e.seed("AGENTS.md", "Agents after.\n")
	e.seed(".agents/skills/late/SKILL.md", textSkill("late", "Late.", "Late."))
	e.prints("project", "edit", "shop", "--instructions", "Instructed after.")
	e.set(s, "citations", "linked")
	pipe.put("step two")
	if f := e.wait(turn); f.Error != nil {
		t.Fatalf("prompt: %s", f.Raw)
	}
	steps := e.steps(s)
	if len(steps) != 3 {
		t.Fatalf("%d requests, want 3", len(steps))
	}
	for i, l := range steps {
		if diff := cmp.Diff(before.System, l.System); diff != "" {
			t.Errorf("prompt of step %d (-first +this):\n%s", i+1, diff)
		}
		if !slices.Equal(l.Tools, before.Tools) || string(l.Schemas) != string(before.Schemas) {
			t.Errorf("tools of step %d = %q, want %q", i+1, l.Tools, before.Tools)
		}
	}
	holds(t, "the prompt of the turn", before.System, "Persona before.", "Instructed before.", "Agents before.", "Rules of blue.", "# Links")

	e.system(s)
	after := e.lastRequest(s)
	holds(t, "the next prompt", after.System, "Persona after.", "called Ada", "Instructed after.", "Agents after.", "- late: Late.", "Rules of red.", "Style after.")
	lacks(t, "the next prompt", after.System, "before.", "blue", "# Links")
	if want := append([]string{"write"}, except(before.Tools, "write", "edit")...); !slices.Equal(after.Tools, want) {
		t.Errorf("tools of the next message = %q, want %q", after.Tools, want)
	}
	last := e.turns(s)[1]
	if last.Harness != "rebuilt" || !slices.Equal(last.Changed, []string{"citations", "stablePrompt"}) {
		t.Errorf("next turn = %+v, want rebuilt for citations and stablePrompt", last)
	}
}

// Row 113: what breaks while a turn runs is told by the next message, and a turn that
// runs goes on with what it began with.
func TestRow113BrokenMeanwhile(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl",
		`{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe; echo $x"}}], "repeat": true}
{"match": {"contains": "step two"}, "tools": [{"name": "glob", "args": {"pattern": "*.md"}}], "repeat": true}
`+always))
	s := e.open(nil)
	started, pipe := e.fifo("started"), e.fifo("pipe")
	for i, broken := range []string{"persona = \"{{nobody}}\"\n", "tool_order = [\"zzz\", \"<unlisted-tools>\"]\n", "persona = ", hook(`action = "drop"`, `section = "harness:identity"`)} {
		turn := e.send("session/prompt", say(s, "run"))
		started.get()
		e.file(configFile, broken)
		waiting := e.send("session/prompt", say(s, "hello"))
		pipe.put("step two")
		if f := e.wait(turn); f.Error != nil {
			t.Errorf("%q: prompt: %s, want it to go on", broken, f.Raw)
		}
		if f := e.wait(waiting); f.Error == nil {
			t.Errorf("%q: the next prompt: %s, want an error", broken, f.Raw)
		}
		if n := len(e.requests(s)); n != 3*(i+1) {
			t.Errorf("%q: %d requests, want %d", broken, n, 3*(i+1))
		}
		if err := os.Remove(filepath.Join(e.home, configFile)); err != nil {
			t.Fatal(err)
		}
	}
	for _, how := range e.harnesses(s)[1:] {
		if how != "reused" {
			t.Errorf("harnesses = %q, want all but the first reused", e.harnesses(s))
		}
	}
}
