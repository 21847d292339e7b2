//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A mistake is a configuration that no message can be sent with.
type mistake struct {
	name   string
	config string   // of the configuration file
	models string   // of the file about models
	words  []string // of the line that tells of it
}

// checkMistake makes a mistake under a session that works, and mends it. What is
// sent meanwhile fails with the code and one line, asks no model and leaves nothing
// behind (R-PROMPT-17).
func checkMistake(t *testing.T, m mistake, failure string) {
	t.Helper()
	e := speaks(t, "persona = \"You are patient.\"\n")
	s := e.session()
	before := e.system(s)
	e.file(configFile, m.config)
	e.file(profilesFile, m.models)
	for range 2 {
		f := e.wait(e.send("session/prompt", say(s, "meanwhile")))
		checkFailure(t, f, -32603, failure, false)
		if strings.Contains(f.Error.Message, "\n") {
			t.Errorf("message = %q, want one line", f.Error.Message)
		}
		hasWords(t, f.Error.Message, m.words)
	}
	if n := len(e.requests("")); n != 1 {
		t.Errorf("%d requests, want the one from before", n)
	}
	e.failsWith(m.words, "prompt", "render", "--model", "offline")
	e.file(configFile, "persona = \"You are patient.\"\n")
	e.file(profilesFile, "")
	if got := e.system(s); got != before {
		t.Errorf("after the file was mended (-before +after):\n%s", cmp.Diff(before, got))
	}
	if diff := cmp.Diff([]string{"built", "reused"}, e.harnesses(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
	var said []string
	for _, msg := range e.lastRequest(s).Messages {
		said = append(said, msg.Role)
		if strings.Contains(msg.text(), "meanwhile") {
			t.Errorf("a message that was not sent is in the conversation: %+v", msg)
		}
	}
	if want := []string{"user", "assistant", "user"}; !slices.Equal(said, want) {
		t.Errorf("roles of the messages = %q, want %q", said, want)
	}
}

// Row 93 (R-PROMPT-03, R-PROMPT-13): the persona is a template. One that cannot be
// filled in ends the message before a model is asked.
func TestRow093PersonaIsATemplate(t *testing.T) {
	t.Parallel()
	e := speaks(t, `persona = "hi {{model}}"`)
	s := e.session()
	if got := e.system(s); !strings.Contains(got, "\n\nhi Script\n\n") {
		t.Errorf("the persona is not filled in: %s", got)
	}

	e = speaks(t, `persona = "hi {{ model }}"`)
	s = e.session()
	f := e.wait(e.send("session/prompt", say(s, "hello")))
	checkFailure(t, f, -32603, "PROMPT_ASSEMBLY", false)
	hasWords(t, f.Error.Message, []string{`config.toml:1: prompt section "deployment:persona": `, "{{ model }}"})
	if all := e.trace("model"); len(all) > 0 {
		t.Errorf("the trace has a request: %s", all[0])
	}
	e.failsWith([]string{`"deployment:persona"`, "{{ model }}"}, "run", "--trace", filepath.Join(e.home, "trace"), "--model", "offline", "stream 1 words")
	if all := e.trace("model"); len(all) > 0 {
		t.Errorf("the trace of lorimer run has a request: %s", all[0])
	}
}

// A vector is a template and what comes of it, as Appendix D has it: with model m1,
// note {{sneaky}}, and a name of the user that nobody has given.
type vector struct {
	text, want string
	words      []string // of the error; then there is no want
}

func vectors() []vector {
	malformed := func(text string, excerpt string) vector {
		return vector{text, "", []string{fmt.Sprintf("%q is no placeholder", excerpt)}}
	}
	unknown := func(text, name string) vector {
		return vector{text, "", []string{fmt.Sprintf("no variable %q; known: ", name), "cwd", "model", "note"}}
	}
	return []vector{
		{"use {{model}}.", "use m1.", nil},
		malformed("{{ model }}", "{{ model }}"),
		malformed("{{Model}}", "{{Model}}"),
		malformed("{{}}", "{{}}"),
		malformed("{{9x}}", "{{9x}}"),
		malformed("{{{model}}}", "{{{model}}}"),
		malformed("x {{a{b}} y {{model}}", "{{a{b}} y {{mode"),
		malformed("{{ and {{model}}", "{{ and {{model}}"),
		{"shell ${X:-{{fallback} stays", "shell ${X:-{{fallback} stays", nil},
		{"a }} b", "a }} b", nil},
		{"{{model}} and {{", "m1 and {{", nil},
		unknown("{{constructor}}", "constructor"),
		unknown("{{nope}}", "nope"),
		{"{{user_name}}", "", []string{`variable "user_name" has no value here`}}, // the working directory has one in every session
		{"{{note}}", "{{sneaky}}", nil},

		// Beside those of the appendix.
		{"{{model}}{{model}}}}{{", "m1m1}}{{", nil},
		{"{{note}}, {{model}} {", "{{sneaky}}, m1 {", nil},
		{"}}{{model}}{", "}}m1{", nil},
		{"{model} {{", "{model} {{", nil},
		malformed("{{{{model}}}}", "{{{{model}}}}"),
		malformed("{{model }}", "{{model }}"),
		malformed("{{a-b}}", "{{a-b}}"),
		malformed("{{__proto__}}", "{{__proto__}}"),
		malformed("{{modèl}}", "{{modèl}}"),
		malformed("{{model\n}}", "{{model\n}}"),
		malformed("{{ ééééééééééééééééééééééé }}", "{{ ééééééééééééé"),
		malformed("{{model} and more and more }}", "{{model} and mor"),
		{"fine {{model}}, then {{ what is this", "fine m1, then {{ what is this", nil},
		unknown("{{to_string}}", "to_string"),
		unknown("{{model}} {{models}}", "models"),
	}
}

// vectorConfig is a configuration with the values of the vectors.
func vectorConfig(persona string) string {
	return "persona = " + quoted(persona) + "\n[[variable]]\nname = \"note\"\nvalue = \"{{sneaky}}\"\n"
}

const vectorModels = "[models.\"*\"]\nname = \"m1\"\n"

// Row 101 (R-PROMPT-13): each vector as the persona, by its exit code and its message.
func TestRow101Vectors(t *testing.T) {
	t.Parallel()
	for _, v := range vectors() {
		t.Run(v.text, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.file(configFile, vectorConfig(v.text))
			e.file(profilesFile, vectorModels)
			out, err := e.run("prompt", "render", "--part", "stable", "--model", "offline")
			if v.words == nil {
				if err != nil || !strings.Contains(string(out), "as in [1].\n\n"+v.want+"\n\n# Principles\n") {
					t.Errorf("%v with %.400s, want %q behind the opening line", err, out, v.want)
				}
				return
			}
			exit, ok := errors.AsType[*exec.ExitError](err)
			if !ok || exit.ExitCode() != 1 || len(out) > 0 {
				t.Fatalf("%v with %.400s, want the exit code 1 and nothing", err, out)
			}
			checkVectorLine(t, string(exit.Stderr), "lorimer: "+filepath.Join(e.home, configFile)+":1: prompt section \"deployment:persona\": ", v)
		})
	}
}

// checkVectorLine checks the line that tells of a vector.
func checkVectorLine(t *testing.T, line, prefix string, v vector) {
	t.Helper()
	if !strings.HasPrefix(line, prefix) || strings.Contains(strings.TrimSuffix(line, "\n"), "\n") {
		t.Errorf("%q, want one line that begins with %q", line, prefix)
	}
	hasWords(t, line, v.words)
	if shown := regexp.MustCompile(`: "(.*)" is no placeholder`).FindStringSubmatch(line); shown != nil {
		if n := utf8.RuneCountInString(strings.ReplaceAll(shown[1], `\n`, "\n")); n > 16 {
			t.Errorf("%q shows %d characters of the text, want at most 16", line, n)
		}
	}
}

// Row 101 on the wire: what the client gives as persona is filled in by the same
// rules, and so is a section of the configuration.
func TestRow101VectorsOnTheWire(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"deployment:persona", "house"} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.file(profilesFile, vectorModels)
			e.file(configFile, vectorConfig(""))
			e.acp("--model", "script:"+e.file("script.jsonl", always))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			asked := 0
			for _, v := range vectors() {
				var s string
				if place == "house" {
					e.file(configFile, vectorConfig("")+"[[section]]\nname = \"house\"\norder = 5\ntext = "+quoted(v.text)+"\n")
					s = e.session()
				} else {
					s = e.begins("", object{"persona": v.text})
				}
				f := e.wait(e.send("session/prompt", say(s, "hello")))
				if v.words == nil {
					asked++
					if f.Error != nil || !strings.Contains(e.lastRequest(s).System, "as in [1].\n\n"+v.want+"\n\n# Principles\n") {
						t.Errorf("%q: %s, want it to be sent as %q", v.text, f.Raw, v.want)
					}
					continue
				}
				checkFailure(t, f, -32603, "PROMPT_ASSEMBLY", false)
				at := "" // of what a client says there is none
				if place == "house" {
					at = filepath.Join(e.home, configFile) + ":5: "
				}
				checkVectorLine(t, f.Error.Message, fmt.Sprintf("The prompt could not be assembled: %sprompt section %q: ", at, place), v)
			}
			if n := len(e.trace("model")); n != asked {
				t.Errorf("%d requests were sent, want %d", n, asked)
			}
		})
	}
}

