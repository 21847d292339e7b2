//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// offlineSheet renders the prompt for the model that is built in.
func (e *editor) offlineSheet() sheet {
	e.t.Helper()
	return e.sheet("--model", "offline")
}

// template returns the text of a section with its placeholders.
func (s sheet) template(section string) string {
	for _, e := range s.Sections {
		if e.Name == section {
			return e.Text
		}
	}
	return ""
}

// system sends a message and returns the system string that the model was sent.
func (e *editor) system(session string) string {
	e.t.Helper()
	if stop := e.prompt(session, "hello"); stop != "end_turn" {
		e.t.Fatalf("stop reason = %s, want end_turn", stop)
	}
	return e.lastRequest(session).System
}

// speaks starts an agent with a script that always answers and the content of its
// configuration, and greets it.
func speaks(t *testing.T, config string, flags ...string) *editor {
	t.Helper()
	e := newEditor(t)
	e.file(configFile, config)
	e.acp(append([]string{"--model", "script:" + e.file("script.jsonl", always)}, flags...)...)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	return e
}

// failsWith runs another lorimer, which must fail with one line that has the words.
func (e *editor) failsWith(words []string, args ...string) {
	e.t.Helper()
	got := e.fails(args...)
	if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "lorimer: ") {
		e.t.Errorf("lorimer %q says %q, want one line", args, got)
	}
	hasWords(e.t, got, words)
}

// hasWords checks that a text has all the words, in any order.
func hasWords(t *testing.T, text string, words []string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in: %.1500s", w, text)
		}
	}
}

// checkNoStart checks that nothing begins with a configuration: commands end, with
// one line that has the words, and so does the making of a session, until the file is
// mended.
func checkNoStart(t *testing.T, config string, words []string) {
	t.Helper()
	e := speaks(t, config)
	e.failsWith(words, "run", "--model", "offline", "stream 1 words")
	e.failsWith(words, "prompt", "render", "--model", "offline")
	out, err := e.run("doctor")
	if err == nil {
		t.Error("lorimer doctor finds nothing")
	}
	hasWords(t, string(out), words)
	f := e.wait(e.send("session/new", object{"cwd": e.cwd, "mcpServers": []any{}}))
	if f.Error == nil {
		t.Fatalf("session/new: %s, want an error", f.Raw)
	}
	hasWords(t, f.Error.Message, words)
	e.file(configFile, teamConfig)
	holds(t, "the prompt after the file was mended", e.system(e.session()), "\n\nRules of blue.\n\n")
}

const teamConfig = `
[[section]]
name = "house"
order = 150
text = "Rules of {{team}}."
[[variable]]
name = "team"
value = "blue"
`

// Row 91 (R-PROMPT-01): the assembly has the three kinds of contributions, those of
// the configuration among them.
func TestRow091ThreeKinds(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, teamConfig)
	a := e.offlineSheet()
	if !slices.Contains(a.said(), "house") || a.template("house") != "Rules of {{team}}." {
		t.Errorf("sections = %q, the text of house is %q", a.said(), a.template("house"))
	}
	var tools []string
	for _, tool := range a.Tools {
		tools = append(tools, tool.Name)
		if tool.Description == "" {
			t.Errorf("tool %s is not described", tool.Name)
		}
	}
	if !slices.Contains(tools, "bash") || !slices.Contains(tools, "read") {
		t.Errorf("tools = %q, want those of a session", tools)
	}
	for name, want := range map[string]string{"team": "blue", "cwd": e.cwd, "model": "Offline (no language model)"} {
		if v := a.Variables[name]; !v.Set || v.Text != want {
			t.Errorf("variable %s = %+v, want %q", name, v, want)
		}
	}
}

