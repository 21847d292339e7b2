package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSteps is how many schemas one check applies. A schema that refers to
// itself in a circle, or branches without end, is given up after that.
const maxSteps = 100_000

// maxDepth is how deep schemas are applied inside of each other.
const maxDepth = 500

// A Fault is something that does not fit.
type Fault struct {
	At   string // where in the value, such as edits.0.old; "" is the value itself
	Text string

	mistyped bool // the value is of another type altogether
}

func (f Fault) String() string {
	if f.At == "" {
		return f.Text
	}
	return f.At + ": " + f.Text
}

// Check returns what of v, a value that [Parse] decoded, does not fit, in the
// order of the names and positions. What would take beyond all measure to
// decide counts as fitting.
func (s *Schema) Check(v any) []Fault {
	c := &check{}
	return c.apply(s.root, v, "", 0)
}

// A check counts the work of one call.
type check struct{ steps int }

// apply returns what of v, which is at the path at, does not fit n.
func (c *check) apply(n *node, v any, at string, depth int) []Fault {
	if c.steps++; n == nil || c.steps > maxSteps || depth > maxDepth {
		return nil
	}
	if n.never {
		return []Fault{{At: at, Text: "nothing is allowed here"}}
	}
	if len(n.types) > 0 && !slices.ContainsFunc(n.types, func(t string) bool { return is(t, v) }) {
		return []Fault{{at, fmt.Sprintf("got %s, want %s", typeOf(v), strings.Join(n.types, " or ")), true}}
	}
	if n.enum != nil && !slices.ContainsFunc(n.enum, func(e any) bool { return equal(e, v) }) {
		return []Fault{{At: at, Text: "want " + list(n.enum)}}
	}
	faults := c.apply(n.ref, v, at, depth+1)
	switch v := v.(type) {
	case string:
		faults = append(faults, n.checkString(v, at)...)
	case json.Number:
		faults = append(faults, n.checkNumber(v, at)...)
	case []any:
		faults = append(faults, c.array(n, v, at, depth)...)
	case map[string]any:
		faults = append(faults, c.object(n, v, at, depth)...)
	}
	return append(faults, c.logic(n, v, at, depth)...)
}

func (c *check) logic(n *node, v any, at string, depth int) []Fault {
	var faults []Fault
	for _, sub := range n.all {
		faults = append(faults, c.apply(sub, v, at, depth+1)...)
	}
	if len(n.any) > 0 {
		if fits, nearest := c.branches(n.any, v, at, depth); fits == 0 {
			faults = append(faults, nearest...)
		}
	}
	if len(n.one) > 0 {
		fits, nearest := c.branches(n.one, v, at, depth)
		if fits == 0 {
			faults = append(faults, nearest...)
		}
		if fits > 1 && c.steps <= maxSteps {
			faults = append(faults, Fault{At: at, Text: fmt.Sprintf("fits %d of the alternatives, want exactly one", fits)})
		}
	}
	if n.not != nil && len(c.apply(n.not, v, at, depth+1)) == 0 && c.steps <= maxSteps {
		faults = append(faults, Fault{At: at, Text: "is what is not allowed here"})
	}
	if n.cond != nil {
		branch := n.then
		if len(c.apply(n.cond, v, at, depth+1)) > 0 {
			branch = n.otherwise
		}
		faults = append(faults, c.apply(branch, v, at, depth+1)...)
	}
	return faults
}

// branches returns how many of ns v fits, and the faults of the one it fits
// best.
func (c *check) branches(ns []*node, v any, at string, depth int) (fits int, nearest []Fault) {
	for i, n := range ns {
		faults := c.apply(n, v, at, depth+1)
		if len(faults) == 0 {
			fits++
		}
		if i == 0 || better(faults, nearest, at) {
			nearest = faults
		}
	}
	return fits, nearest
}

// better reports whether a says more of what to change than b: the value at the
// path at was of the right type, or has faults further inside.
func better(a, b []Fault, at string) bool {
	mistyped := func(f Fault) bool { return f.mistyped && f.At == at }
	if x, y := slices.ContainsFunc(a, mistyped), slices.ContainsFunc(b, mistyped); x != y {
		return y
	}
	inside := func(f Fault) bool { return f.At != at }
	if x, y := slices.ContainsFunc(a, inside), slices.ContainsFunc(b, inside); x != y {
		return x
	}
	return len(a) < len(b)
}

func (n *node) checkString(v, at string) []Fault {
	faults := n.length.check(utf8.RuneCountInString(v), "characters", at)
	if n.text != nil && !n.text.MatchString(v) {
		faults = append(faults, Fault{At: at, Text: fmt.Sprintf("does not match the pattern %s", n.text)})
	}
	return faults
}

