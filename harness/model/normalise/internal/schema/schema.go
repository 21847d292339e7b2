// Package schema makes the JSON Schema of a tool's arguments fit for a provider.
//
// Every provider reads another part of the language, and refuses a whole request
// for one keyword beyond it. A schema in which nothing is wrong for a provider
// keeps its bytes; else it is said anew, as exactly as the provider allows, and
// what cannot be said is left out, so that it admits more and never less of what a
// tool takes. Two things are meant, not said: a schema without a type has that of its
// other keywords, and an argument of one alternative has no other meaning beside the
// next. Google has no word for anything: there it is all but null, and a list that
// holds no list. The schema that arguments are checked against stays the tool's own.
package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A Dialect is what a provider reads of JSON Schema.
type Dialect uint8

// The dialects.
const (
	// Compatible is that of servers that speak a protocol of OpenAI's: the root
	// has properties, arrays say what they hold, and properties are objects.
	Compatible Dialect = iota
	// OpenAI is Compatible without alternatives beside the properties of the root.
	OpenAI
	// Anthropic has no alternatives there either, and a type is one word.
	Anthropic
	// Google is the part that function declarations of Gemini have, without
	// references.
	Google
)

const (
	maxDepth = 24       // levels of a schema
	maxSize  = 64 << 10 // bytes of it
	maxNodes = 3000     // schemas in it, with those that references stand for
	maxTurns = 6        // a schema is said anew until nothing is wrong
)

// Lower returns raw as d reads it: an object schema, compact where it differs from
// raw. It is the same for equal input, and its own result is right as it is. The
// error says why the schema is broken, so that no provider could be told of the
// tool.
func Lower(raw json.RawMessage, d Dialect) (json.RawMessage, error) {
	raw = json.RawMessage(strings.TrimSpace(string(raw)))
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	v, same, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	before := v.String()
	if err := check(v); err != nil {
		return nil, err
	}
	for depth := maxDepth; ; depth /= 2 {
		out := settled(v, before, d, depth)
		switch {
		case depth == 0:
			return json.RawMessage(open(d).String()), nil
		case out == before && same && plain(raw) && len(raw) <= maxSize:
			return raw, nil
		case len(out) <= maxSize:
			return json.RawMessage(out), nil
		}
	}
}

// settled says v, which is written as out, anew until that changes nothing.
func settled(v *value, out string, d Dialect, depth int) string {
	for range maxTurns {
		l := lowering{d: d, root: v, depth: depth, left: maxNodes}
		v = l.top(v)
		s := v.String()
		if s == out {
			break
		}
		out = s
	}
	return out
}

// open is the schema of any arguments.
func open(d Dialect) *value {
	v := obj(member{"type", str("object")})
	if d != Google { // which refuses properties that are none
		v.set("properties", obj())
	}
	return v
}

// plain reports whether every reader of raw sees the same characters in it.
func plain(raw []byte) bool {
	return utf8.Valid(raw) && !strings.Contains(strings.ToLower(string(raw)), `\ud`)
}

// A lowering says one schema anew.
type lowering struct {
	d     Dialect
	root  *value // that references point into
	base  string // address of the root
	depth int    // levels that are kept
	left  int    // schemas that may still be written

	used map[string]int // how often a reference is in place at once, for Google
}

// top is the schema of a tool. Whatever stands there, arguments are an object.
func (l *lowering) top(v *value) *value {
	if !v.is(object) {
		return open(l.d)
	}
	l.base = strings.TrimSuffix(v.word("$id"), "#")
	v = l.schema(l.inPlace(v), 0, true)
	l.root = v
	v = v.clone()
	if !v.get("type").isWord("object") {
		if v.get("type") == nil {
			v.first("type", str("object"))
		} else {
			v.set("type", str("object"))
		}
	}
	switch l.d {
	case Google:
		l.used = map[string]int{}
		return l.put(v, 0)
	case OpenAI:
		v = l.flat(v)
		v.del("enum", "not")
	case Anthropic:
		v = l.flat(v)
	}
	if l.d != Anthropic && v.get("properties") == nil {
		v.set("properties", obj())
	}
	if v.get("properties") == nil {
		v.del("required")
	}
	required(v, true)
	return l.pointing(v, v)
}

// inPlace puts what the root refers to in its place: it has to say itself that it is
// an object.
func (l *lowering) inPlace(v *value) *value {
	for range maxDepth {
		ref := v.get("$ref")
		if !ref.is(text) {
			return v
		}
		v = v.clone()
		v.del("$ref")
		if to := l.lookup(ref.text); to.is(object) {
			v = overlay(to, v)
		}
	}
	v = v.clone()
	v.del("$ref")
	return v
}

// overlay returns under with the members of over in front of its own.
func overlay(under, over *value) *value {
	out := over.clone()
	for _, m := range under.members {
		if out.get(m.key) == nil {
			out.members = append(out.members, m)
		}
	}
	return out
}
