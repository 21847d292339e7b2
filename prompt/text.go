package prompt

import (
	"embed"
	"strings"
)

//go:embed text/*.md
var texts embed.FS

//go:embed text/languages.txt
var languages string

// text returns the text called name without the line end of its file. The names
// are constants of this package, so a missing one is a bug.
func text(name string) string {
	b, err := texts.ReadFile("text/" + name + ".md")
	if err != nil {
		panic(err)
	}
	return strings.TrimRight(string(b), "\n")
}

// fill returns the text called name with values in the places of its variables.
// A variable without a value is a bug, like a missing text.
func fill(name string, values map[string]string) string {
	vars := make(map[string]Value, len(values))
	for k, v := range values {
		vars[k] = Value{Text: v, Set: true}
	}
	s, err := interpolate(text(name), vars, nil)
	if err != nil {
		panic(err)
	}
	return s
}
