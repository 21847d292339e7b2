package wire

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Members returns the members of raw, an object of valid JSON, as they come: the
// name and the value, which is a slice of raw. Anything else has none. It looks
// into values only as far as to find their ends, and copies nothing but names,
// so it costs little even for parameters of many megabytes.
//
// What a [Handler] is given is valid; of other input the members are those
// before the first mistake that shows from outside.
func Members(raw []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		inside(raw, '{', '}', func(name []byte, i int) (next int, more bool) {
			i = skipSpace(raw, i)
			if i == len(raw) || raw[i] != ':' {
				return i, false
			}
			i = skipSpace(raw, i+1)
			end, whole := skipValue(raw, i)
			key, ok := Text(name)
			if !ok || !whole || end == i {
				return i, false
			}
			return end, yield(key, raw[i:end:end])
		})
	}
}

// Elements returns the elements of raw, an array, as [Members] does those of an
// object.
func Elements(raw []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		inside(raw, '[', ']', func(value []byte, i int) (next int, more bool) {
			return i, yield(value)
		})
	}
}

// inside calls f for the values between the brackets of raw. f is told where
// its value ends and returns where the next one is to be looked for.
func inside(raw []byte, left, right byte, f func(value []byte, i int) (next int, more bool)) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != left {
		return
	}
	for i++; ; {
		for i = skipSpace(raw, i); i < len(raw) && raw[i] == ','; {
			i = skipSpace(raw, i+1)
		}
		if i == len(raw) || raw[i] == right {
			return
		}
		end, whole := skipValue(raw, i)
		if !whole || end == i {
			return
		}
		var more bool
		if i, more = f(raw[i:end:end], end); !more {
			return
		}
	}
}

// Text returns the content of raw, a string of valid JSON, and false for
// anything else. Like package json it reads half of a surrogate pair as U+FFFD.
func Text(raw []byte) (string, bool) {
	n := len(raw)
	if n < 2 || raw[0] != '"' || raw[n-1] != '"' {
		return "", false
	}
	raw = raw[1 : n-1]
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return string(raw), true
	}
	var s strings.Builder
	s.Grow(len(raw)) // no escape is shorter than what it stands for
	for ; i >= 0; i = bytes.IndexByte(raw, '\\') {
		s.Write(raw[:i])
		r, n := escape(raw[i:])
		if n == 0 {
			return "", false
		}
		s.WriteRune(r)
		raw = raw[i+n:]
	}
	s.Write(raw)
	return s.String(), true
}

// escapes are what stands after a backslash, and what that stands for.
const (
	escapes   = `"\/bfnrt`
	unescaped = "\"\\/\b\f\n\r\t"
)

// escape returns the character that the escape at the start of b stands for and
// the length of the escape, 0 if there is none.
func escape(b []byte) (r rune, n int) {
	if r, ok := unit(b); ok {
		if !utf16.IsSurrogate(r) {
			return r, len(`\u0000`)
		}
		low, ok := unit(b[len(`\u0000`):])
		if pair := utf16.DecodeRune(r, low); ok && pair != unicode.ReplacementChar {
			return pair, 2 * len(`\u0000`)
		}
		return unicode.ReplacementChar, len(`\u0000`)
	}
	if len(b) < 2 {
		return utf8.RuneError, 0
	}
	i := strings.IndexByte(escapes, b[1])
	if i < 0 {
		return utf8.RuneError, 0
	}
	return rune(unescaped[i]), 2
}

// unit returns the UTF-16 unit that b begins with as an escape of four digits.
func unit(b []byte) (rune, bool) {
	if len(b) < len(`\u0000`) || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
