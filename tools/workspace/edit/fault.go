package edit

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	maxNamed = 5  // lines that an ambiguity names
	maxShown = 80 // characters that a hint shows of a line
)

// ambiguous says where the places are that an edit could mean.
func ambiguous(content []byte, spans []span) string {
	var lines []string
	for _, s := range spans[:min(len(spans), maxNamed)] {
		lines = append(lines, fmt.Sprint(Line(content, s.start)))
	}
	count := fmt.Sprintf("%d times", len(spans))
	if len(spans) >= maxSpans {
		count = fmt.Sprintf("at least %d times", maxSpans)
	}
	more := ""
	if len(spans) > maxNamed {
		more = ", …"
	}
	return fmt.Sprintf("the old text occurs %s (lines %s%s); add lines around it to name one place, or set all to replace each",
		count, strings.Join(lines, ", "), more)
}

var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ *[0-9]+\t`) })

// notFound says that old is not in content, and what may be the reason.
func notFound(content []byte, old string) string {
	const text = "the old text is not in the file"
	switch {
	case allNumbered(old):
		return text + "; it has the line numbers that read shows: leave out each number and the tab after it"
	case strings.ContainsRune(old, utf8.RuneError) && !utf8.Valid(content):
		return text + "; it has a �, which read shows for bytes that are not UTF-8: name a piece without them"
	}
	if hint := nearest(content, old); hint != "" {
		return text + "; " + hint
	}
	return text + "; read the file again and copy the text as it is there"
}

func allNumbered(text string) bool {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !numbered().MatchString(line) {
			return false
		}
	}
	return true
}

// nearest looks for the one place where content has the first line of old that
// is not blank, apart from blanks around it, and says where the two part.
func nearest(content []byte, old string) string {
	wanted := strings.Split(strings.TrimLeft(strings.TrimRight(old, " \t\r\n"), "\r\n"), "\n")
	first := []byte(strings.TrimSpace(wanted[0]))
	if len(first) == 0 {
		return ""
	}
	lines := bytes.Split(content, []byte("\n"))
	start := -1
	for i, line := range lines {
		if !bytes.Equal(bytes.TrimSpace(line), first) {
			continue
		}
		if start >= 0 {
			return ""
		}
		start = i
	}
	if start < 0 {
		return ""
	}
	for i, want := range wanted {
		if start+i == len(lines) {
			return fmt.Sprintf("it begins at line %d, but the file ends before it does", start+1)
		}
		have := strings.TrimRight(string(lines[start+i]), " \t\r")
		if want = strings.TrimRight(want, " \t\r"); have != want {
			return fmt.Sprintf("it seems to mean line %d, but line %d is %s, not %s", start+1, start+i+1, quote(have), quote(want))
		}
	}
	return ""
}

// quote shows the beginning of a line.
func quote(line string) string {
	r := []rune(strings.ToValidUTF8(line, "�"))
	if len(r) > maxShown {
		r = append(r[:maxShown], '…')
	}
	return "`" + string(r) + "`"
}
