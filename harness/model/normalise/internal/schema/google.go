package schema

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	maxRefs   = 3  // a schema is put into itself before any value of its type ends it
	maxValues = 50 // told of a value that is one of a list
)

// put says v in the part of the language that Google has: references are put in
// their places, bounds kept as far as they can be said, and everything unknown left
// out. Beside alternatives nothing else is said.
func (l *lowering) put(v *value, depth int) *value {
	if l.left--; l.left < 0 || depth > l.depth || !v.is(object) {
		return ended(v)
	}
	var refs []string
	v = l.expand(v, &refs)
	defer l.release(refs)
	either := v.get("anyOf")
	keyword := "anyOf"
	if either == nil {
		either, keyword = v.get("oneOf"), "oneOf"
	}
	if either != nil && (v.get("type").isWord("object") || v.get("properties") != nil) {
		v = v.clone()
		v.del("anyOf", "oneOf")
		var branches []*value
		for _, b := range either.items {
			if b.is(object) && !isNull(b) {
				branches = append(branches, l.flatten(l.expand(b, &refs), maxBranches))
			}
		}
		l.either(v, branches, keyword)
		either = nil
	}
	if t := v.get("type"); either == nil && t.is(array) {
		either = list()
		for _, e := range t.items {
			either.items = append(either.items, obj(member{"type", e}))
		}
		v = v.clone()
		v.del("type")
	}
	if either != nil {
		return l.choice(v, either.items, depth)
	}
	return l.one(v, depth)
}

// release ends the use of references.
func (l *lowering) release(refs []string) {
	for _, r := range refs {
		l.used[r]--
	}
}

// expand is v with what it refers to, and with all that it demands, in one schema.
func (l *lowering) expand(v *value, refs *[]string) *value {
	for l.left > 0 {
		l.left--
		if ref := v.get("$ref"); ref != nil {
			v = v.clone()
			v.del("$ref")
			to := l.lookup(ref.text)
			if to.is(object) && l.used[ref.text] < maxRefs {
				l.used[ref.text]++
				*refs = append(*refs, ref.text)
				v = overlay(to, v)
			} else if t := to.word("type"); v.get("type") == nil && t != "" {
				v.set("type", str(t))
			}
			continue
		}
		all := v.get("allOf")
		if all == nil {
			break
		}
		v = v.clone()
		v.del("allOf")
		var branches []*value
		for _, b := range all.items {
			if b.is(object) {
				branches = append(branches, l.expand(b, refs))
			}
		}
		merge(v, branches)
	}
	return v
}

// choice is one of alternatives, each with what v demands of all.
func (l *lowering) choice(v *value, of []*value, depth int) *value {
	rest := without(v, "anyOf", "oneOf", "description", "nullable")
	null := v.get("nullable").isLiteral("true")
	var out []*value
	for _, b := range of {
		if b.isLiteral("true") {
			b = obj()
		}
		if !b.is(object) || isNull(b) {
			null = null || b.is(object)
			continue
		}
		p := l.put(overlay(rest, b), depth+1)
		nested := p.get("anyOf")
		if nested == nil {
			nested = list(p)
		}
		for _, p := range nested.items {
			if !slices.ContainsFunc(out, func(o *value) bool { return o.String() == p.String() }) {
				out = append(out, p)
			}
		}
	}
	if out = words(out); len(out) == 0 {
		out = []*value{obj(member{"type", str("string")})}
	}
	for i, p := range out {
		p = p.clone()
		if d := v.get("description"); d != nil && (len(out) == 1 || p.get("description") == nil) {
			p.set("description", d)
		}
		if null {
			p.set("nullable", boolean(true))
		}
		out[i] = p
	}
	return anyOf(out)
}

// words is of, or a single list of words if that is what all of them are.
func words(of []*value) []*value {
	all := list()
	for _, v := range of {
		enum := v.get("enum")
		if enum == nil || len(v.members) > 2 { // it says more
			return of
		}
		for _, e := range enum.items {
			if !slices.ContainsFunc(all.items, func(o *value) bool { return o.text == e.text }) {
				all.items = append(all.items, e)
			}
		}
	}
	if len(of) < 2 {
		return of
	}
	return []*value{obj(member{"type", str("string")}, member{"enum", all})}
}

