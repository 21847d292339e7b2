package offline

import (
	"encoding/json"
	"maps"
)

// properties returns the properties of an input schema, by name.
func properties(schema json.RawMessage) map[string]json.RawMessage {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return s.Properties
}

// firstOf returns the first of the names that is a property, or usual.
func firstOf(p map[string]json.RawMessage, usual string, names ...string) string {
	for _, name := range names {
		if _, ok := p[name]; ok {
			return name
		}
	}
	return usual
}

// fill returns arguments with value under the first of the names that the tool
// knows.
func fill(usual, value string, names ...string) func(map[string]json.RawMessage) map[string]any {
	return func(p map[string]json.RawMessage) map[string]any {
		return map[string]any{firstOf(p, usual, names...): value}
	}
}

// optional is like fill, and leaves an empty value out.
func optional(value string, names ...string) func(map[string]json.RawMessage) map[string]any {
	if value == "" {
		return nothing
	}
	return fill(names[0], value, names...)
}

func nothing(map[string]json.RawMessage) map[string]any { return map[string]any{} }

// both joins the arguments of two.
func both(a, b func(map[string]json.RawMessage) map[string]any) func(map[string]json.RawMessage) map[string]any {
	return func(p map[string]json.RawMessage) map[string]any {
		args := a(p)
		maps.Copy(args, b(p))
		return args
	}
}

// replacement returns the arguments of an edit, alone or in a list of edits.
func replacement(before, after string) func(map[string]json.RawMessage) map[string]any {
	return func(p map[string]json.RawMessage) map[string]any {
		edits, ok := p["edits"]
		if !ok {
			return both(fill("old", before, "old", "old_text", "old_string"), fill("new", after, "new", "new_text", "new_string"))(p)
		}
		var list struct {
			Items json.RawMessage `json:"items"`
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(edits, &list) == nil {
			inner = properties(list.Items)
		}
		return map[string]any{"edits": []any{replacement(before, after)(inner)}}
	}
}
