package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/lorimer-dev/lorimer/prompt"
)

// TestTokens is R-PROMPT-44 with the vectors of the specification.
func TestTokens(t *testing.T) {
	for text, want := range map[string][]string{
		"/research x":                       {"research"},
		"x /research":                       {"research"},
		"x /research.":                      nil,
		"docs/research":                     nil,
		"/search then /research":            {"search", "research"},
		"please research this":              nil,
		"/foo.":                             nil,
		"/a /b /a":                          {"a", "b"},
		"\n\t/a-b_c9\r\n/A":                 {"a-b_c9", "A"},
		"/a/b":                              nil,
		"//a":                               nil,
		"/":                                 nil,
		"/ a":                               nil,
		"/ä /研究 /a\u200b":                   nil,
		"(/a) `/b` \"/c\"":                  nil,
		"a\u00a0/b\u2003/c\u3000/d\u2028/e": {"b", "c", "d", "e"},
		"":                                  nil,
	} {
		if got := prompt.Tokens(text); !slices.Equal(got, want) {
			t.Errorf("Tokens(%q) = %q, want %q", text, got, want)
		}
	}
}

// BenchmarkTokens is a pasted list of routes, each of which is a token. Twice as many
// are to take twice as long.
func BenchmarkTokens(b *testing.B) {
	for _, n := range []int{10_000, 20_000} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "/route-%d\n", i)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if got := len(prompt.Tokens(text.String())); got != n {
					b.Fatalf("%d tokens, want %d", got, n)
				}
			}
		})
	}
}

// FuzzTokens: each name stands in the text behind a slash, between white space or
// the ends, and occurs once; a token put at the end is found.
func FuzzTokens(f *testing.F) {
	for _, text := range []string{"/a b", "x/a", "/a. /b", "/a /a", "/\xff", "/a\u2028/b", "//a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names := prompt.Tokens(text)
		words := strings.FieldsFunc(text, unicode.IsSpace)
		for i, name := range names {
			if !slices.Contains(words, "/"+name) || slices.Contains(names[:i], name) {
				t.Errorf("Tokens(%q) = %q: %q is no token or occurs twice", text, names, name)
			}
		}
		if got := prompt.Tokens(text + " /zz-9"); !slices.Contains(got, "zz-9") || len(got) > len(names)+1 {
			t.Errorf("Tokens of %q and another one = %q, want zz-9 beside %q", text, got, names)
		}
	})
}
