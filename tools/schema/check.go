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

const (
	// maxWork is what one check may cost: a schema that is applied, a name that
	// is looked for, and some bytes of a text that is compared count as one.
	maxWork = 1 << 18

	maxDepth  = 500 // schemas applied inside of each other
	maxFaults = 100 // faults of one value
	maxPath   = 200 // bytes of [Fault.At] after which it does not grow

	comparedBytes = 16 // bytes of a text that is compared
	readBytes     = 64 // bytes of a text that is read
	matchedSteps  = 32 // instructions that a pattern runs
)

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
// order of the names and positions and at most about a hundred faults. What
// would take beyond all measure to decide, such as a schema that refers to
// itself in a circle, counts as fitting.
func (s *Schema) Check(v any) []Fault {
	c := &check{left: maxWork}
	faults := c.apply(s.root, v, "", 0)
	if c.over {
		return nil
	}
	return faults
}

// A check counts the work of one call.
type check struct {
	left int
	over bool // it was too much; what has been found out is no longer certain
}

// spend counts n units of work, and reports whether the check may go on.
func (c *check) spend(n int) bool {
	if n > c.left {
		c.over = true
	}
	c.left -= n
	return !c.over
}

// weight returns what it costs to look at v, apart from what is in it.
func weight(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) / readBytes
	case json.Number:
		return len(v) / readBytes
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// apply returns what of v, which is at the path at, does not fit n.
func (c *check) apply(n *node, v any, at string, depth int) []Fault {
	if n == nil {
		return nil
	}
	if depth > maxDepth {
		c.over = true
	}
	if !c.spend(1 + weight(v)) {
		return nil
	}
	if n.never {
		return []Fault{{At: at, Text: "nothing is allowed here"}}
	}
	if len(n.types) > 0 && !slices.ContainsFunc(n.types, func(t string) bool { return is(t, v) }) {
		return []Fault{{at, fmt.Sprintf("got %s, want %s", typeOf(v), strings.Join(n.types, " or ")), true}}
	}
	if n.enum != nil && !n.enum.values[c.canonical(v)] {
		return []Fault{{At: at, Text: n.enum.want}}
	}
	faults := c.apply(n.ref, v, at, depth+1)
	switch v := v.(type) {
	case string:
		faults = append(faults, c.text(n, v, at)...)
	case json.Number:
		faults = append(faults, n.checkNumber(v, at)...)
	case []any:
		faults = append(faults, c.array(n, v, at, depth)...)
	case map[string]any:
		faults = append(faults, c.object(n, v, at, depth)...)
	}
	faults = append(faults, c.logic(n, v, at, depth)...)
	return faults[:min(len(faults), maxFaults)]
}

// canonical returns the canonical text of v.
func (c *check) canonical(v any) string {
	text := canonical(v)
	c.spend(len(text) / comparedBytes)
	return text
}

// matches reports whether p matches text. When that is too much to find out it
// does not.
func (c *check) matches(p *pattern, text string) bool {
	return c.spend(1+len(text)*p.size/matchedSteps) && p.re.MatchString(text)
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
		if fits > 1 {
			faults = append(faults, Fault{At: at, Text: fmt.Sprintf("fits %d of the alternatives, want exactly one", fits)})
		}
	}
	if n.not != nil && len(c.apply(n.not, v, at, depth+1)) == 0 {
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

func (c *check) text(n *node, v, at string) []Fault {
	faults := n.length.check(utf8.RuneCountInString(v), "characters", at)
	if n.text != nil && !c.matches(n.text, v) {
		faults = append(faults, Fault{At: at, Text: "does not match the pattern " + short(n.text.re.String())})
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
			faults = append(faults, Fault{At: at, Text: fmt.Sprintf("got %s, want %s %v", short(string(v)), r.want, *r.limit)})
		}
	}
	return faults
}

func (c *check) array(n *node, v []any, at string, depth int) []Fault {
	faults := n.itemCount.check(len(v), "items", at)
	for i, item := range v {
		if c.over || len(faults) >= maxFaults {
			return faults
		}
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
		faults = append(faults, c.unique(v, at)...)
	}
	return faults
}

func (c *check) unique(v []any, at string) []Fault {
	seen := map[string]int{}
	for i, item := range v {
		if c.over {
			return nil
		}
		key := c.canonical(item)
		if j, ok := seen[key]; ok {
			return []Fault{{At: at, Text: fmt.Sprintf("items %d and %d are equal", j, i)}}
		}
		seen[key] = i
	}
	return nil
}

func (c *check) object(n *node, v map[string]any, at string, depth int) []Fault {
	faults := append(n.propertyCount.check(len(v), "properties", at), c.missing(n.required, v, at, "")...)
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if c.over || len(faults) >= maxFaults {
			return faults
		}
		faults = append(faults, c.property(n, name, v[name], at, depth)...)
		faults = append(faults, c.missing(n.dependent[name], v, at, name)...)
		faults = append(faults, c.apply(n.whenThere[name], v, at, depth+1)...)
	}
	return faults
}

// missing returns which of names v does not have, which the property
// because needs if it is not "".
func (c *check) missing(names []string, v map[string]any, at, because string) []Fault {
	if !c.spend(len(names)) {
		return nil
	}
	var faults []Fault
	for _, name := range names {
		if _, ok := v[name]; ok {
			continue
		}
		text := fmt.Sprintf("missing property '%s'", short(name))
		if because != "" {
			text += fmt.Sprintf(", which '%s' needs", short(because))
		}
		if faults = append(faults, Fault{At: at, Text: text}); len(faults) == maxFaults {
			break
		}
	}
	return faults
}

func (c *check) property(n *node, name string, v any, at string, depth int) []Fault {
	var faults []Fault
	for _, f := range c.apply(n.names, name, at, depth+1) {
		faults = append(faults, Fault{At: at, Text: fmt.Sprintf("the name '%s': %s", short(name), f.Text)})
	}
	path := below(at, name)
	sub, known := n.properties[name]
	faults = append(faults, c.apply(sub, v, path, depth+1)...)
	for _, p := range n.patterns {
		if c.matches(p, name) {
			known = true
			faults = append(faults, c.apply(p.node, v, path, depth+1)...)
		}
	}
	switch {
	case known || n.additional == nil:
	case n.additional.never:
		faults = append(faults, Fault{At: at, Text: fmt.Sprintf("unknown property '%s'%s", short(name), n.knownNames())})
	default:
		faults = append(faults, c.apply(n.additional, v, path, depth+1)...)
	}
	return faults
}

func (n *node) knownNames() string {
	if len(n.properties) == 0 || len(n.properties) > 12 {
		return ""
	}
	names := slices.Sorted(maps.Keys(n.properties))
	for i, name := range names {
		names[i] = short(name)
	}
	return ", known are " + strings.Join(names, ", ")
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

// below returns the path of what is in the value at the path at under name.
func below(at, name string) string {
	switch {
	case at == "":
		return short(name)
	case len(at) > maxPath:
		return at
	}
	return at + "." + short(name)
}
