package schema

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// check reports a reference that leads nowhere, unless nothing leads to it.
func check(root *value) error {
	l := lowering{root: root, base: strings.TrimSuffix(root.word("$id"), "#")}
	return l.reach(root, map[*value]bool{})
}

// reach follows the references of v.
func (l *lowering) reach(v *value, seen map[*value]bool) error {
	if !v.is(object) || seen[v] {
		return nil
	}
	seen[v] = true
	if ref := v.get("$ref"); ref.is(text) && l.isLocal(ref.text) {
		to := l.lookup(ref.text)
		if to == nil {
			return fmt.Errorf("the schema refers to %.100q, which it does not have", ref.text)
		}
		if err := l.reach(to, seen); err != nil {
			return err
		}
	}
	for _, m := range v.members {
		if m.key == "$defs" || m.key == "definitions" {
			continue
		}
		for _, s := range subschemas(m) {
			if err := l.reach(s, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// subschemas returns the schemas in a member of a schema.
func subschemas(m member) []*value {
	switch place(m.key) {
	case single:
		if m.val.is(array) {
			return m.val.items
		}
		return []*value{m.val}
	case several:
		return m.val.items
	case named:
		var out []*value
		for _, p := range m.val.members {
			out = append(out, p.val)
		}
		return out
	}
	return nil
}

// isLocal reports whether ref points into the schema.
func (l *lowering) isLocal(ref string) bool {
	return ref == "" || strings.HasPrefix(ref, "#") || l.base != "" && (ref == l.base || strings.HasPrefix(ref, l.base+"#"))
}

// local is ref without the address of the schema that it points into.
func (l *lowering) local(ref string) string {
	if l.base != "" {
		ref = strings.TrimPrefix(ref, l.base)
	}
	if ref == "" {
		return "#"
	}
	return ref
}

// lookup returns what a reference points at, nil if that is nothing here.
func (l *lowering) lookup(ref string) *value {
	if !l.isLocal(ref) {
		return nil
	}
	path := strings.TrimPrefix(l.local(ref), "#")
	if p, err := url.PathUnescape(path); err == nil {
		path = p
	}
	switch {
	case path == "":
		return l.root
	case path[0] != '/':
		return anchored(l.root, path, maxDepth)
	}
	at := l.root
	for word := range strings.SplitSeq(path[1:], "/") {
		word = strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
		if at.is(array) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n >= len(at.items) {
				return nil
			}
			at = at.items[n]
			continue
		}
		if at = at.get(word); at == nil {
			return nil
		}
	}
	return at
}

// anchored returns the schema in v that calls itself name.
func anchored(v *value, name string, depth int) *value {
	if v.word("$anchor") == name || v.word("$dynamicAnchor") == name {
		return v
	}
	if depth == 0 {
		return nil
	}
	for _, m := range v.members {
		for _, s := range subschemas(m) {
			if found := anchored(s, name, depth-1); found != nil {
				return found
			}
		}
	}
	return nil
}

// pointing is v without the references that no longer lead anywhere in root, since
// what they led to was cut or has another form.
func (l *lowering) pointing(v, root *value) *value {
	in := lowering{root: root}
	return l.within(v, func(s *value) *value {
		if ref := s.get("$ref"); ref != nil && in.lookup(ref.text) == nil {
			s = s.clone()
			s.del("$ref")
		}
		return s
	})
}

// within returns v with f applied to every schema in it, from the inside out.
func (l *lowering) within(v *value, f func(*value) *value) *value {
	if !v.is(object) {
		return v
	}
	out := v.clone()
	for i, m := range out.members {
		out.members[i].val = mapped(m, func(s *value) *value { return l.within(s, f) })
	}
	return f(out)
}

// mapped returns the value of m with f applied to the schemas in it.
func mapped(m member, f func(*value) *value) *value {
	switch place(m.key) {
	case single:
		if m.val.is(array) {
			return all(m.val, f)
		}
		return f(m.val)
	case several:
		return all(m.val, f)
	case named:
		if !m.val.is(object) {
			return m.val
		}
		out := m.val.clone()
		for i := range out.members {
			out.members[i].val = f(out.members[i].val)
		}
		return out
	}
	return m.val
}

func all(v *value, f func(*value) *value) *value {
	if !v.is(array) {
		return v
	}
	out := &value{kind: array, items: make([]*value, len(v.items))}
	for i, e := range v.items {
		out.items[i] = f(e)
	}
	return out
}
