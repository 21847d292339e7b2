package normalise

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// arguments are args if they are a JSON object, which every provider wants (C101,
// C102).
func arguments(args string) string {
	s := strings.TrimSpace(args)
	if !strings.HasPrefix(s, "{") || !json.Valid([]byte(s)) {
		return "{}"
	}
	if !utf8.ValidString(args) {
		args = strings.ToValidUTF8(args, "\uFFFD")
	}
	return paired(args)
}

// paired replaces the escapes of surrogates that stand alone: they are no character,
// and many providers refuse a body that has one.
func paired(s string) string {
	if !strings.Contains(s, `\u`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		n := 2
		first := surrogate(s[i:])
		switch {
		case first == 0:
			b.WriteString(s[i : i+n])
		case first == 'h' && surrogate(s[i+6:]) == 'l':
			n = 12
			b.WriteString(s[i : i+n])
		default:
			n = 6
			b.WriteString(`\ufffd`)
		}
		i += n
	}
	return b.String()
}

// surrogate tells which half the escape that s begins with is: 'h' for the high one,
// 'l' for the low one, 0 for none.
func surrogate(s string) byte {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || s[2]|0x20 != 'd' {
		return 0
	}
	switch c := s[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return 'h'
	case 'c' <= c && c <= 'f':
		return 'l'
	}
	return 0
}