// Row 92 (R-PROMPT-02, R-PROMPT-03): the line that says who speaks opens each
// prompt, behind it stands the persona, and an empty one leaves no trace.
func TestRow092Openers(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, "persona = \"You work for {{team}}.\"\n"+teamConfig)
	a := e.offlineSheet()
	if a.Sections[0].Name != "harness:identity" || a.Sections[0].Order != -100 ||
		a.Sections[1].Name != "deployment:persona" || a.Sections[1].Order != 0 || a.Sections[1].Text != "You work for {{team}}." {
		t.Errorf("the first sections are %+v, want the identity at -100 and the persona at 0", a.Sections[:2])
	}

	e = speaks(t, "")
	s := e.session()
	identity, _, _ := strings.Cut(e.system(s), "\n\n")
	if !strings.HasPrefix(identity, "You are Lorimer") {
		t.Errorf("the prompt opens with %q", identity)
	}
	for _, tt := range []struct{ name, config, want string }{
		{"none", teamConfig, "# Principles"},
		{"one", "persona = \"You work for {{team}}.\"\n" + teamConfig, "You work for blue.\n\n# Principles"},
		{"two paragraphs", "persona = \"\"\"One.\n\nTwo.\n\"\"\"\n", "One.\n\nTwo.\n\n# Principles"},
		{"empty", "persona = \"\"\n", "# Principles"},
		{"spaces", "persona = \" \\n\\t\\n\"\n", "# Principles"},
		{"a variable that is empty", "persona = \"{{nobody}}\"\n[[variable]]\nname = \"nobody\"\nvalue = \"\"\n", "# Principles"},
		{"none again", "\n", "# Principles"},
	} {
		e.file(configFile, tt.config)
		if got := e.system(s); !strings.HasPrefix(got, identity+"\n\n"+tt.want+"\n") {
			t.Errorf("persona %s: the prompt begins with %.300q, want the opening line, then %q", tt.name, got, tt.want)
		}
	}
}

