package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/prompt"
)

// house declares three sections behind the opening line, of which the last is empty
// and the second is the user's.
const house = `
[[section]]
name = "one"
order = 10
text = "First, {{team}}."
[[section]]
name = "two"
order = 20
text = "Second, {{ as it is }}."
literal = true
[[section]]
name = "none"
order = 30
text = ""
[[section]]
name = "three"
order = 40
text = "Third."
[[variable]]
name = "team"
value = "blue"
`

// assembled returns what a send gets by a configuration: the sections behind the
// opening line, each a paragraph or more, and the names of the tools.
func assembled(t *testing.T, content string, c prompt.Context) (text, tools string, err error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, warnings, err := config.Load(config.Sources{Flags: map[string]string{"config": file}, Home: t.TempDir()})
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v, %v", err, warnings)
	}
	r, err := prompt.New(prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.Facts = facts(cfg)
	p, a, err := r.Parts(c, time.Now())
	if err != nil {
		return "", "", err
	}
	var names []string
	for _, tool := range a.Tools {
		names = append(names, tool.Name)
	}
	opening, _, err := r.Parts(prompt.Context{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(p.Stable, opening.Stable+"\n\n"), strings.Join(names, " "), nil
}

func TestHooks(t *testing.T) {
	tools := []prompt.ToolSchema{{Name: "bash", Guidance: "Quote."}, {Name: "edit"}, {Name: "read"}}
	const as = "First, blue.\n\nSecond, {{ as it is }}.\n\nThird.\n\nQuote."
	tests := []struct{ name, hooks, want, tools string }{
		{"none", "", as, ""},
		{"drop a section", `{action="drop", section="one"}`, "Second, {{ as it is }}.\n\nThird.\n\nQuote.", ""},
		{"drop an empty section", `{action="drop", section="none"}`, as, ""},
		{"drop a tool with its guidance", `{action="drop", tool="bash"}`, "First, blue.\n\nSecond, {{ as it is }}.\n\nThird.", "edit read"},
		{"drop the guidance alone", `{action="drop", section="tool:bash"}`, "First, blue.\n\nSecond, {{ as it is }}.\n\nThird.", ""},
		{"drop the guidance of a tool that is not here", `{action="drop", section="tool:nope"}`, as, ""},
		{"replace", `{action="replace", section="one", text="Only {{team}}."}`, "Only blue.\n\nSecond, {{ as it is }}.\n\nThird.\n\nQuote.", ""},
		{"replace by a literal", `{action="replace", section="one", text="Only {{team}}.", literal=true}`, "Only {{team}}.\n\nSecond, {{ as it is }}.\n\nThird.\n\nQuote.", ""},
		{"replace a literal", `{action="replace", section="two", text="Only {{team}}."}`, "First, blue.\n\nOnly blue.\n\nThird.\n\nQuote.", ""},
		{"an empty section stays empty", `{action="replace", section="none", text="x"}`, as, ""},
		{"but not the persona", `{action="replace", section="deployment:persona", text="You are {{team}}."}`, "You are blue.\n\n" + as, ""},
		{"append", `{action="append", section="one", text="More {{team}}."}`, "First, blue.\n\nMore blue.\n\nSecond, {{ as it is }}.\n\nThird.\n\nQuote.", ""},
		{"append a literal", `{action="append", section="one", text="More {{team}}.", literal=true}`, "First, blue.\n\nMore {{team}}.\n\nSecond, {{ as it is }}.\n\nThird.\n\nQuote.", ""},
		{"append to a literal", `{action="append", section="two", text="More {{team}}."}`, "First, blue.\n\nSecond, {{ as it is }}.\n\nMore blue.\n\nThird.\n\nQuote.", ""},
		{"append a literal to one", `{action="append", section="two", text="{{x}}", literal=true}`, "First, blue.\n\nSecond, {{ as it is }}.\n\n{{x}}\n\nThird.\n\nQuote.", ""},
		{"append to an empty section", `{action="append", section="none", text="x"}`, as, ""},
		{"append to the persona", `{action="append", section="deployment:persona", text="You are {{team}}."}`, "You are blue.\n\n" + as, ""},
		{"append a section", `{action="append", section="four", text="Fourth."}`, as + "\n\nFourth.", ""},
		{"append to what was appended", `{action="append", section="four", text="a"}, {action="append", section="four", text="b"}`, as + "\n\na\n\nb", ""},
		{"reorder sections", `{action="reorder", order=["tool:bash", "two", "none"]}`, "Quote.\n\nSecond, {{ as it is }}.\n\nFirst, blue.\n\nThird.", ""},
		{"reorder tools", `{action="reorder", target="tools", order=["read", "bash"]}`, as, "read bash edit"},
		{"one after the other", `{action="drop", section="three"}, {action="append", section="three", text="again"}`, "First, blue.\n\nSecond, {{ as it is }}.\n\nQuote.\n\nagain", ""},
		{"of this session", `{action="drop", section="one", scope="s"}`, "Second, {{ as it is }}.\n\nThird.\n\nQuote.", ""},
		{"of another session", `{action="drop", section="one", scope="x"}`, as, ""},
		{"of this session between those of all", `{action="append", section="four", text="a"}, {action="append", section="four", text="b", scope="s"}, {action="append", section="four", text="c"}`, as + "\n\na\n\nb\n\nc", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.tools == "" {
				tt.tools = "bash edit read"
			}
			text, got, err := assembled(t, "hook = ["+tt.hooks+"]\n"+house, prompt.Context{Scope: "s", Tools: tools})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Errorf("stable part (-want +got):\n%s", diff)
			}
			if got != tt.tools {
				t.Errorf("tools = %s, want %s", got, tt.tools)
			}
		})
	}
}

