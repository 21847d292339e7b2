package modeltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// openAI is the protocol of chat completions. What it takes depends on the model,
// as on the servers that speak it: OpenAI's own (gpt-…, o3 …) refuse a temperature
// and functions beside reasoning, those named deepseek… and kimi… want their
// reasoning back with calls, gemini-… the signatures of calls, which they send
// without an index, and mistral-… ids of nine letters and no user right after a
// result.
type openAI struct{}

func (openAI) fault(req *request, w *wrong) any {
	if req != nil && isMistral(req.model) {
		return mistralFault(w)
	}
	return openAIFault(w)
}

func openAIFault(w *wrong) any {
	e := map[string]any{"message": w.reason, "type": "invalid_request_error", "param": nil, "code": nil}
	if w.field != "" {
		e["message"], e["param"] = fmt.Sprintf("Invalid '%s': %s", bracketed(w.field), w.reason), bracketed(w.field)
	}
	if w.status >= 500 {
		e["type"] = "server_error"
	}
	if w.code != "" {
		e["code"] = w.code
	}
	return map[string]any{"error": e}
}

// mistralFault is what Mistral makes of an error: flat, or a list of what its
// schema does not know.
func mistralFault(w *wrong) any {
	if w.status == http.StatusUnprocessableEntity {
		loc := []any{"body"}
		for word := range strings.SplitSeq(w.field, ".") {
			loc = append(loc, word)
		}
		return map[string]any{"detail": []any{map[string]any{"type": "extra_forbidden", "loc": loc, "msg": w.reason}}}
	}
	kind := map[string]string{"3230": "invalid_request_message_order", "3280": "invalid_function_call"}[w.code]
	if kind == "" {
		kind = "invalid_request_error"
	}
	return map[string]any{"object": "error", "message": w.Error(), "type": kind, "param": nil, "code": w.code}
}

// checkBearer checks an Authorization header, which local servers do without.
func checkBearer(h http.Header) error {
	if a := h.Get("Authorization"); h["Authorization"] != nil && strings.TrimSpace(strings.TrimPrefix(a, "Bearer")) == "" {
		return coded(http.StatusUnauthorized, "invalid_api_key", "", "the Authorization header is empty")
	}
	return nil
}

