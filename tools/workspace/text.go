package workspace

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/lorimer-dev/lorimer/tools"
)

// A coding is how the characters of a file became bytes.
type coding int

const (
	utf8Plain   coding = iota
	utf8Marked         // with a byte order mark
	utf16Little        // with a byte order mark, as all below
	utf16Big
	binary // not text
)

// sniffed is how many bytes of a file decide its coding.
const sniffed = 8000

func (c coding) String() string {
	switch c {
	case utf8Marked:
		return "UTF-8 with a byte order mark"
	case utf16Little:
		return "UTF-16 (little endian)"
	case utf16Big:
		return "UTF-16 (big endian)"
	case binary:
		return "binary"
	default:
		return "UTF-8"
	}
}

// mark returns the byte order mark that a file in c begins with.
func (c coding) mark() []byte {
	switch c {
	case utf8Marked:
		return []byte("\xef\xbb\xbf")
	case utf16Little:
		return []byte("\xff\xfe")
	case utf16Big:
		return []byte("\xfe\xff")
	default:
		return nil
	}
}

func (c coding) utf16() encoding.Encoding {
	switch c {
	case utf16Little:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case utf16Big:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	default:
		return nil
	}
}

// codingOf tells the coding from the beginning of a file. Text in an encoding
// that has no mark of its own looks like UTF-8 with foreign bytes.
func codingOf(head []byte) coding {
	head = head[:min(len(head), sniffed)]
	for _, c := range []coding{utf8Marked, utf16Little, utf16Big} {
		if body, ok := bytes.CutPrefix(head, c.mark()); ok && !(c == utf16Little && bytes.HasPrefix(body, []byte{0, 0})) {
			return c
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return binary
	}
	return utf8Plain
}

// reader returns the text of r, which is at the byte after the mark, as UTF-8.
func (c coding) reader(r io.Reader) io.Reader {
	if e := c.utf16(); e != nil {
		return transform.NewReader(r, e.NewDecoder())
	}
	return r
}

// decode returns the text of data as UTF-8, without its mark. Bytes that are
// not UTF-8 stay in it.
func (c coding) decode(data []byte) ([]byte, error) {
	data = data[len(c.mark()):]
	if e := c.utf16(); e != nil {
		return e.NewDecoder().Bytes(data)
	}
	return data, nil
}

// encode is the reverse of decode.
func (c coding) encode(text []byte) ([]byte, error) {
	body := text
	if e := c.utf16(); e != nil {
		var err error
		if body, err = e.NewEncoder().Bytes(text); err != nil {
			return nil, fmt.Errorf("encoding text: %w", err)
		}
	}
	return append(c.mark(), body...), nil
}

// A document is a file that can be changed and written back without loss.
type document struct {
	coding coding
	text   []byte // UTF-8 without a mark, apart from foreign bytes
}

// openDocument takes data apart, or says why that would lose something.
func openDocument(name string, data []byte) (document, error) {
	d := document{coding: codingOf(data)}
	shown := tools.Line(name, maxName)
	if d.coding == binary {
		return d, tools.Publicf("%s is a binary file, which this tool leaves alone; use bash for it", shown)
	}
	text, err := d.coding.decode(data)
	if err != nil {
		return d, fmt.Errorf("decoding %s: %w", d.coding, err)
	}
	d.text = text
	if d.coding.utf16() == nil {
		return d, nil
	}
	if back, err := d.coding.encode(text); err != nil || !bytes.Equal(back, data) {
		return d, tools.Publicf("%s is damaged %s, which would change if it was written again; the file is left untouched", shown, d.coding)
	}
	return d, nil
}

// foreign reports whether text is in an encoding of its own, and not just UTF-8
// with some broken bytes: then most of what is not ASCII is no UTF-8.
func foreign(text []byte) bool {
	if utf8.Valid(text) {
		return false
	}
	broken, whole := 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			broken++
		case n > 1:
			whole++
		}
		text = text[n:]
	}
	return broken > whole
}

// legacy names the encoding of text that is not UTF-8, as far as its bytes
// tell. Where two bytes make a character, the second is more often than not
// outside ASCII too; in a western encoding a letter with an accent stands among
// those without.
func legacy(text []byte) string {
	const western = "a single-byte encoding such as Windows-1252 or ISO-8859-1"
	high, mixed := 0, 0 // pairs, by their second byte
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			text = text[1:]
			continue
		}
		if len(text) < 2 || text[0] == 0x80 || text[0] == 0xff || text[1] < 0x40 || text[1] == 0x7f {
			return western
		}
		if text[1] < utf8.RuneSelf {
			mixed++
		} else {
			high++
		}
		text = text[2:]
	}
	if mixed > high {
		return western
	}
	return "an East Asian encoding such as GB18030, Big5 or Shift_JIS"
}
