package skill_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/skill"
)

// A source has instructions by name, and one file.
type source map[string]string

func (s source) Skill(name string) (string, bool) {
	text, ok := s[name]
	return text, ok
}

func (s source) File(name, file string) (string, error) {
	if file != "notes.md" {
		return "", fmt.Errorf("the skill %q has no file %q; there are none", name, file)
	}
	return "the notes of " + name, nil
}

func (s source) Names() []string { return slices.Sorted(maps.Keys(s)) }

// many returns a source of n skills.
func many(n int) source {
	s := source{}
	for i := range n {
		s[fmt.Sprintf("s%02d", i)] = "text"
	}
	return s
}

func TestSkill(t *testing.T) { // R-TOOLS-24
	two := source{"research": "Do {{x}}\nin depth.\n", "search": "Look it up."}
	tests := []struct {
		name   string
		source skill.Source
		input  string
		want   string
		fails  bool
	}{
		{"bare", two, `{"name":"research"}`, "Do {{x}}\nin depth.\n", false},
		{"with a slash", two, `{"name":"/research"}`, "Do {{x}}\nin depth.\n", false},
		{"with blanks and capitals", two, `{"name":" /Research "}`, "Do {{x}}\nin depth.\n", false},
		{"an empty file is none", two, `{"name":"search","file":""}`, "Look it up.", false},
		{"a file", two, `{"name":"/search","file":"notes.md"}`, "the notes of search", false},
		{"a file that is missing", two, `{"name":"search","file":"x.md"}`, `the skill "search" has no file "x.md"; there are none`, true},
		{"unknown", two, `{"name":"nope"}`, `there is no skill "nope" that is enabled; there are: research, search`, true},
		{"unknown, with a file", two, `{"name":"/nope","file":"notes.md"}`, `there is no skill "nope" that is enabled; there are: research, search`, true},
		{"two slashes", two, `{"name":"//search"}`, `there is no skill "/search" that is enabled; there are: research, search`, true},
		{"control characters", two, `{"name":"a\u001b[1mb"}`, `there is no skill "a\x1b[1mb" that is enabled; there are: research, search`, true},
		{"no skills", source{}, `{"name":"nope"}`, `there is no skill "nope" that is enabled; there are none, so go on without`, true},
		{"many skills", many(30), `{"name":"nope"}`, `there is no skill "nope" that is enabled; some of the 30 are: s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, ` +
			`s10, s11, s12, s13, s14, s15, s16, s17, s18, s19`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := skill.New(tt.source).Run(t.Context(), tools.Call{Input: json.RawMessage(tt.input)})
			if err != nil || got.Text != tt.want || got.IsError != tt.fails {
				t.Errorf("skill(%s) = %q (error: %t), %v, want %q (error: %t)", tt.input, got.Text, got.IsError, err, tt.want, tt.fails)
			}
		})
	}
}

func TestSkillInfo(t *testing.T) {
	r, err := tools.NewRegistry(tools.Allow(tools.Reads), skill.New(source{}))
	if err != nil {
		t.Fatal(err)
	}
	infos := r.Infos()
	if len(infos) != 1 || infos[0].Name != "skill" || infos[0].Kind != tools.KindRead || infos[0].Effect.Mutates() {
		t.Fatalf("Infos() = %+v, want the tool skill, which reads", infos)
	}
	if got, want := tools.Title(infos[0], json.RawMessage(`{"name":"/research"}`)), `Reading the skill "/research"...`; got != want {
		t.Errorf("title = %q, want %q", got, want)
	}
	if !strings.Contains(infos[0].Description, "Load it before you begin") {
		t.Errorf("description = %q, want it to say when", infos[0].Description)
	}
}

func TestSkillPlan(t *testing.T) {
	tests := []struct{ input, want string }{
		{`{"name":"research"}`, ""},
		{`{"name":"/research","file":"a\nb.md"}`, `Reading "a\nb.md" of the skill "research"...`},
	}
	for _, tt := range tests {
		got, err := skill.New(source{}).Plan(t.Context(), json.RawMessage(tt.input))
		if err != nil || got.Title != tt.want {
			t.Errorf("Plan(%s) has the title %q, %v, want %q", tt.input, got.Title, err, tt.want)
		}
	}
}

func TestSkillEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := skill.New(source{"a": "text"}).Run(ctx, tools.Call{Input: json.RawMessage(`{"name":"a"}`)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Run after a cancel = %v, want context.Canceled", err)
	}
}
