package modeltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// ollama is Ollama's own protocol: a line of JSON an event. It reads no more of a
// prompt than the option num_ctx, or 4096 tokens, and says nothing of the rest.
// A model that is listed without a capability refuses it.
type ollama struct{ listed []ModelInfo }

const ollamaWindow = 4096

func (ollama) fault(_ *request, w *wrong) any { return fields{"error": w.Error()} }

func (p ollama) parse(_ *http.Request, body []byte) (*request, error) {
	m, err := members(body, "model", "messages", "stream", "format", "keep_alive", "tools", "think", "options", "truncate", "shift", "logprobs", "top_logprobs")
	if err != nil {
		return nil, err
	}
	req := newRequest(m.text("model"), "")
	req.window = ollamaWindow
	c := ollamaChecker{req: req, info: infoOf(p.listed, req.model)}
	for _, check := range []func(object) error{c.top, c.options, c.tools, c.messages} {
		if err := check(m); err != nil {
			return req, err
		}
	}
	return req, nil
}

// ollamaChecker walks through one request.
type ollamaChecker struct {
	req  *request
	info ModelInfo
	open []functionCall // calls that wait for a result
}

func (c *ollamaChecker) top(m object) error {
	switch {
	case c.req.model == "":
		return bad("model", "model is required")
	case m.has("stream") && string(m["stream"]) != "true":
		return bad("stream", "only streams are served; leave stream out or set it")
	case m["tool_choice"] != nil:
		return bad("tool_choice", "there is none")
	case m.has("format") && string(m["format"]) != `""` && text(m["format"]) != "json" && !isObject(m["format"]):
		return bad("format", "invalid format: %.80s; expected \"json\" or a valid JSON Schema object", m["format"])
	}
	switch t := string(m["think"]); {
	case !m.has("think"), t == "false":
	case c.info.noThinking():
		return bad("", "%q does not support thinking", c.req.model)
	case t == "true":
	case !slices.Contains([]string{"high", "medium", "low", "max"}, text(m["think"])):
		return bad("think", "invalid think value: %s (must be \"high\", \"medium\", \"low\", true, or false)", t)
	}
	return nil
}

func (c *ollamaChecker) options(m object) error {
	if !m.has("options") {
		return nil
	}
	whole := []string{"num_ctx", "num_batch", "num_gpu", "main_gpu", "num_thread", "num_keep", "seed", "num_predict", "top_k", "repeat_last_n", "mirostat"}
	real := []string{"top_p", "min_p", "tfs_z", "typical_p", "temperature", "repeat_penalty", "presence_penalty", "frequency_penalty", "mirostat_tau", "mirostat_eta"}
	flags := []string{"numa", "low_vram", "f16_kv", "logits_all", "vocab_only", "use_mmap", "use_mlock", "embedding_only", "penalize_newline"}
	o, err := members(m["options"], slices.Concat(whole, real, flags, []string{"stop"})...)
	if err != nil {
		return at("options", err)
	}
	for k, raw := range o {
		var n json.Number
		isNumber := json.Unmarshal(raw, &n) == nil && !isText(raw)
		switch {
		case absent(raw):
		case slices.Contains(whole, k) && (!isNumber || strings.ContainsAny(n.String(), ".eE")):
			return bad("options."+k, "option %q must be of type integer", k)
		case slices.Contains(real, k) && !isNumber:
			return bad("options."+k, "option %q must be of type float32", k)
		case slices.Contains(flags, k) && string(raw) != "true" && string(raw) != "false":
			return bad("options."+k, "option %q must be of type boolean", k)
		case k == "stop" && list(raw) == nil:
			return bad("options."+k, "option %q must be of type array", k)
		}
	}
	n, err := o.int("num_ctx", 1)
	if n > 0 {
		c.req.window = n
	}
	return at("options", err)
}

func (c *ollamaChecker) tools(m object) error {
	tools := list(m["tools"])
	if len(tools) > 0 && c.info.NoTools {
		return bad("", "registry.ollama.ai/library/%s does not support tools", c.req.model)
	}
	var names []string
	for i, raw := range tools {
		where := elem("tools", i)
		t, err := members(raw, "type", "function")
		if err != nil {
			return at(where, err)
		}
		f, err := members(t["function"], "name", "description", "parameters")
		if err != nil {
			return at(where+".function", err)
		}
		if err := checkOllamaTool(f["parameters"]); err != nil {
			return at(where+".function.parameters", err)
		}
		names = append(names, f.text("name"))
		c.req.add("tool", raw, nil, "")
	}
	return checkNames(names)
}

