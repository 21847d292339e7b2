package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxRead is how many bytes compiling reads. A part of a schema is read once
	// for each schema that it is in.
	maxRead = 32 << 20

	// Bytes that count as read for the memory that is taken.
	nodeCost        = 2 << 10 // by a schema
	instructionCost = 128     // by an instruction of a pattern

	maxNested  = 200  // schemas inside of each other, through references too
	maxPattern = 1000 // bytes of a pattern; a longer one is not checked
)

var errTooMuch = errors.New("the schema is too large or too deep")

// Compile reads a schema, a JSON object or a boolean. An empty text allows
// everything. A pattern that is very long or in a syntax that Go does not know
// is not checked. It is an error for a reference to lead out of the schema, and
// for a schema to be of a size or depth that no tool needs.
func Compile(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return &Schema{&node{}}, nil
	}
	c := &compiler{document: raw, done: map[string]*node{}, parts: map[string]map[string]json.RawMessage{}, left: maxRead}
	if err := c.spend(len(raw)); err != nil {
		return nil, err
	}
	if _, err := Parse(raw); err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	root, err := c.at("#", raw)
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	return &Schema{root}, nil
}

// keywords is a schema as it is written.
type keywords struct {
	Ref   string          `json:"$ref"`
	Type  json.RawMessage `json:"type"`
	Enum  json.RawMessage `json:"enum"`
	Const json.RawMessage `json:"const"`
	AllOf []json.RawMessage
	AnyOf []json.RawMessage
	OneOf []json.RawMessage
	Not   json.RawMessage
	If    json.RawMessage
	Then  json.RawMessage
	Else  json.RawMessage

	Properties           map[string]json.RawMessage
	PatternProperties    map[string]json.RawMessage
	AdditionalProperties json.RawMessage
	PropertyNames        json.RawMessage
	Required             json.RawMessage // draft 3 and 4 have booleans here
	DependentRequired    map[string][]string
	DependentSchemas     map[string]json.RawMessage
	Dependencies         map[string]json.RawMessage // either of the two, before draft 2019-09

	PrefixItems     []json.RawMessage
	Items           json.RawMessage // an array before draft 2020-12
	AdditionalItems json.RawMessage
	Contains        json.RawMessage
	UniqueItems     bool

	MinItems, MaxItems           *count
	MinContains, MaxContains     *count
	MinProperties, MaxProperties *count
	MinLength, MaxLength         *count

	Minimum, Maximum                   *float64
	ExclusiveMinimum, ExclusiveMaximum json.RawMessage // booleans in draft 4
	MultipleOf                         *float64
	Pattern                            string
}

// A count is a whole number, which JSON also writes as 2.0.
type count int

func (c *count) UnmarshalJSON(p []byte) error {
	var f float64
	if err := json.Unmarshal(p, &f); err != nil {
		return err
	}
	*c = count(max(min(f, 1<<53), -1))
	return nil
}

// A compiler turns the schemas of a document into nodes, each once, so that
// schemas may refer to themselves.
type compiler struct {
	document json.RawMessage
	done     map[string]*node                      // by pointer
	parts    map[string]map[string]json.RawMessage // by pointer, of what references pass
	left     int                                   // of maxRead
	depth    int
}

// spend counts n bytes as read.
func (c *compiler) spend(n int) error {
	if c.left -= n; c.left < 0 {
		return errTooMuch
	}
	return nil
}

// at compiles the schema raw, which the pointer names.
func (c *compiler) at(pointer string, raw json.RawMessage) (*node, error) {
	if n, ok := c.done[pointer]; ok {
		return n, nil
	}
	if err := c.spend(len(raw) + len(pointer) + nodeCost); err != nil {
		return nil, err
	}
	if c.depth++; c.depth > maxNested {
		return nil, errTooMuch
	}
	defer func() { c.depth-- }()
	n := &node{}
	c.done[pointer] = n
	switch text := string(bytes.TrimSpace(raw)); text {
	case "true":
		return n, nil
	case "false":
		n.never = true
		return n, nil
	}
	var k keywords
	if err := json.Unmarshal(raw, &k); err != nil {
		return nil, fmt.Errorf("%s: %w", pointer, err)
	}
	b := builder{c: c, at: pointer}
	b.values(n, &k)
	b.logic(n, &k)
	b.object(n, &k)
	b.array(n, &k)
	b.number(n, &k)
	return n, b.err
}

