package stream

import (
	"encoding/json"
	"unicode/utf8"
)

// A Text is a string of an event, decoded faster than encoding/json does. What is
// no string where one should be is the text of its JSON, and null is none: servers
// send arguments as objects, and other things under the same name in events that
// nobody here knows.
type Text string

// UnmarshalJSON takes any value.
func (t *Text) UnmarshalJSON(b []byte) error {
	if s, ok := Plain(b); ok {
		*t = Text(s)
		return nil
	}
	switch b[0] {
	case '"':
		return json.Unmarshal(b, (*string)(t))
	case 'n':
		*t = ""
	default:
		*t = Text(b)
	}
	return nil
}

// Plain returns the string that the JSON b is, if it is ASCII that stands for
// itself, as most of all pieces of an answer are.
func Plain(b []byte) (string, bool) {
	n := len(b) - 1
	if n < 1 || b[0] != '"' {
		return "", false
	}
	for _, c := range b[1:n] {
		if c == '\\' || c >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(b[1:n]), true
}
