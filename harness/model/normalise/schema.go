package normalise

import (
	"encoding/json"
	"strings"
)

// maxRefs is how often a schema may be put into itself.
const maxRefs = 3

// plainSchema rewrites a JSON Schema in the part of the language that Google's
// function declarations know: references are put in place, bounds kept as far as
// they can be said, everything unknown left out. A schema that cannot be read
// becomes that of an object of any shape.
func plainSchema(raw json.RawMessage) json.RawMessage {
	var root map[string]any
	if json.Unmarshal(raw, &root) != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	l := lowering{root: root, depth: map[string]int{}}
	out, err := json.Marshal(l.schema(root))
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return out
}

// lowering rewrites one schema document.
type lowering struct {
	root  map[string]any
	depth map[string]int // how often a reference is open
}

func (l *lowering) schema(v any) map[string]any {
	in, ok := v.(map[string]any)
	if !ok { // true and false are schemas too
		return map[string]any{"type": "object"}
	}
	if ref, ok := in["$ref"].(string); ok {
		return l.follow(ref, in)
	}
	out := map[string]any{}
	for _, k := range []string{"description", "title", "enum", "minimum", "maximum", "minItems", "maxItems",
		"minLength", "maxLength", "minProperties", "maxProperties", "pattern", "required", "nullable"} {
		if v, ok := in[k]; ok {
			out[k] = v
		}
	}
	l.typeOf(in, out)
	l.bounds(in, out)
	l.inner(in, out)
	if f, ok := in["format"].(string); ok && (f == "date-time" || f == "enum" || strings.HasPrefix(f, "int") || f == "float" || f == "double") {
		out["format"] = f
	}
	return out
}

// follow puts the target of a reference in its place.
func (l *lowering) follow(ref string, in map[string]any) map[string]any {
	target := l.lookup(ref)
	if target == nil || l.depth[ref] >= maxRefs {
		out := map[string]any{"type": "object"}
		if d, ok := in["description"]; ok {
			out["description"] = d
		}
		return out
	}
	l.depth[ref]++
	out := l.schema(target)
	l.depth[ref]--
	if d, ok := in["description"]; ok {
		out["description"] = d
	}
	return out
}

// lookup resolves a pointer into the document; nil without a target.
func (l *lowering) lookup(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var at any = l.root
	for word := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if word == "" {
			continue
		}
		o, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = o[strings.NewReplacer("~1", "/", "~0", "~").Replace(word)]
	}
	return at
}

// typeOf says type, where a list with null becomes nullable and a constant an
// enumeration.
func (l *lowering) typeOf(in, out map[string]any) {
	switch t := in["type"].(type) {
	case string:
		out["type"] = t
	case []any:
		var kinds []any
		for _, k := range t {
			if k == "null" {
				out["nullable"] = true
			} else {
				kinds = append(kinds, k)
			}
		}
		switch len(kinds) {
		case 0:
		case 1:
			out["type"] = kinds[0]
		default:
			var kinds_ []any
			for _, k := range kinds {
				kinds_ = append(kinds_, map[string]any{"type": k})
			}
			out["anyOf"] = kinds_
		}
	}
	if c, ok := in["const"].(string); ok {
		out["type"], out["enum"] = "string", []any{c}
	}
	if e, ok := out["enum"].([]any); ok && !allStrings(e) {
		delete(out, "enum") // only strings may be enumerated
	}
}

func allStrings(list []any) bool {
	for _, v := range list {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// bounds says exclusive bounds as inclusive ones, exactly for integers.
func (l *lowering) bounds(in, out map[string]any) {
	step := 0.0
	if in["type"] == "integer" {
		step = 1
	}
	if n, ok := in["exclusiveMinimum"].(float64); ok {
		out["minimum"] = n + step
	}
	if n, ok := in["exclusiveMaximum"].(float64); ok {
		out["maximum"] = n - step
	}
}

// inner rewrites the schemas inside.
func (l *lowering) inner(in, out map[string]any) {
	if props, ok := in["properties"].(map[string]any); ok {
		to := map[string]any{}
		for k, v := range props {
			to[k] = l.schema(v)
		}
		out["properties"] = to
	}
	if items, ok := in["items"]; ok {
		out["items"] = l.schema(items)
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		list, ok := in[k].([]any)
		if !ok {
			continue
		}
		var to []any
		for _, v := range list {
			if m, ok := v.(map[string]any); ok && m["type"] == "null" {
				out["nullable"] = true
				continue
			}
			to = append(to, l.schema(v))
		}
		out["anyOf"] = to
	}
	if list, ok := in["allOf"].([]any); ok && len(list) == 1 {
		for k, v := range l.schema(list[0]) {
			if _, has := out[k]; !has {
				out[k] = v
			}
		}
	}
	if req, ok := out["required"].([]any); ok {
		out["required"] = declared(req, out["properties"])
	}
}

// declared keeps the names that are properties; others are an error.
func declared(names []any, props any) []any {
	known, _ := props.(map[string]any)
	out := []any{}
	for _, n := range names {
		if s, ok := n.(string); ok && known[s] != nil {
			out = append(out, n)
		}
	}
	return out
}
