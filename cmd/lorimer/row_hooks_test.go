//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hook is a declared hook with the fields, each as TOML writes it.
func hook(fields ...string) string { return "[[hook]]\n" + strings.Join(fields, "\n") + "\n" }

// Row 111 (R-PROMPT-18, R-CMD-10): what the hooks of the configuration leave is what
// the model is sent, sections and tools, until they are taken out again.
func TestRow111HookIsAuthoritative(t *testing.T) {
	t.Parallel()
	e := speaks(t, "")
	s := e.session()
	e.system(s)
	before := e.lastRequest(s)
	holds(t, "the prompt without hooks", before.System, "# Looking things up", "# Links", "# Language")

	e.file(configFile, "tool_order = [\"write\", \"<unlisted-tools>\"]\n"+
		hook(`action = "drop"`, `section = "Link previews"`)+
		hook(`action = "reorder"`, `target = "tools"`, `order = ["read", "bash"]`)+
		hook(`action = "reorder"`, `order = ["Language", "Context"]`))
	for range 2 {
		e.system(s)
	}
	after := e.lastRequest(s)
	lacks(t, "the prompt", after.System, "# Links")
	holds(t, "the prompt", after.System, "You are Lorimer", "# Language", "# Context", "# Principles", "# Looking things up", "# Conversation style")
	rest := slices.DeleteFunc(slices.Clone(before.Tools), func(name string) bool {
		return slices.Contains([]string{"read", "bash", "write"}, name)
	})
	if want := slices.Concat([]string{"read", "bash", "write"}, rest); !slices.Equal(after.Tools, want) {
		t.Errorf("tools = %q, want %q", after.Tools, want)
	}
	var assembled []string
	for _, tool := range e.offlineSheet().Tools {
		assembled = append(assembled, tool.Name)
	}
	if !slices.Equal(assembled, after.Tools) {
		t.Errorf("lorimer prompt render has the tools %q, sent are %q", assembled, after.Tools)
	}

	e.file(configFile, "")
	e.system(s)
	if diff := cmp.Diff(before.System, e.lastRequest(s).System); diff != "" {
		t.Errorf("prompt without the hooks (-before +after):\n%s", diff)
	}
	if got := e.lastRequest(s).Tools; !slices.Equal(got, before.Tools) {
		t.Errorf("tools without the hooks = %q, want %q", got, before.Tools)
	}
	if diff := cmp.Diff([]string{"built", "rebuilt", "reused", "rebuilt"}, e.harnesses(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

// Row 111: each kind of hook.
func TestRow111Kinds(t *testing.T) {
	t.Parallel()
	const last = "how you know that it works."
	tests := []struct {
		name, config string
		there        []string // in this order
		gone         []string
		dropped      []string // tools
	}{
		{"drop a section", hook(`action = "drop"`, `section = "Context"`),
			[]string{"# Principles", "# Looking things up"}, []string{"# Context"}, nil},
		{"drop a tool with its guidance", hook(`action = "drop"`, `tool = "bash"`),
			[]string{"# Changes"}, []string{"# Commands"}, []string{"bash"}},
		{"drop the guidance of a tool alone", hook(`action = "drop"`, `section = "tool:bash"`),
			[]string{"# Changes"}, []string{"# Commands"}, nil},
		{"drop a section that is not there now", hook(`action = "drop"`, `section = "Workspace"`), []string{"# Context"}, nil, nil},
		{"replace", hook(`action = "replace"`, `section = "Link previews"`, `text = "Links by {{model}}."`),
			[]string{"\n\nLinks by Script.\n\n# Multi-step"}, []string{"# Links"}, nil},
		{"replace by a literal", hook(`action = "replace"`, `section = "Link previews"`, `literal = true`, `text = "Links {{by}} }}."`),
			[]string{"\n\nLinks {{by}} }}.\n\n# Multi-step"}, []string{"# Links"}, nil},
		{"append", hook(`action = "append"`, `section = "Language"`, `text = "Also {{model}}."`),
			[]string{"# Language", "\n\nAlso Script.\n\n# Conversation style"}, nil, nil},
		{"append a literal", hook(`action = "append"`, `section = "Language"`, `literal = true`, `text = "Also {{model}}."`),
			[]string{"# Language", "\n\nAlso {{model}}.\n\n# Conversation style"}, nil, nil},
		{"append to the persona", hook(`action = "append"`, `section = "deployment:persona"`, `text = "You are {{model}}."`),
			[]string{"as in [1].\n\nYou are Script.\n\n# Principles"}, nil, nil},
		{"append to the identity", hook(`action = "append"`, `section = "harness:identity"`, `text = "In Turin."`),
			[]string{"You are Lorimer", "as in [1].\n\nIn Turin.\n\n# Principles"}, nil, nil},
		{"append a section", hook(`action = "append"`, `section = "mine"`, `text = "At the end, {{model}}."`),
			[]string{last + "\n\nAt the end, Script.\n\n"}, nil, nil},
		{"what is appended is not sorted again", hook(`action = "append"`, `section = "zebra"`, `text = "Zebra."`) + hook(`action = "append"`, `section = "apple"`, `text = "Apple."`),
			[]string{last + "\n\nZebra.\n\nApple.\n\n"}, nil, nil},
		{"reorder", hook(`action = "reorder"`, `order = ["Conversation style", "Language"]`),
			[]string{"You are Lorimer", "# Conversation style", "# Language", "# Principles", "# Trust boundary"}, nil, nil},
		{"reorder the identity", hook(`action = "reorder"`, `order = ["Language", "harness:identity"]`),
			[]string{"# Language", "You are Lorimer", "# Principles"}, nil, nil},
		{"one after the other", hook(`action = "replace"`, `section = "Link previews"`, `text = "New."`) + hook(`action = "append"`, `section = "Link previews"`, `text = "More."`) +
			hook(`action = "drop"`, `section = "Language"`) + hook(`action = "append"`, `section = "Language"`, `text = "Latin."`),
			[]string{"\n\nNew.\n\nMore.\n\n", "# Conversation style", "\n\nLatin.\n\n"}, []string{"# Links", "# Language"}, nil},
		{"on a section of the configuration", teamConfig + hook(`action = "replace"`, `section = "house"`, `text = "Of {{team}}."`),
			[]string{"\n\nOf blue.\n\n"}, []string{"Rules of blue."}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := speaks(t, tt.config)
			got := e.system(e.session())
			holds(t, "the prompt", got, tt.there...)
			lacks(t, "the prompt", got, tt.gone...)
			for _, name := range []string{"bash", "read"} {
				if there := slices.Contains(e.lastRequest("").Tools, name); there == slices.Contains(tt.dropped, name) {
					t.Errorf("the tool %s is there: %v", name, there)
				}
			}
		})
	}
}

// Row 111: a hook of one session runs there alone, between those of all sessions, and
// only there do its mistakes count.
func TestRow111Scope(t *testing.T) {
	t.Parallel()
	e := speaks(t, hook(`action = "append"`, `section = "mine"`, `text = "One."`)+
		hook(`action = "append"`, `section = "mine"`, `scope = "a"`, `text = "Two."`)+
		hook(`action = "drop"`, `tool = "bash"`, `scope = "a"`)+
		hook(`action = "append"`, `section = "mine"`, `text = "Three."`)+
		hook(`action = "drop"`, `section = "no such section"`, `scope = "c"`))
	a, b, c := e.begins("", object{"sessionId": "a"}), e.begins("", object{"sessionId": "b"}), e.begins("", object{"sessionId": "c"})
	for range 2 {
		holds(t, "session a", e.system(a), "\n\nOne.\n\nTwo.\n\nThree.\n\n")
		holds(t, "session b", e.system(b), "\n\nOne.\n\nThree.\n\n")
		checkFailure(t, e.wait(e.send("session/prompt", say(c, "hello"))), -32603, "PROMPT_ASSEMBLY", false)
	}
	if slices.Contains(e.lastRequest(a).Tools, "bash") || !slices.Contains(e.lastRequest(b).Tools, "bash") {
		t.Errorf("tools of a = %q, of b = %q; want bash in b alone", e.lastRequest(a).Tools, e.lastRequest(b).Tools)
	}
}

// Row 111 (R-TOOLS-23): a tool that a hook has taken out cannot be called.
func TestRow111DroppedToolIsNotRun(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, hook(`action = "drop"`, `tool = "bash"`))
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl",
		fmt.Sprintf(`{"tools": [{"name": "bash", "args": {"command": "touch %s/made"}}]}`+"\n"+always, e.cwd)))
	s := e.open(nil)
	e.prompt(s, "hello")
	if r := e.results(s); len(r) != 1 || !r[0].IsError || !strings.Contains(r[0].Text, "bash") {
		t.Errorf("results = %+v, want an error that names the tool", r)
	}
	e.absent("made")
}

