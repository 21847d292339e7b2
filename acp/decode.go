package acp

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
)

// An object is the members of a JSON object, as slices of what the client sent.
// That is read member by member: one that is null counts as absent, and an
// unknown one is nobody's business (R-ACP-03).
type object map[string]json.RawMessage

// members reads raw as an object; anything else has no members. Of two with one
// name the first counts, as it does for targetID: a request must not concern
// another session than the one in whose queue it stands.
func members(raw json.RawMessage) object {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	o := make(object)
	for name, value := range wire.Members(raw) {
		if _, twice := o[name]; !twice {
			o[name] = value
		}
	}
	return o
}

// has reports whether the member is there and not null.
func (o object) has(key string) bool {
	raw := o[key]
	return len(raw) > 0 && string(raw) != "null"
}

// object returns a member that is an object.
func (o object) object(key string) object { return members(o[key]) }

// flag reports whether the member is true.
func (o object) flag(key string) bool { return string(o[key]) == "true" }

// text returns a member that is a string, and "" for anything else.
func (o object) text(key string) string {
	s, _ := o.lookup(key)
	return s
}

// lookup returns a member that is a string, and whether it is one.
func (o object) lookup(key string) (string, bool) { return wire.Text(o[key]) }

// list returns the elements of a member that is an array; absent is empty.
func (o object) list(key string) (iter.Seq[json.RawMessage], error) {
	if raw := o[key]; o.has(key) && raw[0] != '[' {
		return nil, invalid(key, "must be an array")
	}
	return wire.Elements(o[key]), nil
}

// required returns a member that must be a string.
func (o object) required(key string) (string, error) {
	s, ok := o.lookup(key)
	if ok {
		return s, nil
	}
	if o.has(key) {
		return "", invalid(key, "must be a string")
	}
	return "", invalid(key, "is missing")
}

// optional returns a member that must be a string if it is there.
func (o object) optional(key string) (string, error) {
	if !o.has(key) {
		return "", nil
	}
	return o.required(key)
}

// ours returns a member of our key of _meta that is a string, if it is there.
func (o object) ours(key string) (string, error) {
	m := o.meta()
	s, ok := m.lookup(key)
	if !ok && m.has(key) {
		return "", invalid(ourField(key), "must be a string")
	}
	return s, nil
}

// meta returns what stands under our key of _meta. Nothing else of _meta is ever
// looked at (R-ACP-24).
func (o object) meta() object { return o.object("_meta").object(v1.Namespace) }

// invalid is a mistake in the parameters of a request: −32602, naming the field.
func invalid(field, format string, args ...any) *wire.Error {
	e := wire.InvalidParams("%s %s", field, fmt.Sprintf(format, args...))
	e.Data = map[string]any{"field": field, "details": e.Message}
	return e
}

// targetID returns the session that a message names, or "". It reads no further
// than the id.
func targetID(params json.RawMessage) string {
	for name, value := range wire.Members(params) {
		if name == "sessionId" {
			id, _ := wire.Text(value)
			return id
		}
	}
	return ""
}

// storedID returns the id of a session that may be stored, as opposed to open.
func (o object) storedID() (string, error) {
	id, err := o.required("sessionId")
	if err != nil {
		return "", err
	}
	if harness.CheckID(id) != nil {
		return "", invalid("sessionId", badID, id)
	}
	return id, nil
}

// badID says what an id looks like.
const badID = "is %.100q; an id has up to 200 letters, digits, dots, hyphens and underscores, and is not . or .."

// wishedID returns the id that a request wishes for its new session, or ""
// (R-ACP-07). A wish that is no string is refused by readOpening.
func wishedID(params json.RawMessage) string {
	return members(params).meta().text("sessionId")
}
