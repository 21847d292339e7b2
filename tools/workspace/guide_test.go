package workspace_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// TestGuidance is R-TOOLS-04: the system prompt has the habits, the description
// has the tool, and no sentence is in both. A guide is a template, so it has no
// braces.
func TestGuidance(t *testing.T) {
	fsys := openTree(t, nil)
	seen := new(workspace.Seen)
	all := []tools.Tool{
		workspace.NewBash(fsys, prints(), workspace.BashOptions{}),
		workspace.NewEdit(fsys, seen), workspace.NewRead(fsys, seen), workspace.NewWrite(fsys, seen),
		workspace.NewGlob(fsys), workspace.NewGrep(fsys),
	}
	headings := map[string]string{}
	for _, tool := range all {
		i := tool.Info()
		if strings.ContainsAny(i.Guidance, "{}") {
			t.Errorf("%s: guidance has braces: %s", i.Name, i.Guidance)
		}
		for line := range strings.Lines(i.Guidance) {
			line = strings.TrimSpace(line)
			if line == "" {
				continue
			}
			if heading, ok := strings.CutPrefix(line, "# "); ok {
				if headings[heading] != "" {
					t.Errorf("%s and %s both guide under %q", i.Name, headings[heading], heading)
				}
				headings[heading] = i.Name
				continue
			}
			for sentence := range strings.SplitSeq(strings.TrimPrefix(line, "- "), ". ") {
				if strings.Contains(i.Description, strings.TrimSuffix(sentence, ".")) {
					t.Errorf("%s: %q is in the description too", i.Name, sentence)
				}
			}
		}
	}
	if len(headings) != 4 {
		t.Errorf("guides = %v, want those of bash, edit, read and write", headings)
	}
}
