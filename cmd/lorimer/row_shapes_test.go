//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Row 30 (R-PROMPT-30, C122): the system string of a model with tools is the stable
// part, the client, and where its tools work; the date ends the user's turn. A model
// without tools gets the stable part and the date.
func TestRow030Composition(t *testing.T) {
	t.Parallel()
	clock := []string{"--clock", "2026-03-05T14:07:00Z", "--tz", "UTC"}
	const date = "Current date and time: Thursday, March 5, 2026 at 2:07 PM UTC"
	const environment = `# Environment\n\n(?:- [^\n]+\n)*- Working directory: ([^\n]+)\. Relative paths start here\.(?:\n- [^\n]+)+`
	tests := []struct {
		name   string
		config string
		tools  int
		client object
		system string // behind the stable part, an expression
		turn   string
	}{
		{"a client with its version", "", 1, object{"name": "zed", "version": "0.2 (x)"}, `\n\n[^\n]*\bzed 0\.2 \(x\)\.\n\n` + environment, "hello\n\n" + date},
		{"a client without a version", "", 1, object{"name": "zed", "version": ""}, `\n\n[^\n]*\bzed\.\n\n` + environment, "hello\n\n" + date},
		{"no client", "", 1, nil, `\n\n` + environment, "hello\n\n" + date},
		{"the date in the system string", "[prompt_cache]\nvolatile_placement = \"system\"", 1, object{"name": "zed", "version": "1"}, `\n\n[^\n]*\bzed 1\.\n\n` + environment + `\n\n` + date, "hello"},
		{"no tools", "", 0, object{"name": "zed", "version": "1"}, `\n\n` + date, "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t).declares(tt.config)
			e.file(profilesFile, fmt.Sprintf("[models.\"script:*\"]\ntool_usage = %d\n", tt.tools))
			stable := e.part("stable")
			e.acp(clock...)
			e.call("initialize", object{"protocolVersion": 1, "clientInfo": tt.client}, nil)
			s := e.session()
			e.prompt(s, "hello")
			r := e.lastRequest(s)
			rest, ok := strings.CutPrefix(r.System, stable)
			found := regexp.MustCompile(`^` + tt.system + `$`).FindStringSubmatch(rest)
			if !ok || found == nil {
				t.Errorf("system string does not go on behind the stable part as %q:\n%s", tt.system, r.System)
			}
			if len(found) > 1 {
				if found[1] != e.cwd {
					t.Errorf("working directory = %s, want %s", found[1], e.cwd)
				}
				holds(t, "the environment", rest, "- Commands run in ", "without a terminal", "is stopped after ", " KiB are kept")
			}
			if got := r.Messages[len(r.Messages)-1]; len(r.Messages) != 1 || got.Role != "user" || got.text() != tt.turn {
				t.Errorf("messages = %+v, want one of the user, %q", r.Messages, tt.turn)
			}
		})
	}
}

// foreign are words that a model which can do nothing but write has no use for.
func foreign() *regexp.Regexp {
	return regexp.MustCompile("(?i)workspace|director(?:y|ies)|folders?\\b|repositor|file system|shell|bash|terminal|\\bcommands?\\b|environment|sandbox|" +
		"exit code|standard output|time limit|permission|\\btools?\\b|\\bmcp\\b|\\bservers?\\b|\\bglob\\b|\\bgrep\\b|" +
		"`(?:read|write|edit|skill|search|fetch_content|read-context|ask_user)`|search_project_chats")
}

