package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// openAI is the protocol of chat completions. Models named deepseek… want their
// reasoning back with calls, models named gemini… the signature of calls, which
// they send without an index; gpt-5 and later take no temperature.
type openAI struct{}

func (openAI) fault(status int, code, message string) any {
	e := map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if status >= 500 {
		e["type"] = "server_error"
	}
	if code != "" {
		e["code"] = code
	}
	return map[string]any{"error": e}
}

func (openAI) parse(r *http.Request, body []byte) (*request, error) {
	h := r.Header
	if a := h.Get("Authorization"); h["Authorization"] != nil && strings.TrimSpace(strings.TrimPrefix(a, "Bearer")) == "" {
		return nil, errors.New("the Authorization header is empty")
	}
	m, err := members("request", body, "model", "stream", "stream_options", "prompt_cache_key", "tools", "tool_choice",
		"messages", "max_tokens", "max_completion_tokens", "reasoning_effort", "reasoning", "thinking", "temperature", "response_format")
	if err != nil {
		return nil, err
	}
	req := &request{model: text(m["model"]), session: text(m["prompt_cache_key"]), implicit: true}
	c := openAIChecker{req: req}
	return req, errors.Join(c.top(m), c.tools(m), c.messages(list(m["messages"])))
}

// openAIChecker walks through one request.
type openAIChecker struct {
	req   *request
	pairs pairs
	first string // first message of the user
}

func (c *openAIChecker) top(m map[string]json.RawMessage) error {
	reasons := strings.HasPrefix(c.req.model, "gpt-5") || strings.HasPrefix(c.req.model, "o3")
	switch {
	case c.req.model == "":
		return errors.New("model is missing")
	case string(m["stream"]) != "true":
		return errors.New("only streams are served; set stream")
	case !absent(m["max_tokens"]) && !absent(m["max_completion_tokens"]):
		return errors.New("max_tokens and max_completion_tokens exclude each other")
	case reasons && !absent(m["temperature"]):
		return errors.New("temperature is not supported with this model")
	case reasons && !absent(m["max_tokens"]):
		return errors.New("max_tokens is not supported with this model; use max_completion_tokens")
	case strings.HasPrefix(c.req.model, "gpt-5.5") && !absent(m["tools"]) && text(m["reasoning_effort"]) != "none":
		return errors.New("function tools with reasoning_effort are not supported on this route")
	}
	c.req.segments = append(c.req.segments, segment{text: "model:" + c.req.model})
	return nil
}

func (c *openAIChecker) tools(m map[string]json.RawMessage) error {
	if absent(m["tools"]) {
		if !absent(m["tool_choice"]) {
			return errors.New("tool_choice is only allowed with tools")
		}
		return nil
	}
	var names []string
	var schemas []json.RawMessage
	for i, raw := range list(m["tools"]) {
		t, err := members(fmt.Sprintf("tools.%d", i), raw, "type", "function")
		if err != nil {
			return err
		}
		f, err := members(fmt.Sprintf("tools.%d.function", i), t["function"], "name", "description", "parameters")
		if err != nil {
			return err
		}
		names, schemas = append(names, text(f["name"])), append(schemas, f["parameters"])
		c.req.segments = append(c.req.segments, segment{text: "tool:" + string(raw)})
	}
	if len(names) == 0 {
		return errors.New("tools is an empty list")
	}
	return checkTools(names, schemas)
}

func (c *openAIChecker) messages(msgs []json.RawMessage) error {
	if len(msgs) == 0 {
		return errors.New("messages is empty")
	}
	role := ""
	for i, raw := range msgs {
		m, err := members("message", raw)
		if err == nil {
			role = text(m["role"])
			err = c.message(i, role, m)
		}
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		c.req.segments = append(c.req.segments, segment{text: role + ":" + string(raw)})
	}
	if c.req.session == "" {
		c.req.session = c.first
	}
	if err := c.pairs.settled(); err != nil {
		return err
	}
	if role == "assistant" {
		return errors.New("the last message is the model's own")
	}
	return nil
}

func (c *openAIChecker) message(i int, role string, m map[string]json.RawMessage) error {
	if role != "tool" {
		if err := c.pairs.settled(); err != nil {
			return err
		}
	}
	switch role {
	case "system", "developer":
		if i > 0 || text(m["content"]) == "" {
			return errors.New("a system message is first and has text")
		}
	case "user":
		t, err := userText(m["content"])
		if err != nil {
			return err
		}
		c.req.last = t
		if c.first == "" {
			c.first = t
		}
	case "assistant":
		return c.assistant(m)
	case "tool":
		if absent(m["content"]) || m["content"][0] != '"' {
			return errors.New("content of a result is a string")
		}
		c.req.last = text(m["content"])
		return c.pairs.result(text(m["tool_call_id"]))
	default:
		return fmt.Errorf("role %q is unknown", role)
	}
	return nil
}

