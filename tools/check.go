package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/tools/schema"
)

const (
	maxFaults = 5   // faults of one input that the model is told
	maxFault  = 200 // characters of each
)

func compileOnce(info Info) func() (*schema.Schema, error) {
	return sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(info.Schema) })
}

// check is [Registry.Check] for one tool. A schema that cannot be read came from
// elsewhere, and whoever wrote it has to do with any object.
func (e *entry) check(input json.RawMessage) (json.RawMessage, error) {
	input = bytes.TrimSpace(input)
	if len(input) == 0 || string(input) == "null" {
		input = json.RawMessage("{}")
	}
	v, err := schema.Parse(input)
	if err != nil {
		return nil, Publicf("input of %s is not valid JSON: %w; send one complete object", e.info.Name, err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, Publicf("input of %s is %s; send an object", e.info.Name, kindOf(v))
	}
	s, err := e.schema()
	if err != nil {
		return input, nil
	}
	faults := s.Check(object)
	if len(faults) == 0 {
		return input, nil
	}
	if slim, ok := withoutNulls(object); ok && len(s.Check(slim)) == 0 {
		return json.Marshal(slim)
	}
	return nil, Publicf("input of %s does not fit its schema: %w", e.info.Name, oneLine(faults))
}

// oneLine says what does not fit, in a line for the model.
func oneLine(faults []schema.Fault) error {
	var texts []string
	for _, f := range faults[:min(len(faults), maxFaults)] {
		texts = append(texts, Line(f.String(), maxFault))
	}
	if more := len(faults) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(texts, "; "))
}

func kindOf(v any) string {
	switch v.(type) {
	case []any:
		return "an array"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// withoutNulls returns object without the members that are null, and whether
// there were any.
func withoutNulls(object map[string]any) (map[string]any, bool) {
	slim := make(map[string]any, len(object))
	for k, v := range object {
		if v != nil {
			slim[k] = v
		}
	}
	return slim, len(slim) < len(object)
}
