package modeltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// anthropic is the protocol of messages. Models whose version is 4.7 or later
// take no temperature and no thinking budget, earlier ones than 4.6 no adaptive
// thinking. A thought is accepted from its author only, which its signature
// tells.
type anthropic struct{}

func (anthropic) fault(_ *request, w *wrong) any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[w.status]
	switch {
	case w.code != "" && w.code != "unknown_parameter":
		kind = w.code
	case kind == "":
		kind = "api_error"
	}
	return fields{"type": "error", "error": fields{"type": kind, "message": w.Error()}, "request_id": "req_test"}
}

// latestVersion is the version of the protocol from which no model takes a
// temperature.
const latestVersion = "2026-10-21"

func (anthropic) parse(r *http.Request, body []byte) (*request, error) {
	h := r.Header
	switch v := h.Get("Anthropic-Version"); {
	case v == "":
		return nil, bad("anthropic-version", "header is required")
	case v != "2023-06-01" && v != latestVersion:
		return nil, bad("anthropic-version", "%q is not a valid version", v)
	case h["X-Api-Key"] != nil && h.Get("X-Api-Key") == "":
		return nil, coded(http.StatusUnauthorized, "", "", "the x-api-key header is empty")
	}
	m, err := members(body, "model", "max_tokens", "stream", "thinking", "output_config", "temperature", "top_p", "top_k", "stop_sequences",
		"tools", "tool_choice", "system", "messages", "metadata", "cache_control", "service_tier", "container", "diagnostics", "inference_geo", "speed")
	if err != nil {
		return nil, err
	}
	req := newRequest(m.text("model"), "")
	req.cache = claudeCache(req.model)
	c := anthropicChecker{req: req, version: claudeVersion(req.model), latest: h.Get("Anthropic-Version") == latestVersion}
	for _, check := range []func(object) error{c.top, c.thinks, c.tools, c.system, c.messages, c.marks} {
		if err := check(m); err != nil {
			return req, err
		}
	}
	return req, nil
}

// anthropicChecker walks through one request.
type anthropicChecker struct {
	req      *request
	version  int
	latest   bool
	pairs    pairs
	thinking string // its type
	ttls     []string
}

func (c *anthropicChecker) top(m object) error {
	if c.req.model == "" {
		return bad("model", "field required")
	}
	if string(m["stream"]) != "true" {
		return bad("stream", "only streams are served; set stream")
	}
	limit, err := m.int("max_tokens", 1)
	switch most := c.mostTokens(); {
	case err != nil:
		return err
	case limit == 0:
		return bad("max_tokens", "field required")
	case most > 0 && limit > most:
		return bad("max_tokens", "%d > %d, which is the maximum allowed number of output tokens for %s", limit, most, c.req.model)
	}
	if m.has("metadata") {
		if _, err := members(m["metadata"], "user_id"); err != nil {
			return at("metadata", err)
		}
	}
	return nil
}

// mostTokens is the longest answer of the model; 0 is unknown.
func (c *anthropicChecker) mostTokens() int {
	sonnet := strings.HasPrefix(bare(c.req.model), "claude-sonnet")
	switch v := c.version; {
	case v >= 406:
		return 128_000
	case v >= 405, v >= 400 && sonnet, v >= 307:
		if v >= 400 && v < 405 && !sonnet {
			return 32_000
		}
		return 64_000
	case v >= 305:
		return 8192
	case v >= 300:
		return 4096
	}
	return 0
}

// thinks checks thinking, its effort, and what does not go with it.
func (c *anthropicChecker) thinks(m object) error {
	v := c.version
	if m.has("thinking") {
		t, err := members(m["thinking"], "type", "budget_tokens", "display")
		if err == nil {
			c.thinking, err = t.word("type", "enabled", "adaptive", "disabled", "between_tools")
		}
		if err == nil {
			_, err = t.word("display", "summarized", "omitted")
		}
		if err == nil {
			err = c.budget(t, m)
		}
		if err != nil {
			return at("thinking", err)
		}
	}
	if err := c.effort(m["output_config"]); err != nil {
		return at("output_config", err)
	}
	for _, k := range []string{"temperature", "top_p", "top_k"} {
		switch on := c.thinking == "enabled" || c.thinking == "adaptive"; {
		case !m.has(k):
		case c.latest, v >= 407:
			return bad(k, "%s is deprecated for this model", k)
		case on && string(m[k]) != "1":
			return bad(k, "may only be set to 1 when thinking is enabled")
		}
	}
	return nil
}