func isNull(v *value) bool {
	enum := v.get("enum")
	return v.get("type").isWord("null") || v.get("const").isLiteral("null") ||
		enum != nil && len(enum.items) == 1 && enum.items[0].isLiteral("null")
}

// ended stands for a schema that is not said.
func ended(v *value) *value {
	t := v.word("type")
	if t == "" || t == "null" {
		return anything()
	}
	out := obj(member{"type", str(t)})
	if t == "array" {
		out.set("items", anything())
	}
	if d := v.get("description"); d.is(text) {
		out.set("description", d)
	}
	return out
}

// anything is a value of any type, as far as that can be said: an array wants to be
// told what it holds.
func anything() *value { return anyOf(types("string", "number", "boolean", "object", "array")) }

// types are schemas of one type each.
func types(names ...string) []*value {
	var out []*value
	for _, name := range names {
		s := obj(member{"type", str(name)})
		if name == "array" {
			s.set("items", anyOf(types("string", "number", "boolean", "object")))
		}
		out = append(out, s)
	}
	return out
}

// one is a schema without alternatives. Only words that are not empty may be
// enumerated; what else a value may be stands in the description.
func (l *lowering) one(v *value, depth int) *value {
	values, null := enumerated(v)
	t := typeFor(v, values)
	switch {
	case t == "" && len(values) > 0:
		of := byType(values)
		if null {
			of = append(of, obj(member{"type", str("null")}))
		}
		return l.choice(without(v, "enum", "const"), of, depth)
	case t == "":
		return l.choice(v, anything().get("anyOf").items, depth)
	case t == "null":
		t, null = "string", true
	}
	out := obj(member{"type", str(t)})
	if f := v.word("format"); isFormat(t, f) {
		out.set("format", str(f))
	}
	values = slices.DeleteFunc(values, func(e *value) bool { return !fits(typeOfValue(e), t) })
	description := v.word("description")
	enum := t == "string" && !slices.ContainsFunc(values, func(e *value) bool { return e.isWord("") })
	if len(values) > 0 && !enum {
		description = strings.TrimPrefix(description+"\n"+told(values), "\n")
	}
	if description != "" {
		out.set("description", str(description))
	}
	if (null || v.get("nullable").isLiteral("true")) && depth > 0 {
		out.set("nullable", boolean(true))
	}
	switch t {
	case "string":
		if len(values) > 0 && enum {
			out.set("enum", list(values...))
		}
		counts(out, v, "minLength", "maxLength")
		if p := v.get("pattern"); p != nil {
			out.set("pattern", p)
		}
	case "number", "integer":
		bound(out, v, "minimum", "exclusiveMinimum", t == "integer", 1)
		bound(out, v, "maximum", "exclusiveMaximum", t == "integer", -1)
	case "array":
		out.set("items", l.elements(v, depth))
		counts(out, v, "minItems", "maxItems")
	case "object":
		l.properties(out, v, depth)
		counts(out, v, "minProperties", "maxProperties")
	}
	return out
}

// enumerated returns the values that v may have, if it names them, and whether null
// is one.
func enumerated(v *value) (values []*value, null bool) {
	var all []*value
	if e := v.get("enum"); e != nil {
		all = e.items
	} else if c := v.get("const"); c != nil {
		all = []*value{c}
	}
	for _, e := range all {
		if e.isLiteral("null") {
			null = true
		} else {
			values = append(values, e)
		}
	}
	return values, null
}

// byType returns a schema for the values of each type.
func byType(values []*value) []*value {
	var out []*value
	for _, e := range values {
		t := typeOfValue(e)
		i := slices.IndexFunc(out, func(o *value) bool { return o.word("type") == t })
		if i < 0 {
			i = len(out)
			out = append(out, obj(member{"type", str(t)}, member{"enum", list()}))
		}
		enum := out[i].get("enum")
		enum.items = append(enum.items, e)
	}
	return out
}

// told tells of values.
func told(values []*value) string {
	var said []string
	for _, e := range values[:min(len(values), maxValues)] {
		said = append(said, e.String())
	}
	if len(values) > maxValues {
		said = append(said, "…")
	}
	return strings.ReplaceAll(strings.TrimSpace(valuesText), "{{values}}", strings.Join(said, ", "))
}