// userText is the text of content, a string or typed parts.
func userText(raw json.RawMessage) (string, error) {
	if s := text(raw); s != "" {
		return s, nil
	}
	parts := list(raw)
	if len(parts) == 0 {
		return "", errors.New("content is empty")
	}
	var out []string
	for _, raw := range parts {
		var p struct {
			Type, Text string
			ImageURL   struct{ URL string } `json:"image_url"`
		}
		if err := json.Unmarshal(raw, &p); err != nil {
			return "", err
		}
		switch {
		case p.Type == "text" && p.Text != "":
			out = append(out, p.Text)
		case p.Type == "image_url" && (strings.HasPrefix(p.ImageURL.URL, "data:image/") || strings.HasPrefix(p.ImageURL.URL, "http")):
		default:
			return "", fmt.Errorf("a part is empty or unknown: %.80q", raw)
		}
	}
	return strings.Join(out, "\n"), nil
}

func (c *openAIChecker) assistant(m map[string]json.RawMessage) error {
	calls := list(m["tool_calls"])
	if _, has := m["content"]; !has {
		return errors.New("content is missing; it may be null")
	}
	if text(m["content"]) == "" && len(calls) == 0 {
		return errors.New("an answer is empty")
	}
	if strings.HasPrefix(c.req.model, "deepseek") && len(calls) > 0 && absent(m["reasoning_content"]) {
		return errors.New("the reasoning_content in the thinking mode must be passed back")
	}
	if !strings.HasPrefix(c.req.model, "deepseek") && m["reasoning_content"] != nil {
		return errors.New("reasoning_content is not accepted")
	}
	for i, raw := range calls {
		if err := c.toolCall(i, raw); err != nil {
			return fmt.Errorf("tool_calls.%d: %w", i, err)
		}
	}
	return nil
}

func (c *openAIChecker) toolCall(i int, raw json.RawMessage) error {
	t, err := members("call", raw, "id", "type", "function", "extra_content")
	if err != nil {
		return err
	}
	f, err := members("function", t["function"], "name", "arguments")
	if err != nil {
		return err
	}
	gemini := strings.HasPrefix(c.req.model, "gemini")
	switch {
	case text(t["type"]) != "function":
		return errors.New("type is not function")
	case !object(json.RawMessage(text(f["arguments"]))):
		return fmt.Errorf("arguments are not an object: %.80q", text(f["arguments"]))
	case gemini && i == 0 && !strings.Contains(string(t["extra_content"]), "thought_signature"):
		return errors.New("function call is missing a thought_signature")
	case !gemini && t["extra_content"] != nil:
		return errors.New("extra_content is not accepted")
	}
	return c.pairs.call(text(t["id"]), text(f["name"]))
}

// openAIWriter writes chunks.
type openAIWriter struct {
	e     *events
	model string
}

func (openAI) stream(e *events, req *request, _ *Reply, _ model.Usage) writer {
	e.open()
	w := &openAIWriter{e, req.model}
	w.chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	return w
}

func (w *openAIWriter) chunk(delta, finish any) {
	w.e.piece("", map[string]any{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": w.model,
		"choices": []any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}})
}

func (w *openAIWriter) think(s string) { w.chunk(map[string]any{"reasoning_content": s}, nil) }
func (w *openAIWriter) text(s string)  { w.chunk(map[string]any{"content": s}, nil) }

func (w *openAIWriter) tools(ts []Tool) {
	for i, t := range ts {
		w.tool(i, t)
	}
}

func (w *openAIWriter) tool(i int, t Tool) {
	call := func(v map[string]any) { w.chunk(map[string]any{"tool_calls": []any{v}}, nil) }
	if strings.HasPrefix(w.model, "gemini") {
		v := map[string]any{"id": t.ID, "type": "function", "function": map[string]any{"name": t.Name, "arguments": t.Args}}
		if i == 0 {
			v["extra_content"] = map[string]any{"google": map[string]any{"thought_signature": "c2lnbmVk"}}
		}
		call(v)
		return
	}
	call(map[string]any{"index": i, "id": t.ID, "type": "function", "function": map[string]any{"name": t.Name, "arguments": ""}})
	for _, part := range halves(t.Args) {
		call(map[string]any{"index": i, "function": map[string]any{"arguments": part}})
	}
}

// halves cuts s in two, not inside a character.
func halves(s string) []string {
	if len(s) < 2 {
		return []string{s}
	}
	r := []rune(s)
	return []string{string(r[:len(r)/2]), string(r[len(r)/2:])}
}

func (w *openAIWriter) fail(code, message string) {
	w.e.send("", map[string]any{"error": map[string]any{"message": message, "type": code, "code": nil}})
}

func (w *openAIWriter) end(stop model.Stop, u model.Usage) {
	finish := map[model.Stop]string{model.StopEnd: "stop", model.StopTools: "tool_calls", model.StopLength: "length",
		model.StopContext: "length", model.StopRefusal: "content_filter", model.StopPause: "stop"}[stop]
	w.chunk(map[string]any{}, finish)
	if u.Known {
		w.e.send("", map[string]any{"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": w.model, "choices": []any{},
			"usage": map[string]any{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
				"prompt_tokens_details":     map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
				"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning}}})
	}
	w.e.send("", "[DONE]")
}
