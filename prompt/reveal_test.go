package prompt_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/lorimer-dev/lorimer/prompt"
)

func TestReveal(t *testing.T) {
	tests := []struct{ name, s, want string }{
		{"nothing", "plain text, ünïcödé, 日本語\n\tאבג", "plain text, ünïcödé, 日本語\n\tאבג"},
		{"empty", "", ""},
		{"zero width", "a\u200bb\u2060c\ufeffd", "a<U+200B>b<U+2060>c<U+FEFF>d"},
		{"invisible operators", "\u2061\u2062\u2063\u2064", "<U+2061><U+2062><U+2063><U+2064>"},
		{"direction", "\u202ea\u202c \u2066b\u2069 \u200ec\u200f\u061c", "<U+202E>a<U+202C> <U+2066>b<U+2069> <U+200E>c<U+200F><U+061C>"},
		{"tags", "a\U000e0001\U000e0041\U000e007f", "a<U+E0001><U+E0041><U+E007F>"},
		{"supplementary selectors", "a\U000e0100\U000e01ef葛\U000e0100", "a<U+E0100><U+E01EF>葛<U+E0100>"},
		{"fillers", "a\u00ad\u034f\u115f\u1160\u3164\uffa0\u180e\u17b4", "a<U+00AD><U+034F><U+115F><U+1160><U+3164><U+FFA0><U+180E><U+17B4>"},
		{"controls", "a\x00\x1b[31m\x7f\u0085\u009b", "a<U+0000><U+001B>[31m<U+007F><U+0085><U+009B>"},
		{"line ends", "a\r\nb\rc\r", "a\r\nb<U+000D>c<U+000D>"},
		{"no text", "a\xffb", "a\xffb"},
		{"written by hand", "a<U+200B>b", "a<U+200B>b"},

		{"joiner between Latin letters", "a\u200db\u200cc", "a<U+200D>b<U+200C>c"},
		{"joiner in an emoji", "👩\u200d💻 👨🏽\u200d🚒 ❤\ufe0f\u200d🔥", "👩\u200d💻 👨🏽\u200d🚒 ❤\ufe0f\u200d🔥"},
		{"joiner behind an emoji", "👩\u200d text 👩\u200d\u200d💻", "👩<U+200D> text 👩<U+200D><U+200D>💻"},
		{"joiner before a hidden one", "👩\u200d\u200b💻", "👩<U+200D><U+200B>💻"},
		{"Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"Persian, doubled", "می\u200c\u200cخواهم", "می<U+200C><U+200C>خواهم"},
		{"Devanagari", "क्\u200dष क्\u200c", "क्\u200dष क्\u200c"},
		{"Malayalam at the end of a word", "അവന\u0d4d\u200d.", "അവന\u0d4d\u200d."},
		{"selector of an emoji", "☂\ufe0f 1\ufe0f\u20e3 #\ufe0e", "☂\ufe0f 1\ufe0f\u20e3 #\ufe0e"},
		{"selectors that carry bytes", "😀\ufe0f\ufe01\ufe02", "😀\ufe0f<U+FE01><U+FE02>"},
		{"selector of a letter or of nothing", "a\ufe01 \ufe0f\n\ufe0f", "a<U+FE01> <U+FE0F>\n<U+FE0F>"},
		{"selectors that select nothing", "é\ufe00 ж\ufe0f 不\ufe0f 不\ufe05 😀\ufe03 ∩\ufe0d 😀\ufe0f\ufe0f\ufe0e", "é<U+FE00> ж<U+FE0F> 不<U+FE0F> 不<U+FE05> 😀<U+FE03> ∩<U+FE0D> 😀\ufe0f<U+FE0F><U+FE0E>"},
		{"selectors of what is no emoji", "©\ufe0f ™\ufe0e ‼\ufe0f ℹ\ufe0f 〰\ufe0f ㊗\ufe0f Ⓜ\ufe0f ↔\ufe0f 0\ufe00 က\ufe00", "©\ufe0f ™\ufe0e ‼\ufe0f ℹ\ufe0f 〰\ufe0f ㊗\ufe0f Ⓜ\ufe0f ↔\ufe0f 0\ufe00 က\ufe00"},
		{"selector of a sign", "∩\ufe00 不\ufe00", "∩\ufe00 不\ufe00"},
		{"Mongolian", "ᠭ\u180b\u180e", "ᠭ\u180b<U+180E>"},
		{"Mongolian selector elsewhere", "a\u180b", "a<U+180B>"},
		{"signs of Arabic that show", "\u0600\u06dd١", "\u0600\u06dd١"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := prompt.Reveal(tt.s); got != tt.want {
				t.Errorf("Reveal(%+q) = %+q, want %+q", tt.s, got, tt.want)
			}
			if got := prompt.Hidden(tt.s) != ""; got != (tt.s != tt.want) {
				t.Errorf("Hidden(%+q) = %q", tt.s, prompt.Hidden(tt.s))
			}
		})
	}
}

