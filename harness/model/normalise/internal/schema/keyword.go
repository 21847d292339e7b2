package schema

import (
	"slices"
	"strings"
)

// A placing is where the schemas in a keyword stand.
type placing byte

const (
	nowhere placing = iota
	single          // the value is one; of the old kind of items, a list
	several         // the value is a list of them
	named           // the members of the value are
)

func place(keyword string) placing {
	switch keyword {
	case "items", "additionalItems", "unevaluatedItems", "contains", "additionalProperties", "unevaluatedProperties",
		"propertyNames", "not", "if", "then", "else", "contentSchema":
		return single
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return several
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return named
	}
	return nowhere
}

// schema says one schema anew, with what is right for everybody; depth is how many
// levels stand above it, and alone that it is not said together with others.
func (l *lowering) schema(v *value, depth int, alone bool) *value {
	switch {
	case v.isLiteral("true") && depth > 0, v.isLiteral("false") && depth > 0:
		return v
	case !v.is(object):
		return obj()
	case depth > l.depth:
		return cut(v)
	}
	out := &value{kind: object, members: make([]member, 0, len(v.members))}
	for _, m := range v.members {
		if m.val = l.keyword(m, depth); m.val != nil {
			out.members = append(out.members, m)
		}
	}
	old(out)
	required(out, alone)
	l.types(out)
	return out
}

// cut is all that is kept of a schema that lies too deep.
func cut(v *value) *value {
	out := obj()
	for _, m := range v.members {
		if m.key == "type" && m.val.is(text) && isType(m.val.text) || m.key == "description" && m.val.is(text) {
			out.members = append(out.members, m)
		}
	}
	if out.get("type").isWord("array") {
		out.set("items", obj())
	}
	return out
}

// keyword is the value of one keyword, nil to leave it out: what has no meaning to
// anybody, and what is not of the form that its keyword has.
func (l *lowering) keyword(m member, depth int) *value {
	v := m.val
	switch m.key {
	case "$schema", "$id", "$comment":
		return nil
	case "$ref":
		if !v.is(text) || l.loops(v.text) {
			return nil
		}
		return str(l.local(v.text))
	case "type":
		return typeOf(v)
	case "title", "description", "pattern", "format", "$anchor":
		return kept(v, v.is(text))
	case "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return kept(v, v.is(number))
	case "exclusiveMinimum", "exclusiveMaximum":
		return kept(v, v.is(number) || v.isLiteral("true"))
	case "enum", "examples":
		return kept(v, v.is(array) && len(v.items) > 0)
	case "required":
		return kept(v, v.is(array))
	case "properties":
		if !v.is(object) {
			v = obj()
		}
	}
	switch place(m.key) {
	case nowhere:
		return v
	case single:
		if v.is(array) && m.key != "items" {
			v = obj() // as some languages write it
		}
	case named:
		if !v.is(object) {
			return nil
		}
	case several:
		if !v.is(array) || len(v.items) == 0 {
			return nil
		}
	}
	return mapped(member{m.key, v}, func(s *value) *value { return l.inner(m.key, s, depth+1) })
}

// inner is a schema in a keyword. Many servers read properties as objects.
func (l *lowering) inner(keyword string, s *value, depth int) *value {
	s = l.schema(s, depth, !together(keyword))
	if l.d == Anthropic || keyword != "properties" && keyword != "items" {
		return s
	}
	switch {
	case s.isLiteral("true"):
		return obj()
	case s.isLiteral("false"):
		return obj(member{"not", obj()})
	}
	return s
}

// together reports whether the schemas in a keyword are about the same value as the
// schema that has it.
func together(keyword string) bool {
	switch keyword {
	case "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas":
		return true
	}
	return false
}

// kept is v if it may stay.
func kept(v *value, ok bool) *value {
	if !ok {
		return nil
	}
	return v
}

// loops reports whether a reference is of no use: it leads out of the schema, or
// in a circle.
func (l *lowering) loops(ref string) bool {
	for range maxDepth {
		to := l.lookup(ref)
		if to == nil {
			return true
		}
		next := to.get("$ref")
		if !next.is(text) {
			return false
		}
		ref = next.text
	}
	return true
}

