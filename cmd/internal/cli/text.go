package cli

import (
	"embed"
	"strings"
)

//go:embed help/*.md
var pages embed.FS

// text returns a page of help. Every name it is called with is a constant, so
// a page that is missing is a mistake in this program.
func text(name string) string {
	p, err := pages.ReadFile("help/" + name + ".md")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(p))
}
