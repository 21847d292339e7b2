package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Lengths of what a title shows, in characters (R-TOOLS-02).
const (
	maxValue = 40
	MaxTitle = 200
)

var placeholders = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[A-Za-z0-9_.-]+\}`) })

// Title returns the line that a client shows for a call while nothing better is
// known: for a tool that executes, edits, reads, moves or deletes the command or
// path of the input, for another its verb with the input's values, and without
// a verb the name with the input (R-TOOLS-02). The input may be incomplete or
// invalid; then its values count as missing.
func Title(info Info, input json.RawMessage) string {
	var values map[string]any
	dec := json.NewDecoder(strings.NewReader(string(input)))
	dec.UseNumber()
	if dec.Decode(&values) != nil {
		values = nil
	}
	switch info.Kind {
	case KindExecute, KindEdit, KindRead, KindMove, KindDelete:
		for _, key := range []string{"command", "path"} {
			if s, ok := values[key].(string); ok && strings.TrimSpace(s) != "" {
				return Line(s, MaxTitle)
			}
		}
	}
	if text := verbTitle(info.Verb, values); text != "" {
		return text
	}
	return fallbackTitle(info.Name, values)
}

// verbTitle returns the verb with its values, "" if that is nothing.
func verbTitle(verb string, values map[string]any) string {
	text := placeholders().ReplaceAllStringFunc(verb, func(p string) string {
		v := show(values[p[1:len(p)-1]])
		if v == "" {
			return ""
		}
		return `"` + value(v) + `"`
	})
	text = strings.Join(strings.FieldsFunc(text, isBlank), " ")
	text = strings.TrimRight(strings.TrimRight(text, ".…"), " ")
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return escape(string(unicode.ToUpper(first))+text[size:], isHidden) + "..."
}

// fallbackTitle is the title of a tool without a verb: name(key: value, …).
func fallbackTitle(name string, values map[string]any) string {
	var args []string
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if v := show(values[k]); v != "" {
			args = append(args, k+": "+value(v))
		}
	}
	if len(args) == 0 {
		return Line(name, MaxTitle)
	}
	return Line(name+"("+strings.Join(args, ", ")+")", MaxTitle)
}

// value returns v cut at the length that a title shows of it.
func value(v string) string {
	if utf8.RuneCountInString(v) <= maxValue {
		return v
	}
	return string([]rune(v)[:maxValue]) + "..."
}

// show returns a value of an input as text, "" when there is nothing to show.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.Join(strings.FieldsFunc(v, isBlank), " ")
	case []any:
		if len(v) == 0 {
			return ""
		}
	case map[string]any:
		if len(v) == 0 {
			return ""
		}
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// Line returns s on one line of at most limit characters, cut with an ellipsis.
// What a terminal or an editor would not show as a character of its own, such
// as a line break, an escape sequence or a change of writing direction, is
// written out, so that the line shows all that s does.
func Line(s string, limit int) string {
	return shorten(escape(cut(strings.TrimSpace(s), 4*limit+4), isHidden), limit)
}

// isHidden reports whether c does not show as a character of its own. The
// joiners inside emoji and some scripts do not count.
func isHidden(c rune) bool {
	switch c {
	case '\u200c', '\u200d':
		return false
	case '\u2028', '\u2029', utf8.RuneError:
		return true
	}
	return unicode.IsControl(c) || unicode.Is(unicode.Cf, c)
}

func isBlank(c rune) bool { return unicode.IsSpace(c) }

// shorten cuts s to limit characters, the last three of them an ellipsis when
// something is missing.
func shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:max(limit-3, 0)]), " ") + "..."
}

// cut returns at most n bytes of s, ending between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := n; i > 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n] // not UTF-8
}
