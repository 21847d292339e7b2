package edit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxSpans is how many places of an edit that wants one are looked for.
const maxSpans = 20

// A span is a piece of the content.
type span struct{ start, end int }

// locate returns where e.Old is in content by the first rule that finds it. For
// an edit of all places they do not overlap; for one of a single place, all are
// returned that it could mean, up to a limit.
func locate(content []byte, e Edit) ([]span, Rule) {
	limit := maxSpans
	if e.All {
		limit = len(content)
	}
	if spans := exact(content, e.Old, e.All, limit); len(spans) > 0 {
		return spans, Exact
	}
	lines := strings.Split(strings.ReplaceAll(e.Old, "\r\n", "\n"), "\n")
	if len(lines) == 1 {
		return nil, Exact
	}
	if spans := byLines(content, lines, false, e.All, limit); len(spans) > 0 {
		return spans, LineEndings
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	if spans := byLines(content, lines, true, e.All, limit); len(spans) == 1 {
		return spans, TrailingBlanks
	}
	return nil, Exact
}

func exact(content []byte, old string, apart bool, limit int) []span {
	var spans []span
	pattern := []byte(old)
	for at := 0; len(spans) < limit; {
		i := bytes.Index(content[at:], pattern)
		if i < 0 {
			break
		}
		s := span{at + i, at + i + len(pattern)}
		at = s.start + 1
		if splitsCRLF(content, s.start) {
			continue
		}
		spans = append(spans, s)
		if apart {
			at = s.end
		}
	}
	return spans
}

// splitsCRLF reports whether at is between the two bytes of a line ending.
func splitsCRLF(content []byte, at int) bool {
	return at > 0 && content[at] == '\n' && content[at-1] == '\r'
}

// afterForeign reports whether the byte before at is not part of UTF-8 text. In
// most encodings of East Asia the byte at at can then be the second half of a
// letter, although it looks like ASCII.
func afterForeign(content []byte, at int) bool {
	r, size := utf8.DecodeLastRune(content[:at])
	return r == utf8.RuneError && size == 1
}

// byLines finds lines in content, the first at the end of a line, the last at
// the beginning of one, where a line may end in LF or CRLF and, with blanks
// set, in blanks before that.
func byLines(content []byte, lines []string, blanks, apart bool, limit int) []span {
	var spans []span
	first := []byte(lines[0])
	for at := 0; at <= len(content) && len(spans) < limit; {
		nl := bytes.IndexByte(content[at:], '\n')
		if nl < 0 {
			break
		}
		next := at + nl + 1
		stop := lineEnd(content, at, next, blanks)
		start := stop - len(first)
		if start < at || !bytes.HasSuffix(content[at:stop], first) {
			at = next
			continue
		}
		end, ok := rest(content, next, lines[1:], blanks)
		if ok {
			spans = append(spans, span{start, end})
		}
		at = next
		if ok && apart {
			at = max(next, end)
		}
	}
	return spans
}

// lineEnd returns where the text of the line from start to next, which begins
// the following line, ends.
func lineEnd(content []byte, start, next int, blanks bool) int {
	end := next - 1
	if end > start && content[end-1] == '\r' {
		end--
	}
	for blanks && end > start && (content[end-1] == ' ' || content[end-1] == '\t') {
		end--
	}
	return end
}

// rest matches lines from at, the beginning of a line, and returns the end of
// the last.
func rest(content []byte, at int, lines []string, blanks bool) (int, bool) {
	last := len(lines) - 1
	for _, line := range lines[:last] {
		nl := bytes.IndexByte(content[at:], '\n')
		if nl < 0 {
			return 0, false
		}
		next := at + nl + 1
		if string(content[at:lineEnd(content, at, next, blanks)]) != line {
			return 0, false
		}
		at = next
	}
	if !bytes.HasPrefix(content[at:], []byte(lines[last])) {
		return 0, false
	}
	return at + len(lines[last]), true
}
