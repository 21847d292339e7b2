package schema_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/normalise/internal/schema"
)

// A maker makes schemas as servers might write them, right and wrong.
type maker struct{ *rand.Rand }

func (m maker) one(of ...any) any { return of[m.IntN(len(of))] }

func (m maker) key() string { return m.one("a", "b", "c", "type", "$ref", "properties").(string) }

// schema makes one that is at most depth levels deep.
func (m maker) schema(depth int) any {
	if m.IntN(20) == 0 {
		return m.one(true, false, nil, "x", 3, []any{})
	}
	s := map[string]any{}
	for range m.IntN(5) {
		k, v := m.keyword(depth - 1)
		s[k] = v
	}
	return s
}

func (m maker) schemas(depth int) []any {
	out := []any{}
	for range m.IntN(4) {
		out = append(out, m.schema(depth))
	}
	return out
}

func (m maker) named(depth int) map[string]any {
	out := map[string]any{}
	for range m.IntN(4) {
		out[m.key()] = m.schema(depth)
	}
	return out
}

func (m maker) keyword(depth int) (string, any) {
	flat := []string{"type", "type", "required", "enum", "const", "description", "minimum", "exclusiveMinimum", "exclusiveMaximum",
		"maximum", "minLength", "pattern", "format", "nullable", "default", "title", "$id", "$comment", "$schema", "uniqueItems"}
	deep := []string{"$ref", "properties", "properties", "items", "anyOf", "oneOf", "allOf", "not", "additionalProperties", "prefixItems", "$defs", "if"}
	k := m.one("", flat[m.IntN(len(flat))]).(string)
	if k == "" && depth > 0 {
		k = deep[m.IntN(len(deep))]
	} else if k == "" {
		k = "type"
	}
	types := []any{"string", "number", "integer", "boolean", "object", "array", "null", "int", "any"}
	switch k {
	case "type":
		if m.IntN(3) == 0 {
			return k, []any{m.one(types...), m.one(types...)}
		}
		return k, m.one(types...)
	case "required":
		return k, m.one(true, []any{m.key(), m.key()}, []any{})
	case "enum":
		return k, m.one([]any{"x", "y"}, []any{1, 2}, []any{"x", 1, nil}, []any{nil}, []any{""}, []any{}, "x")
	case "const":
		return k, m.one("x", 1, 1.5, nil, true, map[string]any{"type": "x"})
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength":
		return k, m.one(0, 1, -1.5, "1", true, false, 1e300)
	case "nullable", "uniqueItems":
		return k, m.one(true, false)
	case "$ref":
		return k, m.one("#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/properties/b/items", "#/items/0", "http://x/y", "#here", 1)
	case "properties", "$defs":
		return k, m.one(m.named(depth), m.named(depth), []any{})
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return k, m.schemas(depth)
	case "items":
		return k, m.one(m.schema(depth), m.schema(depth), m.schemas(depth))
	case "not", "additionalProperties", "if":
		return k, m.schema(depth)
	}
	return k, m.one("text", "date-time", 1)
}

// TestLowerMadeUp holds what every schema becomes to what its reader refuses.
func TestLowerMadeUp(t *testing.T) {
	said, broken := 0, 0
	for seed := range uint64(4000) {
		m := maker{rand.New(rand.NewPCG(seed, 1))}
		raw, err := json.Marshal(m.schema(1 + m.IntN(4)))
		if err != nil {
			t.Fatal(err)
		}
		for name, d := range dialects {
			got, err := schema.Lower(raw, d)
			if err != nil {
				broken++
				continue
			}
			said++
			again, err := schema.Lower(got, d)
			if err != nil || string(again) != string(got) {
				t.Errorf("%s: %s became %s and then %s, %v", name, raw, got, again, err)
			}
			var root map[string]any
			if err := json.Unmarshal(got, &root); err != nil {
				t.Fatalf("%s: %s became %s: %v", name, raw, got, err)
			}
			if why := refused(root, d); why != "" {
				t.Errorf("%s: %s became %s: %s", name, raw, got, why)
			}
		}
	}
	if said < 4*broken {
		t.Errorf("%d schemas were said and %d broken, want few broken ones", said, broken)
	}
}

