// Package ansi makes plain text of what programs write for a terminal.
//
// Escape sequences and control characters go, a progress line that was drawn
// many times is kept as it was last, and bytes that are not UTF-8 become U+FFFD.
// What comes out does not depend on how the input was cut into pieces.
package ansi

import "unicode/utf8"

const (
	// maxLine is how much of a line can still be redrawn. What comes later in
	// a longer line is final at once, so that a Cleaner holds little memory.
	maxLine = 4 << 10

	// maxEscape ends an escape sequence that never ends, and so bounds what a
	// stray introducer can swallow.
	maxEscape = 4 << 10
)

// A state is where in an escape sequence the input stands.
type state uint8

const (
	text    state = iota
	escape        // after ESC
	charset       // after ESC and an intermediate byte
	control       // in a control sequence, up to its final byte
	str           // in an operating system command or another string, up to its terminator
	strEsc        // after ESC in a string
)

// A Cleaner cleans one stream. The zero value is ready; it is not safe for
// concurrent use.
type Cleaner struct {
	line   []byte // the end of the current line, which may be redrawn
	cr     bool   // a carriage return came last: the next character redraws the line
	part   []byte // the start of a character whose rest has not come
	state  state
	length int // of the escape sequence so far
}

// Append cleans p and appends to dst the text that has become final.
func (c *Cleaner) Append(dst, p []byte) []byte {
	if len(c.part) > 0 {
		dst, p = c.join(dst, p)
	}
	for len(p) > 0 {
		if c.state == text && !c.cr {
			n := plain(p)
			dst = c.add(dst, p[:n])
			if p = p[n:]; len(p) == 0 {
				break
			}
		}
		if !utf8.FullRune(p) {
			c.part = append(c.part, p...)
			break
		}
		r, n := utf8.DecodeRune(p)
		dst = c.step(dst, r)
		p = p[n:]
	}
	return dst
}

// Flush ends the stream and appends what is left of it to dst. The Cleaner is
// then as new.
func (c *Cleaner) Flush(dst []byte) []byte {
	for range c.part { // each byte of a character that never ended
		dst = c.step(dst, utf8.RuneError)
	}
	dst = append(dst, c.line...)
	*c = Cleaner{line: c.line[:0], part: c.part[:0]}
	return dst
}

// join completes the characters that the last piece cut, and returns what
// follows them in p.
func (c *Cleaner) join(dst, p []byte) ([]byte, []byte) {
	for len(c.part) > 0 {
		if utf8.FullRune(c.part) {
			r, n := utf8.DecodeRune(c.part)
			c.part = c.part[:copy(c.part, c.part[n:])]
			dst = c.step(dst, r)
			continue
		}
		if len(p) == 0 {
			break
		}
		c.part = append(c.part, p[0])
		p = p[1:]
	}
	return dst, p
}

// plain returns the length of the printable ASCII that p starts with.
func plain(p []byte) int {
	for i, b := range p {
		if b < ' ' && b != '\t' || b >= 0x7f {
			return i
		}
	}
	return len(p)
}

// step takes one character.
func (c *Cleaner) step(dst []byte, r rune) []byte {
	if c.state != text {
		c.length++
		if c.inside(r) {
			return dst
		}
	}
	switch {
	case r == '\n':
		dst = append(append(dst, c.line...), '\n')
		c.line, c.cr = c.line[:0], false
	case r == '\r':
		c.cr = true
	case r == '\b':
		_, n := utf8.DecodeLastRune(c.line)
		c.line = c.line[:len(c.line)-n]
	case r == 0x1b:
		c.enter(escape)
	case r == 0x9b:
		c.enter(control)
	case r == 0x90, r == 0x98, r >= 0x9d && r <= 0x9f:
		c.enter(str)
	case r < ' ' && r != '\t', r >= 0x7f && r < 0xa0:
		// a control character with nothing to show
	default:
		var b [utf8.UTFMax]byte
		dst = c.add(dst, b[:utf8.EncodeRune(b[:], r)])
	}
	return dst
}

func (c *Cleaner) enter(s state) { c.state, c.length = s, 0 }

// inside takes one character of an escape sequence and reports whether it
// belongs to it. One that does not ends the sequence and counts as text.
func (c *Cleaner) inside(r rune) bool {
	// A line end, CAN and SUB break off whatever is open.
	if r == '\n' || r == 0x18 || r == 0x1a || c.length > maxEscape {
		c.state = text
		return false
	}
	switch c.state {
	case escape, strEsc:
		return c.escaped(r)
	case charset:
		return c.until(r, '0')
	case control:
		return c.until(r, '@')
	case str:
		switch r {
		case 0x07, 0x9c:
			c.state = text
		case 0x1b:
			c.state = strEsc
		}
	}
	return true
}

// until takes r in a sequence that the first byte from final on ends. A
// character that cannot be part of one ends it too, as text.
func (c *Cleaner) until(r, final rune) bool {
	if r >= ' ' && r < final {
		return true
	}
	c.state = text
	return r >= final && r < 0x7f
}

// escaped takes the character after ESC.
func (c *Cleaner) escaped(r rune) bool {
	if c.state == strEsc && r == '\\' {
		c.state = text
		return true
	}
	c.state = text
	switch {
	case r == '[':
		c.enter(control)
	case r == ']', r == 'P', r == 'X', r == '^', r == '_':
		c.enter(str)
	case r == 0x1b:
		c.enter(escape)
	case r >= ' ' && r < '0':
		c.enter(charset)
	case r >= '0' && r < 0x7f:
		// a sequence of two characters
	default:
		return false
	}
	return true
}

// add appends p to the line: printable ASCII, or one other character. What a
// full line holds becomes final with the character that has no room in it.
func (c *Cleaner) add(dst, p []byte) []byte {
	if len(p) == 0 {
		return dst
	}
	if c.cr {
		c.line, c.cr = c.line[:0], false
	}
	for len(c.line)+len(p) > maxLine {
		if p[0] < utf8.RuneSelf {
			n := maxLine - len(c.line)
			c.line, p = append(c.line, p[:n]...), p[n:]
		}
		dst, c.line = append(dst, c.line...), c.line[:0]
	}
	c.line = append(c.line, p...)
	return dst
}

// Clean returns the text of p, which is a whole stream.
func Clean(p []byte) []byte {
	var c Cleaner
	return c.Flush(c.Append(make([]byte, 0, len(p)), p))
}
