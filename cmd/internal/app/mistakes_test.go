package app

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
)

// Row 104: a mistake in a text that the configuration declares is told with the line
// of the entry that it stands in, whichever of several made the section.
func TestPlacesOfMistakes(t *testing.T) {
	const (
		section = "[[section]]\nname = \"one\"\norder = 5\ntext = \"%s\"\n" // 4 lines
		change  = "[[hook]]\naction = \"append\"\nsection = \"one\"\ntext = \"%s\"\n"
		literal = "[[hook]]\naction = \"append\"\nsection = \"one\"\nliteral = true\ntext = \"%s\"\n" // 5 lines
	)
	fill := func(template, text string) string { return strings.ReplaceAll(template, "%s", text) }
	tests := []struct{ name, config, models, want string }{
		{"a section below a hook that is fine", fill(section, "{{nobody}}") + fill(change, "fine"), "", `config.toml:1: prompt section "one": no variable "nobody"`},
		{"a hook on a section that is fine", fill(section, "fine") + fill(change, "{{nobody}}"), "", `config.toml:5: prompt section "one": no variable "nobody"`},
		{"the second of two hooks", fill(section, "fine") + fill(change, "{{model}}") + fill(change, "{{ x }}"), "", `config.toml:9: prompt section "one": "{{ x }}" is no placeholder`},
		{"the first of two mistakes", fill(section, "fine") + fill(change, "{{user_name}}") + fill(change, "{{nobody}}"), "", `config.toml:5: prompt section "one": variable "user_name" has no value here`},
		{"behind a literal text with braces", fill(section, "fine") + fill(literal, "{{x}}") + fill(change, "{{nobody}}"), "", `config.toml:10: prompt section "one": no variable "nobody"`},
		{"a literal text behind the mistake", fill(section, "{{nobody}}") + fill(literal, "{{x}}"), "", `config.toml:1: prompt section "one": no variable "nobody"`},
		{"what replaces a mistake", fill(section, "{{nobody}}") + strings.Replace(fill(change, "{{date}}"), "append", "replace", 1), "", `config.toml:5: prompt section "one": variable "date" differs`},
		{"on a section of the program", strings.Replace(fill(change, "{{nobody}}"), "one", "Language", 1), "", `config.toml:1: prompt section "Language": no variable "nobody"`},
		{"on the persona", "persona = \"fine\"\n" + strings.Replace(fill(change, "{{nobody}}"), "one", "deployment:persona", 1), "", `config.toml:2: prompt section "deployment:persona": no variable "nobody"`},
		{"the persona", "\npersona = \"{{nobody}}\"\n", "", `config.toml:2: prompt section "deployment:persona": no variable "nobody"`},
		{"the user's text at the end", fill(section, "fine") + strings.Replace(fill(literal, "x"), "one", "end", 1), "", `config.toml:5: prompt section "end": holds user-controlled text`},
		{"a name that is taken", "\n" + strings.Replace(fill(section, "x"), "one", "Language", 1), "", `config.toml:2: prompt section "Language": the name is taken`},
		{"a variable that is taken", "\n[[variable]]\nname = \"cwd\"\nvalue = \"x\"\n", "", `config.toml:2: prompt variable "cwd": the name is taken`},
		{"an unknown tool", "\ntool_order = [\"bahs\", \"<unlisted-tools>\"]\n", "", `config.toml:2: configuration key "tool_order": no tool "bahs"; known: bash`},
		{"a profile for some models", "", "[models.\"a/*\"]\ntools_override = \"fine\"\n[models.\"*\"]\nchat_mode_addendum = \"{{nobody}}\"\n",
			`models.toml:4: prompt section "Conversation style": no variable "nobody"`},
		{"the nearest of two profiles", "", "[models.\"*\"]\ntools_override = \"fine\"\n[models.\"a/b\"]\ntools_override = \"{{nobody}}\"\n",
			`models.toml:4: prompt section "Tools override": no variable "nobody"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &machine{t: t, home: t.TempDir()}
			m.write(".config/lorimer/config.toml", tt.config)
			m.write(".config/lorimer/models.toml", tt.models)
			c, _, err := config.Load(config.Sources{Home: m.home})
			if err != nil {
				t.Fatal(err)
			}
			r, err := standard()
			if err != nil {
				t.Fatal(err)
			}
			f := facts(c)
			f.Profile = profile(c, "a/b")
			_, _, err = r.Parts(prompt.Context{Model: "m", Tools: []prompt.ToolSchema{{Name: "bash"}}, Facts: f}, time.Now())
			if want := filepath.Join(m.home, ".config/lorimer") + "/" + tt.want; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error = %v, want one that begins with %q", err, want)
			}
		})
	}
}

// Skills of a client that have something wrong with them are one line of the log,
// however many there are, and that once.
func TestWireSkillsInTheLog(t *testing.T) {
	m := newMachine(t, Stored, "")
	var p harness.Place
	for i := range 50 {
		p.Skills = append(p.Skills, prompt.Skill{
			Name: fmt.Sprintf("sent-%d", i), Description: "For it.", Instruction: strings.Repeat("y", 70_000),
		})
	}
	for range 2 {
		s, err := m.freeze(p)
		if err != nil || len(s.Prompt.Skills) < len(p.Skills) {
			t.Fatalf("%d skills, %v", len(s.Prompt.Skills), err)
		}
	}
	log := m.log.String()
	if n := strings.Count(log, "a skill has a problem"); n != 1 || !strings.Contains(log, `"more":49`) || !strings.Contains(log, `skill \"sent-0\": has 70000 bytes`) {
		t.Errorf("the log has %d lines about skills, want one that names the first and says that there are 49 more:\n%s", n, log)
	}
}