// typeFor is the type of v, or the one that its other keywords are about; "" is any.
func typeFor(v *value, values []*value) string {
	if t := v.word("type"); t != "" {
		return t
	}
	for _, t := range []string{"string", "integer", "number", "boolean", "object", "array"} {
		if !slices.ContainsFunc(values, func(e *value) bool { return !fits(typeOfValue(e), t) }) && len(values) > 0 {
			return t
		}
	}
	if len(values) > 0 {
		return ""
	}
	for _, by := range [...]struct{ keyword, of string }{
		{"properties", "object"}, {"required", "object"}, {"additionalProperties", "object"}, {"patternProperties", "object"},
		{"items", "array"}, {"prefixItems", "array"}, {"minItems", "array"}, {"maxItems", "array"},
		{"minLength", "string"}, {"maxLength", "string"}, {"pattern", "string"}, {"format", "string"},
		{"minimum", "number"}, {"maximum", "number"}, {"exclusiveMinimum", "number"}, {"exclusiveMaximum", "number"}, {"multipleOf", "number"},
	} {
		if v.get(by.keyword) != nil {
			return by.of
		}
	}
	return ""
}

// fits reports whether a value of type have is one of type want.
func fits(have, want string) bool { return have == want || have == "integer" && want == "number" }

func typeOfValue(v *value) string {
	switch v.kind {
	case object:
		return "object"
	case array:
		return "array"
	case text:
		return "string"
	case number:
		if strings.ContainsAny(v.text, ".eE") {
			return "number"
		}
		return "integer"
	}
	return "boolean"
}

func isFormat(t, f string) bool {
	switch f {
	case "date-time", "enum":
		return t == "string"
	case "float", "double":
		return t == "number"
	case "int32", "int64":
		return t == "integer"
	}
	return false
}

// elements is what an array holds.
func (l *lowering) elements(v *value, depth int) *value {
	items := v.get("items")
	if p := v.get("prefixItems"); p != nil {
		of := slices.Clone(p.items)
		if items.is(object) && len(items.members) > 0 {
			of = append(of, items)
		}
		return l.choice(obj(), of, depth+1)
	}
	if !items.is(object) {
		return anything()
	}
	return l.put(items, depth+1)
}

// properties says those of v, and which of them it requires.
func (l *lowering) properties(out, v *value, depth int) {
	props := obj()
	for _, p := range v.get("properties").all() {
		switch {
		case p.val.isLiteral("false"):
		case p.val.is(object):
			props.members = append(props.members, member{p.key, l.put(p.val, depth+1)})
		default:
			props.members = append(props.members, member{p.key, anything()})
		}
	}
	if len(props.members) == 0 {
		return
	}
	out.set("properties", props)
	names := v.get("required")
	if names == nil {
		return
	}
	out.set("required", names)
	required(out, true)
	if len(out.get("required").elements()) == 0 {
		out.del("required")
	}
}

// counts keeps the limits of a length.
func counts(out, v *value, keywords ...string) {
	for _, k := range keywords {
		if n := v.get(k); n != nil {
			if _, err := strconv.ParseUint(n.text, 10, 31); err == nil {
				out.set(k, n)
			}
		}
	}
}

// bound says an exclusive bound as an inclusive one, for integers exactly. Step leads
// from the bound into what is admitted.
func bound(out, v *value, keyword, exclusive string, integer bool, step float64) {
	have, b := v.get(keyword), v.get(exclusive)
	if b == nil {
		if have != nil {
			out.set(keyword, have)
		}
		return
	}
	f, err := strconv.ParseFloat(b.text, 64)
	if err != nil || math.Abs(f) > 1<<52 {
		return
	}
	if integer && step > 0 {
		f = math.Floor(f) + 1
	} else if integer {
		f = math.Ceil(f) - 1
	}
	if have != nil {
		if h, err := strconv.ParseFloat(have.text, 64); err == nil && (h-f)*step >= 0 {
			out.set(keyword, have)
			return
		}
	}
	out.set(keyword, &value{kind: number, text: strconv.FormatFloat(f, 'f', -1, 64)})
}
