package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

// A value is a JSON value whose members keep their order and whose numbers keep
// their digits. A value that is part of a schema is not changed, but replaced.
type value struct {
	kind    kind
	text    string // of a string, or a number, true, false or null as it stands
	items   []*value
	members []member // no two of one key
}

type kind byte

const (
	object kind = iota
	array
	text
	number
	literal // true, false, null
)

type member struct {
	key string
	val *value
}

// parse reads one JSON value. Same tells whether it stands in data as write would
// write it, apart from white space and the spelling of strings.
func parse(data []byte) (v *value, same bool, err error) {
	p := parser{dec: json.NewDecoder(bytes.NewReader(data)), same: true}
	p.dec.UseNumber()
	v, err = p.value()
	if err != nil {
		return nil, false, err
	}
	if _, err := p.dec.Token(); err != io.EOF {
		return nil, false, fmt.Errorf("something follows at byte %d", p.dec.InputOffset())
	}
	return v, p.same, nil
}

type parser struct {
	dec   *json.Decoder
	same  bool // no key was there twice
	depth int
}

// maxNesting is how deep a value may be nested.
const maxNesting = 500

func (p *parser) value() (*value, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxNesting)
	}
	defer func() { p.depth-- }()
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		v := &value{kind: array}
		if t == '{' {
			v.kind = object
		}
		for p.dec.More() {
			if err := p.inside(v); err != nil {
				return nil, err
			}
		}
		_, err := p.dec.Token() // the end
		return v, err
	case string:
		return str(t), nil
	case json.Number:
		return &value{kind: number, text: t.String()}, nil
	case bool:
		return boolean(t), nil
	}
	return &value{kind: literal, text: "null"}, nil
}

// inside reads the next element or member of v.
func (p *parser) inside(v *value) error {
	if v.kind == array {
		e, err := p.value()
		v.items = append(v.items, e)
		return err
	}
	t, err := p.dec.Token()
	if err != nil {
		return err
	}
	key, _ := t.(string)
	e, err := p.value()
	if v.get(key) != nil {
		p.same = false
	}
	v.set(key, e) // of two, the last one counts
	return err
}

func str(s string) *value { return &value{kind: text, text: s} }

func boolean(b bool) *value {
	if b {
		return &value{kind: literal, text: "true"}
	}
	return &value{kind: literal, text: "false"}
}

// obj returns an object of keys and their values.
func obj(ms ...member) *value { return &value{kind: object, members: ms} }

func list(vs ...*value) *value { return &value{kind: array, items: vs} }

// get returns a member of an object; nil without one.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	for i := range v.members {
		if v.members[i].key == key {
			return v.members[i].val
		}
	}
	return nil
}

// word returns a member that is a string; "" without one.
func (v *value) word(key string) string {
	if m := v.get(key); m.is(text) {
		return m.text
	}
	return ""
}

// set gives an object under construction a member, in the place that it has.
func (v *value) set(key string, to *value) {
	for i := range v.members {
		if v.members[i].key == key {
			v.members[i].val = to
			return
		}
	}
	v.members = append(v.members, member{key, to})
}

// first gives an object under construction a member in front of all.
func (v *value) first(key string, to *value) {
	v.del(key)
	v.members = slices.Insert(v.members, 0, member{key, to})
}

// del takes members out of an object under construction.
func (v *value) del(keys ...string) {
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return slices.Contains(keys, m.key) })
}

// without returns v without members.
func without(v *value, keys ...string) *value {
	v = v.clone()
	v.del(keys...)
	return v
}

// clone returns v for changing its members.
func (v *value) clone() *value {
	c := *v
	c.members = slices.Clone(v.members)
	return &c
}

func (v *value) is(k kind) bool { return v != nil && v.kind == k }

func (v *value) isWord(s string) bool { return v.is(text) && v.text == s }

func (v *value) isLiteral(s string) bool { return v.is(literal) && v.text == s }

// String returns v as JSON.
func (v *value) String() string {
	var w body.Writer
	v.write(&w)
	return string(w.Bytes())
}

func (v *value) write(w *body.Writer) {
	switch v.kind {
	case object:
		w.Object()
		for _, m := range v.members {
			w.Key(m.key)
			m.val.write(w)
		}
		w.EndObject()
	case array:
		w.Array()
		for _, e := range v.items {
			e.write(w)
		}
		w.EndArray()
	case text:
		w.String(v.text)
	default:
		w.Raw(v.text)
	}
}