func (openAI) parse(r *http.Request, body []byte) (*request, error) {
	if err := checkBearer(r.Header); err != nil {
		return nil, err
	}
	m, err := members(body, "model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
		"max_tokens", "max_completion_tokens", "temperature", "top_p", "n", "stop", "seed", "frequency_penalty", "presence_penalty",
		"logit_bias", "logprobs", "top_logprobs", "metadata", "user", "safety_identifier", "service_tier", "store", "verbosity",
		"response_format", "reasoning_effort", "reasoning", "thinking", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention")
	if err != nil {
		return nil, err
	}
	req := newRequest(m.text("model"), m.text("prompt_cache_key"))
	c := openAIChecker{req: req, family: familyOf(req.model), turn: -1}
	req.cache = c.family.cache()
	for _, check := range []func(object) error{c.top, c.options, c.thinks, c.caches, c.tools, c.messages} {
		if err := check(m); err != nil {
			return req, err
		}
	}
	return req, nil
}

// openAIChecker walks through one request.
type openAIChecker struct {
	req    *request
	family openAIFamily
	pairs  pairs
	first  string // first message of the user
	turn   int    // index of the message that began the turn
	json   bool   // the word JSON occurs
}

func (c *openAIChecker) top(m object) error {
	id := c.req.model
	switch {
	case id == "":
		return coded(0, "missing_required_parameter", "model", "the model is missing")
	case string(m["stream"]) != "true":
		return bad("stream", "only streams are served; set stream")
	case m.has("max_tokens") && m.has("max_completion_tokens"):
		return bad("max_tokens", "max_tokens and max_completion_tokens exclude each other")
	case c.family.reasons && m.has("temperature"):
		return coded(0, "unsupported_parameter", "temperature", "not supported with this model")
	case c.family.reasons && m.has("max_tokens"):
		return coded(0, "unsupported_parameter", "max_tokens", "not supported with this model; use max_completion_tokens")
	}
	for _, k := range []string{"max_tokens", "max_completion_tokens"} {
		if _, err := m.int(k, 1); err != nil {
			return err
		}
	}
	if !isMistral(id) {
		return nil
	}
	for _, k := range []string{"stream_options", "max_completion_tokens", "prompt_cache_options", "reasoning", "thinking"} {
		if m[k] != nil {
			return coded(http.StatusUnprocessableEntity, "", k, "extra inputs are not permitted")
		}
	}
	return nil
}

func (c *openAIChecker) options(m object) error {
	if m.has("stream_options") {
		o, err := members(m["stream_options"], "include_usage", "include_obfuscation")
		if err != nil {
			return at("stream_options", err)
		}
		c.req.usage = string(o["include_usage"]) == "true"
	}
	c.req.usage = c.req.usage || countsUnasked(c.req.model)
	if m.has("response_format") {
		f, err := members(m["response_format"], "type", "json_schema")
		if err == nil {
			_, err = f.word("type", "text", "json_object", "json_schema")
		}
		if err != nil {
			return at("response_format", err)
		}
	}
	return checkCacheKey(m)
}

func checkCacheKey(m object) error {
	if k := m.text("prompt_cache_key"); len(k) > 64 {
		return coded(0, "string_above_max_length", "prompt_cache_key", "a string of %d bytes; the most is 64", len(k))
	}
	return nil
}

// thinks checks the ways to tell the effort.
func (c *openAIChecker) thinks(m object) error {
	for _, k := range []string{"reasoning", "thinking"} {
		if m[k] != nil && c.family.own {
			return coded(0, "unknown_parameter", k, "unknown field; extra inputs are not permitted")
		}
	}
	if m.has("reasoning") {
		if _, err := members(m["reasoning"], "effort", "max_tokens", "exclude", "enabled"); err != nil {
			return at("reasoning", err)
		}
	}
	if m.has("thinking") {
		t, err := members(m["thinking"], "type")
		if err == nil {
			_, err = t.word("type", "enabled", "disabled")
		}
		if err != nil {
			return at("thinking", err)
		}
	}
	effort, err := c.family.effort(m, "reasoning_effort")
	if err != nil {
		return err
	}
	on := effort != "" && effort != "none" || effort == "" && c.family.reasonsByDefault()
	if c.family.version >= 504 && m.has("tools") && on {
		return bad("reasoning_effort", "function tools beside reasoning are not supported for %s on this route; use /v1/responses or the effort none", c.req.model)
	}
	return nil
}

// effort reads the effort under k.
func (f openAIFamily) effort(m object, k string) (string, error) {
	s, err := m.word(k, "none", "minimal", "low", "medium", "high", "xhigh", "max")
	switch {
	case err != nil || s == "" || !f.own:
		return s, err
	case !f.reasons:
		return "", coded(0, "unsupported_parameter", k, "not supported with this model")
	case !slices.Contains(f.efforts(), s):
		return "", coded(0, "unsupported_value", k, "%q is not supported with this model; supported are %s", s, strings.Join(f.efforts(), ", "))
	}
	return s, nil
}

func (c *openAIChecker) caches(m object) error {
	return c.family.cacheOptions(m, c.req)
}

func (c *openAIChecker) tools(m object) error {
	tools := list(m["tools"])
	switch {
	case !m.has("tools") && m.has("tool_choice"):
		return bad("tool_choice", "only allowed with tools")
	case !m.has("tools") && m.has("parallel_tool_calls"):
		return bad("parallel_tool_calls", "only allowed with tools")
	case !m.has("tools"):
		return nil
	case len(tools) == 0:
		return bad("tools", "an empty list")
	case len(tools) > 128:
		return bad("tools", "%d tools; the most is 128", len(tools))
	}
	var names []string
	for i, raw := range tools {
		where := elem("tools", i)
		t, err := members(raw, "type", "function")
		if err != nil {
			return at(where, err)
		}
		f, err := members(t["function"], "name", "description", "parameters", "strict")
		if err != nil {
			return at(where+".function", err)
		}
		if t.text("type") != "function" {
			return bad(where+".type", "%q is not function", t.text("type"))
		}
		if err := c.family.checkSchema(f["parameters"]); err != nil {
			return at(where+".function.parameters", err)
		}
		names = append(names, f.text("name"))
		c.req.add("tool", raw, nil, "")
	}
	if err := checkNames(names); err != nil {
		return err
	}
	return checkChoice(m, names, "function")
}

// checkChoice checks a tool choice: a word, or the name of a tool, in an object
// under in or beside the type.
func checkChoice(m object, names []string, in string) error {
	raw := m["tool_choice"]
	if absent(raw) || slices.Contains([]string{"none", "auto", "required"}, text(raw)) {
		return nil
	}
	o, err := members(raw)
	if err == nil && in != "" {
		o, err = members(o[in])
	}
	if err != nil || !slices.Contains(names, o.text("name")) {
		return bad("tool_choice", "neither none, auto, required nor one of the tools: %.80s", raw)
	}
	return nil
}
