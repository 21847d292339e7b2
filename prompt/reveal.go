package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reveal returns s with each character that does not show and could carry a
// message past the reader, such as a zero width space, a change of writing
// direction or a tag, written as its code point, like <U+200B>. What belongs to
// visible writing stays, such as the joiner inside an emoji.
func Reveal(s string) string {
	var b strings.Builder
	done := 0
	for at, r := range concealed(s) {
		b.WriteString(s[done:at])
		fmt.Fprintf(&b, "<%U>", r)
		done = at + utf8.RuneLen(r)
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// hiddenKinds bounds how many different characters Hidden names.
const hiddenKinds = 8

// Hidden describes the characters that Reveal would write out, in the order in
// which they first occur, for one line like "U+200B (2), U+E0041"; "" when there
// are none.
func Hidden(s string) string {
	counts := map[rune]int{}
	var order []rune
	for _, r := range concealed(s) {
		if counts[r] == 0 {
			order = append(order, r)
		}
		counts[r]++
	}
	var names []string
	for _, r := range order[:min(len(order), hiddenKinds)] {
		name := fmt.Sprintf("%U", r)
		if n := counts[r]; n > 1 {
			name += fmt.Sprintf(" (%d)", n)
		}
		names = append(names, name)
	}
	if more := len(order) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d others", more))
	}
	return strings.Join(names, ", ")
}

// shown returns a name or another short text as the model reads it: on one line,
// so that it cannot pose as a line of the prompt, and with nothing hidden.
func shown(s string) string { return Reveal(oneLine(s)) }

// shownPath returns a path as the model reads it: each of its spaces kept, and line
// ends written out like what is hidden.
func shownPath(s string) string {
	if strings.ContainsAny(s, "\n\t") {
		s = strings.NewReplacer("\n", "<U+000A>", "\t", "<U+0009>").Replace(s)
	}
	return Reveal(s)
}

// oneLine returns s with each run of white space as one space, and none around it.
func oneLine(s string) string {
	before := ' '
	for _, r := range s {
		if unicode.IsSpace(r) && (r != ' ' || before == ' ') {
			return strings.Join(strings.Fields(s), " ")
		}
		before = r
	}
	return strings.TrimSuffix(s, " ")
}

// concealed yields the hidden characters of s with their places.
func concealed(s string) func(yield func(int, rune) bool) {
	return func(yield func(int, rune) bool) {
		var before rune // the last character if it stays, else 0
		for at, r := range s {
			if ' ' <= r && r < 0x7f || !hides(r) || belongs(before, r, s[at+utf8.RuneLen(r):]) {
				before = r
				continue
			}
			before = 0
			if !yield(at, r) {
				return
			}
		}
	}
}

// hides reports whether r is of a kind that does not show: controls, changes of
// direction, joiners, selectors, tags and fillers.
func hides(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == utf8.RuneError:
		return false
	case r <= unicode.MaxLatin1:
		return unicode.IsControl(r) || r == 0xad
	case r < 0x300, 0x370 <= r && r < 0x590, 0x2e80 <= r && r < 0x3130, 0x3190 <= r && r < 0xd800:
		return false // Latin, Greek, Cyrillic and the scripts of East Asia, most of what there is to look at
	case 0xe0000 <= r && r <= 0xe0fff: // tags, selectors, and what is kept free for more of them
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// belongs reports whether r, which does not show, is part of visible writing
// after before, a character that stays, and with the text behind it. Selectors do
// only behind what has variants to select from, since each could carry four bits.
func belongs(before, r rune, behind string) bool {
	next, _ := utf8.DecodeRuneInString(behind)
	switch {
	case r == '\r':
		return next == '\n'
	case r == 0x200c || r == 0x200d:
		if cursive(before) {
			return unicode.IsMark(before) || cursive(next)
		}
		return r == 0x200d && pictures(before) && pictures(next) && !hides(next)
	case 0xfe00 <= r && r <= 0xfe02:
		return before > unicode.MaxASCII && before < 0x1f000 && unicode.IsGraphic(before) && !unicode.IsSpace(before) && !hides(before) &&
			!unicode.In(before, unicode.Latin, unicode.Greek, unicode.Cyrillic) || r == 0xfe00 && before == '0'
	case r == 0xfe0e || r == 0xfe0f: // as text, as a picture
		return pictures(before) && !hides(before) || before > unicode.MaxASCII && (unicode.IsSymbol(before) || unicode.IsPunct(before)) || before == 'ℹ' ||
			'0' <= before && before <= '9' || before == '#' || before == '*'
	case 0x180b <= r && r <= 0x180d || r == 0x180f:
		return unicode.Is(unicode.Mongolian, before) && unicode.IsLetter(before)
	}
	return false
}

// cursive reports whether r is a letter or a mark of a script that needs joiners
// to be spelled.
func cursive(r rune) bool {
	return r >= 0x600 && (unicode.IsLetter(r) || unicode.IsMark(r)) && !hides(r) &&
		unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Mandaic,
			unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
			unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan, unicode.Myanmar,
			unicode.Khmer, unicode.Balinese, unicode.Javanese)
}

// pictures reports whether r can be part of an emoji that joiners make.
func pictures(r rune) bool {
	return 0x1f000 <= r && r <= 0x1faff || 0x2190 <= r && r <= 0x21ff || r == 0xfe0f || r > unicode.MaxASCII && unicode.Is(unicode.So, r)
}