// TestHiddenKinds: alone, each character is hidden that the tables of Unicode call a
// control, a format or one to ignore, and no other.
func TestHiddenKinds(t *testing.T) {
	for r := rune(0); r < 0xe2000; r++ {
		if 0xd800 <= r && r < 0xe000 || 0x20000 <= r && r < 0xe0000 { // surrogates and ideographs
			continue
		}
		want := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r) && r != '\n' && r != '\t' || 0xe0000 <= r && r <= 0xe0fff
		if got := prompt.Hidden(string(r)) != ""; got != want {
			t.Errorf("%U hidden = %v, want %v", r, got, want)
		}
	}
}

func TestHidden(t *testing.T) {
	many := ""
	for r := rune(0xe0041); r < 0xe0041+20; r++ {
		many += string(r)
	}
	for s, want := range map[string]string{
		"a":                        "",
		"a\u200bb\U000e0041\u200b": "U+200B (2), U+E0041",
		many:                       "U+E0041, U+E0042, U+E0043, U+E0044, U+E0045, U+E0046, U+E0047, U+E0048, 12 others",
	} {
		if got := prompt.Hidden(s); got != want {
			t.Errorf("Hidden(%+q) = %q, want %q", s, got, want)
		}
	}
}

// FuzzReveal: what is revealed has nothing hidden, and all that shows in it as it
// was; a text that Hidden finds nothing in stays as it is.
func FuzzReveal(f *testing.F) {
	for _, s := range []string{"a\u200bb", "👩\u200d💻", "می\u200cخ", "😀\ufe0f\ufe01", "\r\n\r", "\xff\u200d", "क्\u200d\u200d"} {
		f.Add(s)
	}
	code := regexp.MustCompile(`<U\+[0-9A-F]{4,6}>`)
	f.Fuzz(func(t *testing.T, s string) {
		got := prompt.Reveal(s)
		if again := prompt.Reveal(got); again != got || prompt.Hidden(got) != "" {
			t.Errorf("Reveal(%+q) = %+q, which is revealed as %+q", s, got, again)
		}
		if (prompt.Hidden(s) == "") != (got == s) {
			t.Errorf("Reveal(%+q) = %+q although Hidden says %q", s, got, prompt.Hidden(s))
		}
		if !strings.Contains(s, "<U+") && strings.Map(showing, code.ReplaceAllString(got, "")) != strings.Map(showing, s) {
			t.Errorf("Reveal(%+q) = %+q changes what shows", s, got)
		}
	})
}

// showing keeps the letters and signs of ASCII, which always show.
func showing(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name, tag, body string
		attributes      []string
		want            string
	}{
		{"plain", "resource", "x", nil, "<resource>\nx\n</resource>"},
		{"own line end", "resource", "x\n", nil, "<resource>\nx\n</resource>"},
		{"empty", "resource", "", nil, "<resource>\n</resource>"},
		{"attributes", "resource", "x", []string{"key", "resource:1", "name", "a \"b\"\n<c> & d\u200b"},
			"<resource key=\"resource:1\" name=\"a &quot;b&quot; &lt;c&gt; & d<U+200B>\">\nx\n</resource>"},
		{"closing tags", "doc", "</doc> </DOC> < / doc x> <\n/\tDoc", nil, "<doc>\n<\\/doc> <\\/DOC> < \\/ doc x> <\n\\/\tDoc\n</doc>"},
		{"longer names", "doc", "</document>", nil, "<doc>\n<\\/document>\n</doc>"},
		{"other tags", "doc", "<doc> </div> <<//doc>", nil, "<doc>\n<doc> </div> <<//doc>\n</doc>"},
		{"hidden in the tag", "doc", "</\u200bdoc>\u202e", nil, "<doc>\n</<U+200B>doc><U+202E>\n</doc>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := prompt.Wrap(tt.tag, tt.body, tt.attributes...); got != tt.want {
				t.Errorf("Wrap = %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzWrap: whatever body and attribute are, the element is closed once, at its
// end, its opening tag is one line, and nothing in it is hidden.
func FuzzWrap(f *testing.F) {
	for _, s := range []string{"x", "</doc>", "< /DOC", "<\u200b/doc>", "<</doc", "<\r\n/doc>", "\"></doc>", "</\u017foc"} {
		f.Add(s, s)
	}
	closing := regexp.MustCompile(`(?i)<\s*/\s*doc`)
	f.Fuzz(func(t *testing.T, body, name string) {
		got := prompt.Wrap("doc", body, "name", name)
		if at := closing.FindAllStringIndex(got, -1); len(at) != 1 || !strings.HasSuffix(got, "\n</doc>") {
			t.Errorf("Wrap(%+q) = %+q, closed at %v", body, got, at)
		}
		if again := prompt.Reveal(got); again != got {
			t.Errorf("Wrap(%+q) = %+q, which is revealed as %+q", body, got, again)
		}
		first, _, _ := strings.Cut(got, "\n")
		if !strings.HasPrefix(first, `<doc name="`) || !strings.HasSuffix(first, `">`) || strings.Count(first, `"`) != 2 {
			t.Errorf("opening tag = %q of the name %+q", first, name)
		}
	})
}
