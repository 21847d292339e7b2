package attach

import (
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/prompt"
)

const (
	maxName = 200                       // characters that are shown of a name
	maxRead = 8 * utf8.UTFMax * maxName // bytes of it that are looked at
)

// cell returns s for a cell of a table: on one line, with its hidden characters
// visible, and without what could end the cell or open an element.
func cell(s string) string {
	s = strings.ReplaceAll(shorten(s), "<", "&lt;")
	if !strings.Contains(s, "|") {
		return prompt.Reveal(s)
	}
	var b strings.Builder
	slashes := 0 // directly before the character
	for _, r := range s {
		if r == '|' { // a backslash before it would take the meaning of ours
			b.WriteString(strings.Repeat(`\`, slashes+1))
		}
		if slashes++; r != '\\' {
			slashes = 0
		}
		b.WriteRune(r)
	}
	return prompt.Reveal(b.String())
}

// shorten returns s as valid text on one line, cut with an ellipsis where it is
// longer than a name should be.
func shorten(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), maxRead)], "�")
	s = strings.Join(strings.Fields(s), " ")
	n := 0
	for i := range s {
		if n++; n > maxName {
			return s[:i] + "…"
		}
	}
	return s
}
