package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Unlisted is the entry of a tool order that stands for every tool the order
// does not name (R-PROMPT-20).
const Unlisted = "<unlisted-tools>"

const orderKey = "tool_order"

// CheckToolOrder reports what no set of tools could mend in a tool order: a name
// that occurs twice, or no place for the tools that are not listed. Nil is no
// order and always right; an empty list is not.
func CheckToolOrder(order *[]string) error {
	if order == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, name := range *order {
		if seen[name] {
			return &Error{Fault: Duplicate, Key: orderKey, Detail: fmt.Sprintf("%q is listed twice", name)}
		}
		seen[name] = true
	}
	if !seen[Unlisted] {
		return &Error{Fault: Invalid, Key: orderKey,
			Detail: fmt.Sprintf("list %q once, where the tools that are not listed are to go", Unlisted)}
	}
	return nil
}

// sortTools returns tools in the order that the model sees. known are the names
// that order may list, beside all that begin with one of prefixes. Tools of one name
// keep the order they came in.
func sortTools(tools []ToolSchema, known, prefixes []string, order *[]string) ([]ToolSchema, error) {
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	for _, t := range tools {
		if t.Name == Unlisted {
			return nil, &Error{Fault: Invalid, Detail: fmt.Sprintf("a tool is named %q, which is reserved; rename it", Unlisted)}
		}
	}
	place := map[string]int{}
	if order != nil {
		if err := CheckToolOrder(order); err != nil {
			return nil, err
		}
		var strangers []string
		for i, name := range *order {
			place[name] = i
			if _, ok := slices.BinarySearch(known, name); !ok && name != Unlisted && !expected(name, prefixes) {
				strangers = append(strangers, strconv.Quote(name))
			}
		}
		if len(strangers) > 0 {
			return nil, &Error{Fault: Unknown, Key: orderKey, Detail: fmt.Sprintf(
				"no tool %s; known: %s", strings.Join(strangers, ", "), orNone(known))}
		}
	}
	at := func(t ToolSchema) int {
		if i, ok := place[t.Name]; ok {
			return i
		}
		return place[Unlisted]
	}
	sorted := slices.Clone(tools)
	slices.SortStableFunc(sorted, func(a, b ToolSchema) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Name, b.Name))
	})
	return sorted, nil
}

// expected reports whether name goes on after one of prefixes.
func expected(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return len(name) > len(p) && strings.HasPrefix(name, p) })
}