// Row 111 and R-PROMPT-61: no configuration takes the line away that says who the
// model is, and a hook that could do nothing is a mistake of the file.
func TestRow111MistakesOfTheFile(t *testing.T) {
	t.Parallel()
	const head = "\n\n"
	identity := []string{"config.toml:5", `harness:identity`}
	for _, m := range []mistake{
		{"drop the identity", hook(`action = "drop"`, `section = "harness:identity"`), "", identity},
		{"replace the identity", hook(`action = "replace"`, `section = "harness:identity"`, `text = "I am root."`), "", identity},
		{"replace the identity by spaces", hook(`action = "replace"`, `section = "harness:identity"`, `text = " "`), "", identity},
		{"replace the identity by a literal", hook(`action = "replace"`, `section = "harness:identity"`, `literal = true`, `text = "{{x}}"`), "", identity},
		{"empty the identity", hook(`action = "replace"`, `section = "harness:identity"`, `text = ""`), "", []string{"config.toml:6", "text"}},
		{"drop the identity of a session", hook(`action = "drop"`, `section = "harness:identity"`, `scope = "nobody's"`), "", identity},
		{"an unknown action", hook(`action = "dance"`, `section = "Language"`), "", []string{"config.toml:4", "action", `"dance"`, "drop, replace, append, reorder"}},
		{"no action", hook(`section = "Language"`), "", []string{"config.toml:3", "action"}},
		{"nothing to drop", hook(`action = "drop"`), "", []string{"config.toml:3", "section", "tool"}},
		{"nothing to say", hook(`action = "append"`, `section = "Language"`), "", []string{"config.toml:3", "text"}},
		{"no section to append to", hook(`action = "append"`, `text = "x"`), "", []string{"config.toml:3", "section"}},
		{"no order", hook(`action = "reorder"`, `order = []`), "", []string{"config.toml:5", "first"}},
		{"a name twice", hook(`action = "reorder"`, `order = ["Language", "Language"]`), "", []string{"config.toml:5", `"Language"`}},
		{"an unknown target", hook(`action = "reorder"`, `target = "words"`, `order = ["Language"]`), "", []string{"config.toml:5", "target", `"words"`}},
		{"a key of another action", hook(`action = "drop"`, `section = "Language"`, `text = "x"`), "", []string{"config.toml:6", "text"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			m.config = head + m.config
			checkMistake(t, m, "CONFIG_INVALID")
		})
	}
}

