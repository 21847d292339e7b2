package workspace

import (
	"bytes"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace/edit"
)

const (
	around   = 3        // lines of context on each side of a change
	maxHunks = 20       // hunks shown of one call
	maxHunk  = 64 << 10 // bytes shown of each side of a hunk
	tooLong  = "[the rest of this change is not shown]\n"
)

// hunks returns the changes of the text old of the file at path as diffs of the
// pieces concerned and some lines around them: a client shows them at once, and
// a small change of a large file stays small.
func hunks(path string, old []byte, changes []edit.Change) []tools.Diff {
	var diffs []tools.Diff
	for len(changes) > 0 && len(diffs) < maxHunks {
		start := linesBefore(old, changes[0].Start, around)
		end := linesAfter(old, changes[0].End, around)
		n := 1
		for n < len(changes) && linesBefore(old, changes[n].Start, around) <= end {
			end = linesAfter(old, changes[n].End, around)
			n++
		}
		piece := old[start:end]
		moved := make([]edit.Change, n)
		for i, c := range changes[:n] {
			c.Start, c.End = c.Start-start, c.End-start
			moved[i] = c
		}
		before := shorten(piece)
		diffs = append(diffs, tools.Diff{Path: path, Old: &before, New: shorten(edit.Splice(piece, moved))})
		changes = changes[n:]
	}
	return diffs
}

// difference returns the one change that turns old into text: all between what
// they begin and end with alike, in whole lines.
func difference(old, text []byte) edit.Change {
	start := 0
	for start < min(len(old), len(text)) && old[start] == text[start] {
		start++
	}
	start = bytes.LastIndexByte(old[:start], '\n') + 1
	tail := 0
	for tail < min(len(old), len(text))-start && old[len(old)-1-tail] == text[len(text)-1-tail] {
		tail++
	}
	if rest := old[len(old)-tail:]; tail > 0 {
		nl := bytes.IndexByte(rest, '\n')
		if nl < 0 {
			nl = len(rest) - 1
		}
		tail -= nl + 1
	}
	return edit.Change{Start: start, End: len(old) - tail, New: string(text[start : len(text)-tail])}
}

// linesBefore returns the start of the line n lines above that of at.
func linesBefore(text []byte, at, n int) int {
	at = bytes.LastIndexByte(text[:at], '\n') + 1
	for ; n > 0 && at > 0; n-- {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return at
}

// linesAfter returns the end of the line n lines below that of at, or of the
// line before when at begins one.
func linesAfter(text []byte, at, n int) int {
	if at > 0 && text[at-1] == '\n' {
		n--
	}
	for ; n >= 0 && at < len(text); n-- {
		nl := bytes.IndexByte(text[at:], '\n')
		if nl < 0 {
			return len(text)
		}
		at += nl + 1
	}
	return at
}

// shorten returns text as valid UTF-8 of a length that a client can take.
func shorten(text []byte) string {
	if len(text) <= maxHunk {
		return strings.ToValidUTF8(string(text), "�")
	}
	if nl := bytes.LastIndexByte(text[:maxHunk], '\n'); nl >= 0 {
		return strings.ToValidUTF8(string(text[:nl+1]), "�") + tooLong
	}
	return strings.ToValidUTF8(string(cutRunes(text, maxHunk)), "�") + "\n" + tooLong
}