// follow compiles the schema that a reference names.
func (c *compiler) follow(ref string) (*node, error) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok || fragment != "" && !strings.HasPrefix(fragment, "/") {
		return nil, fmt.Errorf("the reference %q does not point into the schema", ref)
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, err
	}
	if n, ok := c.done["#"+fragment]; ok {
		return n, nil
	}
	raw, pointer := c.document, "#"
	for part := range strings.SplitSeq(strings.TrimPrefix(fragment, "/"), "/") {
		if fragment == "" {
			break
		}
		members, err := c.members(pointer, raw)
		if err != nil {
			return nil, err
		}
		if raw, ok = members[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]; !ok {
			return nil, fmt.Errorf("the reference %q leads nowhere", ref)
		}
		pointer += "/" + part
	}
	return c.at("#"+fragment, raw)
}

// members returns the entries of the object or array raw, which the pointer
// names, by name or index.
func (c *compiler) members(pointer string, raw json.RawMessage) (map[string]json.RawMessage, error) {
	if m, ok := c.parts[pointer]; ok {
		return m, nil
	}
	if err := c.spend(len(raw) + len(pointer)); err != nil {
		return nil, err
	}
	m := map[string]json.RawMessage{}
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) == nil {
		for i, v := range array {
			m[strconv.Itoa(i)] = v
		}
	} else if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	c.parts[pointer] = m
	return m, nil
}

// A builder fills a node and keeps its first error.
type builder struct {
	c   *compiler
	at  string
	err error
}

func (b *builder) fail(err error) {
	if err != nil && b.err == nil {
		b.err = fmt.Errorf("%s: %w", b.at, err)
	}
}

// sub compiles a schema below the one at hand; without one it returns nil.
func (b *builder) sub(raw json.RawMessage, path ...string) *node {
	if len(raw) == 0 || b.err != nil {
		return nil
	}
	pointer := b.at
	for _, p := range path {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
	}
	n, err := b.c.at(pointer, raw)
	if err != nil {
		b.err = err
	}
	return n
}

func (b *builder) list(raws []json.RawMessage, key string) []*node {
	var nodes []*node
	for i, raw := range raws {
		nodes = append(nodes, b.sub(raw, key, strconv.Itoa(i)))
	}
	return nodes
}

var typeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func (b *builder) values(n *node, k *keywords) {
	if len(k.Type) > 0 {
		var one string
		if json.Unmarshal(k.Type, &one) == nil {
			n.types = []string{one}
		} else {
			b.fail(json.Unmarshal(k.Type, &n.types))
		}
		for _, t := range n.types {
			if !slices.Contains(typeNames, t) {
				b.fail(fmt.Errorf("there is no type %q", t))
			}
		}
	}
	if len(k.Enum) > 0 {
		v, err := Parse(k.Enum)
		b.fail(err)
		list, ok := v.([]any)
		if !ok {
			b.fail(errors.New("enum is not an array"))
		}
		n.enum = newEnum(list)
	}
	if len(k.Const) > 0 {
		v, err := Parse(k.Const)
		b.fail(err)
		n.enum = newEnum([]any{v})
	}
	n.length = limits(k.MinLength, k.MaxLength)
	n.text = b.expression(k.Pattern)
}

// expression compiles a pattern, or returns nil where there is none to check.
// A short text can stand for a large program, which therefore counts.
func (b *builder) expression(text string) *pattern {
	if text == "" || len(text) > maxPattern || b.err != nil {
		return nil
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil // the syntax of another language
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil
	}
	b.fail(b.c.spend(len(prog.Inst) * instructionCost))
	re, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return &pattern{re: re, size: len(prog.Inst)}
}

