package workspace

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools/workspace/edit"
)

// The difference of two texts turns the one into the other, in whole lines.
func FuzzDifference(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nx\nc\n"))
	f.Add([]byte("a\na\n"), []byte("a\n"))
	f.Add([]byte(""), []byte("a"))
	f.Add([]byte("ab"), []byte("aab"))
	f.Fuzz(func(t *testing.T, old, text []byte) {
		c := difference(old, text)
		if got := edit.Splice(old, []edit.Change{c}); !bytes.Equal(got, text) {
			t.Errorf("difference(%q, %q) = %+v makes %q", old, text, c, got)
		}
		if c.Start > 0 && old[c.Start-1] != '\n' || c.End < len(old) && old[c.End-1] != '\n' && c.End > c.Start {
			t.Errorf("difference(%q, %q) = %+v cuts a line", old, text, c)
		}
	})
}

func TestShorten(t *testing.T) {
	tests := []struct{ name, text, end string }{
		{"short", "a\xff\n", "a�\n"},
		{"long", strings.Repeat("é\n", maxHunk), "é\n" + tooLong},
		{"one long line", strings.Repeat("é", maxHunk), "é\n" + tooLong},
		{"one long line, cut in a character", "x" + strings.Repeat("é", maxHunk), "é\n" + tooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := shorten([]byte(tt.text))
			if !strings.HasSuffix(got, tt.end) || !utf8.ValidString(got) || len(got) > maxHunk+len(tooLong)+1 {
				t.Errorf("shorten gives %d bytes ending in %q, want the end %q", len(got), got[max(0, len(got)-60):], tt.end)
			}
		})
	}
}
