package normalise

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// maxName is how long the name of a tool may be with every provider.
const maxName = 64

// wireName is name if the provider takes it, Google or another; else a name that
// every provider takes, made from it and its digest, so that two names never become
// one.
func wireName(name string, google bool) string {
	begins := name != "" && (isLetter(rune(name[0])) || !google)
	if begins && len(name) <= maxName && strings.IndexFunc(name, foreign) < 0 {
		return name
	}
	const tail = 9
	safe := strings.Map(func(r rune) rune {
		if foreign(r) {
			return '_'
		}
		return r
	}, cmp.Or(name, "unnamed"))
	if !isLetter(rune(safe[0])) {
		safe = "_" + safe
	}
	return safe[:min(len(safe), maxName-tail)] + "_" + digest(name)[:tail-1]
}

// isLetter reports whether a name may begin with r everywhere.
func isLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_'
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
func renamed(tools []model.Tool, google bool) map[string]string {
	var back map[string]string
	for _, t := range tools {
		if w := wireName(t.Name, google); w != t.Name {
			if back == nil {
				back = map[string]string{}
			}
			back[w] = t.Name
		}
	}
	return back
}

// original is the name that the wire name stands for.
func original(back map[string]string, name string) string {
	if n, ok := back[name]; ok {
		return n
	}
	return name
}

// restore gives the calls of r the names that they have outside. One whose name
// cannot go back as the model wrote it loses what is signed with it.
func restore(r *model.Reply, back map[string]string, google bool) *model.Reply {
	if r == nil {
		return nil
	}
	out := *r
	out.Parts = make([]llms.ContentPart, len(r.Parts))
	for i, p := range r.Parts {
		switch t := p.(type) {
		case llms.ToolCall:
			p = rename(t, original(back, callName(t)))
		case model.Extra:
			wrote := callName(t.ToolCall)
			t.ToolCall = rename(t.ToolCall, original(back, wrote))
			p = t
			if wireName(callName(t.ToolCall), google) != wrote {
				p = t.ToolCall
			}
		}
		out.Parts[i] = p
	}
	return &out
}

func rename(t llms.ToolCall, name string) llms.ToolCall {
	if t.FunctionCall == nil || t.FunctionCall.Name == name {
		return t
	}
	f := *t.FunctionCall
	f.Name = name
	t.FunctionCall = &f
	return t
}

func callName(t llms.ToolCall) string {
	if t.FunctionCall == nil {
		return ""
	}
	return t.FunctionCall.Name
}
