package served

import (
	"slices"
	"strings"
	"unicode"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Arguments reads what stands behind the command of a prompt: name=value, or values in
// the order of want, in quotes where they have spaces. What is more than there are
// arguments belongs to the last one.
func Arguments(words string, want []server.Argument) map[string]string {
	given := make(map[string]string)
	var values []string
	for _, w := range split(words, want) {
		if _, twice := given[w.name]; w.name != "" && !twice {
			given[w.name] = w.value
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

// A word is a value, or the name of an argument with one.
type word struct {
	text        string // all of it, without the quotes around it
	name, value string // of name=value; "" is a value alone
}

// split cuts s at spaces that are not in quotes. A quote opens a value at its beginning
// alone, and closes it at its end: any other is a character, as in "don't".
func split(s string, want []server.Argument) (all []word) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimLeftFunc(s, unicode.IsSpace) {
		text, rest, whole := cut(s)
		w := word{text: text}
		if name, _, named := strings.Cut(text, "="); named && !whole && has(want, name) {
			w.name = name
			w.value, rest, _ = cut(s[len(name)+len("="):])
			w.text = name + "=" + w.value
		}
		all, s = append(all, w), rest
	}
	return all
}

// cut returns the value that s begins with, and what follows it. Whole is that it was in
// quotes.
func cut(s string) (value, rest string, whole bool) {
	if value, rest, whole = quoted(s); whole {
		return value, rest, true
	}
	end := strings.IndexFunc(s, unicode.IsSpace)
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:], false
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

// Missing returns the first argument that is needed and not given, for people; "" is none.
func Missing(given map[string]string, want []server.Argument) string {
	for _, a := range want {
		if _, ok := given[a.Name]; a.Required && !ok {
			return tools.Line(a.Name, maxName)
		}
	}
	return ""
}

// Hint says what may follow the command of a prompt, for people.
func Hint(want []server.Argument) string {
	var names []string
	for _, a := range want {
		name := tools.Line(a.Name, maxName) + "=…"
		if !a.Required {
			name = "[" + name + "]"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
