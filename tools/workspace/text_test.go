package workspace

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"unicode/utf8"
)

// A document that can be opened can be written back as it was.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"", "a\r\n", "\xef\xbb\xbfé", "\xff\xfea\x00", "\xfe\xff\xd8\x3d\xde\x00", "\xff\xfe\x00\xd8", "\xff\xfe\x00\x00a", "\xd6\xd0"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := openDocument("f", data)
		if err != nil {
			return
		}
		if back, err := d.coding.encode(d.text); err != nil || !bytes.Equal(back, data) {
			t.Errorf("%q of %s comes back as %q (%v)", data, d.coding, back, err)
		}
		if d.coding.utf16() != nil && !utf8.Valid(d.text) {
			t.Errorf("%q of %s is opened as %q", data, d.coding, d.text)
		}
	})
}

// The lines of a text and what was cut of them make up the text.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nb"), 1)
	f.Add(bytes.Repeat([]byte("é"), 70_000), 3)
	f.Add(append(bytes.Repeat([]byte("x"), 64<<10-1), "\r\ny\r"...), 2000)
	f.Fuzz(func(t *testing.T, text []byte, keep int) {
		keep = max(keep%3000, 0)
		ls := newLines(bytes.NewReader(text))
		at := int64(0)
		for {
			l, err := ls.next(t.Context(), keep)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			whole := text[l.start:]
			if l.start != at || !bytes.HasPrefix(whole, l.text) || len(l.text) > keep || bytes.IndexByte(whole[:l.size], '\n') >= 0 {
				t.Fatalf("line %+v of %q, want one at %d", l, text, at)
			}
			if cut := whole[len(l.text):l.size]; len(cut) > 0 && len(l.text) < keep-utf8.UTFMax {
				t.Errorf("line %q is cut at %d of %d bytes, with room for %d", whole[:l.size], len(l.text), l.size, keep)
			}
			at = ls.at
			if more, err := ls.more(); err != nil || more != (at < int64(len(text))) || !more && l.ended != bytes.HasSuffix(text, []byte("\n")) {
				t.Errorf("more = %v, %v after %d of %d bytes; ended = %v", more, err, at, len(text), l.ended)
			}
		}
		if at != int64(len(text)) {
			t.Errorf("the lines end at byte %d of %d", at, len(text))
		}
	})
}