// typeOf is a type, or a list of them, in the words that JSON Schema has. One that
// nobody knows may be any.
func typeOf(v *value) *value {
	switch {
	case v.is(text):
		t := properType(v.text)
		return kept(str(t), t != "")
	case !v.is(array):
		return nil
	}
	out := list()
	for _, e := range v.items {
		t := ""
		if e.is(text) {
			t = properType(e.text)
		}
		if t == "" {
			return nil
		}
		if !slices.ContainsFunc(out.items, func(o *value) bool { return o.text == t }) {
			out.items = append(out.items, str(t))
		}
	}
	return kept(out, len(out.items) > 0)
}

func isType(t string) bool {
	switch t {
	case "string", "number", "integer", "boolean", "object", "array", "null":
		return true
	}
	return false
}

// properType is the type that somebody means by t; "" is any.
func properType(t string) string {
	t = strings.ToLower(t)
	switch t {
	case "str", "text", "date", "file":
		return "string"
	case "int", "long":
		return "integer"
	case "float", "double", "decimal":
		return "number"
	case "bool":
		return "boolean"
	case "dict", "map":
		return "object"
	case "list", "tuple":
		return "array"
	case "none", "nil":
		return "null"
	}
	if isType(t) {
		return t
	}
	return ""
}

// old says what earlier drafts of JSON Schema said in another way: bounds that are
// exclusive by a flag, and the items of a tuple.
func old(v *value) {
	for _, b := range [...][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		if !v.get(b[0]).isLiteral("true") {
			continue
		}
		bound := v.get(b[1])
		v.del(b[1])
		if bound == nil {
			v.del(b[0])
			continue
		}
		v.set(b[0], bound)
	}
	items, more := v.get("items"), v.get("additionalItems")
	if !items.is(array) {
		return
	}
	v.del("items", "additionalItems")
	if len(items.items) > 0 && v.get("prefixItems") == nil {
		v.set("prefixItems", items)
	}
	if more != nil {
		v.set("items", more)
	}
}

// required leaves in the list of required properties those that there are, each
// once. Where a schema has no properties, or is said together with others, they may
// be in those.
func required(v *value, alone bool) {
	names := v.get("required")
	if names == nil {
		return
	}
	props := v.get("properties")
	if !alone || v.get("allOf") != nil || v.get("anyOf") != nil || v.get("oneOf") != nil || v.get("$ref") != nil {
		props = nil
	}
	out := list()
	for _, n := range names.items {
		known := n.is(text) && (props == nil || props.get(n.text) != nil)
		if known && !slices.ContainsFunc(out.items, func(o *value) bool { return o.text == n.text }) {
			out.items = append(out.items, n)
		}
	}
	switch {
	case len(out.items) == len(names.items):
	case len(out.items) == 0:
		v.del("required")
	default:
		v.set("required", out)
	}
}

// types makes a list of types one word, or alternatives where a type has to be one;
// and has arrays say what they hold.
func (l *lowering) types(v *value) {
	t := v.get("type")
	if t.is(array) && l.d == Anthropic {
		v.del("type")
		if len(t.items) == 1 {
			v.first("type", t.items[0])
		} else {
			either := list()
			for _, e := range t.items {
				either.items = append(either.items, obj(member{"type", e}))
			}
			v.also(either)
		}
		return
	}
	holds := t.isWord("array") || t.is(array) && slices.ContainsFunc(t.items, func(e *value) bool { return e.text == "array" })
	if holds && l.d != Anthropic && v.get("items") == nil {
		v.set("items", obj())
	}
}

// also demands one of alternatives beside what v demands.
func (v *value) also(either *value) {
	if v.get("anyOf") == nil {
		v.set("anyOf", either)
		return
	}
	both := list(obj(member{"anyOf", either}))
	if have := v.get("allOf"); have != nil {
		both.items = append(slices.Clone(have.items), both.items...)
	}
	v.set("allOf", both)
}
