package prompt

import (
	"fmt"
	"slices"
	"strings"
)

// A Value is what a variable is worth in one assembly.
type Value struct {
	Text     string `json:"text"`
	Set      bool   `json:"set"` // false: registered, but without a value here
	Volatile bool   `json:"volatile,omitempty"`
	User     bool   `json:"user,omitempty"`
}

const (
	opener = "{{"
	closer = "}}"

	// excerptRunes bounds what an error shows of a text at fault.
	excerptRunes = 16
)

// interpolate replaces each placeholder {{name}} of text by what value returns for
// it. Values are not scanned again (R-PROMPT-13). The error names no section.
func interpolate(text string, value func(name string) (string, error)) (string, error) {
	if !strings.Contains(text, opener) {
		return text, nil
	}
	var b strings.Builder
	b.Grow(len(text))
	for {
		before, rest, found := strings.Cut(text, opener)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, closer)
		if !closed {
			// No placeholder can begin from here on: the braces are text.
			b.WriteString(opener + rest)
			return b.String(), nil
		}
		if strings.ContainsAny(name, "{}") || !validName(name) {
			return "", &Error{Fault: Malformed, Detail: fmt.Sprintf(
				"%q is no placeholder; write {{name}} with a lower-case name and no spaces", excerpt(opener+rest))}
		}
		v, err := value(name)
		if err != nil {
			return "", err
		}
		b.WriteString(v)
		text = after
	}
}

// lookUp returns the value of a variable in a stable section.
func lookUp(name string, vars map[string]Value) (Value, error) {
	v, ok := vars[name]
	switch {
	case !ok:
		return v, &Error{Fault: Unknown, Variable: name,
			Detail: fmt.Sprintf("no variable %q; known: %s", name, listNames(vars))}
	case v.Volatile:
		return v, &Error{Fault: Varying, Variable: name,
			Detail: fmt.Sprintf("variable %q differs between sends, and the section is stable; take it out", name)}
	case !v.Set:
		return v, &Error{Fault: Valueless, Variable: name,
			Detail: fmt.Sprintf("variable %q has no value here; give it one, or take it out", name)}
	}
	return v, nil
}

// validName reports whether a placeholder can name s: [a-z][a-z0-9_]*.
func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func excerpt(s string) string {
	n := 0
	for i := range s {
		if n == excerptRunes {
			return s[:i]
		}
		n++
	}
	return s
}

// listNames returns the names in order, or "none".
func listNames[V any](m map[string]V) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return orNone(names)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
