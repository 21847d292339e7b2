package schema_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/lorimer-dev/lorimer/harness/model/normalise/internal/schema"
)

// An author writes schemas that say what they mean: each has a type, or alternatives
// that have.
type author struct{ *rand.Rand }

func (a author) some(n int) bool { return a.IntN(n) == 0 }

func (a author) root() map[string]any {
	s := a.object(4)
	s["$defs"] = map[string]any{"a": a.object(3), "b": a.object(3), "tree": a.object(3)}
	return s
}

func (a author) object(depth int) map[string]any {
	props, required := map[string]any{}, []any{}
	for _, name := range []string{"p", "q", "r"}[:1+a.IntN(3)] {
		props[name] = a.schema(depth - 1)
		if a.some(2) {
			required = append(required, name)
		}
	}
	s := map[string]any{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	if a.some(4) {
		s["additionalProperties"] = false
	}
	if a.some(6) {
		own := map[string]any{"z": a.schema(depth - 1)}
		s["anyOf"] = []any{map[string]any{"properties": own, "required": []any{"p"}}, map[string]any{"properties": own, "required": []any{"z"}}}
		delete(s, "additionalProperties")
	}
	return s
}

func (a author) schema(depth int) any {
	if depth <= 0 || a.some(3) {
		return a.leaf()
	}
	switch a.IntN(8) {
	case 0, 1:
		return a.object(depth)
	case 2:
		return map[string]any{"type": "array", "items": a.schema(depth - 1), "maxItems": 2 + a.IntN(2)}
	case 3:
		return map[string]any{"type": "array", "prefixItems": []any{a.schema(depth - 1), a.schema(depth - 1)}}
	case 4, 5:
		of := []any{a.schema(depth - 1), a.schema(depth - 1), a.leaf()}
		return map[string]any{[]string{"anyOf", "oneOf"}[a.IntN(2)]: of[:1+a.IntN(3)], "description": "d"}
	case 6:
		return map[string]any{"$ref": "#/$defs/" + []string{"a", "b", "tree"}[a.IntN(3)]}
	}
	return map[string]any{"allOf": []any{a.object(depth - 1), a.object(depth - 1)}}
}

func (a author) leaf() any {
	return []any{
		map[string]any{"type": "string"}, map[string]any{"type": "string", "enum": []any{"", "x", "y"}},
		map[string]any{"type": "string", "minLength": a.IntN(2), "maxLength": 1}, map[string]any{"enum": []any{"x", 1, nil, true}},
		map[string]any{"type": "integer", "exclusiveMinimum": a.IntN(3) - 1, "maximum": 2}, map[string]any{"type": "integer", "enum": []any{1, 2}},
		map[string]any{"type": "number", "exclusiveMaximum": 1.5, "minimum": -1}, map[string]any{"type": []any{"integer", "string", "null"}},
		map[string]any{"type": "boolean"}, map[string]any{"const": []any{"x", 1, true, nil}[a.IntN(4)]}, map[string]any{"type": "null"},
		map[string]any{"type": []any{"array", "string"}, "minLength": 1, "items": map[string]any{"type": "integer"}},
		map[string]any{"$ref": "#/$defs/tree"},
	}[a.IntN(13)]
}

// value makes one that may be an argument, mostly of the kinds that the schemas want.
func (a author) value(depth int) any {
	if depth > 0 && a.some(2) {
		if a.some(3) {
			list := []any{}
			for range a.IntN(3) {
				list = append(list, a.value(depth-1))
			}
			return list
		}
		return a.values(depth - 1)
	}
	return []any{"", "x", "y", "xx", 0, 1, 2, -1, 1.5, 0.5, true, false, nil}[a.IntN(13)]
}

func (a author) values(depth int) map[string]any {
	out := map[string]any{}
	for _, name := range []string{"p", "q", "r", "z"} {
		if !a.some(3) {
			out[name] = a.value(depth)
		}
	}
	return out
}

// What a tool takes, every reader may give it: what cannot be said admits more.
func TestLowerAdmitsNoLess(t *testing.T) {
	checked := 0
	for seed := range uint64(60) {
		a := author{rand.New(rand.NewPCG(seed, 2))}
		raw, err := json.Marshal(a.root())
		if err != nil {
			t.Fatal(err)
		}
		own := compiled(t, raw)
		if own == nil {
			continue // a reference that leads to itself
		}
		var admitted []any
		for range 100 {
			if v := plainly(t, a.values(3)); own.Validate(v) == nil {
				admitted = append(admitted, v)
			}
		}
		for name, d := range dialects {
			got, err := schema.Lower(raw, d)
			if err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			said := compiled(t, readable(t, got))
			if said == nil {
				t.Fatalf("%s: %s became %s, which is no schema", name, raw, got)
			}
			for _, v := range admitted {
				checked++
				if err := said.Validate(v); err != nil {
					t.Errorf("%s: %s became %s, which refuses %v: %v", name, raw, got, v, err)
					break
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d values were looked at, which is too few to say anything", checked)
	}
}

// compiled returns the schema for checking values, nil if nothing can be checked
// with it.
func compiled(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s")
	if err != nil {
		return nil
	}
	return s
}

// plainly is v as a server reads it.
func plainly(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readable is a schema of Google's in the words of JSON Schema.
func readable(t *testing.T, raw []byte) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(nullable(v))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func nullable(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = nullable(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = nullable(v[k])
		}
		if v["nullable"] == true {
			delete(v, "nullable")
			return map[string]any{"anyOf": []any{v, map[string]any{"type": "null"}}}
		}
	}
	return v
}
