package tools

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxSuggestions = 3
	maxListed      = 12 // names listed when none is near
)

// Suggest returns up to three names on offer that are near to name, the nearest
// first, for a model that called a tool which does not exist.
func (r *Registry) Suggest(name string) []string {
	type near struct {
		name     string
		distance int
	}
	want := fold(cut(name, 64))
	if want == "" {
		return nil
	}
	var found []near
	for _, e := range r.entries {
		if d, ok := distance(want, fold(e.info.Name)); ok {
			found = append(found, near{e.info.Name, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, f := range found[:min(len(found), maxSuggestions)] {
		names = append(names, f.name)
	}
	return names
}

// hint ends a sentence about a missing tool with what to call instead.
func (r *Registry) hint(name string) string {
	if near := r.Suggest(name); len(near) > 0 {
		return "; near it are: " + strings.Join(near, ", ")
	}
	if len(r.entries) == 0 {
		return "; no tools are available in this turn"
	}
	var names []string
	for _, e := range r.entries[:min(len(r.entries), maxListed)] {
		names = append(names, e.info.Name)
	}
	if len(r.entries) > maxListed {
		names = append(names, "…")
	}
	return "; the tools are: " + strings.Join(names, ", ")
}

// fold lowers a name and makes its separators alike.
func fold(name string) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		if c == '-' || c == '.' || c == ' ' || c == '/' {
			return '_'
		}
		return c
	}, strings.ToLower(name)), "_")
}

// distance returns how far two folded names are from each other, and whether
// that is near: they share a whole word, or a third of the letters at most
// differ.
func distance(a, b string) (int, bool) {
	d := levenshtein([]rune(a), []rune(b))
	if d*3 <= max(utf8.RuneCountInString(a), utf8.RuneCountInString(b)) {
		return d, true
	}
	words := strings.Split(b, "_")
	for w := range strings.SplitSeq(a, "_") {
		if len(w) > 2 && slices.Contains(words, w) {
			return d, true
		}
	}
	return d, false
}

// levenshtein returns how many letters must be inserted, removed or replaced
// to turn a into b.
func levenshtein(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, cb := range b {
			replace := diagonal
			if ca != cb {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
