// Package schema checks JSON values against a JSON Schema and says in words
// that a model can act on what does not fit.
//
// It knows the keywords that describe the input of tools, in the meaning of
// draft 2020-12 and, where they differ, of the drafts before: type, enum, const,
// properties, patternProperties, additionalProperties, propertyNames, required,
// dependentRequired, dependentSchemas, dependencies, items, prefixItems,
// contains, the bounds of sizes and numbers, pattern, allOf, anyOf, oneOf, not,
// if, and a $ref that points into the schema. It leaves out what only annotates,
// format, and the dynamic and unevaluated keywords. Nothing is ever loaded.
//
// It is our own because the schemas come from servers that nobody has vetted and
// are read while somebody waits. Of the complete libraries, jsonschema/v6 of
// santhosh-tekuri compiles the schemas of schemas in every program that it is
// linked into, about 5 ms of each start, and jsonschema-go of google follows a
// $ref in a circle until the stack overflows, which nothing can recover from.
// Here depth, time and memory are bounded whatever the schema and the value:
// [Compile] refuses a schema that asks for too much, and [Schema.Check] gives up
// and lets the value pass.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// A Schema is a compiled schema. It does not change and is safe for concurrent
// use.
type Schema struct{ root *node }

// A node is one schema inside of a document. A field that is nil or zero does
// not constrain.
type node struct {
	never bool // the schema false

	ref       *node
	types     []string
	enum      *enum
	all       []*node
	any       []*node
	one       []*node
	not       *node
	cond      *node // if
	then      *node
	otherwise *node

	properties map[string]*node
	patterns   []*pattern
	additional *node // properties that neither of the above names
	names      *node // propertyNames
	required   []string
	dependent  map[string][]string
	whenThere  map[string]*node // dependentSchemas

	prefix   []*node
	items    *node // those after prefix
	contains *node
	matches  bounds // items that contains fits
	unique   bool

	itemCount     bounds
	propertyCount bounds
	length        bounds // of a string, in characters

	minimum, maximum *float64
	above, below     *float64 // exclusive bounds
	multiple         *float64
	text             *pattern
}

// A pattern is an expression, and for the properties that it matches, a schema.
type pattern struct {
	re   *regexp.Regexp
	size int // instructions of its program
	node *node
}

// An enum is a set of values.
type enum struct {
	values map[string]bool // in their canonical text
	want   string          // what to say to one that is not among them
}

// bounds limit a size; nil does not.
type bounds struct{ min, max *int }

// Parse decodes one JSON value for [Schema.Check]. Its error names the byte at
// which the text stops being one.
func Parse(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, positioned(err, len(text))
	}
	end := dec.InputOffset()
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more text follows the first value at byte %d", end)
	}
	return v, nil
}

func positioned(err error, size int) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("it ends at byte %d, before the value is complete", size)
	}
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%w at byte %d", s, s.Offset)
	}
	return err
}
