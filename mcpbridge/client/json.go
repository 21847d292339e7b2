package client

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An object is the members of a JSON object by their exact names, as they stand in
// the message. Of those with one name it has the last.
type object map[string]json.RawMessage

// fields takes an object apart. It reports whether value is one. Beside the names
// nothing is copied or decoded, so that a result of many megabytes costs one look at
// each of its levels; encoding/json would look twice and copy at each.
func fields(value json.RawMessage) (o object, ok bool) {
	rest, ok := opened(value, '{')
	if !ok {
		return nil, false
	}
	o = object{}
	for first := true; ; first = false {
		rest, ok = next(rest, '}', first)
		if rest == nil {
			return o, ok
		}
		n := length(rest)
		name, isText := text(rest[:n])
		rest = space(rest[n:])
		if !isText || len(rest) == 0 || rest[0] != ':' {
			return nil, false
		}
		rest = space(rest[1:])
		if n = length(rest); n == 0 {
			return nil, false
		}
		o[name] = json.RawMessage(rest[:n:n])
		rest = rest[n:]
	}
}

// elements takes an array apart, like fields.
func elements(value json.RawMessage) (list []json.RawMessage, ok bool) {
	rest, ok := opened(value, '[')
	if !ok {
		return nil, false
	}
	for first := true; ; first = false {
		rest, ok = next(rest, ']', first)
		if rest == nil {
			return list, ok
		}
		n := length(rest)
		if n == 0 {
			return nil, false
		}
		list = append(list, json.RawMessage(rest[:n:n]))
		rest = rest[n:]
	}
}

// opened returns what follows the bracket that value begins with.
func opened(value []byte, bracket byte) (rest []byte, ok bool) {
	value = space(value)
	if len(value) == 0 || value[0] != bracket {
		return nil, false
	}
	return value[1:], true
}

// next returns rest from the next item on, or nil where the bracket closes, which
// is ok, or where there is neither.
func next(rest []byte, bracket byte, first bool) (item []byte, ok bool) {
	rest = space(rest)
	switch {
	case len(rest) == 0:
		return nil, false
	case rest[0] == bracket:
		return nil, true
	case first:
		return rest, true
	case rest[0] != ',':
		return nil, false
	}
	if rest = space(rest[1:]); len(rest) == 0 {
		return nil, false
	}
	return rest, true
}

// length returns how many bytes the value has that b begins with, 0 where it does
// not end.
func length(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := quoted(b[i:])
			if n == 0 {
				return 0
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 { // the bracket after a number
				return i
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	if depth > 0 {
		return 0
	}
	return len(b)
}

// quoted returns the length of the string that b begins with.
func quoted(b []byte) int {
	for i := 1; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return 0
		}
		i += n + 1
		escapes := 0
		for b[i-2-escapes] == '\\' {
			escapes++ // the quote at 0 ends this
		}
		if escapes%2 == 0 {
			return i
		}
	}
	return 0
}

func space(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// text returns the string that value is.
func text(value json.RawMessage) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if inner := value[1 : len(value)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	ok = json.Unmarshal(value, &s) == nil
	return s, ok
}

// line returns the string that value is, in one line of at most max bytes; "" for
// any other value.
func line(value json.RawMessage, max int) string {
	s, _ := text(value)
	return cut(strings.Join(strings.Fields(s), " "), max)
}

// cut shortens s to about max bytes, and shows it.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}

// truth returns the boolean that value is, nil for any other value.
func truth(value json.RawMessage) *bool {
	switch string(value) {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	return nil
}

// number returns the number that value is, or is written in; 0 for any other value.
func number(value json.RawMessage) float64 {
	f, err := strconv.ParseFloat(strings.Trim(string(value), `"`), 64)
	if err != nil || f != f || f-f != 0 {
		return 0
	}
	return f
}

// none reports whether value is missing or null.
func none(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// kept returns a copy of value that can go into other messages: it does not hold the
// whole of the one that it came in, and is UTF-8.
func kept(value json.RawMessage) json.RawMessage {
	if none(value) {
		return nil
	}
	if !utf8.Valid(value) {
		return bytes.ToValidUTF8(value, []byte("\uFFFD"))
	}
	return bytes.Clone(value)
}
