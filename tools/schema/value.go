package schema

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// maxListed is how many values of an enum a fault lists.
const maxListed = 20

// is reports whether v is of the type t.
func is(t string, v any) bool {
	got := typeOf(v)
	return got == t || got == "integer" && t == "number"
}

// typeOf returns the type of v, the narrower of two.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case json.Number:
		if isInteger(v) {
			return "integer"
		}
	}
	return "number"
}

func isInteger(v json.Number) bool {
	if !strings.ContainsAny(string(v), ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == math.Trunc(f)
}

// equal reports whether a and b are the same value; 1 and 1.0 are.
func equal(a, b any) bool { return canonical(a) == canonical(b) }

// canonical returns a text that is the same for equal values.
func canonical(v any) string {
	text, err := json.Marshal(normal(v))
	if err != nil {
		return "" // values of Parse can always be written
	}
	return string(text)
}

// normal returns v with each number in its shortest form.
func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := strconv.ParseFloat(string(v), 64)
		switch {
		case err != nil:
		case math.Abs(f) < 1<<53:
			return f
		case strings.ContainsAny(string(v), ".eE") && isInteger(v):
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = normal(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = normal(item)
		}
		return object
	}
	return v
}

// list says which values are allowed.
func list(values []any) string {
	texts := make([]string, 0, len(values))
	for _, v := range values[:min(len(values), maxListed)] {
		texts = append(texts, canonical(v))
	}
	if len(values) > maxListed {
		texts = append(texts, "…")
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "one of " + strings.Join(texts, ", ")
}
