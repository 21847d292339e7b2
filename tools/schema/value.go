package schema

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxListed = 20  // values of an enum that a fault lists
	maxShown  = 100 // bytes of a name or a value that a fault repeats
)

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

// canonical returns a text that is the same for equal values; 1 and 1.0 are.
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

// newEnum returns the set of values, with the words for what is not in it.
func newEnum(values []any) *enum {
	e := &enum{values: make(map[string]bool, len(values))}
	var texts []string
	for _, v := range values {
		text := canonical(v)
		e.values[text] = true
		switch {
		case len(texts) < maxListed:
			texts = append(texts, short(text))
		case len(texts) == maxListed:
			texts = append(texts, "…")
		}
	}
	e.want = "want one of " + strings.Join(texts, ", ")
	if len(texts) == 1 {
		e.want = "want " + texts[0]
	}
	return e
}

// short returns text as a fault repeats it.
func short(text string) string {
	if len(text) <= maxShown {
		return text
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
