package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with what would steer a terminal written out, such as an escape
// sequence or a change of writing direction: a text may come from anywhere. Line
// breaks and tabs stay, and so do formats that only join characters.
func Visible(s string) string { return escape(s, isSteering) }

// escape returns s with the characters for which hide holds written out, and the
// bytes that are no UTF-8, for which hide(utf8.RuneError) must hold.
func escape(s string, hide func(rune) bool) string {
	if !strings.ContainsFunc(s, hide) {
		return s
	}
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case c == utf8.RuneError || !hide(c):
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < 0x100:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
	}
	return b.String()
}

// VisibleJSON returns JSON that says what p says, with the escapes of JSON in place
// of what would steer a terminal.
func VisibleJSON(p []byte) []byte {
	if !bytes.ContainsFunc(p, isSteering) {
		return p
	}
	var b bytes.Buffer
	for _, c := range string(p) {
		if c == utf8.RuneError || !isSteering(c) || c < ' ' { // between the values
			b.WriteRune(c)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, c)
	}
	return b.Bytes()
}

// isSteering reports whether a terminal may do something else with c than show it.
// A byte that is no UTF-8 counts: some terminals take it for a control character.
func isSteering(c rune) bool {
	switch {
	case c == '\n' || c == '\t':
		return false
	case c >= '\u202a' && c <= '\u202e', c >= '\u2066' && c <= '\u2069', c == utf8.RuneError:
		return true
	}
	return unicode.IsControl(c)
}
