package workspace_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// R-TOOLS-02: a title ends with a value or with the verb, never with a word that
// waits for a value.
func TestSearchTitles(t *testing.T) {
	fsys := openTree(t, map[string]string{"sub/a.go": "package a\n"})
	tests := []struct {
		name  string
		tool  tools.Tool
		input []any
		want  string
	}{
		{"glob", workspace.NewGlob(fsys), []any{"pattern", "*.go"}, `Looking for files "*.go"...`},
		{"glob in a path", workspace.NewGlob(fsys), []any{"pattern", "*.go", "path", "sub"}, `Looking for files "*.go" in "sub"...`},
		{"grep", workspace.NewGrep(fsys), []any{"pattern", "a b"}, `Searching for "a b"...`},
		{"grep in a path", workspace.NewGrep(fsys), []any{"pattern", "a b", "path", "sub/a.go"}, `Searching for "a b" in "sub/a.go"...`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := object(t, tt.input...)
			p, err := tt.tool.Plan(t.Context(), input)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Title
			if got == "" {
				got = tools.Title(tt.tool.Info(), input)
			}
			if got != tt.want {
				t.Errorf("title of %s = %q, want %q", input, got, tt.want)
			}
			if first := tools.Title(tt.tool.Info(), nil); strings.HasSuffix(first, " in...") {
				t.Errorf("title before the input is known = %q", first)
			}
		})
	}
}