// Row 104 (R-PROMPT-17), with what a user can get wrong: an unknown variable, a
// malformed one, one without a value, in each text that is a template, and an order
// that no set of tools fits.
func TestRow104FailsBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	faults := []struct{ name, text, word string }{
		{"unknown", "for {{nobody}}", `no variable "nobody"; known: `},
		{"malformed", "for {{ model }}", `"{{ model }}" is no placeholder`},
		{"without a value", "for {{user_name}}", `variable "user_name" has no value here`},
	}
	places := []struct{ name, config, models, word string }{
		{"persona", "persona = %s\n", "", `config.toml:1: prompt section "deployment:persona": `},
		{"a section", "[[section]]\nname = \"house\"\norder = 150\ntext = %s\n", "", `config.toml:1: prompt section "house": `},
		{"what a hook appends", "[[hook]]\naction = \"append\"\nsection = \"Language\"\ntext = %s\n", "", `config.toml:1: prompt section "Language": `},
		{"what a hook replaces", "[[hook]]\naction = \"replace\"\nsection = \"Context\"\ntext = %s\n", "", `config.toml:1: prompt section "Context": `},
		{"a section that a hook makes", "[[hook]]\naction = \"append\"\nsection = \"mine\"\ntext = %s\n", "", `config.toml:1: prompt section "mine": `},
		{"what is said of tools", "", "[models.\"*\"]\ntools_override = %s\n", `models.toml:2: prompt section "Tools override": `},
		{"what is said of links", "", "[models.\"*\"]\nlink_previews_override = %s\n", `models.toml:2: prompt section "Link previews override": `},
		{"what is said of the style", "", "[models.\"*\"]\nchat_mode_addendum = %s\n", `models.toml:2: prompt section "Conversation style": `},
	}
	for _, p := range places {
		for _, f := range faults {
			t.Run(p.name+" "+f.name, func(t *testing.T) {
				t.Parallel()
				checkMistake(t, mistake{
					config: strings.ReplaceAll(p.config, "%s", quoted(f.text)),
					models: strings.ReplaceAll(p.models, "%s", quoted(f.text)),
					words:  []string{p.word, f.word},
				}, "PROMPT_ASSEMBLY")
			})
		}
	}
	for _, m := range []mistake{
		{"a section of the program", "[[section]]\nname = \"Language\"\ntext = \"x\"\n", "", []string{`config.toml:1: prompt section "Language": `}},
		{"the identity as a section", "[[section]]\nname = \"harness:identity\"\ntext = \"x\"\n", "", []string{`config.toml:1: prompt section "harness:identity": `}},
		{"a variable of the program", "[[variable]]\nname = \"cwd\"\nvalue = \"/\"\n", "", []string{`config.toml:1: prompt variable "cwd": `}},
		{"a variable that no text can name", "[[variable]]\nname = \"Big Name\"\n", "", []string{`config.toml:1: prompt variable "Big Name": `}},
		{"the user's text at the end", "[[section]]\nname = \"house\"\norder = 221\nliteral = true\ntext = \"x\"\n", "", []string{`config.toml:1: prompt section "house": `}},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, m, "PROMPT_ASSEMBLY")
		})
	}
	for _, m := range []mistake{
		{"a tool order without the rest", "tool_order = [\"read\"]\n", "", []string{"config.toml:1", "tool_order", "<unlisted-tools>"}},
		{"a section twice", "[[section]]\nname = \"house\"\n[[section]]\nname = \"house\"\n", "", []string{"config.toml:4", `"house"`}},
		{"no TOML", "persona = \n", "", []string{"config.toml:1"}},
		{"no TOML about models", "", "[models\n", []string{"models.toml:1"}},
		{"a number about models", "", "[models.\"*\"]\ntools_override = 3\n", []string{"models.toml:2", "tools_override"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, m, "CONFIG_INVALID")
		})
	}
}

