package wire

import (
	"bytes"
	"strings"
)

// An envelope is the outside of a message: the raw values of its members, as
// slices of the line. A member that is absent is nil. If a name occurs twice,
// the last one counts; names are compared exactly.
type envelope struct {
	version, id, method, params, result, err []byte
}

// scan reads the members of the object in line and reports whether it saw its
// end. Of valid JSON it always does. Of a beginning of valid JSON it sets the
// members that are complete, and params, result and error also if they are not.
// It looks into values only as far as to find their ends, so it costs little
// even for a line of many megabytes.
func (e *envelope) scan(line []byte) bool {
	i := skipSpace(line, 0)
	if i == len(line) || line[i] != '{' {
		return false
	}
	for i++; ; {
		i = skipSpace(line, i)
		switch {
		case i == len(line):
			return false
		case line[i] == '}':
			return true
		case line[i] == ',':
			i++
			continue
		}
		end, ok := skipValue(line, i)
		if !ok {
			return false
		}
		name := line[i:end]
		i = skipSpace(line, end)
		if i == len(line) || line[i] != ':' {
			return false
		}
		i = skipSpace(line, i+1)
		end, ok = skipValue(line, i)
		e.set(name, line[i:end:end], ok)
		if !ok {
			return false
		}
		i = end
	}
}

// set stores the value of the member whose quoted name is given.
func (e *envelope) set(quoted, value []byte, whole bool) {
	name, ok := Text(quoted)
	if !ok {
		return
	}
	switch name {
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.err = value
	}
	if !whole {
		return
	}
	switch name {
	case "jsonrpc":
		e.version = value
	case "id":
		e.id = value
	case "method":
		e.method = value
	}
}

// idKey returns what makes id equal to another: for a string its content, for a
// number its digits. It reports false for anything else.
func idKey(id []byte) (string, bool) {
	if len(id) == 0 {
		return "", false
	}
	switch c := id[0]; {
	case c == '"':
		s, ok := Text(id)
		return "s" + s, ok
	case c == '-' || '0' <= c && c <= '9':
		return "n" + string(id), true
	}
	return "", false
}

func isNull(b []byte) bool { return string(b) == "null" }

func skipSpace(b []byte, i int) int {
	for i < len(b) && strings.IndexByte(" \t\r\n", b[i]) >= 0 {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at i. If b ends within the
// value it returns len(b) and false.
func skipValue(b []byte, i int) (end int, whole bool) {
	if i == len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	if n := bytes.IndexAny(b[i:], ",:]} \t\r\n"); n >= 0 {
		return i + n, true
	}
	return len(b), false
}

// skipString is skipValue for a string.
func skipString(b []byte, i int) (end int, whole bool) {
	for at := i + 1; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return len(b), false
		}
		escapes := 0 // backslashes before the quote
		for escapes < n && b[at+n-1-escapes] == '\\' {
			escapes++
		}
		at += n + 1
		if escapes%2 == 0 {
			return at, true
		}
	}
}

// skipNested is skipValue for an object or an array.
func skipNested(b []byte, i int) (end int, whole bool) {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			var ok bool
			if i, ok = skipString(b, i); !ok {
				return len(b), false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
		i++
	}
	return len(b), false
}
