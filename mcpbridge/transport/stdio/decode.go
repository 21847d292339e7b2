package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

const (
	// lookIn is in how many bytes at the beginning of a line a message is looked for
	// that has text in front.
	lookIn = 4 << 10

	// tries is at how many brackets of such a line.
	tries = 16
)

// A decoder finds the messages in what a program writes. It is given one line after
// the other.
type decoder struct {
	max     int // bytes of a message that takes several lines
	message func(rpc.Frame)
	junk    func([]byte) // what is no message; it is not kept

	part []byte // the beginning of a message whose end has not come
	scan scanner
}

// line looks at a line, which becomes the decoder's.
func (d *decoder) line(line []byte) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if len(line) == 0 {
		return
	}
	if f, ok := parse(line); ok && (d.part == nil || f.Versioned()) {
		d.drop() // what has begun before will not go on
		d.message(f)
		return
	}
	for len(line) > 0 {
		if d.part != nil {
			line = d.more(line)
		} else {
			line = d.first(line, true)
		}
		line = bytes.TrimSpace(line)
	}
}

// end is called behind the last line.
func (d *decoder) end() { d.drop() }

// drop gives up a message that has begun. What looked like one may be an array with a
// line for each, or a bracket of a log with messages behind it.
func (d *decoder) drop() {
	part := d.part
	d.part = nil
	for line := range bytes.Lines(part) {
		for line = bytes.TrimSpace(line); len(line) > 0; line = bytes.TrimSpace(line) {
			line = d.first(line, false)
		}
	}
}

// more goes on with a message that has begun, and returns what comes behind it.
func (d *decoder) more(line []byte) (rest []byte) {
	end := d.scan.feed(line)
	if end < 0 && (d.scan.quoted || len(d.part)+len(line) >= d.max) {
		d.drop() // a text ends in its line
		d.junk(line)
		return nil
	}
	if end < 0 {
		d.part = append(append(d.part, line...), '\n')
		return nil
	}
	whole := append(d.part, line[:end]...)
	d.part = nil
	if !d.value(whole) {
		d.junk(whole)
	}
	return line[end:]
}

// first looks for the first message in a line, and returns what comes behind it. What
// comes before is junk. Open tells whether it may go on in the next line.
func (d *decoder) first(line []byte, open bool) (rest []byte) {
	at := 0
	for range tries {
		next := bytes.IndexAny(line[at:min(len(line), lookIn)], "{[")
		if next < 0 {
			break
		}
		at += next
		var s scanner
		end := s.feed(line[at:])
		switch {
		case end > 0 && d.value(line[at:at+end]):
			d.before(line[:at])
			return line[at+end:]
		case end < 0 && open && !s.quoted && begins(line[at:], at == 0):
			d.before(line[:at])
			d.part, d.scan = append(bytes.Clone(line[at:]), '\n'), s
			return nil
		}
		if at++; at >= min(len(line), lookIn) {
			break
		}
	}
	d.junk(line)
	return nil
}

func (d *decoder) before(text []byte) {
	if text = bytes.TrimSpace(text); len(text) > 0 {
		d.junk(text)
	}
}

// value hands over the messages of a value, and reports whether it has any.
func (d *decoder) value(data []byte) bool {
	if f, ok := parse(data); ok {
		d.message(f)
		return true
	}
	if data[0] != '[' {
		return false
	}
	var batch []json.RawMessage
	if json.Unmarshal(data, &batch) != nil {
		return false
	}
	any := false
	for _, one := range batch {
		if f, ok := parse(one); ok {
			d.message(f)
			any = true
		}
	}
	return any
}

// begins reports whether text may be the beginning of a message that goes on in the
// next line. Text that is not at the beginning of its line must look more like one.
func begins(text []byte, alone bool) bool {
	if !alone {
		inner, ok := bytes.CutPrefix(text, []byte("{"))
		inner = bytes.TrimSpace(inner)
		return ok && (len(inner) == 0 || bytes.HasPrefix(inner, []byte(`"jsonrpc"`)))
	}
	inner := bytes.TrimSpace(text[1:])
	if text[0] == '{' {
		return len(inner) == 0 || inner[0] == '"'
	}
	return len(inner) == 0 || inner[0] == '{'
}

// A scanner finds the end of an object or an array by its brackets alone.
type scanner struct {
	depth   int
	quoted  bool // inside a text
	escaped bool // behind a backslash
}

// feed goes on with text and returns the index behind the bracket that closes the
// first, or −1.
func (s *scanner) feed(text []byte) int {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.escaped = c == '\\'
			s.quoted = c != '"'
		case c == '"':
			s.quoted = true
		case c == '{', c == '[':
			s.depth++
		case c == '}', c == ']':
			if s.depth--; s.depth <= 0 {
				return i + 1
			}
		}
	}
	return -1
}