// Row 104: an error of one session is none of another, and the doctor tells of it
// without a session.
func TestRow104OtherSessionsAndDoctor(t *testing.T) {
	t.Parallel()
	e := speaks(t, "[[section]]\nname = \"house\"\norder = 150\nscope = \"a\"\ntext = \"for {{nobody}}\"\n")
	a, b := e.begins("", object{"sessionId": "a"}), e.begins("", object{"sessionId": "b"})
	for range 2 {
		f := e.wait(e.send("session/prompt", say(a, "hello")))
		checkFailure(t, f, -32603, "PROMPT_ASSEMBLY", false)
		e.system(b)
	}
	out, err := e.run("doctor")
	if err == nil {
		t.Error("lorimer doctor finds nothing")
	}
	hasWords(t, string(out), []string{`config.toml:1: prompt section "house": `, `"nobody"`})
	e.file(configFile, "")
	e.system(a)
}

// braced is text that a user may type anywhere: whole placeholders, halves of some,
// and names of variables that there are.
const braced = `{{x}} }} {{{model}}} {{cwd}} {{ {{`

// Row 102 (R-PROMPT-13, R-PROMPT-16): what a user types is never read as a template,
// wherever it comes from, and breaks nothing.
func TestRow102Braces(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.cwd = filepath.Join(e.cwd, "{{x}} {{model}} {{")
	if err := os.Mkdir(e.cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	q := quoted(braced)
	e.file(configFile, "persona = \"In {{cwd}} by {{model}}, {{team}}.\"\n[context]\nname = "+q+"\nlocation = "+q+
		"\n[[variable]]\nname = \"team\"\nvalue = "+q+
		"\n[[section]]\nname = "+quoted("a section "+braced)+"\norder = 31\nliteral = true\ntext = "+q+
		"\n[[hook]]\naction = \"append\"\nsection = \"Context\"\nliteral = true\ntext = "+quoted("Appended "+braced)+"\n")
	e.file(profilesFile, "[models.\"*\"]\nname = "+q+"\n")
	e.seed("AGENTS.md", "Agents "+braced+"\n")
	e.seed(".agents/skills/brace/SKILL.md", textSkill("brace", quoted("Described "+braced), "Body "+braced))
	e.seed(".agents/skills/{{x}}/SKILL.md", textSkill("'{{x}}'", "Never seen.", "Never seen."))
	e.prints("project", "add", "Project "+braced, "--instructions", "Instructed "+braced)
	id := strings.TrimSpace(e.prints("workspace", "create", "Workspace "+braced, "--description", braced))
	e.seed("doc.md", "Document.\n")
	key, _, _ := strings.Cut(e.prints("workspace", "add", id, "doc.md", "--name", "Pinned "+braced, "--collection", "Collected "+braced), " ")
	e.prints("workspace", "pin", id, key)
	script := e.file("script.jsonl", `{"match": {"contains": "load"}, "tools": [{"name": "skill", "args": {"name": "brace"}}]}`+"\n"+always)
	e.acp("--model", "script:"+script)
	e.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "Client " + braced, "version": braced}}, nil)
	wire := object{"name": "wired", "description": "Wired " + braced, "instruction": "Wired body " + braced}
	s := e.begins("", object{"workspace": id, "locale": "{{x}} {{", "skills": []any{wire, object{"name": "{{x}}", "description": "Never seen.", "instruction": "Never seen."}}})

	got := e.system(s)
	hasWords(t, got, []string{
		"\n\nIn " + e.cwd + " by " + braced + ", " + braced + ".\n\n", "The model behind you is " + braced + ".",
		"- The user is called " + braced + ".\n", "- The user is in " + braced + ". ", "\n\n" + braced + "\n\n", "\n\nAppended " + braced + "\n\n",
		"# Project: Project " + braced + "\n", "\nInstructed " + braced + "\n", "\nAgents " + braced + "\n",
		"Workspace " + braced, "Pinned " + braced, "Collected " + braced,
		"\n- brace: Described " + braced + "\n", "\n- wired: Wired " + braced + "\n", "Client " + braced, "Working directory: " + e.cwd,
	})
	lacks(t, "the prompt", got, "Never seen.")

	params := say(s, "/brace do "+braced)
	params["prompt"] = append(params["prompt"].([]any),
		object{"type": "resource_link", "uri": "file:///away/" + "{{x}}", "name": "Linked " + braced},
		object{"type": "resource", "resource": object{"uri": "file:///away/{{y}}", "mimeType": "text/plain", "text": "Embedded " + braced}})
	e.call("session/prompt", params, nil)
	messages := e.lastRequest(s).Messages
	hasWords(t, messages[len(messages)-1].text(), []string{"/brace do " + braced, "Body " + braced, "Linked " + braced, "Embedded " + braced})
	e.prompt(s, "load it")
	if r := e.results(s); len(r) != 1 || r[0].IsError || !strings.Contains(r[0].Text, "Body "+braced) {
		t.Errorf("the skill was loaded as %+v", r)
	}

	e.leave()
	if n := strings.Count(e.stderr.String(), `.agents/skills/{{x}}/SKILL.md`); n != 1 {
		t.Errorf("the skill whose name does not work is told of %d times, want once:\n%s", n, e.stderr.String())
	}
	stable := e.prints("prompt", "render", "--part", "stable", "--model", "offline", "--workspace", id)
	hasWords(t, stable, []string{"\n\nIn " + e.cwd + " by " + braced, "called " + braced + ".\n", "Instructed " + braced, "Agents " + braced, "Described " + braced})
}

