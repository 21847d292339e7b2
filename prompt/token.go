package prompt

import "strings"

// Tokens returns the names in the slash tokens of a message, in the order in which
// they first occur, each once: a slash, then letters and digits of ASCII,
// underscores or hyphens, between white space or the ends of the text
// (R-PROMPT-44).
func Tokens(text string) []string {
	var names []string
	seen := make(map[string]bool) // a pasted list of routes may have very many
	for word := range strings.FieldsSeq(text) {
		name, slashed := strings.CutPrefix(word, "/")
		if slashed && isSlug(name) && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

func isSlug(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}
