package gemini

import "errors"

var errNotObject = errors.New("not a JSON object")

// members calls f with the key and the value of each member of the object b. It
// finds only where a value ends: whether it is JSON shows when it is decoded. Most
// of an event is counts that are not looked at, and encoding/json would take longer
// over them than over the rest.
func members(b []byte, f func(key, value []byte) error) error {
	i := space(b, 0)
	if i == len(b) || b[i] != '{' {
		return errNotObject
	}
	if i = space(b, i+1); i < len(b) && b[i] == '}' {
		return nothing(b[i+1:])
	}
	for {
		colon := quoted(b, i)
		if colon < 0 {
			return errNotObject
		}
		key := b[i+1 : colon-1]
		if colon = space(b, colon); colon == len(b) || b[colon] != ':' {
			return errNotObject
		}
		start := space(b, colon+1)
		end := value(b, start)
		if end <= start {
			return errNotObject
		}
		if err := f(key, b[start:end]); err != nil {
			return err
		}
		i = space(b, end)
		if i == len(b) {
			return errNotObject
		}
		switch b[i] {
		case ',':
			i = space(b, i+1)
		case '}':
			return nothing(b[i+1:])
		default:
			return errNotObject
		}
	}
}

// nothing is an error if b is not blank.
func nothing(b []byte) error {
	if space(b, 0) != len(b) {
		return errNotObject
	}
	return nil
}

// space returns where the white space at i ends.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// quoted returns where the string at i ends, -1 if there is none.
func quoted(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// value returns where the value at i ends, -1 if it does not.
func value(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := quoted(b, i)
			if end < 0 || depth == 0 {
				return end
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}
