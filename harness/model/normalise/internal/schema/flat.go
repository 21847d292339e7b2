package schema

import (
	_ "embed"
	"slices"
	"strings"
)

// What the model reads of alternatives that a provider has no words for.
var (
	//go:embed text/one-of.md
	oneOfText string
	//go:embed text/any-of.md
	anyOfText string
	//go:embed text/values.md
	valuesText string
)

// maxBranches is how many levels of alternatives are made flat.
const maxBranches = 8

// flat is an object schema without alternatives beside its properties: those of all
// alternatives are its own, required is what all of them require, and which of them
// belong together stands in the description.
func (l *lowering) flat(v *value) *value { return l.flatten(v, maxBranches) }

func (l *lowering) flatten(v *value, levels int) *value {
	out := v.clone()
	for _, keyword := range []string{"allOf", "oneOf", "anyOf"} {
		list := out.get(keyword)
		if list == nil {
			continue
		}
		out.del(keyword)
		if levels == 0 {
			continue
		}
		var branches []*value
		for _, b := range list.items {
			if l.left--; l.left < 0 {
				break
			}
			if b.is(object) && !b.get("type").isWord("null") {
				branches = append(branches, l.flatten(l.inPlace(b), levels-1))
			}
		}
		if keyword == "allOf" {
			merge(out, branches)
		} else {
			l.either(out, branches, keyword)
		}
	}
	return out
}

// merge adds what all of branches demand.
func merge(out *value, branches []*value) {
	for _, b := range branches {
		for _, m := range b.members {
			switch have := out.get(m.key); {
			case m.key == "properties":
				props := obj()
				if have != nil {
					props = have.clone()
				}
				for _, p := range m.val.members {
					both(props, p)
				}
				out.set("properties", props)
			case m.key == "required":
				names := list()
				if have != nil {
					names.items = slices.Clone(have.items)
				}
				names.items = append(names.items, m.val.items...)
				out.set("required", names)
			case m.key == "additionalProperties", m.key == "unevaluatedProperties", have != nil:
			default:
				out.set(m.key, m.val)
			}
		}
	}
}

// both adds a property that a schema may have already.
func both(props *value, p member) {
	switch have := props.get(p.key); {
	case have == nil:
		props.set(p.key, p.val)
	case have.String() != p.val.String():
		props.set(p.key, obj(member{"allOf", list(have, p.val)}))
	}
}

// either adds what some of branches demand.
func (l *lowering) either(out *value, branches []*value, keyword string) {
	own := out.get("properties")
	props := obj()
	if own != nil {
		props = own.clone()
	}
	choices := map[string][]*value{} // of properties that are not out's own
	for _, b := range branches {
		for _, p := range b.get("properties").all() {
			if own.get(p.key) != nil {
				continue
			}
			seen := slices.ContainsFunc(choices[p.key], func(v *value) bool { return v.String() == p.val.String() })
			if !seen {
				choices[p.key] = append(choices[p.key], p.val)
			}
			props.set(p.key, anyOf(choices[p.key]))
		}
	}
	if own != nil || len(props.members) > 0 {
		out.set("properties", props)
	}
	for _, name := range common(branches) {
		names := list(name)
		if have := out.get("required"); have != nil {
			names.items = append(slices.Clone(have.items), name)
		}
		out.set("required", names)
	}
	if rule := rule(branches, keyword); rule != "" {
		out.set("description", str(strings.TrimPrefix(out.word("description")+"\n"+rule, "\n")))
	}
}

// all returns the members of v, none of nil.
func (v *value) all() []member {
	if v == nil {
		return nil
	}
	return v.members
}

// anyOf is a choice between schemas.
func anyOf(of []*value) *value {
	if len(of) == 1 {
		return of[0]
	}
	return obj(member{"anyOf", list(of...)})
}

// common returns the names that every branch requires.
func common(branches []*value) []*value {
	if len(branches) == 0 {
		return nil
	}
	var out []*value
	for _, n := range branches[0].get("required").elements() {
		every := !slices.ContainsFunc(branches, func(b *value) bool {
			return !slices.ContainsFunc(b.get("required").elements(), func(o *value) bool { return o.text == n.text })
		})
		if every {
			out = append(out, n)
		}
	}
	return out
}

func (v *value) elements() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// maxRule is how many bytes tell which arguments belong together.
const maxRule = 2000

// rule tells which arguments belong together; "" if there is nothing to tell.
func rule(branches []*value, keyword string) string {
	var groups []string
	size := 0
	for _, b := range branches {
		g := group(b)
		if g == "" || slices.Contains(groups, g) {
			continue
		}
		if size += len(g); size > maxRule {
			groups = append(groups, "…")
			break
		}
		groups = append(groups, g)
	}
	if len(groups) < 2 {
		return ""
	}
	text := anyOfText
	if keyword == "oneOf" {
		text = oneOfText
	}
	return strings.ReplaceAll(strings.TrimSpace(text), "{{groups}}", strings.Join(groups, "; "))
}

// group names the arguments that a branch requires, or has, with those values that
// tell it from others.
func group(b *value) string {
	var names []string
	props := b.get("properties")
	for _, n := range b.get("required").elements() {
		if n.is(text) {
			names = append(names, argument(n.text, props.get(n.text)))
		}
	}
	if len(names) == 0 {
		for _, p := range props.all() {
			names = append(names, argument(p.key, p.val))
		}
	}
	return strings.Join(names, ", ")
}

func argument(name string, p *value) string {
	name = "`" + name + "`"
	if c := p.get("const"); c != nil {
		name += " = " + c.String()
	}
	return name
}
