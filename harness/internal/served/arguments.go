package served

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lorimer-dev/lorimer/tools/server"
)

// Arguments reads what stands behind the command of a prompt: name=value, or values in
// the order of want, in quotes where they have spaces. What is more than there are
// arguments belongs to the last one.
func Arguments(words string, want []server.Argument) map[string]string {
	given := make(map[string]string)
	var values []string
	for _, w := range split(words) {
		name, value, named := strings.Cut(w.text, "=")
		_, twice := given[name]
		if named = named && w.named && !twice && has(want, name); named {
			given[name] = value
			continue
		}
		values = append(values, w.text)
	}
	var free []string
	for _, a := range want {
		if _, ok := given[a.Name]; !ok {
			free = append(free, a.Name)
		}
	}
	for i, name := range free {
		switch {
		case len(values) == 0:
		case i == len(free)-1:
			given[name] = strings.Join(values, " ")
		default:
			given[name], values = values[0], values[1:]
		}
	}
	return given
}

func has(want []server.Argument, name string) bool {
	return slices.ContainsFunc(want, func(a server.Argument) bool { return a.Name == name })
}

// A word is a value, or a name with one.
type word struct {
	text  string // without quotes
	named bool   // it does not begin with a quote, so that it may be name=value
}

// split cuts s at spaces that are not in quotes. A quote opens a value at its beginning
// alone, and closes it at its end: any other is a character, as in "don't".
func split(s string) (all []word) {
	for {
		s = strings.TrimLeftFunc(s, unicode.IsSpace)
		if s == "" {
			return all
		}
		if text, rest, ok := quoted(s); ok {
			all, s = append(all, word{text: text}), rest
			continue
		}
		end := strings.IndexFunc(s, unicode.IsSpace)
		if end < 0 {
			end = len(s)
		}
		w := word{text: s[:end], named: true}
		if name, value, ok := strings.Cut(s, "="); ok && len(name) < end {
			if text, rest, ok := quoted(value); ok {
				all, s = append(all, word{text: name + "=" + text, named: true}), rest
				continue
			}
		}
		all, s = append(all, w), s[end:]
	}
}

// quoted returns the text in quotes that s begins with, and what follows it.
func quoted(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return "", "", false
	}
	for i := 1; i < len(s); i++ {
		if s[i] != s[0] {
			continue
		}
		if rest = s[i+1:]; rest == "" || strings.IndexFunc(rest, unicode.IsSpace) == 0 {
			return s[1:i], rest, true
		}
	}
	return "", "", false
}

// Missing returns the first argument that is needed and not given, "" for none.
func Missing(given map[string]string, want []server.Argument) string {
	for _, a := range want {
		if _, ok := given[a.Name]; a.Required && !ok {
			return a.Name
		}
	}
	return ""
}

// Hint says what may follow the command of a prompt, for people.
func Hint(want []server.Argument) string {
	var names []string
	for _, a := range want {
		if a.Required {
			names = append(names, a.Name+"=…")
			continue
		}
		names = append(names, "["+a.Name+"=…]")
	}
	return strings.Join(names, " ")
}
