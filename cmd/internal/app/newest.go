package app

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/catalog"
)

// newest returns at most n of the models of a provider: of each line, which are the
// models that differ in nothing but their version, the newest, the highest versions
// first. The models of one maker are one line where others resell them.
func newest(all []catalog.Model, n int) []catalog.Model {
	parsed := make(map[string]release, len(all))
	best := make(map[string]catalog.Model)
	for _, m := range all {
		r := releaseOf(m.ID)
		parsed[m.ID] = r
		have, ok := best[r.line]
		if !ok || r.compare(parsed[have.ID]) > 0 {
			best[r.line] = m
		}
	}
	var out []catalog.Model
	for _, m := range all {
		if best[parsed[m.ID].line].ID == m.ID {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b catalog.Model) int { return parsed[b.ID].compare(parsed[a.ID]) })
	return out[:min(len(out), n)]
}

// A release is what an id says of its model: which line it belongs to, and when it
// came.
type release struct {
	line    string // the id without its numbers
	version []int
	date    int // such as 2512, 0 without one
}

// releaseOf reads an id like claude-opus-5-5, gpt-5.6-sol or ministral-14b-2512. A
// number of parameters, which has a letter behind it, belongs to the line.
func releaseOf(id string) release {
	var r release
	var line []string
	slash := strings.LastIndexByte(id, '/')
	words := strings.FieldsFunc(id[slash+1:], func(c rune) bool { return strings.ContainsRune("-._:@", c) })
	for _, word := range words {
		name := strings.TrimRight(word, "0123456789")
		n, err := strconv.Atoi(word[len(name):])
		switch {
		case err != nil && len(name) > 1 && '0' <= name[0] && name[0] <= '9' && !strings.HasSuffix(name, "b"):
			// as in 4o
			i := strings.IndexFunc(name, func(c rune) bool { return c < '0' || c > '9' })
			n, _ := strconv.Atoi(name[:i])
			r.version = append(r.version, n)
			line = append(line, name[i:])
			continue
		case err == nil && (n >= 100 || strings.HasPrefix(word, "0")):
			r.date = max(r.date, n)
		case err == nil && r.date == 0 && len(r.version) < 2:
			r.version = append(r.version, n)
		}
		if name != "" {
			line = append(line, name)
		}
	}
	if r.line = strings.Join(line, "-"); slash > 0 {
		r.line = id[:slash]
	}
	return r
}

// compare orders releases by age, the older first. One that says nothing of its
// version is older than one that does.
func (r release) compare(q release) int {
	return cmp.Or(slices.Compare(r.version, q.version), cmp.Compare(r.date, q.date))
}
