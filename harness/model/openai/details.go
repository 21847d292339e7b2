package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/internal/body"
)

// details joins the reasoning_details of a stream. A block arrives in pieces
// with the same type and index; joined, they go back as they would have come in
// one.
type details struct{ list []*detail }

// A detail is one block. Its text grows; every other field is that of the first
// piece that has it, in the order of appearance.
type detail struct {
	kind, index string
	fields      []member
	text        strings.Builder
	textKey     string // text, summary or data; "" without one
}

type member struct {
	key   string
	value json.RawMessage
}

// add takes the blocks of one event and returns their readable text.
func (d *details) add(blocks []json.RawMessage) string {
	var readable strings.Builder
	for _, raw := range blocks {
		members, err := membersOf(raw)
		if err != nil {
			continue // not an object; nothing that could go back
		}
		var kind, index string
		for _, m := range members {
			switch m.key {
			case "type":
				kind = string(m.value)
			case "index":
				index = string(m.value)
			}
		}
		b := d.last()
		if b == nil || b.kind != kind || b.index != index {
			b = &detail{kind: kind, index: index}
			d.list = append(d.list, b)
		}
		readable.WriteString(b.merge(members))
	}
	return readable.String()
}

func (d *details) last() *detail {
	if len(d.list) == 0 {
		return nil
	}
	return d.list[len(d.list)-1]
}

func (b *detail) merge(members []member) (readable string) {
	for _, m := range members {
		var s string
		switch m.key {
		case "text", "summary", "data":
			if json.Unmarshal(m.value, &s) == nil && (b.textKey == "" || b.textKey == m.key) {
				b.textKey = m.key
				b.text.WriteString(s)
				if m.key != "data" {
					readable += s
				}
				continue
			}
		}
		if !b.set(m) {
			b.fields = append(b.fields, m)
		}
	}
	return readable
}

// set reports whether m is a field that b has; a null gives way to a value.
func (b *detail) set(m member) bool {
	for i := range b.fields {
		if b.fields[i].key != m.key {
			continue
		}
		if string(b.fields[i].value) == "null" {
			b.fields[i].value = m.value
		}
		return true
	}
	return false
}

// json is all blocks as an array, "" without any.
func (d *details) json() string {
	if len(d.list) == 0 {
		return ""
	}
	var w body.Writer
	w.Array()
	for _, b := range d.list {
		w.Object()
		for _, m := range b.fields {
			w.Key(m.key).Raw(string(m.value))
		}
		if b.textKey != "" {
			w.Key(b.textKey).String(b.text.String())
		}
		w.EndObject()
	}
	return string(w.EndArray().Bytes())
}

// membersOf returns the members of an object in their order.
func membersOf(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, member{key.(string), bytes.Clone(v)})
	}
	return out, nil
}