// Row 8, row 111: what a hook cannot do fails the assembly with its name.
func TestHooksThatFail(t *testing.T) {
	tests := []struct{ name, hooks, want string }{
		{"a literal section last", `{action="append", section="mine", text="{{x}}", literal=true}`, `config.toml:1: prompt section "mine": holds user-controlled text and would end the prompt`},
		{"a literal paragraph last", `{action="append", section="three", text="{{x}}", literal=true}`, `config.toml:1: prompt section "three": holds user-controlled text`},
		{"what was last is gone", `{action="drop", section="three"}`, `prompt section "two": holds user-controlled text`},
		{"a literal section moved to the end", `{action="reorder", order=["one", "three"]}`, `prompt section "two": holds user-controlled text`},
		{"an unknown section", `{action="drop", section="on"}`, `config.toml:1: configuration key "hook": nothing to drop: there is no section "on"; known: harness:identity, deployment:persona, one, two, none, three`},
		{"an unknown section to replace", `{action="replace", section="on", text="x"}`, `config.toml:1: configuration key "hook": nothing to replace: there is no section "on"`},
		{"an unknown section to reorder", `{action="reorder", order=["one", "on"]}`, `config.toml:1: configuration key "hook": nothing to reorder: there is no section "on"`},
		{"an unknown tool", `{action="drop", tool="bahs"}`, `config.toml:1: configuration key "hook": nothing to drop: there is no tool "bahs"; known: bash, write`},
		{"an unknown tool to reorder", `{action="reorder", target="tools", order=["bash", "raed"]}`, `there is no tool "raed"`},
		{"a mistake in its text", `{action="append", section="one", text="{{ x }}"}`, `config.toml:1: prompt section "one"`},
		{"the date", `{action="append", section="one", text="{{date}}"}`, `variable "date" differs between sends`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := prompt.Context{Tools: []prompt.ToolSchema{{Name: "bash"}}, Known: []string{"write"}}
			_, _, err := assembled(t, "hook = ["+tt.hooks+"]\n"+house, c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// What the mode withholds, or a session without tools does not have, is no mistake.
func TestHooksOnToolsThatAreNotOffered(t *testing.T) {
	const hooks = `hook = [{action="drop", tool="bash"}, {action="reorder", target="tools", order=["write", "read"]}]`
	for _, c := range []prompt.Context{
		{},
		{Tools: []prompt.ToolSchema{{Name: "read"}}, Known: []string{"bash", "write"}},
	} {
		if _, _, err := assembled(t, hooks+"\n"+house, c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