func (n *node) checkNumber(v json.Number, at string) []Fault {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil && !math.IsInf(f, 0) {
		return []Fault{{At: at, Text: "is not a number"}}
	}
	rules := []struct {
		limit *float64
		ok    func(limit float64) bool
		want  string
	}{
		{n.minimum, func(l float64) bool { return f >= l }, "at least"},
		{n.maximum, func(l float64) bool { return f <= l }, "at most"},
		{n.above, func(l float64) bool { return f > l }, "more than"},
		{n.below, func(l float64) bool { return f < l }, "less than"},
		{n.multiple, func(l float64) bool { return math.Abs(f/l-math.Round(f/l)) < 1e-9 }, "a multiple of"},
	}
	var faults []Fault
	for _, r := range rules {
		if r.limit != nil && !r.ok(*r.limit) {
			faults = append(faults, Fault{At: at, Text: fmt.Sprintf("got %s, want %s %v", v, r.want, *r.limit)})
		}
	}
	return faults
}

func (c *check) array(n *node, v []any, at string, depth int) []Fault {
	faults := n.itemCount.check(len(v), "items", at)
	for i, item := range v {
		sub := n.items
		if i < len(n.prefix) {
			sub = n.prefix[i]
		}
		if sub != nil {
			faults = append(faults, c.apply(sub, item, below(at, strconv.Itoa(i)), depth+1)...)
		}
	}
	if n.contains != nil {
		matches := 0
		for _, item := range v {
			if len(c.apply(n.contains, item, at, depth+1)) == 0 {
				matches++
			}
		}
		faults = append(faults, n.matches.check(matches, "items of the required kind", at)...)
	}
	if n.unique {
		faults = append(faults, unique(v, at)...)
	}
	return faults
}

func unique(v []any, at string) []Fault {
	seen := map[string]int{}
	for i, item := range v {
		key := canonical(item)
		if j, ok := seen[key]; ok {
			return []Fault{{At: at, Text: fmt.Sprintf("items %d and %d are equal", j, i)}}
		}
		seen[key] = i
	}
	return nil
}

func (c *check) object(n *node, v map[string]any, at string, depth int) []Fault {
	faults := n.propertyCount.check(len(v), "properties", at)
	for _, name := range n.required {
		if _, ok := v[name]; !ok {
			faults = append(faults, Fault{At: at, Text: fmt.Sprintf("missing property '%s'", name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		faults = append(faults, c.property(n, name, v[name], at, depth)...)
		for _, other := range n.dependent[name] {
			if _, ok := v[other]; !ok {
				faults = append(faults, Fault{At: at, Text: fmt.Sprintf("missing property '%s', which '%s' needs", other, name)})
			}
		}
		faults = append(faults, c.apply(n.whenThere[name], v, at, depth+1)...)
	}
	return faults
}

func (c *check) property(n *node, name string, v any, at string, depth int) []Fault {
	var faults []Fault
	for _, f := range c.apply(n.names, name, at, depth+1) {
		faults = append(faults, Fault{At: at, Text: fmt.Sprintf("the name '%s': %s", name, f.Text)})
	}
	path := below(at, name)
	sub, known := n.properties[name]
	faults = append(faults, c.apply(sub, v, path, depth+1)...)
	for _, p := range n.patterns {
		if p.re.MatchString(name) {
			known = true
			faults = append(faults, c.apply(p.node, v, path, depth+1)...)
		}
	}
	switch {
	case known || n.additional == nil:
	case n.additional.never:
		faults = append(faults, Fault{At: at, Text: fmt.Sprintf("unknown property '%s'%s", name, n.knownNames())})
	default:
		faults = append(faults, c.apply(n.additional, v, path, depth+1)...)
	}
	return faults
}

func (n *node) knownNames() string {
	if len(n.properties) == 0 || len(n.properties) > 12 {
		return ""
	}
	return ", known are " + strings.Join(slices.Sorted(maps.Keys(n.properties)), ", ")
}

func (b bounds) check(size int, unit, at string) []Fault {
	switch {
	case b.min != nil && size < *b.min:
		return []Fault{{At: at, Text: fmt.Sprintf("number of %s is %d, want at least %d", unit, size, *b.min)}}
	case b.max != nil && size > *b.max:
		return []Fault{{At: at, Text: fmt.Sprintf("number of %s is %d, want at most %d", unit, size, *b.max)}}
	}
	return nil
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
