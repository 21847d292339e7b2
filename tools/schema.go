package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

const (
	schemaURL    = "tool:///schema.json" // the name of the schema at hand; nothing else can be referred to
	maxCheckText = 600                   // bytes of what the model is told about one input
	maxFaults    = 5                     // faults of one input that are named
)

// A Schema is a compiled JSON Schema.
type Schema struct{ s *jsonschema.Schema }

// CompileSchema compiles a JSON Schema. Nothing is loaded: a reference must
// point into the schema itself. An empty schema allows everything. A pattern
// that Go's syntax does not know is not checked.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(compilePattern)
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, fmt.Errorf("reading schema: %w", err)
	}
	s, err := c.Compile(schemaURL)
	if err != nil {
		return nil, fmt.Errorf("compiling schema: %w", err)
	}
	return &Schema{s}, nil
}

// validate says in one line for the model what of v, a JSON value whose numbers
// are [json.Number], does not fit.
func (s *Schema) validate(v any) error {
	err := s.s.Validate(v)
	if err == nil {
		return nil
	}
	bad, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	var faults []string
	p := message.NewPrinter(language.English)
	leaves(bad, func(e *jsonschema.ValidationError) {
		text := e.ErrorKind.LocalizedString(p)
		if at := strings.Join(e.InstanceLocation, "."); at != "" {
			text = at + ": " + text
		}
		faults = append(faults, Line(text, maxCheckText/maxFaults))
	})
	if more := len(faults) - maxFaults; more > 0 {
		faults = append(faults[:maxFaults], fmt.Sprintf("and %d more", more))
	}
	return errors.New(strings.Join(faults, "; "))
}

func leaves(e *jsonschema.ValidationError, f func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 {
		f(e)
	}
	for _, c := range e.Causes {
		leaves(c, f)
	}
}

// noLoader keeps schemas from reaching the disk and the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s is outside the schema", url)
}

func compilePattern(s string) (jsonschema.Regexp, error) {
	if re, err := regexp.Compile(s); err == nil {
		return re, nil
	}
	return anything(s), nil
}

// anything stands for a pattern in a syntax that Go does not have.
type anything string

func (a anything) String() string        { return string(a) }
func (anything) MatchString(string) bool { return true }

func compileOnce(info Info) func() (*Schema, error) {
	return sync.OnceValues(func() (*Schema, error) { return CompileSchema(info.Schema) })
}

// check is [Registry.Check] for one tool. A schema that does not compile came
// from elsewhere; its tool's own check of an object has to do.
func (e *entry) check(input json.RawMessage) (json.RawMessage, error) {
	input = bytes.TrimSpace(input)
	if len(input) == 0 || string(input) == "null" {
		input = json.RawMessage("{}")
	}
	v, err := parse(input)
	if err != nil {
		return nil, Publicf("input of %s is not valid JSON: %w; send one complete object", e.info.Name, err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, Publicf("input of %s is %s; send an object", e.info.Name, kindOf(v))
	}
	schema, err := e.schema()
	if err != nil {
		return input, nil
	}
	fault := schema.validate(object)
	if fault == nil {
		return input, nil
	}
	if slim, ok := withoutNulls(object); ok && schema.validate(slim) == nil {
		return json.Marshal(slim)
	}
	return nil, Publicf("input of %s does not fit its schema: %w", e.info.Name, fault)
}

// parse decodes one JSON value, and names the byte at which that fails.
func parse(input []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, positioned(err, len(input))
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
		return fmt.Errorf("%s at byte %d", s, s.Offset)
	}
	return err
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
