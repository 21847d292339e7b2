package wirecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	xmessage "golang.org/x/text/message"
)

// part is the role of a definition in a method.
type part string

const (
	partRequest  part = "Request"
	partResponse part = "Response"
	partNotice   part = "Notification"
)

// A side is who answers a method.
const (
	sideAgent  = "agent"
	sideClient = "client"
)

// Schemas are the schemas of version 1 of the protocol. A message may use what
// the stable or the unstable edition has. They are safe for concurrent use.
type Schemas struct{ editions []edition }

// An edition is what a schema file says of the body of a message, by part, side
// and method.
type edition map[string]body

// A body is a schema as it stands, which lets fields pass that it does not know,
// and closed, which does not.
type body struct{ open, closed *jsonschema.Schema }

// Load reads the schemas from the folder "schema" of the npm package
// @agentclientprotocol/sdk.
func Load(dir string) (*Schemas, error) {
	var s Schemas
	for _, name := range []string{"schema.json", "schema.unstable.json"} {
		e, err := loadEdition(filepath.Join(dir, "v1", name))
		if err != nil {
			return nil, fmt.Errorf("loading schema: %w", err)
		}
		s.editions = append(s.editions, e)
	}
	return &s, nil
}

func loadEdition(path string) (edition, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	parse := func() (map[string]any, error) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		m, ok := doc.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: not an object", path)
		}
		return m, nil
	}
	doc, err := parse()
	if err != nil {
		return nil, err
	}
	names := methodNames(doc)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no definition names a method", path)
	}
	open, err := compiler(doc)
	if err != nil {
		return nil, err
	}
	if doc, err = parse(); err != nil {
		return nil, err
	}
	closed, err := compiler(closeDocument(doc))
	if err != nil {
		return nil, err
	}
	e := make(edition, len(names))
	for key, name := range names {
		var b body
		var errs [2]error
		at := schemaURL + "#/$defs/" + url.PathEscape(name)
		b.open, errs[0] = open.Compile(at)
		b.closed, errs[1] = closed.Compile(at)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
		e[key] = b
	}
	return e, nil
}

const schemaURL = "mem:///schema.json"

func compiler(doc map[string]any) (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for name, check := range formats() {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: check})
	}
	return c, c.AddResource(schemaURL, doc)
}

// methodNames returns the names of the definitions that belong to a method.
func methodNames(doc map[string]any) map[string]string {
	names := map[string]string{}
	defs, _ := doc["$defs"].(map[string]any)
	for name, def := range defs {
		d, _ := def.(map[string]any)
		method, _ := d["x-method"].(string)
		side, _ := d["x-side"].(string)
		for _, p := range []part{partRequest, partResponse, partNotice} {
			if method != "" && strings.HasSuffix(name, string(p)) {
				names[key(p, side, method)] = name
			}
		}
	}
	return names
}

func key(p part, side, method string) string { return string(p) + " " + side + " " + method }

// check returns what is wrong with the body of a message; nil is nothing.
func (s *Schemas) check(p part, side, method string, raw json.RawMessage) []string {
	if strings.HasPrefix(method, "_") {
		return nil // extensions have no schema
	}
	if strings.HasPrefix(method, "$/") {
		side = "protocol"
	}
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{err.Error()}
	}
	var open, closed []string
	known, fits := false, false
	for _, e := range s.editions {
		b, ok := e[key(p, side, method)]
		if !ok {
			continue
		}
		known = true
		if faults := validate(b.open, v); faults != nil {
			open = append(open, faults...)
			continue
		}
		fits = true
		faults := validate(b.closed, v)
		if faults == nil {
			return nil
		}
		closed = append(closed, faults...)
	}
	switch {
	case !known:
		return []string{fmt.Sprintf("version 1 has no such %s; a method of ours begins with _", strings.ToLower(string(p)))}
	case fits:
		open = closed
	}
	slices.Sort(open)
	return slices.Compact(open)
}

// validate returns what is wrong with v, most specific places first.
func validate(schema *jsonschema.Schema, v any) []string {
	err := schema.Validate(v)
	if err == nil {
		return nil
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return []string{err.Error()}
	}
	faults := map[string]int{}
	leaves(invalid, faults)
	lines := slices.SortedFunc(maps.Keys(faults), func(a, b string) int {
		if d := faults[b] - faults[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return lines[:min(len(lines), 4)]
}

// leaves collects the innermost causes, with the depth of their place. Of several
// alternatives it looks at those that are meant, if it can tell.
func leaves(e *jsonschema.ValidationError, into map[string]int) {
	if len(e.Causes) == 0 {
		said := e.ErrorKind.LocalizedString(xmessage.NewPrinter(language.English))
		into["/"+strings.Join(e.InstanceLocation, "/")+": "+said] = len(e.InstanceLocation)
		return
	}
	causes := e.Causes
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		meant := slices.DeleteFunc(slices.Clone(causes), otherVariant)
		if len(meant) > 0 {
			causes = meant
		}
	}
	for _, cause := range causes {
		leaves(cause, into)
	}
}

// otherVariant reports whether a constant, such as the name of a variant, is
// among what is wrong.
func otherVariant(e *jsonschema.ValidationError) bool {
	if _, ok := e.ErrorKind.(*kind.Const); ok {
		return true
	}
	return slices.ContainsFunc(e.Causes, otherVariant)
}

// formats are the formats of the schema that the library does not know.
func formats() map[string]func(any) error {
	between := func(low, high float64) func(any) error {
		return func(v any) error {
			n, ok := v.(json.Number)
			if !ok {
				return nil
			}
			f, err := n.Float64()
			if err != nil || f < low || f > high {
				return fmt.Errorf("%v is out of range", v)
			}
			return nil
		}
	}
	return map[string]func(any) error{
		"int32":  between(math.MinInt32, math.MaxInt32),
		"int64":  between(math.MinInt64, math.MaxInt64),
		"uint16": between(0, math.MaxUint16),
		"uint32": between(0, math.MaxUint32),
		"uint64": between(0, math.MaxUint64),
	}
}
