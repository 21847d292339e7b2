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
// It is small so that a program which starts for one question does not first
// compile the schemas of schemas, as the complete libraries do.
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
	enum      []any // values; nil is no enum
	all       []*node
	any       []*node
	one       []*node
	not       *node
	cond      *node // if
	then      *node
	otherwise *node

	properties map[string]*node
	patterns   []pattern
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
	text             *regexp.Regexp
}

type pattern struct {
	re   *regexp.Regexp
	node *node
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
