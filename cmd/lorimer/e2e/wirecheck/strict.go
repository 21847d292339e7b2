package wirecheck

import "strings"

// closeDocument changes a schema so that an object may have only the fields that
// the schema names: a misspelt field is then a fault. A definition D is closed
// where it describes a value, and stays open where it is one of several that
// describe the same value together; so it gets a second name, D and a mark.
func closeDocument(doc map[string]any) map[string]any {
	defs, _ := doc["$defs"].(map[string]any)
	closed := map[string]any{}
	for name, def := range defs {
		closeInside(def)
		closed[name+openMark] = def
		closed[name] = value(map[string]any{"$ref": defsPrefix + name + openMark})
	}
	return map[string]any{"$schema": doc["$schema"], "$defs": closed}
}

const (
	defsPrefix = "#/$defs/"
	openMark   = ".open"
)

// closeInside closes the schemas of the values within what s describes, and
// turns references beside it to the open definitions.
func closeInside(s any) {
	m, ok := s.(map[string]any)
	if !ok {
		return
	}
	if ref, ok := m["$ref"].(string); ok && strings.HasPrefix(ref, defsPrefix) && !strings.HasSuffix(ref, openMark) {
		m["$ref"] = ref + openMark
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := m[word].([]any)
		for _, sub := range list {
			closeInside(sub)
		}
	}
	closeInside(m["not"])
	if props, ok := m["properties"].(map[string]any); ok {
		for name, sub := range props {
			props[name] = closeValue(sub)
		}
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if sub, ok := m[word].(map[string]any); ok {
			m[word] = closeValue(sub)
		}
	}
	if freeForm(m) {
		m["additionalProperties"] = true
	}
}

// closeValue closes the schema of a value.
func closeValue(s any) any {
	m, ok := s.(map[string]any)
	if !ok {
		return s
	}
	closeInside(m)
	return value(m)
}

// value returns a schema of whole values: what no part of s accounts for is a
// fault, except _meta, which every object may have.
func value(s map[string]any) map[string]any {
	return map[string]any{
		"allOf":                 []any{s},
		"properties":            map[string]any{"_meta": true},
		"unevaluatedProperties": false,
	}
}

// freeForm reports whether a schema says nothing about the fields of an object.
func freeForm(s map[string]any) bool {
	for _, word := range []string{"$ref", "properties", "allOf", "anyOf", "oneOf", "const", "enum", "additionalProperties", "unevaluatedProperties", "not"} {
		if _, ok := s[word]; ok {
			return false
		}
	}
	switch t := s["type"].(type) {
	case nil:
		return true
	case string:
		return t == "object"
	case []any:
		for _, x := range t {
			if x == "object" {
				return true
			}
		}
	}
	return false
}
