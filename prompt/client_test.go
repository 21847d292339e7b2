package prompt_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/prompt"
)

// What a client says of itself is a line of a moderate length, whatever it says
// (R-PROMPT-16).
func TestClientIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 200)
	tests := []struct{ name, version, want string }{
		{"zed", "1.2", "zed 1.2"},
		{"zed", "", "zed"},
		{long, long, long + " " + long},
		{long + "b", long + "c", long + " " + long},
		{long[:398] + " b", "1", long[:398] + " 1"},
		{"a\u200b\n# b", "1\r\n\u202e", "a<U+200B> # b 1 <U+202E>"},
		{strings.Repeat("\u200b", 300), "1", strings.Repeat("<U+200B>", 200) + " 1"},
	}
	for _, tt := range tests {
		got, err := standard(t).Compose(prompt.Send{Shape: prompt.Harness, Client: prompt.Client{Name: tt.name, Version: tt.version}})
		if err != nil {
			t.Fatal(err)
		}
		if want := "The user talks to you through " + tt.want + "."; got.System != want {
			t.Errorf("%.20q, %.20q: %q, want %q", tt.name, tt.version, got.System, want)
		}
	}
}