// Row 31 (R-HARN-21): a model without tools is told of no workspace, no shell, no
// tool and no server, whatever the session has.
func TestRow031NoEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		prepare func(e *editor) (meta object)
		tools   string // the option
		text    string
	}{
		{"as it comes", func(e *editor) object { e.toolless(); return nil }, "on", "hello"},
		{"tools are off", func(e *editor) object { return nil }, "off", "hello"},
		{"with all that it could be told", func(e *editor) object {
			e.toolless("tools_override = \"Use the tools.\"", "link_previews_override = \"Three at most.\"")
			e.seed("AGENTS.md", "Be brief.\n")
			e.prints("project", "add", "Web shop", "--instructions", "Prices are in cents.")
			id := strings.TrimSpace(e.prints("workspace", "create", "Contracts"))
			e.prints("workspace", "add", id, "AGENTS.md")
			e.file(".agents/skills/letters/SKILL.md", "---\nname: letters\ndescription: Use for letters.\noutput-contract: true\n---\nBegin with a greeting.\n")
			e.file(".agents/skills/letters/more.md", "More.\n")
			e.seed(".agents/skills/poems/SKILL.md", "---\nname: poems\ndescription: Use for poems.\noutput-contract: true\n---\nFour lines.\n")
			e.seed(".agents/skills/poems/more.md", "More.\n")
			e.declares("tool_order = [\"read\", \"<unlisted-tools>\"]", "[mcp.x]", "command = \"/nonexistent/x\"",
				"[[hook]]", "action = \"replace\"", "section = \"tool:bash\"", "text = \"Run commands.\"",
				"[[hook]]", "action = \"append\"", "section = \"Multi-step and recovery\"", "text = \"Call tools.\"")
			return namespaced("workspace", id)
		}, "on", "/letters /poems please"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t).declares()
			meta := tt.prepare(e)
			e.acp()
			e.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "zed", "version": "1"}}, nil)
			var s struct{ SessionID string }
			e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": meta}, &s)
			e.choose(s.SessionID, "tools", tt.tools)
			e.prompt(s.SessionID, tt.text)
			r := e.lastRequest(s.SessionID)
			for _, at := range foreign().FindAllStringIndex(r.System, -1) {
				t.Errorf("the system string has %q: …%s…", r.System[at[0]:at[1]], r.System[max(0, at[0]-60):min(len(r.System), at[1]+60)])
			}
			lacks(t, "the system string", r.System, e.cwd, e.home, "zed", "Contracts")
			if len(r.Tools) > 0 {
				t.Errorf("tools = %q, want none", r.Tools)
			}
			if tt.text != "hello" {
				holds(t, "the system string", r.System, "Prices are in cents", "Be brief", "Begin with a greeting", "Four lines", "Three at most",
					"names the skill `letters`", "Begin with a greeting", "names the skill `poems`", "Four lines")
			}
		})
	}
	t.Run("a model with tools", func(t *testing.T) { // the words are those that it is told
		t.Parallel()
		e := newEditor(t).declares()
		r := e.firstRequest(nil)
		for _, word := range []string{"workspace", "director", "command", "tools"} {
			if !slices.ContainsFunc(foreign().FindAllString(r.System, -1), func(s string) bool { return strings.HasPrefix(strings.ToLower(s), word) }) {
				t.Errorf("the system string of a model with tools does not speak of %s:\n%s", word, r.System)
			}
		}
	})
}

// Row 32 (R-HARN-20): what is said to models with tools and without is said in the
// same bytes, in the same order. Of the skills there are two shapes.
func TestRow032SameParts(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	flags := e.laden(false)
	bare := "script:" + e.file("bare.jsonl", always)
	e.file(profilesFile, e.profiles()+"[models.\""+bare+"\"]\ntool_usage = 0\n")
	with, without := e.sheet(flags...), e.sheet(append(flags, "--model", bare)...)
	var common, texts []string
	for _, name := range without.said() {
		if !slices.Contains(with.said(), name) {
			t.Errorf("a model without tools alone is told the section %s", name)
		}
		if name == "Skills" {
			continue
		}
		common, texts = append(common, name), append(texts, with.text(name))
		if got, want := without.text(name), with.text(name); got != want {
			t.Errorf("section %s (-with tools +without):\n%s", name, cmp.Diff(want, got))
		}
	}
	want := []string{"harness:identity", "deployment:persona", "Principles", "Context", "Project", "house:quote", "Tools", "house:rules", "Link previews",
		"Link previews override", "Output format", "Trust boundary", "Language", lastSection}
	if diff := cmp.Diff(want, common); diff != "" {
		t.Errorf("sections in common (-want +got):\n%s", diff)
	}

	e.acp()
	s := e.open(nil)
	e.prompt(s, "with tools")
	e.choose(s, "tools", "off")
	e.prompt(s, "without")
	e = e.restart("--model", bare)
	e.prompt(e.session(), "another model")
	for i, r := range e.requests("") {
		holds(t, fmt.Sprint("system string ", i+1), r.System, texts...)
		if got, want := len(r.Tools) > 0, i == 0; got != want {
			t.Errorf("request %d has tools: %v, want %v", i+1, got, want)
		}
	}
}

