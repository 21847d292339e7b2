package words_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/store/internal/words"
)

func TestOf(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{" ,;\n", ""},
		{"Hello, World_x2!", "hello world x2"},
		{"Crème BRÛLÉE e\u0301te\u0301", "creme brulee ete"},
		{"Straße ẞ Ærø Œuvre Łódź Đ ılık İstanbul", "strasse ss aero oeuvre lodz d ilik istanbul"},
		{"ΟΔΥΣΣΕΥΣ όδυσσεύς", "οδυσσευσ οδυσσευσ"},
		{"Ёлка й", "елка и"},
		{"שָׁלוֹם مُحَمَّد مـحمد", "שלום محمد محمد"},
		{"我爱Go语言", "我 爱 go 语 言"},
		{"ガギ ｶﾞ カ\u3099", "ガ ギ ガ ガ"},
		{"한국", "한 국"},
		{"हिन्दी", "हिन्दी"},
		{"ﬁn ＡＢ ½ x² Ⅷ", "fin ab 12 x2 viii"},
		{"co\u00adop می\u200cخواهم", "coop میخواهم"},
		{"a\xffb\x00c", "a b c"},
		{"\u0301x", "x"},
		{"😀x😀", "x"},
		{strings.Repeat("y", 100), strings.Repeat("y", 64)},
		{strings.Repeat("é", 100), strings.Repeat("e", 64)},
	}
	for _, tt := range tests {
		var got []string
		for w := range words.Of(tt.text) {
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestOfEnds(t *testing.T) {
	for word, want := range map[string]int{"a ": 16000, strings.Repeat("f", 64) + " ": 8192} {
		got := 0
		for range words.Of(strings.Repeat(word, 20000)) {
			got++
		}
		if got != want {
			t.Errorf("%d words %q, want %d", got, word, want)
		}
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		query string
		want  words.Query
	}{
		{"", nil},
		{"!? 😀", nil},
		{"Foo bar", words.Query{{"foo"}, {"bar"}}},
		{"foo.bar -x", words.Query{{"foo", "bar"}, {"x"}}},
		{"中文 \"a b\"", words.Query{{"中", "文"}, {"a"}, {"b"}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, words.Parse(tt.query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.query, diff)
		}
	}
}

func TestScore(t *testing.T) {
	tests := []struct{ query, better, worse string }{
		{"a", "a b", "b"},
		{"a", "a", "a b c d e"},
		{"a", "a a", "a b"},
		{"a b", "a b", "a a"},
		{"x.y", "x y", "y x"},
		{"a", "a", ""},
		{"app", "apple", "pineapple"},
	}
	for _, tt := range tests {
		q := words.Parse(tt.query)
		if better, worse := q.Score(tt.better), q.Score(tt.worse); better <= worse {
			t.Errorf("%q: %q has %v, %q has %v", tt.query, tt.better, better, tt.worse, worse)
		}
	}
	if got := words.Parse("").Score("a"); got != 0 {
		t.Errorf("nothing is found with %v", got)
	}
}

func TestSnippet(t *testing.T) {
	long := strings.Repeat("word ", 100)
	tests := []struct{ name, query, text, want string }{
		{"a short text is whole", "b", "a b c", "a b c"},
		{"on one line", "b", " a\n\tb\r\nc ", "a b c"},
		{"the beginning of a long one", "word", long, strings.Repeat("word ", 39) + "wo..."},
		{"from the middle on", "x", long + "x y", "..." + strings.Repeat("word ", 11) + "x y"},
		{"whatever is not shown is written out", "b", "a\u202e b", `a\u202e b`},
		{"a text without spaces", "末", strings.Repeat("文", 100) + "末", "..." + strings.Repeat("文", 60) + "末"},
		{"a text that is no UTF-8", "b", "\xe4 b", `\xe4 b`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, words.Parse(tt.query).Snippet(tt.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzOf: words stand in the text in their order, have no sign in them that means
// something to a database, and a text is found by each of its words.
func FuzzOf(f *testing.F) {
	for _, s := range []string{"Crème 我爱Go", "ｶﾞ ﬁ ½ \xff\x00", "' \" \\ : & | ! ( ) *", "שָׁ\u200d\u0301x", "𝔘𝔫𝔦 ٣ ᾳ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for w := range words.Of(text) {
			if w.Start < end || w.End <= w.Start || w.End > len(text) {
				t.Fatalf("%q stands at %d to %d, after %d", w.Text, w.Start, w.End, end)
			}
			end = w.End
			if w.Text == "" || !utf8.ValidString(w.Text) || strings.ContainsFunc(w.Text, isSign) {
				t.Errorf("%q is a word of %q", w.Text, text)
			}
		}
		q := words.Parse(text)
		if len(q) > 0 && len(text) < 1000 && q.Score(text) == 0 {
			t.Errorf("%q is not found by itself: %q", text, q)
		}
		if s := q.Snippet(text); utf8.RuneCountInString(s) > 200 || !utf8.ValidString(s) || strings.ContainsRune(s, '\n') {
			t.Errorf("snippet %q", s)
		}
	})
}

func isSign(c rune) bool { return !unicode.In(c, unicode.L, unicode.N, unicode.M) }