func (c *anthropicChecker) budget(t, m object) error {
	limit, _ := m.int("max_tokens", 1) // checked
	n, err := t.int("budget_tokens", 1024)
	switch v := c.version; {
	case err != nil:
		return err
	case c.thinking == "enabled" && n == 0:
		return bad("budget_tokens", "field required")
	case c.thinking != "enabled" && t["budget_tokens"] != nil:
		return bad("budget_tokens", "extra inputs are not permitted")
	case n >= limit:
		return bad("budget_tokens", "it must be at least 1024 and less than max_tokens")
	case c.thinking == "enabled" && v >= 407, c.thinking == "adaptive" && v > 0 && v < 406, c.thinking == "enabled" && v > 0 && v < 307,
		c.thinking == "between_tools" && v < 500:
		return bad("type", "%q is not supported with this model", c.thinking)
	}
	return nil
}

func (c *anthropicChecker) effort(raw json.RawMessage) error {
	if absent(raw) {
		return nil
	}
	o, err := members(raw, "effort", "format")
	if err != nil {
		return err
	}
	e, err := o.word("effort", "low", "medium", "high", "xhigh", "max")
	switch v := c.version; {
	case err != nil || e == "" || v == 0:
		return err
	case v < 406 && !strings.HasPrefix(bare(c.req.model), "claude-opus-4-5"):
		return bad("effort", "this model does not support the effort parameter")
	case e == "xhigh" && v < 407, e == "max" && v < 406:
		return bad("effort", "%q is not supported with this model", e)
	}
	return nil
}

func (c *anthropicChecker) tools(m object) error {
	if !m.has("tools") {
		if m.has("tool_choice") {
			return bad("tool_choice", "it may only be specified while providing tools")
		}
		return nil
	}
	var names []string
	for i, raw := range list(m["tools"]) {
		t, err := members(raw, "type", "name", "description", "input_schema", "cache_control", "strict", "input_examples")
		if err == nil {
			err = at("input_schema", checkInput(t["input_schema"]))
		}
		if err == nil {
			err = c.mark(t)
		}
		if err != nil {
			return at(elem("tools", i), err)
		}
		names = append(names, t.text("name"))
		c.req.add("tool", raw, []json.RawMessage{raw}, "cache_control")
	}
	if err := checkNames(names); err != nil {
		return err
	}
	return at("tool_choice", c.choice(m, names))
}

func (c *anthropicChecker) choice(m object, names []string) error {
	if !m.has("tool_choice") {
		return nil
	}
	t, err := members(m["tool_choice"], "type", "name", "disable_parallel_tool_use")
	if err != nil {
		return err
	}
	kind, err := t.word("type", "auto", "any", "tool", "none")
	switch forced := kind == "any" || kind == "tool"; {
	case err != nil:
		return err
	case kind == "":
		return bad("type", "field required")
	case kind == "tool" && !slices.Contains(names, t.text("name")):
		return bad("name", "%q is not among the tools", t.text("name"))
	case forced && (c.thinking == "enabled" || c.thinking == "adaptive"):
		return bad("type", "thinking may not be enabled when tool_choice forces tool use")
	}
	return nil
}

func (c *anthropicChecker) system(m object) error {
	raw := m["system"]
	switch {
	case absent(raw):
		return nil
	case isText(raw):
		if strings.TrimSpace(text(raw)) == "" {
			return bad("system", "text content blocks must be non-empty")
		}
		c.req.add("system", raw, nil, "")
		return nil
	}
	for i, b := range list(raw) {
		m, err := members(b, "type", "text", "cache_control")
		if err == nil {
			err = c.mark(m)
		}
		switch {
		case err != nil:
			return at(elem("system", i), err)
		case m.text("type") != "text" || strings.TrimSpace(m.text("text")) == "":
			return bad(elem("system", i), "text content blocks must be non-empty")
		}
		c.req.add("system", b, []json.RawMessage{b}, "cache_control")
	}
	return nil
}

// mark checks the cache mark of a block, if it has one.
func (c *anthropicChecker) mark(m object) error {
	if !m.has("cache_control") {
		return nil
	}
	o, err := members(m["cache_control"], "type", "ttl")
	if err == nil && o.text("type") != "ephemeral" {
		err = bad("type", "%s is not ephemeral", o["type"])
	}
	var ttl string
	if err == nil {
		ttl, err = o.word("ttl", "5m", "1h")
	}
	if ttl == "1h" && slices.ContainsFunc(c.ttls, func(t string) bool { return t != "1h" }) {
		err = bad("ttl", "a block with ttl 1h must not come after one with ttl 5m")
	}
	c.ttls = append(c.ttls, ttl)
	return at("cache_control", err)
}

// marks counts the marks, of which the one of the request itself goes to the last
// block.
func (c *anthropicChecker) marks(m object) error {
	if m.has("cache_control") {
		if err := c.mark(m); err != nil {
			return err
		}
		c.req.segments[len(c.req.segments)-1].marked = true
	}
	if n := len(c.ttls); n > 4 {
		return bad("cache_control", "a maximum of 4 blocks with cache_control may be provided; found %d", n)
	}
	return nil
}