// profiles returns what the file about models says.
func (e *editor) profiles() string {
	e.t.Helper()
	p, err := os.ReadFile(filepath.Join(e.home, profilesFile))
	if err != nil {
		e.t.Fatal(err)
	}
	return string(p)
}

// A declaredTool is what the trace says of a tool that a request declares.
type declaredTool struct {
	Name, Description string
	Schema            json.RawMessage
}

// declared returns the tools of each request of a session, and its system strings.
func (e *editor) declared(session string) (all [][]declaredTool, systems []string) {
	e.t.Helper()
	type request struct {
		Session, System string
		Schemas         []declaredTool `json:"tool_schemas"`
	}
	for _, r := range decoded(e, "model", func(r request) bool { return r.Session == session }) {
		all, systems = append(all, r.Schemas), append(systems, r.System)
	}
	return all, systems
}

// Row 114 (R-TOOLS-04, R-PROMPT-24): habits that go with a tool are told where that
// tool is, and go with it, however it goes.
func TestRow114Guidance(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares()
	full := e.sheet()
	guided := []string{"bash", "edit", "read", "write"}
	for _, name := range guided {
		if full.text("tool:"+name) == "" {
			t.Errorf("sections = %q, want tool:%s", full.said(), name)
		}
	}
	tests := []struct {
		name   string
		config string
		change func(e *editor, session string)
		gone   []string
	}{
		{"a hook drops it", "[[hook]]\naction = \"drop\"\ntool = \"bash\"", func(*editor, string) {}, []string{"bash"}},
		{"the mode withholds them", "", func(e *editor, s string) { e.choose(s, "mode", "read-only") }, []string{"bash", "edit", "write"}},
		{"all are off", "", func(e *editor, s string) { e.choose(s, "tools", "off") }, guided},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t).declares()
			e.acp()
			s := e.open(nil)
			e.prompt(s, "before")
			e.declares(tt.config)
			tt.change(e, s)
			e.prompt(s, "after")
			tools, systems := e.declared(s)
			for _, name := range guided {
				has := func(i int) bool {
					return slices.ContainsFunc(tools[i], func(d declaredTool) bool { return d.Name == name })
				}
				text, gone := full.text("tool:"+name), slices.Contains(tt.gone, name)
				if !has(0) || !strings.Contains(systems[0], "\n\n"+text+"\n\n") {
					t.Errorf("the first request lacks the tool %s, or its section: %s", name, systems[0])
				}
				if has(1) == gone || strings.Contains(systems[1], text) == gone {
					t.Errorf("the second request has the tool %s: %v, its section: %v, want both gone: %v", name, has(1), strings.Contains(systems[1], text), gone)
				}
			}
		})
	}
}

// Row 146 (R-TOOLS-04), and row 114: what a single tool does and takes stands in its
// declaration, and no sentence of that in the system string.
func TestRow146PolicyInDescriptions(t *testing.T) {
	t.Parallel()
	e := newEditor(t).declares()
	e.acp()
	s := e.open(nil)
	e.prompt(s, "hello")
	tools, systems := e.declared(s)
	if len(tools[0]) != len(allTools()) {
		t.Fatalf("%d tools are declared, want %d", len(tools[0]), len(allTools()))
	}
	system := strings.Join(strings.Fields(systems[0]), " ")
	checked := 0
	for _, tool := range tools[0] {
		var schema struct {
			Type       string
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" || tool.Description == "" {
			t.Errorf("tool %s: %v, schema %s, description %q; want both", tool.Name, err, tool.Schema, tool.Description)
		}
		texts := []string{tool.Description}
		for name, p := range schema.Properties {
			if p.Description == "" && !strings.Contains(tool.Description, name) {
				t.Errorf("tool %s says nowhere what %s is", tool.Name, name)
			}
			texts = append(texts, p.Description)
		}
		for _, text := range texts {
			for _, sentence := range regexp.MustCompile(`[.;:]\s+|\n`).Split(text, -1) {
				if sentence = strings.Join(strings.Fields(strings.Trim(sentence, "-. ")), " "); len(sentence) >= 20 {
					checked++
					lacks(t, "the system string", system, sentence)
				}
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d sentences of declarations were looked for, want at least 50", checked)
	}
}