// Row 94 (R-PROMPT-04, R-PROMPT-05): what cannot stand in one layer keeps the
// program from starting, and its name is told. A connection says so for each
// session and goes on when the file is mended.
func TestRow094NamesAndOrders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config string
		words        []string
	}{
		{"a section twice", "[[section]]\nname = \"house\"\n[[section]]\nname = \"other\"\n[[section]]\nname = \"house\"\n",
			[]string{"config.toml:6", `"house"`}},
		{"a section twice in a session", "[[section]]\nname = \"house\"\nscope = \"a\"\n[[section]]\nname = \"house\"\nscope = \"a\"\n",
			[]string{"config.toml:5", `"house"`}},
		{"no number", "[[section]]\nname = \"odd\"\norder = nan\n", []string{"config.toml:3", `"odd"`, "order"}},
		{"infinite", "[[section]]\nname = \"odd\"\norder = inf\n", []string{"config.toml:3", `"odd"`, "order"}},
		{"infinite below", "[[section]]\nname = \"odd\"\norder = -inf\n", []string{"config.toml:3", `"odd"`, "order"}},
		{"no number in a session", "[[section]]\nname = \"odd\"\norder = +nan\nscope = \"a\"\n", []string{"config.toml:3", `"odd"`, "order"}},
		{"no name", "[[section]]\ntext = \"x\"\n", []string{"config.toml:1", "name"}},
		{"the name of the identity", "[[section]]\nname = \"harness:identity\"\ntext = \"I am root.\"\n", []string{`"harness:identity"`}},
		{"the identity of a session", "[[section]]\nname = \"harness:identity\"\nscope = \"a\"\ntext = \"I am root.\"\n", []string{`"harness:identity"`}},
		{"the name of the persona", "[[section]]\nname = \"deployment:persona\"\ntext = \"x\"\n", []string{`"deployment:persona"`}},
		{"a section of the program", "[[section]]\nname = \"Language\"\ntext = \"x\"\n", []string{`"Language"`}},
		{"a variable twice", "[[variable]]\nname = \"team\"\n[[variable]]\nname = \"team\"\n", []string{"config.toml:4", `"team"`}},
		{"a variable of the program", "[[variable]]\nname = \"model\"\nvalue = \"x\"\n", []string{`"model"`}},
		{"a variable that no text can name", "[[variable]]\nname = \"Big Name\"\n", []string{`"Big Name"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkNoStart(t, tt.config, tt.words)
		})
	}
}

// Row 94: a name counts once in each layer, so that of a session may be that of all.
func TestRow094OneNameInTwoLayers(t *testing.T) {
	t.Parallel()
	e := speaks(t, teamConfig+`
[[section]]
name = "house"
scope = "a"
order = 150
text = "Ours, {{team}}."
[[section]]
name = "house"
scope = "b"
order = 150
text = "Theirs."
[[variable]]
name = "team"
scope = "a"
value = "red"
`)
	for id, want := range map[string]string{"a": "Ours, red.", "b": "Theirs.", "c": "Rules of blue."} {
		if got := e.system(e.begins("", object{"sessionId": id})); !strings.Contains(got, "\n\n"+want+"\n\n") {
			t.Errorf("session %s: %q is not in %s", id, want, got)
		}
	}
}

// Row 95 (R-PROMPT-06): sections go by their numbers, and equal ones by the order in
// which they were declared, behind those of the program.
func TestRow095OrderAndTies(t *testing.T) {
	t.Parallel()
	var config strings.Builder
	config.WriteString("persona = \"Persona.\"\n")
	for _, s := range []struct {
		name  string
		order float64
	}{
		{"zebra", 120}, {"apple", 120}, {"early", -50}, {"first", -200}, {"also early", -50}, {"beside principles", 10}, {"half", 120.5}, {"mango", 120},
	} {
		fmt.Fprintf(&config, "[[section]]\nname = %q\norder = %v\ntext = \"This is %s.\"\n", s.name, s.order, s.name)
	}
	e := speaks(t, config.String())
	want := []string{
		"first", "harness:identity", "early", "also early", "deployment:persona", "Principles", "beside principles", "Context",
		"Tools", "zebra", "apple", "mango", "half", "Skills",
	}
	if got := e.offlineSheet().said(); !slices.Equal(got[:min(len(got), len(want))], want) {
		t.Errorf("sections = %q, want them to begin with %q", got, want)
	}
	holds(t, "the prompt", e.system(e.session()), "This is first.", "You are Lorimer", "This is early.", "This is also early.",
		"Persona.", "# Principles", "This is beside principles.", "# Context", "# Looking things up", "This is zebra.",
		"This is apple.", "This is mango.", "This is half.", "# Skills")
}

// Row 99 (R-PROMPT-11): the assembly is the prompt before anything is filled in, with
// every variable, and the same each time. Its tools are those that are sent.
func TestRow099BeforeInterpolation(t *testing.T) {
	t.Parallel()
	config := "persona = \"For {{team}}, by {{model}}.\"\n" + teamConfig
	e := speaks(t, config)
	render := []string{"prompt", "render", "--part", "assembly", "--model", "offline"}
	plain := e.prints(render...)
	hasWords(t, plain, []string{"== deployment:persona (0)\nFor {{team}}, by {{model}}.\n", "== house (150)\nRules of {{team}}.\n"})
	lacks(t, "the stable part", e.prints("prompt", "render", "--part", "stable", "--model", "offline"), "{{", "}}")

	var a struct {
		Sections  []sheetSection
		Variables map[string]struct {
			Text                string
			Set, Volatile, User bool
		}
		Tools []struct {
			Name   string
			Schema json.RawMessage
		}
	}
	printed := e.prints(append(render, "--json", "--clock", "2026-03-05T14:07:00Z")...)
	if err := json.Unmarshal([]byte(printed), &a); err != nil {
		t.Fatal(err)
	}
	if got := (sheet{Sections: a.Sections}).template("deployment:persona"); got != "For {{team}}, by {{model}}." {
		t.Errorf("persona = %q, want its placeholders", got)
	}
	if v, there := a.Variables["user_name"]; !there || v.Set || v.Text != "" || !v.User {
		t.Errorf("the name of the user, which nobody has given, is %+v", v)
	}
	if v := a.Variables["date"]; !v.Volatile {
		t.Errorf("the date is %+v, want it to be volatile", v)
	}
	if v := a.Variables["team"]; !v.Set || v.Text != "blue" {
		t.Errorf("team = %+v", v)
	}
	if again := e.prints(append(render, "--json", "--clock", "2026-03-05T14:07:00Z")...); again != printed {
		t.Errorf("a second assembly (-first +second):\n%s", cmp.Diff(printed, again))
	}

	s := e.session()
	for range 2 {
		e.system(s)
		steps := e.steps(s)
		sent := a.Tools[:0:0]
		if err := json.Unmarshal(steps[len(steps)-1].Schemas, &sent); err != nil {
			t.Fatal(err)
		}
		for i := range a.Tools {
			var compact bytes.Buffer
			if err := json.Compact(&compact, a.Tools[i].Schema); err != nil {
				t.Fatal(err)
			}
			a.Tools[i].Schema = compact.Bytes()
		}
		if diff := cmp.Diff(a.Tools, sent); diff != "" {
			t.Errorf("tools (-assembled +sent):\n%s", diff)
		}
	}
}

// Row 100 (R-PROMPT-09, R-PROMPT-60): a prompt needs neither a session nor a
// configuration, nor a home.
func TestRow100NothingIsNeeded(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"stable", "volatile", "full", "assembly"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "lorimer", "prompt", "render", "--part", part)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir, "OLLAMA_HOST=127.0.0.1:9", raceOptions()}
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := map[string]string{
				"stable": "You are Lorimer", "full": "You are Lorimer",
				"volatile": "Current date and time: ", "assembly": "== harness:identity (-100)\n",
			}[part]
			if !strings.HasPrefix(string(out), want) {
				t.Errorf("%.200q, want it to begin with %q", out, want)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v behind (%v)", left, err)
			}
		})
	}
}

// Row 103 (R-PROMPT-14): what is empty leaves no gap, and one blank line parts what
// is there.
func TestRow103EmptySections(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"an empty variable": "{{nothing}}", "two empty variables": "{{nothing}}\n{{nothing}}\n", "no text": "", "line ends": "\n\n\n", "spaces": "  \n\t",
	}
	var config strings.Builder
	config.WriteString("persona = \"{{nothing}}\"\n[[variable]]\nname = \"nothing\"\nvalue = \"\"\n[[variable]]\nname = \"blank\"\nvalue = \"\"\"\n\nIn between.\n\n\"\"\"\n")
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		for _, order := range []int{-200 - i, 15 + i, 120 + i, 500 + i} {
			fmt.Fprintf(&config, "[[section]]\nname = \"%s %d\"\norder = %d\ntext = %s\n", name, order, order, quoted(texts[name]))
		}
		fmt.Fprintf(&config, "[[section]]\nname = \"%s, literal\"\norder = 900\nliteral = true\ntext = %s\n", name, quoted(strings.ReplaceAll(texts[name], "{{nothing}}", "")))
	}
	config.WriteString("[[section]]\nname = \"blank lines around\"\norder = 12\ntext = \"\\n\\n{{blank}}\\n\"\n")
	e := speaks(t, "")
	s := e.session()
	plain := e.system(s)
	e.file(configFile, config.String())
	got := e.system(s)
	want := strings.Replace(plain, "\n\n# Context\n", "\n\nIn between.\n\n# Context\n", 1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prompt with empty sections (-want +got):\n%s", diff)
	}
	stable := e.prints("prompt", "render", "--part", "stable", "--model", "offline")
	if strings.Contains(stable, "\n\n\n") || strings.HasPrefix(stable, "\n") || strings.HasSuffix(stable, "\n\n") {
		t.Errorf("there is more than one blank line somewhere in %q", stable)
	}
}

// quoted returns s as TOML writes it on one line.
func quoted(s string) string {
	p, _ := json.Marshal(s) // a string can always be written
	return string(p)
}

// Row 219 (R-PROMPT-29): what differs between sends stands in no stable section,
// whoever declares it. That a provider which registers another is not heard in the
// same assembly (R-PROMPT-10) shows in code alone.
func TestRow219VolatileGuard(t *testing.T) {
	t.Parallel()
	tests := []mistake{
		{"a section", "[[section]]\nname = \"house\"\norder = 150\ntext = \"It is {{date}}.\"\n", "", []string{`"house"`, `"date"`}},
		{"a section in front", "[[section]]\nname = \"house\"\norder = -500\ntext = \"{{model}} at {{date}}\"\n", "", []string{`"house"`, `"date"`}},
		{"the persona", "persona = \"Today is {{date}}.\"\n", "", []string{`"deployment:persona"`, `"date"`}},
		{"what a hook appends", "[[hook]]\naction = \"append\"\nsection = \"Language\"\ntext = \"{{date}}\"\n", "", []string{`"Language"`, `"date"`}},
		{"what a hook replaces", "[[hook]]\naction = \"replace\"\nsection = \"Context\"\ntext = \"{{date}}\"\n", "", []string{`"Context"`, `"date"`}},
		{"a section that a hook makes", "[[hook]]\naction = \"append\"\nsection = \"mine\"\ntext = \"{{date}}\"\n", "", []string{`"mine"`, `"date"`}},
		{"what is said of the model", "", "[models.\"*\"]\nlink_previews_override = \"{{date}}\"\n", []string{`"Link previews override"`, `"date"`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, tt, "PROMPT_ASSEMBLY")
		})
	}
	t.Run("a literal text is none", func(t *testing.T) {
		t.Parallel()
		e := speaks(t, "[[section]]\nname = \"house\"\norder = 150\nliteral = true\ntext = \"It is {{date}}.\"\n")
		if got := e.system(e.session()); !strings.Contains(got, "\n\nIt is {{date}}.\n\n") {
			t.Errorf("the literal section is not in %s", got)
		}
	})
}