// checkOllamaTool checks parameters as far as the server decodes them.
func checkOllamaTool(raw json.RawMessage) error {
	s, err := checkRoot(raw)
	if err != nil {
		return err
	}
	if s.has("required") && list(s["required"]) == nil {
		return bad("required", "cannot unmarshal %.40s into Go struct field of type []string", s["required"])
	}
	for k, raw := range properties(s) {
		p, err := members(raw)
		if err != nil || p.has("description") && !isText(p["description"]) || p.has("enum") && list(p["enum"]) == nil {
			return bad("properties."+k, "cannot unmarshal %.40s into Go struct field of type api.ToolProperty", raw)
		}
	}
	return nil
}

func (c *ollamaChecker) messages(m object) error {
	msgs := list(m["messages"])
	if len(msgs) == 0 {
		return bad("messages", "the list is empty")
	}
	role := ""
	for i, raw := range msgs {
		msg, err := members(raw, "role", "content", "thinking", "images", "tool_calls", "tool_name", "tool_call_id")
		if err == nil {
			err = c.message(i, msg)
		}
		if err != nil {
			return at(elem("messages", i), err)
		}
		role = msg.text("role")
		c.req.add("message", raw, nil, "")
	}
	if err := c.settled(); err != nil {
		return at("messages", err)
	}
	if role == "assistant" {
		return bad("messages", "the last message is the model's own")
	}
	return nil
}

func (c *ollamaChecker) settled() error {
	if len(c.open) > 0 {
		return bad("", "%d calls without a result, the first %s (%s)", len(c.open), c.open[0].name, c.open[0].id)
	}
	return nil
}

func (c *ollamaChecker) message(i int, m object) error {
	role, err := m.word("role", "system", "user", "assistant", "tool")
	if err != nil {
		return err
	}
	if m["content"] != nil && !isText(m["content"]) {
		return bad("content", "cannot unmarshal %.20s into Go struct field ChatRequest.messages.content of type string", m["content"])
	}
	if role != "tool" {
		if err := c.settled(); err != nil {
			return err
		}
	}
	said := m.text("content")
	switch {
	case role == "":
		return bad("role", "it is missing")
	case role == "system" && i > 0:
		return bad("role", "a system message that is not the first")
	case said == "" && role != "tool" && !m.has("images") && !m.has("tool_calls") && !m.has("thinking"):
		return bad("content", "the message is empty")
	case role != "assistant" && (m.has("tool_calls") || m.has("thinking")):
		return bad("tool_calls", "calls and thoughts belong to the assistant")
	case role == "tool":
		c.req.last = said
		return c.result(m)
	case role == "user":
		c.req.last = said
		if c.req.session == "" {
			c.req.session = said
		}
		return c.pictures(m)
	}
	return c.calls(m)
}

func (c *ollamaChecker) pictures(m object) error {
	for i, raw := range list(m["images"]) {
		var b []byte // base64 in JSON
		known := false
		if json.Unmarshal(raw, &b) == nil {
			for _, mime := range pictureTypes() {
				known = known || model.PictureType("", b) == mime
			}
		}
		if !known {
			return bad(elem("images", i), "failed to load image: unknown format")
		}
	}
	return nil
}

func (c *ollamaChecker) calls(m object) error {
	calls := list(m["tool_calls"])
	for i, raw := range calls {
		where := elem("tool_calls", i)
		t, err := members(raw, "id", "type", "function")
		if err != nil {
			return at(where, err)
		}
		f, err := members(t["function"], "index", "name", "arguments", "description")
		call := functionCall{t.text("id"), f.text("name")}
		switch {
		case err != nil:
			return at(where+".function", err)
		case !nameRule.MatchString(call.name):
			return bad(where+".function.name", "name %q of a call does not match %s", call.name, nameRule)
		case !isObject(f["arguments"]):
			return bad(where+".function.arguments", "cannot unmarshal %.20s into Go struct field ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments", f["arguments"])
		}
		c.open = append(c.open, call)
	}
	return nil
}

// result checks a result, which names its call by id, by name, or by both.
func (c *ollamaChecker) result(m object) error {
	id, name := m.text("tool_call_id"), m.text("tool_name")
	switch {
	case len(c.open) == 0:
		return bad("", "result of %q does not follow its call", name+id)
	case id == "" && name == "":
		return bad("tool_name", "a result names its call by tool_name or tool_call_id")
	case id != "" && id != c.open[0].id, name != "" && name != c.open[0].name:
		return bad("", "result of %s (%s) where that of %s (%s) is due", name, id, c.open[0].name, c.open[0].id)
	}
	c.open = c.open[1:]
	return c.pictures(m)
}
