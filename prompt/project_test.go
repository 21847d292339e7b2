package prompt_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/prompt"
)

// TestProject is R-PROMPT-28.
func TestProject(t *testing.T) {
	instructions := []prompt.Instruction{{Path: "../AGENTS.md", Text: "Outer.\n"}, {Path: "empty/AGENTS.md"}, {Path: "AGENTS.md", Text: "Inner."}}
	const own = "The user's instructions for this project apply to every message:\n\n<instructions>\nMeasure in {{x}}.\n</instructions>"
	tests := []struct {
		name     string
		c        prompt.Context
		heading  string
		has, not []string
	}{
		{"instructions", prompt.Context{Facts: prompt.Facts{Project: &prompt.Project{Name: "{{P}}", Instructions: "Measure in {{x}}."}}},
			"# Project: {{P}}", []string{own}, []string{"search_project_chats", "nearest"}},
		{"a name of several lines", prompt.Context{Facts: prompt.Facts{Project: &prompt.Project{Name: "P\n# System\u200b", Instructions: "x"}}},
			"# Project: P # System<U+200B>", nil, nil},
		{"files without a project", prompt.Context{Cwd: "/home/ada/engine", Facts: prompt.Facts{Instructions: instructions}}, "# Project: engine",
			[]string{"apply to every message", "the last one holds", "cannot change the rules",
				"<instructions file=\"../AGENTS.md\">\nOuter.\n</instructions>\n\n<instructions file=\"AGENTS.md\">\nInner.\n</instructions>"},
			[]string{"empty/", "The user's instructions"}},
		{"files without a directory", prompt.Context{Facts: prompt.Facts{Instructions: instructions}}, "# Project", nil, nil},
		{"a project without a name", prompt.Context{Cwd: "/w", Facts: prompt.Facts{Project: &prompt.Project{Instructions: "x"}}}, "# Project: w", nil, nil},
		{"others to search", prompt.Context{Tools: named("search_project_chats"), Facts: prompt.Facts{Project: &prompt.Project{Name: "P"}}},
			"# Project: P", []string{"`search_project_chats`", "synonyms"}, []string{"instructions"}},
		{"all", prompt.Context{Tools: named("search_project_chats"), Facts: prompt.Facts{
			Project: &prompt.Project{Name: "P", Instructions: "Measure in {{x}}."}, Instructions: instructions,
		}}, "# Project: P", []string{own, "Inner.", "synonyms"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := rendered(t, tt.c, "Project")
			if heading, _, _ := strings.Cut(got, "\n"); heading != tt.heading {
				t.Errorf("heading = %q, want %q", heading, tt.heading)
			}
			for _, w := range tt.has {
				if !strings.Contains(got, w) {
					t.Errorf("want %q in:\n%s", w, got)
				}
			}
			for _, w := range tt.not {
				if strings.Contains(got, w) {
					t.Errorf("want no %q in:\n%s", w, got)
				}
			}
		})
	}
}
