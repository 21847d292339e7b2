package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	nameRule = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	idRule   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
)

// members reads an object and rejects what is none, keys that it has twice, and
// keys that are not among known, if any are.
func members(what string, raw json.RawMessage, known ...string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%s: not an object: %.80q", what, raw)
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		k := t.(string)
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", what, k, err)
		}
		if _, twice := out[k]; twice {
			return nil, fmt.Errorf("%s: %q twice", what, k)
		}
		if len(known) > 0 && !slices.Contains(known, k) {
			return nil, fmt.Errorf("%s: extra inputs are not permitted: %q", what, k)
		}
		out[k] = v
	}
	return out, nil
}

// text reads a string; absent, null and anything else are "".
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// list reads an array; anything else is nil.
func list(raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func object(raw json.RawMessage) bool {
	return json.Valid(raw) && strings.HasPrefix(strings.TrimSpace(string(raw)), "{")
}

// pairs checks that every call has its result, in order, right after it.
type pairs struct {
	seen map[string]bool // every id of the request
	open []string        // ids that wait for a result
}

func (p *pairs) call(id, name string) error {
	switch {
	case !idRule.MatchString(id):
		return fmt.Errorf("id %q of a call does not match %s", id, idRule)
	case !nameRule.MatchString(name):
		return fmt.Errorf("name %q of a call does not match %s", name, nameRule)
	case p.seen[id]:
		return fmt.Errorf("id %q of a call is not unique", id)
	}
	if p.seen == nil {
		p.seen = map[string]bool{}
	}
	p.seen[id] = true
	p.open = append(p.open, id)
	return nil
}

func (p *pairs) result(id string) error {
	switch {
	case len(p.open) == 0:
		return fmt.Errorf("result of %q does not follow its call", id)
	case p.open[0] != id:
		return fmt.Errorf("result of %q where that of %q is due", id, p.open[0])
	}
	p.open = p.open[1:]
	return nil
}

func (p *pairs) settled() error {
	if len(p.open) > 0 {
		return fmt.Errorf("calls without a result: %s", strings.Join(p.open, ", "))
	}
	return nil
}

// checkTools checks declarations: their names and that schema is that of an object.
func checkTools(names []string, schemas []json.RawMessage) error {
	for i, n := range names {
		if !nameRule.MatchString(n) {
			return fmt.Errorf("tools.%d: name %q does not match %s", i, n, nameRule)
		}
		if slices.Contains(names[:i], n) {
			return fmt.Errorf("tools.%d: name %q is not unique", i, n)
		}
		var s struct{ Type string }
		if json.Unmarshal(schemas[i], &s) != nil || s.Type != "object" {
			return fmt.Errorf("tools.%d: the schema is not that of an object: %.80q", i, schemas[i])
		}
	}
	return nil
}
