package modeltest

import (
	"encoding/json"
	"strings"
)

// breakpoint is the member that ends a prefix which OpenAI is to cache.
const breakpoint = "prompt_cache_breakpoint"

// A cache says how a model finds what it has seen before.
type cache struct {
	way     way
	least   int  // tokens, below which nothing is cached
	step    int  // tokens, by which a prefix grows; 0 is any
	newest  bool // the end of a request is a breakpoint
	segment int  // how many segments before a mark are searched; 0 is all
}

// A way is how prefixes are found.
type way int

const (
	uncached     way = iota // nothing is said of a cache
	byPrefix                // whatever the last request began with
	byMarks                 // what ended in a mark, found from a mark
	byBreakpoint            // what ended in a breakpoint
)

// cache is that of OpenAI's models, and of everyone who speaks their protocol.
func (f openAIFamily) cache() cache {
	if f.breakpoints() {
		return cache{way: byBreakpoint, least: 1024, newest: true}
	}
	return cache{way: byPrefix, least: 1024, step: 128}
}

// cacheOptions reads prompt_cache_options.
func (f openAIFamily) cacheOptions(m object, req *request) error {
	if m["prompt_cache_options"] == nil {
		return nil
	}
	if !f.breakpoints() {
		return coded(0, "unsupported_parameter", "prompt_cache_options", "not supported with this model")
	}
	o, err := members(m["prompt_cache_options"], "mode", "ttl")
	if err != nil {
		return at("prompt_cache_options", err)
	}
	mode, err := o.word("mode", "implicit", "explicit")
	if err == nil {
		_, err = o.word("ttl", "30m", "12h")
	}
	req.cache.newest = mode != "explicit"
	return at("prompt_cache_options", err)
}

// checkBreakpoint checks the breakpoint of a part, if it has one.
func (f openAIFamily) checkBreakpoint(p object) error {
	if p[breakpoint] == nil {
		return nil
	}
	if !f.breakpoints() {
		return coded(0, "unsupported_parameter", breakpoint, "not supported with this model")
	}
	b, err := members(p[breakpoint], "mode", "ttl")
	if err == nil && b.text("mode") != "explicit" {
		err = bad("mode", "%s is not explicit", b["mode"])
	}
	if err == nil {
		_, err = b.word("ttl", "30m", "12h")
	}
	return at(breakpoint, err)
}

// geminiCache is Google's own cache, which needs much to begin.
func geminiCache(id string) cache {
	if v := geminiVersion(id); v > 0 && v < 300 {
		return cache{way: byPrefix, least: 2048}
	}
	return cache{way: byPrefix, least: 4096}
}

// claudeCache is Anthropic's, whose least prefix differs from model to model.
func claudeCache(id string) cache {
	c := cache{way: byMarks, least: 1024, segment: lookBack}
	switch v := claudeVersion(id); {
	case v == 500 && !strings.HasPrefix(bare(id), "claude-sonnet"):
		c.least = 512
	case v == 407:
		c.least = 2048
	case v == 405 && !strings.HasPrefix(bare(id), "claude-sonnet"), v == 406 && strings.HasPrefix(bare(id), "claude-opus"):
		c.least = 4096
	}
	return c
}

// A segment is a piece of a request in the order in which providers cache: the
// model, each tool, the system prompt, the messages part by part.
type segment struct {
	text   string
	marked bool // a mark or breakpoint ends it, which text does not show
}

// add appends raw, cut behind each of parts, which lie in it in this order. A
// part that has the member mark is marked; the member is no part of the text.
func (r *request) add(label string, raw json.RawMessage, parts []json.RawMessage, mark string) {
	if len(parts) == 0 {
		parts = []json.RawMessage{raw}
	}
	from, all := 0, string(raw)
	for i, p := range parts {
		to := from + strings.Index(all[from:], string(p)) + len(p)
		if i == len(parts)-1 && strings.Trim(all[to:], " \t\n]}") != "" {
			to = len(all) // more than brackets follow
		}
		text, marked := cutMember(all[from:to], p, mark)
		r.segments = append(r.segments, segment{label + ":" + text, marked})
		from = to
	}
}

// cutMember is text without member k of part, which text holds.
func cutMember(text string, part json.RawMessage, k string) (string, bool) {
	o, err := members(part)
	if k == "" || err != nil || o[k] == nil {
		return text, false
	}
	member := `"` + k + `":` + string(o[k])
	for _, m := range []string{"," + member, member + ",", member} {
		if i := strings.LastIndex(text, m); i >= 0 {
			return text[:i] + text[i+len(m):], o.has(k)
		}
	}
	return text, o.has(k)
}
