package modeltest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// checkRoot checks that a schema is that of an object.
func checkRoot(raw json.RawMessage) (object, error) {
	s, err := members(raw)
	if err != nil {
		return nil, err
	}
	if s.text("type") != "object" {
		return nil, bad("type", "the schema is not that of an object: %.80q", raw)
	}
	return s, nil
}

// checkSchema checks parameters as OpenAI does: objects have properties, arrays
// have items. Other makers want an object and no more.
func (f openAIFamily) checkSchema(raw json.RawMessage) error {
	s, err := checkRoot(raw)
	if err != nil || !f.own {
		return err
	}
	if !isObject(s["properties"]) {
		return bad("properties", "object schema missing properties")
	}
	return eachSchema(raw, func(s object) error {
		if s.text("type") == "array" && s["items"] == nil {
			return bad("items", "array schema missing items")
		}
		return nil
	})
}

// checkInput checks an input_schema as Anthropic does.
func checkInput(raw json.RawMessage) error {
	s, err := checkRoot(raw)
	if err != nil {
		return err
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf"} {
		if s[k] != nil {
			return bad(k, "input_schema does not support oneOf, allOf or anyOf at the top level")
		}
	}
	key := regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	return eachSchema(raw, func(s object) error {
		for k := range properties(s) {
			if !key.MatchString(k) {
				return bad("properties", "key %q does not match %s", k, key)
			}
		}
		return nil
	})
}

// eachSchema calls check with raw and the schemas in it.
func eachSchema(raw json.RawMessage, check func(object) error) error {
	s, err := members(raw)
	if err != nil {
		return nil // true, false, or a list of schemas of the old kind
	}
	if err := check(s); err != nil {
		return err
	}
	props := properties(s)
	for _, k := range slices.Sorted(maps.Keys(props)) {
		if err := eachSchema(props[k], check); err != nil {
			return at("properties."+k, err)
		}
	}
	for _, k := range []string{"items", "additionalProperties"} {
		if s[k] != nil {
			if err := eachSchema(s[k], check); err != nil {
				return at(k, err)
			}
		}
	}
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		for i, v := range list(s[k]) {
			if err := eachSchema(v, check); err != nil {
				return at(elem(k, i), err)
			}
		}
	}
	return nil
}

func properties(s object) object {
	props, err := members(s["properties"])
	if err != nil {
		return nil
	}
	return props
}

// checkParameters checks the parameters of a function declaration of Gemini,
// which know a part of OpenAPI's schemas and refuse every other word (C099).
func checkParameters(raw json.RawMessage) error {
	s, err := members(raw, "type", "format", "title", "description", "nullable", "enum", "items", "maxItems", "minItems", "properties",
		"required", "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering",
		"default", "minimum", "maximum")
	if err != nil {
		return err
	}
	if err := geminiType(s); err != nil {
		return err
	}
	props := object{}
	if s["properties"] != nil {
		if props, err = members(s["properties"]); err != nil {
			return at("properties", err)
		}
	}
	for i, n := range list(s["required"]) {
		if props[text(n)] == nil {
			return bad(elem("required", i), "property is not defined: %s", n)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(props)) {
		if err := checkParameters(props[k]); err != nil {
			return at("properties."+k, err)
		}
	}
	for i, v := range list(s["anyOf"]) {
		if err := checkParameters(v); err != nil {
			return at(elem("anyOf", i), err)
		}
	}
	if s["items"] != nil {
		return at("items", checkParameters(s["items"]))
	}
	return nil
}

// geminiType checks what goes with the type of a schema.
func geminiType(s object) error {
	kind := s.text("type")
	known := []string{"string", "number", "integer", "boolean", "array", "object", "null",
		"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
	is := func(a, b string) bool { return kind == a || kind == b }
	format := s.text("format")
	switch {
	case s["type"] != nil && !isText(s["type"]):
		return bad("type", "proto field is not repeating, cannot start list: %.80s", s["type"])
	case kind != "" && !slices.Contains(known, kind):
		return bad("type", "%q is no type", kind)
	case s["enum"] != nil && kind != "" && !is("string", "STRING"):
		return bad("enum", "only allowed for STRING type")
	case is("array", "ARRAY") && s["items"] == nil:
		return bad("items", "missing field")
	case s["properties"] != nil && kind != "" && !is("object", "OBJECT"):
		return bad("properties", "only allowed for OBJECT type")
	case is("string", "STRING") && format != "" && format != "enum" && format != "date-time":
		return bad("format", "only 'enum' and 'date-time' are supported for STRING type")
	}
	for i, v := range list(s["enum"]) {
		if !isText(v) {
			return bad(elem("enum", i), "%.80s is no string", v)
		}
	}
	for _, k := range []string{"required", "enum", "anyOf", "propertyOrdering"} {
		if s[k] != nil && s[k][0] != '[' {
			return bad(k, "not a list: %.80s", s[k])
		}
	}
	return nil
}
