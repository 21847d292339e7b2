package words

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

const (
	maxQuery   = 1000 // bytes of a query that are read
	maxPhrases = 32   // of a query; the others are left out
	maxSnippet = 200  // characters
	lead       = 60   // characters of a snippet before what was found
)

// A Query is what to look for: all of its phrases must occur, each with its words
// next to each other. The last word of the last phrase may be the beginning of
// one. A query of nothing but signs has no phrases, and finds nothing.
type Query [][]string

// Parse reads a query. No sign has a meaning in it: what stands between spaces is
// a phrase.
func Parse(s string) Query {
	var q Query
	for field := range strings.FieldsSeq(s[:min(len(s), maxQuery)]) {
		var phrase []string
		for w := range Of(field) {
			phrase = append(phrase, w.Text)
		}
		if len(phrase) > 0 && len(q) < maxPhrases {
			q = append(q, phrase)
		}
	}
	return q
}

// Score looks for q in a text. It is more where more of a text is found, and 0
// where a phrase is not there.
func (q Query) Score(text string) float64 {
	ws := slices.Collect(Of(text))
	found := 0
	for i := range q {
		n := 0
		for at := range ws {
			if q.at(i, ws[at:]) {
				n++
			}
		}
		if n == 0 {
			return 0
		}
		found += n
	}
	if found == 0 {
		return 0
	}
	return float64(found) / math.Log(float64(len(ws)+2))
}

// at reports whether ws begins with phrase i.
func (q Query) at(i int, ws []Word) bool {
	phrase := q[i]
	if len(ws) < len(phrase) {
		return false
	}
	for k, w := range phrase {
		if ws[k].Text == w {
			continue
		}
		last := i == len(q)-1 && k == len(phrase)-1
		if !last || !strings.HasPrefix(ws[k].Text, w) {
			return false
		}
	}
	return true
}

// any reports whether ws begins with one of the phrases.
func (q Query) any(ws []Word) bool {
	for i := range q {
		if q.at(i, ws) {
			return true
		}
	}
	return false
}

// Snippet returns the part of a text around the first place of any phrase, on
// one line of at most 200 characters.
func (q Query) Snippet(text string) string {
	ws := slices.Collect(Of(text))
	start := 0
	for at := range ws {
		if q.any(ws[at:]) {
			start = ws[at].Start
			break
		}
	}
	from, cut := back(text, start, lead), ""
	if from > 0 {
		cut = "..."
	}
	to := min(len(text), from+16*maxSnippet)
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return cut + tools.Line(strings.Join(strings.Fields(text[from:to]), " "), maxSnippet-len(cut))
}

// back returns the start of the word that stands n characters before at, or 0.
func back(text string, at, n int) int {
	from := at
	for range n {
		if from == 0 {
			return 0
		}
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if i := strings.IndexAny(text[from:at], " \t\r\n"); i >= 0 {
		return from + i + 1
	}
	return from
}

// Hit returns the hit of q in an entry of a thread.
func (q Query) Hit(info thread.Info, e thread.Entry) thread.Hit {
	role, text := Searched(e.Body)
	return thread.Hit{Thread: info, Seq: e.Seq, Time: e.Time, Role: role, Snippet: q.Snippet(text)}
}