// refused says why a provider refuses a schema; "" if it does not.
func refused(root map[string]any, d schema.Dialect) string {
	for k := range root {
		switch {
		case d != schema.Compatible && (k == "anyOf" || k == "oneOf" || k == "allOf"):
			return k + " at the root"
		case d == schema.OpenAI && (k == "enum" || k == "not"):
			return k + " at the root"
		}
	}
	if root["type"] != "object" {
		return "no object"
	}
	if _, ok := root["properties"].(map[string]any); !ok && (d == schema.OpenAI || d == schema.Compatible) {
		return "no properties"
	}
	return inside(root, root, d)
}

func inside(s, root map[string]any, d schema.Dialect) string {
	if why := own(s, root, d); why != "" {
		return why
	}
	for k, v := range s {
		var of []any
		switch k {
		case "properties", "$defs":
			m, ok := v.(map[string]any)
			if !ok {
				return k + " is no object"
			}
			for _, p := range m {
				of = append(of, p)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			list, ok := v.([]any)
			if !ok || len(list) == 0 {
				return k + " is no list"
			}
			of = list
		case "items", "not", "additionalProperties", "if":
			of = []any{v}
		}
		for _, v := range of {
			if m, ok := v.(map[string]any); ok {
				if why := inside(m, root, d); why != "" {
					return why
				}
			} else if _, ok := v.(bool); !ok || d == schema.Google || k == "properties" && d != schema.Anthropic {
				return fmt.Sprintf("a schema is %v", v)
			}
		}
	}
	return ""
}

// own looks at the keywords of one schema.
func own(s, root map[string]any, d schema.Dialect) string {
	for k := range s {
		switch {
		case k == "$schema" || k == "$id" || k == "$comment":
			return k
		case k == "$ref" && !leads(s[k].(string), root):
			return fmt.Sprintf("$ref to %v", s[k])
		case d == schema.Google && !slices.Contains([]string{"type", "format", "description", "nullable", "enum", "properties", "required", "items",
			"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "pattern", "minimum", "maximum", "anyOf"}, k):
			return k
		case d == schema.Google && k == "anyOf" && len(s) > 1:
			return "anyOf beside others"
		}
	}
	props, _ := s["properties"].(map[string]any)
	names, _ := s["required"].([]any)
	for i, n := range names {
		name, ok := n.(string)
		if !ok || slices.Contains(names[:i], n) || d == schema.Google && props[name] == nil {
			return "required " + fmt.Sprint(names)
		}
	}
	types, many := s["type"].([]any)
	switch {
	case many && (d == schema.Anthropic || d == schema.Google):
		return "many types"
	case (s["type"] == "array" || slices.Contains(types, any("array"))) && s["items"] == nil && d != schema.Anthropic:
		return "an array of nothing"
	case d == schema.Google && s["type"] == nil && s["anyOf"] == nil:
		return "no type"
	case d == schema.Google && props != nil && (s["type"] != "object" || len(props) == 0):
		return "properties of no object, or none"
	}
	if d == schema.Google {
		enum, _ := s["enum"].([]any)
		for _, e := range enum {
			if w, ok := e.(string); !ok || w == "" || s["type"] != "string" {
				return "an enumeration of more than words"
			}
		}
	}
	return ""
}

// leads reports whether a reference leads somewhere.
func leads(ref string, root map[string]any) bool {
	var at any = root
	for _, word := range strings.Split(strings.TrimPrefix(ref, "#"), "/")[1:] {
		switch v := at.(type) {
		case map[string]any:
			at = v[word]
		case []any:
			var i int
			if _, err := fmt.Sscan(word, &i); err != nil || i >= len(v) {
				return false
			}
			at = v[i]
		}
		if at == nil {
			return false
		}
	}
	return strings.HasPrefix(ref, "#")
}
