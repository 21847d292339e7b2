package normalise

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	maxName = 64 // of a tool, with every provider
	maxID   = 40 // of a call, the least that a provider takes
)

// wireName is name if every provider takes it; else a name that they take, made
// from it and its digest, so that two names never become one.
func wireName(name string) string {
	if name != "" && len(name) <= maxName && strings.IndexFunc(name, foreign) < 0 {
		return name
	}
	const tail = 9
	safe := strings.Map(func(r rune) rune {
		if foreign(r) {
			return '_'
		}
		return r
	}, cmp.Or(name, "unnamed"))
	return safe[:min(len(safe), maxName-tail)] + "_" + digest(name)[:tail-1]
}

// foreign reports whether r is outside the alphabet of names and ids.
func foreign(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// renamed maps the wire names of tools to their own, where the two differ.
func renamed(tools []model.Tool) map[string]string {
	var back map[string]string
	for _, t := range tools {
		if w := wireName(t.Name); w != t.Name {
			if back == nil {
				back = map[string]string{}
			}
			back[w] = t.Name
		}
	}
	return back
}

func wireNames(names []string) []string {
	if names == nil {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = wireName(n)
	}
	return out
}

// wireTools is tools as d takes them.
func wireTools(tools []model.Tool, d model.Descriptor) []model.Tool {
	if tools == nil {
		return nil
	}
	lower := plainSchemas(d)
	out := make([]model.Tool, len(tools))
	for i, t := range tools {
		t.Name = wireName(t.Name)
		if lower {
			t.Schema = plainSchema(t.Schema)
		}
		out[i] = t
	}
	return out
}

// A speller spells the ids of calls.
type speller func(id string) string

// spelling returns how d wants ids.
func spelling(d model.Descriptor) speller {
	if isMistral(d) {
		return nineLetters
	}
	return func(id string) string {
		if id != "" && len(id) <= maxID && strings.IndexFunc(id, foreign) < 0 {
			return id
		}
		return "call_" + digest(id)[:24]
	}
}

// isMistral reports whether d is served by Mistral itself.
func isMistral(d model.Descriptor) bool {
	return strings.EqualFold(d.Provider, "mistral") || strings.Contains(d.BaseURL, "api.mistral.ai")
}

// nineLetters is id as Mistral wants it: nine letters and digits.
func nineLetters(id string) string {
	plain := strings.IndexFunc(id, func(r rune) bool { return foreign(r) || r == '_' || r == '-' }) < 0
	if len(id) == 9 && plain {
		return id
	}
	return digest(id)[:9]
}

// Providers whose function declarations know only a part of JSON Schema.
func plainSchemas(d model.Descriptor) bool {
	return strings.EqualFold(d.Provider, "gemini") || strings.EqualFold(d.Provider, "google") ||
		strings.Contains(d.BaseURL, "generativelanguage.googleapis.com")
}