func limits(low, high *count) bounds {
	return bounds{(*int)(low), (*int)(high)}
}

func (b *builder) logic(n *node, k *keywords) {
	if k.Ref != "" {
		target, err := b.c.follow(k.Ref)
		b.fail(err)
		n.ref = target
	}
	n.all = b.list(k.AllOf, "allOf")
	n.any = b.list(k.AnyOf, "anyOf")
	n.one = b.list(k.OneOf, "oneOf")
	n.not = b.sub(k.Not, "not")
	n.cond = b.sub(k.If, "if")
	n.then = b.sub(k.Then, "then")
	n.otherwise = b.sub(k.Else, "else")
}

func (b *builder) object(n *node, k *keywords) {
	if len(k.Properties) > 0 {
		n.properties = map[string]*node{}
	}
	for name, raw := range k.Properties {
		n.properties[name] = b.sub(raw, "properties", name)
	}
	for _, text := range slices.Sorted(maps.Keys(k.PatternProperties)) {
		if p := b.expression(text); p != nil {
			p.node = b.sub(k.PatternProperties[text], "patternProperties", text)
			n.patterns = append(n.patterns, p)
		} else {
			k.AdditionalProperties = nil // whom it concerns is not known
		}
	}
	n.additional = b.sub(k.AdditionalProperties, "additionalProperties")
	n.names = b.sub(k.PropertyNames, "propertyNames")
	if len(k.Required) > 0 && k.Required[0] == '[' {
		b.fail(json.Unmarshal(k.Required, &n.required))
	}
	b.dependencies(n, k)
	n.propertyCount = limits(k.MinProperties, k.MaxProperties)
}

func (b *builder) dependencies(n *node, k *keywords) {
	if len(k.DependentRequired)+len(k.DependentSchemas)+len(k.Dependencies) == 0 {
		return
	}
	n.dependent, n.whenThere = map[string][]string{}, map[string]*node{}
	maps.Copy(n.dependent, k.DependentRequired)
	for name, raw := range k.DependentSchemas {
		n.whenThere[name] = b.sub(raw, "dependentSchemas", name)
	}
	for name, raw := range k.Dependencies {
		var names []string
		if json.Unmarshal(raw, &names) == nil {
			n.dependent[name] = names
		} else {
			n.whenThere[name] = b.sub(raw, "dependencies", name)
		}
	}
}

func (b *builder) array(n *node, k *keywords) {
	n.prefix = b.list(k.PrefixItems, "prefixItems")
	var tuple []json.RawMessage
	if json.Unmarshal(k.Items, &tuple) == nil && len(k.Items) > 0 {
		n.prefix = b.list(tuple, "items")
		n.items = b.sub(k.AdditionalItems, "additionalItems")
	} else {
		n.items = b.sub(k.Items, "items")
	}
	n.contains = b.sub(k.Contains, "contains")
	n.matches = limits(k.MinContains, k.MaxContains)
	if n.matches.min == nil {
		n.matches.min = new(int)
		*n.matches.min = 1
	}
	n.unique = k.UniqueItems
	n.itemCount = limits(k.MinItems, k.MaxItems)
}

func (b *builder) number(n *node, k *keywords) {
	n.minimum, n.maximum, n.multiple = k.Minimum, k.Maximum, k.MultipleOf
	n.minimum, n.above = b.exclusive(k.ExclusiveMinimum, n.minimum)
	n.maximum, n.below = b.exclusive(k.ExclusiveMaximum, n.maximum)
	if n.multiple != nil && *n.multiple <= 0 {
		b.fail(errors.New("multipleOf is not above 0"))
	}
}

// exclusive returns the inclusive and the exclusive bound that raw, a number or
// in draft 4 a boolean that concerns the inclusive one, leads to.
func (b *builder) exclusive(raw json.RawMessage, inclusive *float64) (in, ex *float64) {
	switch string(raw) {
	case "", "false":
		return inclusive, nil
	case "true":
		return nil, inclusive
	}
	b.fail(json.Unmarshal(raw, &ex))
	return inclusive, ex
}
