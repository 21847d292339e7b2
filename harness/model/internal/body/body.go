// Package body writes JSON in the order in which it is told to, so that equal
// requests are equal bytes and a provider's prefix cache holds (R-HARN-14).
//
// A [Writer] appends; it knows nothing of depth and trusts its caller to close
// what it opens. Nothing is escaped that JSON does not require to be, and raw
// values keep their bytes, which encoding/json promises for neither.
package body

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Writer holds a JSON text under construction. The zero value is ready. The
// methods that take no error write values or, after [Writer.Key], members; the
// commas between them come by themselves.
type Writer struct{ buf []byte }

// Bytes returns what has been written; it is valid until the next write.
func (w *Writer) Bytes() []byte { return w.buf }

// Object opens an object.
func (w *Writer) Object() *Writer { return w.open('{') }

// Array opens an array.
func (w *Writer) Array() *Writer { return w.open('[') }

// EndObject closes an object.
func (w *Writer) EndObject() *Writer { w.buf = append(w.buf, '}'); return w }

// EndArray closes an array.
func (w *Writer) EndArray() *Writer { w.buf = append(w.buf, ']'); return w }

// Key writes the name of a member, whose value must follow.
func (w *Writer) Key(k string) *Writer {
	w.comma()
	w.buf = append(appendString(w.buf, k), ':')
	return w
}

// String writes s. Bytes that are not UTF-8 become U+FFFD.
func (w *Writer) String(s string) *Writer {
	w.comma()
	w.buf = appendString(w.buf, s)
	return w
}

// Int writes n.
func (w *Writer) Int(n int) *Writer {
	w.comma()
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
	return w
}

// Float writes f, which must be finite.
func (w *Writer) Float(f float64) *Writer {
	w.comma()
	w.buf = strconv.AppendFloat(w.buf, f, 'g', -1, 64)
	return w
}

// Bool writes b.
func (w *Writer) Bool(b bool) *Writer {
	w.comma()
	w.buf = strconv.AppendBool(w.buf, b)
	return w
}

// Null writes null.
func (w *Writer) Null() *Writer { return w.Raw("null") }

// Raw writes a JSON value byte for byte. It must be valid and not begin or end
// with white space.
func (w *Writer) Raw(v string) *Writer {
	w.comma()
	w.buf = append(w.buf, v...)
	return w
}

// Base64 writes prefix and data in base64 as one string. The prefix must need no
// escaping.
func (w *Writer) Base64(prefix string, data []byte) *Writer {
	w.comma()
	w.buf = append(append(w.buf, '"'), prefix...)
	w.buf = append(base64.StdEncoding.AppendEncode(w.buf, data), '"')
	return w
}

// Picture writes data of the media type kind as a data URL.
func (w *Writer) Picture(kind string, data []byte) *Writer {
	return w.Base64("data:"+mediaType(kind)+";base64,", data)
}

// mediaType is t if it is one, since it goes into a string without escaping.
func mediaType(t string) string {
	ok := t != "" && strings.IndexFunc(t, func(r rune) bool { return r <= ' ' || r >= 127 || r == '"' || r == '\\' }) < 0
	if !ok {
		return "application/octet-stream"
	}
	return t
}

func (w *Writer) open(c byte) *Writer {
	w.comma()
	w.buf = append(w.buf, c)
	return w
}

// comma writes a comma if a value or member has just ended. No value ends in one
// of the bytes after which none is due.
func (w *Writer) comma() {
	if len(w.buf) == 0 {
		return
	}
	switch w.buf[len(w.buf)-1] {
	case '{', '[', ':', ',':
	default:
		w.buf = append(w.buf, ',')
	}
}

const hex = "0123456789abcdef"

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	b = slices.Grow(b, len(s)+len(s)/8+2) // at once, with room for escapes: s may be large
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