// Row 102 for a model without tools, which gets the bodies at once.
func TestRow102BracesWithoutTools(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(".agents/skills/form/SKILL.md", "---\nname: form\ndescription: A form.\noutput-contract: true\n---\nContract "+braced+"\n")
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.session()
	e.set(s, "tools", "off")
	params := say(s, "/form do "+braced)
	params["prompt"] = append(params["prompt"].([]any),
		object{"type": "resource", "resource": object{"uri": "file:///away/{{y}}", "mimeType": "text/plain", "text": "Embedded " + braced}})
	e.call("session/prompt", params, nil)
	r := e.lastRequest(s)
	if n := strings.Count(r.System, "Contract "+braced); n != 2 {
		t.Errorf("the contract is there %d times, want in its section and as a note:\n%s", n, r.System)
	}
	hasWords(t, r.Messages[0].text(), []string{"/form do " + braced, "Embedded " + braced})
}

// Row 102: what was asked and answered comes back as it was written.
func TestRow102BracesInAnswers(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "ask"}, "tools": [{"name": "ask_user", "args": {"questions": [{"question": "Which `+
		`{{q}} }}?", "options": ["{{a}} {{", "b"]}, {"question": "Why {{?"}]}}]}`+"\n"+always)
	s := e.open(elicits())
	e.fills(object{"q1": "{{a}} {{", "q2": braced})
	e.prompt(s, "ask")
	r := e.results(s)
	if len(r) != 1 || r[0].IsError {
		t.Fatalf("results = %+v", r)
	}
	hasWords(t, r[0].Text, []string{"{{q}} }}?", "{{a}} {{", braced})
	e.prompt(s, "and now")
	messages := e.lastRequest(s).Messages
	hasWords(t, messages[len(messages)-1].text(), []string{"{{q}} }}?", "{{a}} {{", "Why {{?", braced, "and now"})
}
