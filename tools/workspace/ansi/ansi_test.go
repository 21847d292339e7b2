package ansi_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools/workspace/ansi"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", 5000)
	tests := []struct {
		name, in, want string
	}{
		{"plain text stays", "a\tb\nc", "a\tb\nc"},
		{"colours go", "\x1b[1;31mred\x1b[0m!", "red!"},
		{"colon parameters go", "\x1b[38:2::1:2:3mx", "x"},
		{"private modes go", "\x1b[?25l\x1b[2Kx", "x"},
		{"hyperlink keeps its text", "\x1b]8;;http://h/\x1b\\link\x1b]8;;\x07!", "link!"},
		{"device control string goes", "a\x1bPq#0;1\x1b\\b", "ab"},
		{"character set goes", "\x1b(Bx\x1b=y", "xy"},
		{"eight-bit introducers go", "\u009b31mred\u009d0;title\u009cx", "redx"},
		{"progress is its last state", "1%\r2%\r100%\ndone", "100%\ndone"},
		{"CRLF is a line end", "a\r\nb\r\r\nc", "a\nb\nc"},
		{"a last return keeps the line", "a\r", "a"},
		{"overstrike", "N\bNA\bA|\b/\b-", "NA-"},
		{"backspace stays in its line", "a\n\b\bb", "a\nb"},
		{"bell, NUL and DEL go", "a\x07\x00\x7fb", "ab"},
		{"bytes that are not UTF-8", "a\xff\xed\xa0\x80z\xe2\x82", "a\ufffd\ufffd\ufffd\ufffdz\ufffd\ufffd"},
		{"line separator is text", "a\u2028b", "a\u2028b"},
		{"open sequence ends with its line", "\x1b]0;title\nnext\x1b[12\nlast", "\nnext\nlast"},
		{"sequence cut off by text", "\x1b[1éx", "éx"},
		{"endless string gives up", "\x1b]" + long, long[4096:]},
		{"long lines are not redrawn whole", long + "\rz", long[:4096] + "z"},
		{"only an escape", "\x1b", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(ansi.Clean([]byte(tt.in))); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCleanerHoldsOnlyTheLine(t *testing.T) {
	var c ansi.Cleaner
	if got, want := string(c.Append(nil, []byte("one\ntw"))), "one\n"; got != want {
		t.Errorf("Append = %q, want %q", got, want)
	}
	if got, want := string(c.Append(nil, []byte("o\n"))), "two\n"; got != want {
		t.Errorf("Append = %q, want %q", got, want)
	}
	if got := string(c.Flush(nil)); got != "" {
		t.Errorf("Flush = %q, want nothing", got)
	}
}

func FuzzCleaner(f *testing.F) {
	f.Add([]byte("\x1b[31mred\r\x1b]8;;u\x07é\xe2\x82"), uint8(3))
	f.Add([]byte(strings.Repeat("é", 3000)+"\r\x1bP"+strings.Repeat("q", 5000)), uint8(7))
	f.Add([]byte("\xe2\x82\xe2\x82\xac\xf0\x9f"), uint8(1))
	f.Fuzz(func(t *testing.T, in []byte, size uint8) {
		want := ansi.Clean(in)
		if !utf8.Valid(want) {
			t.Errorf("Clean(%q) = %q, not UTF-8", in, want)
		}
		if i := bytes.IndexFunc(want, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
		}); i >= 0 {
			t.Errorf("Clean(%q) = %q, with a control character at %d", in, want, i)
		}
		var c ansi.Cleaner
		var got []byte
		for p := in; len(p) > 0; {
			n := min(len(p), int(size)+1)
			got = c.Append(got, p[:n])
			p = p[n:]
		}
		if got = c.Flush(got); !bytes.Equal(got, want) {
			t.Errorf("in pieces of %d, %q gives %q; whole, %q", int(size)+1, in, got, want)
		}
	})
}

func BenchmarkCleaner(b *testing.B) {
	in := []byte(strings.Repeat("a line of output as programs print it, without colour\n", 600))
	var c ansi.Cleaner
	var dst []byte
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		dst = c.Append(dst[:0], in)
	}
}
