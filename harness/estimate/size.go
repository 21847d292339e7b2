package estimate

import (
	"unicode"
	"unicode/utf8"
)

// A Size is how large something is in tokens.
type Size struct {
	Likely int // as [Tokens] has it
	Least  int // no model reads it in fewer
}

// Add returns the size of s and t together.
func (s Size) Add(t Size) Size { return Size{s.Likely + t.Likely, s.Least + t.Least} }

// Less returns what s has more than t.
func (s Size) Less(t Size) Size { return Size{s.Likely - t.Likely, s.Least - t.Least} }

// Text returns the size of text.
//
// The least of it is a count of what tokenizers cut a text into before they look
// for tokens in it: words, numbers, runs of signs. A token hardly ever reaches from
// one into the next, but for the space or the single sign before a word and the
// apostrophe within. Long runs are several tokens; the lengths are those that only
// a few odd tokens go beyond. For prose it comes near the truth, of code and data it
// is about half.
func Text(text string) Size {
	var n, c uint64
	var run run
	least := 0
	for i := 0; i < len(text); n++ {
		k, width := ascii(text[i]), 1
		if text[i] >= utf8.RuneSelf {
			var r rune
			r, width = utf8.DecodeRuneInString(text[i:])
			k = kindOf(r)
			if r >= 0x4E00 && r <= 0x9FFF {
				c++
			}
		}
		if text[i] == '\'' && run.kind == letter && i+1 < len(text) && ascii(text[i+1]) == letter {
			k = letter // some have a token for "don't"
		}
		if k != run.kind {
			least += run.tokens(k)
			run.kind, run.length = k, 0
		}
		run.length++
		i += width
	}
	return Size{Likely: likely(n, c), Least: least + run.tokens(space)}
}

// A kind is what a character is to a tokenizer.
type kind byte

const (
	space  kind = iota
	letter      // of a script that spells words
	script      // a letter of a script that has one for a syllable or a word
	digit
	sign
)

// A run is characters of one kind in a row.
type run struct {
	kind   kind
	length int
}

// tokens is the least that r is worth where a character of the kind next follows.
func (r run) tokens(next kind) int {
	switch r.kind {
	case letter:
		return (r.length + 23) / 24
	case script:
		return (r.length + 7) / 8
	case digit:
		return (r.length + 7) / 8
	case sign:
		if r.length == 1 && (next == letter || next == script) {
			return 0 // it may be part of the word
		}
		return (r.length + 127) / 128
	}
	return 0 // spaces may all be part of something else
}

func ascii(b byte) kind {
	switch lower := b | 0x20; {
	case lower >= 'a' && lower <= 'z':
		return letter
	case b == ' ', b >= '\t' && b <= '\r':
		return space
	case b >= '0' && b <= '9':
		return digit
	}
	return sign
}

func kindOf(r rune) kind {
	switch {
	case r >= 0x3040 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3: // nearly all of them
		return script
	case unicode.In(r, unicode.Han, unicode.Hangul):
		return script
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsDigit(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return sign
}
