package tools_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
)

func TestVisible(t *testing.T) {
	tests := []struct{ in, want string }{
		{"two\n\tlines, ünd 😀 \u200d more", "two\n\tlines, ünd 😀 \u200d more"},
		{"\x1b[31mred\x07\x7f\r", `\x1b[31mred\x07\x7f\r`},
		{"\u009b2J \u202eback\u2066", `\x9b2J \u202eback\u2066`},
		{"\x9b2J \xff\ufffd", `\x9b2J \xff` + "\ufffd"},
	}
	for _, tt := range tests {
		if got := tools.Visible(tt.in); got != tt.want {
			t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestVisibleJSON(t *testing.T) {
	tests := []struct{ in, want string }{
		{"{\r\n\t\"a\": \"ü\ufffd\"\n}", "{\r\n\t\"a\": \"ü\ufffd\"\n}"},
		{"[\"\u009b2J\x7f\u202e\\u001b\ufffd\"]\r\n", "[\"\\u009b2J\\u007f\\u202e\\u001b\ufffd\"]\r\n"},
	}
	for _, tt := range tests {
		if got := tools.VisibleJSON([]byte(tt.in)); string(got) != tt.want {
			t.Errorf("VisibleJSON(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// FuzzVisible: nothing is left that could steer a terminal, and JSON says the same.
func FuzzVisible(f *testing.F) {
	f.Add("\x1b[2J\u009b\u202e\xff\\")
	f.Fuzz(func(t *testing.T, s string) {
		steers := func(c rune) bool {
			return unicode.IsControl(c) && c != '\n' && c != '\t' || unicode.Is(unicode.Bidi_Control, c) && c > '\u2029'
		}
		if got := tools.Visible(s); strings.ContainsFunc(got, steers) || !utf8.ValidString(got) {
			t.Errorf("Visible(%q) = %q", s, got)
		}
		before, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		after := tools.VisibleJSON(before)
		var want, got string
		if err := json.Unmarshal(before, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(after, &got); err != nil || got != want || strings.ContainsFunc(string(after), steers) {
			t.Errorf("VisibleJSON(%s) = %s (%v)", before, after, err)
		}
	})
}
