package v1

import (
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// maxChunk is how many bytes of text a merged chunk may hold, so that a client
// which was slow for a while still gets lines of a moderate length.
const maxChunk = 32 << 10

// A chunk is a piece of text of one message. Pieces that wait for the writer
// become one by linking, which costs no memory.
type chunk struct {
	head []byte // the message up to the value of messageId; shared and never changed
	id   string // of the message
	text string

	size       int    // bytes of text of this chunk and those merged into it
	next, last *chunk // the chunks merged into this one
}

var _ wire.Frame = (*chunk)(nil)

// chunkHead returns the beginning of the chunks of a kind.
func chunkHead(session, kind string) []byte {
	b := append([]byte(nil), `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"`...)
	b = appendEscaped(b, session)
	b = append(b, `","update":{"sessionUpdate":"`...)
	b = append(b, kind...)
	return append(b, `","messageId":"`...)
}

// Append implements [wire.Frame].
func (c *chunk) Append(dst []byte) []byte {
	dst = append(dst, c.head...)
	dst = appendEscaped(dst, c.id)
	dst = append(dst, `","content":{"type":"text","text":"`...)
	for p := c; p != nil; p = p.next {
		dst = appendEscaped(dst, p.text)
	}
	return append(dst, `"}}}}`...)
}

// Merge implements [wire.Frame].
func (c *chunk) Merge(next wire.Frame) bool {
	n, ok := next.(*chunk)
	if !ok || n.id != c.id || &n.head[0] != &c.head[0] || c.size+n.size > maxChunk {
		return false
	}
	end := c
	if c.last != nil {
		end = c.last
	}
	end.next, c.last = n, n
	if n.last != nil {
		c.last = n.last
	}
	c.size += n.size
	return true
}

const hexDigits = "0123456789abcdef"

// appendEscaped appends s as the inside of a JSON string. Bytes that are no
// UTF-8 become the replacement character; the two line separators of Unicode
// are escaped, since some readers of lines split there.
func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b < utf8.RuneSelf {
			if b >= ' ' && b != '"' && b != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendControl(dst, b)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if (r != utf8.RuneError || n != 1) && r != '\u2028' && r != '\u2029' {
			i += n
			continue
		}
		dst = append(dst, s[start:i]...)
		switch r {
		case '\u2028':
			dst = append(dst, `\u2028`...)
		case '\u2029':
			dst = append(dst, `\u2029`...)
		default:
			dst = append(dst, "\uFFFD"...)
		}
		i += n
		start = i
	}
	return append(dst, s[start:]...)
}

// appendControl appends the escape of a character that a JSON string cannot
// hold.
func appendControl(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
}