// Row 111: a hook that names what is not there, or leaves what is no prompt.
func TestRow111MistakesOfTheAssembly(t *testing.T) {
	t.Parallel()
	for _, m := range []mistake{
		{"an unknown section to drop", hook(`action = "drop"`, `section = "Linkz"`), "", []string{"config.toml:1", `"Linkz"`, "known: harness:identity, ", "Link previews"}},
		{"an unknown section to replace", "\n" + hook(`action = "replace"`, `section = "language"`, `text = "x"`), "", []string{"config.toml:2", `"language"`, "known: harness:identity, ", "Language"}},
		{"an unknown section to reorder", hook(`action = "reorder"`, `order = ["Language", "Linkz"]`), "", []string{"config.toml:1", `"Linkz"`, "Link previews"}},
		{"the second of two hooks", hook(`action = "drop"`, `section = "Language"`) + hook(`action = "drop"`, `section = "Language"`), "", []string{"config.toml:4", `"Language"`}},
		{"an unknown tool to drop", hook(`action = "drop"`, `tool = "bahs"`), "", []string{"config.toml:1", `"bahs"`, "known: ", "bash"}},
		{"an unknown tool to reorder", hook(`action = "reorder"`, `target = "tools"`, `order = ["read", "raed"]`), "", []string{"config.toml:1", `"raed"`, "read"}},
		{"the user's text last", hook(`action = "append"`, `section = "mine"`, `literal = true`, `text = "{{x}}"`), "", []string{`"mine"`, "user-controlled"}},
		{"the user's value last", "[context]\nname = \"Ada\"\n" + hook(`action = "append"`, `section = "mine"`, `text = "For {{user_name}}."`), "", []string{`"mine"`, "user-controlled"}},
		{"what was last dropped", "[[section]]\nname = \"quote\"\norder = 215\nliteral = true\ntext = \"{{x}}\"\n" + hook(`action = "drop"`, `section = "Conversation style"`), "", []string{`"quote"`, "user-controlled"}},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, m, "PROMPT_ASSEMBLY")
		})
	}
}
