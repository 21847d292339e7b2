// Package edit replaces pieces of a text that are named by their content.
//
// All edits of one call look at the same original text and either all apply or
// none does. Bytes outside of what was replaced stay as they are, whatever
// encoding they are in. There are three rules for where an edit belongs, and
// each is only asked when those before it found nothing; none of them folds
// letters, quotation marks or indentation, because a guess that hits the wrong
// place is worse than an error.
package edit

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// An Edit replaces Old, which must occur exactly once, by New. With All set it
// replaces every occurrence.
type Edit struct {
	Old, New string
	All      bool
}

// A Rule is how the place of an edit was found.
type Rule int

// The rules, in the order in which they are asked.
const (
	Exact          Rule = iota // Old occurs byte by byte
	LineEndings                // it occurs when CRLF and LF count as the same
	TrailingBlanks             // it occurs, once, when blanks at the end of a line do not count either
)

// String says how the text was matched.
func (r Rule) String() string {
	switch r {
	case LineEndings:
		return "matched apart from its line endings"
	case TrailingBlanks:
		return "matched apart from blanks at line ends"
	default:
		return "matched exactly"
	}
}

// A Change is a replaced piece of the original text.
type Change struct {
	Edit       int // index of the edit
	Start, End int // bytes of the original
	New        string
	Rule       Rule
}

// A Fault is why an edit cannot be applied.
type Fault struct {
	Edit int // index of the edit
	Text string
}

// An Error says of every edit that cannot be applied why.
type Error struct {
	Faults []Fault
	Of     int // how many edits there were
}

// Error returns a line for each fault. Edits count from 1, if there are several.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Text
		if e.Of > 1 {
			lines[i] = fmt.Sprintf("edit %d: %s", f.Edit+1, f.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Apply returns content with the edits applied, and what changed, in the order
// of the text. It fails with an [*Error], and then nothing is applied.
func Apply(content []byte, edits []Edit) ([]byte, []Change, error) {
	var changes []Change
	fail := &Error{Of: len(edits)}
	newline := onlyNewline(content)
	for i, e := range edits {
		found, fault := find(content, e, newline)
		if fault != "" {
			fail.Faults = append(fail.Faults, Fault{i, fault})
			continue
		}
		for _, c := range found {
			c.Edit = i
			changes = append(changes, c)
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.Start, b.Start) })
	fail.Faults = append(fail.Faults, overlaps(content, changes)...)
	if len(edits) == 0 {
		fail.Faults = append(fail.Faults, Fault{0, "there are no edits; give at least one"})
	}
	if len(fail.Faults) > 0 {
		return nil, nil, fail
	}
	return Splice(content, changes), changes, nil
}

// Splice returns content with the changes made, which must be in order and
// apart from each other.
func Splice(content []byte, changes []Change) []byte {
	size := len(content)
	for _, c := range changes {
		size += len(c.New) - (c.End - c.Start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, c := range changes {
		out = append(out, content[at:c.Start]...)
		out = append(out, c.New...)
		at = c.End
	}
	return append(out, content[at:]...)
}

// overlaps returns a fault for each pair of neighbours that want the same bytes.
func overlaps(content []byte, changes []Change) []Fault {
	var faults []Fault
	for i := 1; i < len(changes); i++ {
		a, b := changes[i-1], changes[i]
		if b.Start < a.End {
			faults = append(faults, Fault{b.Edit, fmt.Sprintf(
				"it overlaps with edit %d at line %d; make one edit of the two", a.Edit+1, Line(content, b.Start))})
		}
	}
	return faults
}

// find returns the changes that e makes to content, or why it makes none.
func find(content []byte, e Edit, newline string) ([]Change, string) {
	switch {
	case e.Old == "":
		return nil, "the old text is empty; give the text to replace, or use write for a whole file"
	case strings.TrimSpace(e.Old) == "":
		return nil, "the old text is only whitespace; add some of the text beside it"
	case e.Old == e.New:
		return nil, "the old and the new text are equal, so nothing would change"
	}
	spans, rule := locate(content, e)
	if len(spans) == 0 {
		return nil, notFound(content, e.Old)
	}
	if len(spans) > 1 && !e.All {
		return nil, ambiguous(content, spans)
	}
	changes := make([]Change, len(spans))
	same := true
	for i, s := range spans {
		if afterForeign(content, s.start) {
			return nil, fmt.Sprintf("the text at line %d follows a byte that is not UTF-8, and may be a part of the same letter; begin further away from it", Line(content, s.start))
		}
		old := content[s.start:s.end]
		text := withNewlines(e.New, cmp.Or(onlyNewline(old), newline))
		if rule == Exact && strings.Contains(e.Old, "\n") {
			text = e.New // whoever names the line endings exactly means those of the new text, too
		}
		changes[i] = Change{Start: s.start, End: s.end, New: text, Rule: rule}
		same = same && string(old) == text
	}
	if same {
		return nil, "the file has the new text already, so nothing would change"
	}
	return changes, ""
}

// onlyNewline returns the line ending of text if it has one kind only, "" if it
// has none or both.
func onlyNewline(text []byte) string {
	lf := bytes.Count(text, []byte("\n"))
	switch crlf := bytes.Count(text, []byte("\r\n")); {
	case lf == 0:
		return ""
	case crlf == lf:
		return "\r\n"
	case crlf == 0:
		return "\n"
	default:
		return ""
	}
}

// withNewlines returns text with its line endings made newline, if there is one.
func withNewlines(text, newline string) string {
	if newline == "" {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if newline == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", newline)
}

// Line returns the number, from 1, of the line that the byte at offset is in.
func Line(content []byte, offset int) int {
	return 1 + bytes.Count(content[:offset], []byte("\n"))
}
