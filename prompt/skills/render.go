package skills

import (
	"embed"
	"path/filepath"
	"strings"

	"github.com/lorimer-dev/lorimer/prompt"
)

//go:embed text
var texts embed.FS

// sentence returns a text for the model with values in place of its variables,
// given as name and value. A value is never read again.
func sentence(name string, pairs ...string) string {
	text, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(err) // the name is a literal of this package
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		pairs[i] = "{{" + pairs[i] + "}}"
	}
	return strings.NewReplacer(pairs...).Replace(strings.TrimSpace(string(text)))
}

// fence returns the instruction of a skill of the workspace in an element, behind a
// sentence that says whose it is. A model without tools may read it too, so it says
// nothing of folders (R-HARN-21).
func fence(s prompt.Skill) string {
	return sentence("workspace", "name", s.Name) + "\n\n" + prompt.Wrap("skill", s.Instruction, "name", s.Name)
}

// where returns the sentence on the folder of a skill as the model is told it, ""
// for a skill without one.
func where(folder string) string {
	if folder == "" {
		return ""
	}
	return sentence("folder", "folder", shown(folder))
}

// shown returns a path as it can stand in a sentence between back quotes.
func shown(path string) string {
	return strings.NewReplacer("`", "'", "\n", " ", "\t", " ").Replace(prompt.Reveal(filepath.ToSlash(path)))
}
