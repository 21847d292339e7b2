// Package words says what the words of a text are, for the search over threads.
// Every store finds the same for the same query, whatever its database takes for
// a word: the database is given words that are already cut and folded.
//
// A word is a run of letters and digits, in lower case and without accents. In
// scripts that put no space between words, such as Chinese, Japanese and Thai,
// each character is one.
package words

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lorimer-dev/lorimer/harness/thread"
)

// What is searched of a text. A tsvector tells hardly more places apart, and takes
// no more than a megabyte.
const (
	maxWords  = 16000
	maxBytes  = 512 << 10 // of the words, folded
	maxLetter = 64        // characters of a word; longer ones are data
)

// A Word is a word of a text: Text is its folded form, Start and End the bytes
// where it stands.
type Word struct {
	Text       string
	Start, End int
}

// Of returns the words of s, without those after the first 16,000, or after half a
// megabyte of words.
func Of(s string) iter.Seq[Word] {
	return func(yield func(Word) bool) {
		count, size := 0, 0
		for at := 0; at < len(s) && count < maxWords && size < maxBytes; {
			start := at
			var end int
			end, at = next(s, at)
			if end == start {
				continue
			}
			text := fold(s[start:end])
			if text == "" {
				continue
			}
			count++
			size += len(text)
			if !yield(Word{text, start, end}) {
				return
			}
		}
	}
}

// next returns the end of the word that begins at start, which is start if there
// is none, and where to go on.
func next(s string, start int) (end, on int) {
	for end = start; end < len(s); {
		c, size := utf8.DecodeRuneInString(s[end:])
		switch {
		case isMark(c) && end > start:
		case !unicode.IsLetter(c) && !unicode.IsNumber(c):
			return end, end + size
		case isAlone(c):
			if end > start {
				return end, end
			}
			end += size
			for end < len(s) {
				c, size := utf8.DecodeRuneInString(s[end:])
				if !isMark(c) {
					break
				}
				end += size
			}
			return end, end
		}
		end += size
	}
	return end, end
}

// isMark reports whether c belongs to the character before it.
func isMark(c rune) bool {
	return c >= utf8.RuneSelf && (unicode.Is(unicode.M, c) || unicode.Is(unicode.Cf, c) || c == '\uff9e' || c == '\uff9f')
}

// isAlone reports whether c is a word of its own.
func isAlone(c rune) bool {
	return c >= 0x0e00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Bopomofo, unicode.Yi)
}

// fold returns the form of a word that is compared. It may be empty, or shorter.
func fold(s string) string {
	if isPlain(s) {
		return strings.ToLower(s[:min(len(s), maxLetter)])
	}
	s = s[:min(len(s), 16*maxLetter)]
	var b strings.Builder
	count := 0
	for _, c := range norm.NFKD.String(s) {
		if count == maxLetter {
			break
		}
		if isAccent(c) || !unicode.In(c, unicode.L, unicode.N, unicode.M) {
			continue
		}
		count++
		if plain := spelled(c); plain != "" {
			b.WriteString(plain)
		} else {
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return norm.NFC.String(b.String())
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isAccent reports whether c is a mark that many leave out when they type: of
// Latin, Greek and Cyrillic letters, and the vowels of Hebrew and Arabic.
func isAccent(c rune) bool {
	switch {
	case c < 0x0300:
		return false
	case c <= 0x036f, 0x0591 <= c && c <= 0x05c7, 0x064b <= c && c <= 0x065f, 0x06d6 <= c && c <= 0x06ed,
		0x1ab0 <= c && c <= 0x1aff, 0x1dc0 <= c && c <= 0x1dff, 0x20d0 <= c && c <= 0x20ff, 0xfe20 <= c && c <= 0xfe2f:
		return unicode.Is(unicode.Mn, c)
	}
	return c == 0x0640 || c == 0x0670
}

// spelled returns how a letter is written without its stroke or bond, "" for one
// that has none.
func spelled(c rune) string {
	switch c {
	case 'ß', 'ẞ':
		return "ss"
	case 'æ', 'Æ':
		return "ae"
	case 'œ', 'Œ':
		return "oe"
	case 'ø', 'Ø':
		return "o"
	case 'ł', 'Ł':
		return "l"
	case 'đ', 'Đ':
		return "d"
	case 'ı':
		return "i"
	case 'ς':
		return "σ"
	}
	return ""
}

// Searched returns the text of a body that is searched and whose it is: user,
// assistant or title. Role is "" for a body that is not searched.
func Searched(b thread.Body) (role, text string) {
	var texts []string
	switch b := b.(type) {
	case thread.User:
		for _, block := range b.Blocks {
			switch {
			case block.URI == "" && block.MIME == "":
				texts = append(texts, block.Text)
			case block.Name != "":
				texts = append(texts, block.Name)
			}
		}
		return "user", strings.Join(texts, "\n")
	case thread.Assistant:
		if b.Void {
			return "", ""
		}
		for _, p := range b.Parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		return "assistant", strings.Join(texts, "\n")
	case thread.Title:
		return "title", b.Text
	}
	return "", ""
}
