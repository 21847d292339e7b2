package modeltest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// anthropic is the protocol of messages. Models whose version is 4.7 or later
// take no temperature and no thinking budget, earlier ones than 4.6 no adaptive
// thinking. A thought is accepted from its author only, which its signature
// tells.
type anthropic struct{}

func (anthropic) fault(status int, code, message string) any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[status]
	switch {
	case code != "":
		kind = code
	case kind == "":
		kind = "api_error"
	}
	return map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_test"}
}

func (anthropic) parse(r *http.Request, body []byte) (*request, error) {
	h := r.Header
	switch {
	case h.Get("Anthropic-Version") == "":
		return nil, errors.New("anthropic-version: header is required")
	case h["X-Api-Key"] != nil && h.Get("X-Api-Key") == "":
		return nil, errors.New("the x-api-key header is empty")
	}
	m, err := members("request", body, "model", "max_tokens", "stream", "thinking", "output_config", "temperature",
		"tools", "tool_choice", "system", "messages", "metadata")
	if err != nil {
		return nil, err
	}
	req := &request{model: text(m["model"])}
	c := anthropicChecker{req: req}
	err = errors.Join(c.top(m), c.tools(m), c.system(m["system"]), c.messages(list(m["messages"])))
	if err == nil && c.marks > 4 {
		err = fmt.Errorf("%d blocks with cache_control where 4 are allowed", c.marks)
	}
	return req, err
}

// anthropicChecker walks through one request.
type anthropicChecker struct {
	req      *request
	pairs    pairs
	marks    int
	budgeted bool
}

var version = regexp.MustCompile(`^claude-[a-z]+-(\d+)-(\d)(-|$)`)

func (c *anthropicChecker) top(m map[string]json.RawMessage) error {
	var limit int
	if err := json.Unmarshal(m["max_tokens"], &limit); err != nil || limit < 1 {
		return errors.New("max_tokens: field required")
	}
	var t struct {
		Type   string
		Budget int `json:"budget_tokens"`
	}
	if !absent(m["thinking"]) {
		if err := json.Unmarshal(m["thinking"], &t); err != nil {
			return err
		}
	}
	c.budgeted = t.Type == "enabled"
	v := 0
	if g := version.FindStringSubmatch(c.req.model); g != nil {
		v = int(g[1][0]-'0')*10 + int(g[2][0]-'0')
	}
	switch {
	case c.req.model == "":
		return errors.New("model: field required")
	case string(m["stream"]) != "true":
		return errors.New("only streams are served; set stream")
	case c.budgeted && (t.Budget < 1024 || t.Budget >= limit):
		return errors.New("thinking.budget_tokens must be at least 1024 and less than max_tokens")
	case c.budgeted && v >= 47, t.Type == "adaptive" && v > 0 && v < 46:
		return fmt.Errorf("thinking type %q is not supported with this model", t.Type)
	case !absent(m["temperature"]) && (v >= 47 || t.Type != ""):
		return errors.New("temperature is not supported here")
	}
	c.req.segments = append(c.req.segments, segment{text: "model:" + c.req.model})
	return nil
}

func (c *anthropicChecker) segment(label string, raw json.RawMessage) {
	s := cutMark(label, raw)
	if s.marked {
		c.marks++
	}
	c.req.segments = append(c.req.segments, s)
}

func (c *anthropicChecker) tools(m map[string]json.RawMessage) error {
	if absent(m["tools"]) {
		if !absent(m["tool_choice"]) {
			return errors.New("tool_choice may only be specified while providing tools")
		}
		return nil
	}
	var names []string
	var schemas []json.RawMessage
	for i, raw := range list(m["tools"]) {
		t, err := members(fmt.Sprintf("tools.%d", i), raw, "name", "description", "input_schema", "cache_control")
		if err != nil {
			return err
		}
		names, schemas = append(names, text(t["name"])), append(schemas, t["input_schema"])
		c.segment("tool", raw)
	}
	return checkTools(names, schemas)
}

func (c *anthropicChecker) system(raw json.RawMessage) error {
	if absent(raw) {
		return nil
	}
	for i, b := range list(raw) {
		m, err := members(fmt.Sprintf("system.%d", i), b, "type", "text", "cache_control")
		if err != nil {
			return err
		}
		if strings.TrimSpace(text(m["text"])) == "" {
			return errors.New("system: text content blocks must be non-empty")
		}
		c.segment("system", b)
	}
	return nil
}

func (c *anthropicChecker) messages(msgs []json.RawMessage) error {
	if len(msgs) == 0 {
		return errors.New("messages: at least one message is required")
	}
	before := "assistant"
	var kinds []string // of the blocks of the last answer
	for i, raw := range msgs {
		m, err := members(fmt.Sprintf("messages.%d", i), raw, "role", "content")
		if err != nil {
			return err
		}
		role := text(m["role"])
		if role == before || role != "user" && role != "assistant" {
			return fmt.Errorf("messages.%d: roles must alternate between user and assistant, beginning with user", i)
		}
		before = role
		k, err := c.content(role, list(m["content"]))
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if role == "assistant" {
			kinds = k
		} else if err := c.thoughtFirst(i == len(msgs)-1, kinds, k); err != nil {
			return fmt.Errorf("messages.%d: %w", i-1, err)
		}
	}
	if before != "user" {
		return errors.New("this model does not support assistant message prefill")
	}
	return c.pairs.settled()
}

// thoughtFirst checks that a turn that goes on with a budget began with a thought.
func (c *anthropicChecker) thoughtFirst(last bool, answer, user []string) error {
	if !last || !c.budgeted || user[0] != "tool_result" || strings.HasSuffix(answer[0], "thinking") {
		return nil
	}
	return fmt.Errorf("expected thinking or redacted_thinking, but found %s", answer[0])
}

// content checks the blocks of a message and returns their kinds.
func (c *anthropicChecker) content(role string, blocks []json.RawMessage) (kinds []string, err error) {
	if len(blocks) == 0 {
		return nil, errors.New("content is empty")
	}
	var said []string
	for i, raw := range blocks {
		m, err := members("block", raw)
		if err != nil {
			return nil, err
		}
		kind := text(m["type"])
		if kind == "tool_result" && slices.ContainsFunc(kinds, func(k string) bool { return k != kind }) {
			return nil, fmt.Errorf("content.%d: results come first", i)
		}
		if kind != "tool_result" && role == "user" {
			if err := c.pairs.settled(); err != nil {
				return nil, err
			}
		}
		if err := c.block(role, kind, m); err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
		kinds = append(kinds, kind)
		said = append(said, text(m["text"]), plainContent(m["content"]))
		c.segment(role, raw)
	}
	if role == "user" {
		if err := c.pairs.settled(); err != nil {
			return nil, err
		}
		c.req.last = strings.TrimSpace(strings.Join(said, "\n"))
		if c.req.session == "" {
			c.req.session = c.req.last
		}
	}
	return kinds, nil
}

func (c *anthropicChecker) block(role, kind string, m map[string]json.RawMessage) error {
	user := role == "user"
	switch {
	case kind == "text":
		if strings.TrimSpace(text(m["text"])) == "" {
			return errors.New("text content blocks must contain non-whitespace text")
		}
	case kind == "image" && user:
		return checkImage(m["source"])
	case kind == "tool_result" && user:
		return c.result(m)
	case kind == "tool_use" && !user:
		if !object(m["input"]) {
			return errors.New("input should be an object")
		}
		return c.pairs.call(text(m["id"]), text(m["name"]))
	case kind == "thinking" && !user:
		if m["cache_control"] != nil {
			return errors.New("thinking blocks cannot bear cache_control")
		}
		if text(m["signature"]) != sign(c.req.model, text(m["thinking"])) {
			return errors.New("invalid signature in thinking block")
		}
	case kind == "redacted_thinking" && !user:
		if text(m["data"]) == "" {
			return errors.New("data is missing")
		}
	default:
		return fmt.Errorf("block of type %q in a message of role %s", kind, role)
	}
	return nil
}

func (c *anthropicChecker) result(m map[string]json.RawMessage) error {
	empty := text(m["content"]) == "" && len(list(m["content"])) == 0
	if string(m["is_error"]) == "true" && empty {
		return errors.New("content cannot be empty if is_error is true")
	}
	for _, raw := range list(m["content"]) {
		b, err := members("content", raw, "type", "text", "source")
		switch {
		case err != nil:
			return err
		case text(b["type"]) == "text" && text(b["text"]) == "":
			return errors.New("text of a result is empty")
		case text(b["type"]) == "image":
			if err := checkImage(b["source"]); err != nil {
				return err
			}
		}
	}
	return c.pairs.result(text(m["tool_use_id"]))
}

func checkImage(raw json.RawMessage) error {
	var s struct {
		Type      string
		MediaType string `json:"media_type"`
		Data, URL string
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	known := slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, s.MediaType)
	if s.Type == "url" && s.URL != "" || s.Type == "base64" && known && s.Data != "" {
		return nil
	}
	return fmt.Errorf("image source is not accepted: %.80q", raw)
}

// plainContent is the text of the content of a result.
func plainContent(raw json.RawMessage) string {
	out := []string{text(raw)}
	for _, b := range list(raw) {
		var p struct{ Text string }
		if json.Unmarshal(b, &p) == nil {
			out = append(out, p.Text)
		}
	}
	return strings.Join(out, "\n")
}

// sign is the signature of a model under a thought.
func sign(id, thought string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + thought))
	return hex.EncodeToString(sum[:8])
}

// anthropicWriter writes events.
type anthropicWriter struct {
	e       *events
	model   string
	index   int
	open    string // kind of the open block
	thought string
}

func (anthropic) stream(e *events, req *request, _ *Reply, u model.Usage) writer {
	e.open()
	w := &anthropicWriter{e: e, model: req.model, index: -1}
	msg := map[string]any{"id": "msg_test", "type": "message", "role": "assistant", "model": req.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil}
	if u.Known {
		msg["usage"] = map[string]any{"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": 1,
			"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}
	}
	w.event("message_start", map[string]any{"message": msg})
	w.event("ping", map[string]any{})
	return w
}

func (w *anthropicWriter) event(kind string, v map[string]any) {
	v["type"] = kind
	w.e.send(kind, v)
}

func (w *anthropicWriter) begin(kind string, block map[string]any) {
	w.close()
	w.index++
	w.open, block["type"] = kind, kind
	w.event("content_block_start", map[string]any{"index": w.index, "content_block": block})
}

func (w *anthropicWriter) delta(v map[string]any) {
	w.e.piece("content_block_delta", map[string]any{"type": "content_block_delta", "index": w.index, "delta": v})
}

func (w *anthropicWriter) close() {
	if w.open == "thinking" {
		w.delta(map[string]any{"type": "signature_delta", "signature": sign(w.model, w.thought)})
	}
	if w.open != "" {
		w.event("content_block_stop", map[string]any{"index": w.index})
	}
	w.open = ""
}

func (w *anthropicWriter) think(s string) {
	if w.open != "thinking" {
		w.begin("thinking", map[string]any{"thinking": "", "signature": ""})
	}
	w.thought += s
	w.delta(map[string]any{"type": "thinking_delta", "thinking": s})
}

func (w *anthropicWriter) text(s string) {
	if w.open != "text" {
		w.begin("text", map[string]any{"text": ""})
	}
	w.delta(map[string]any{"type": "text_delta", "text": s})
}

func (w *anthropicWriter) tools(ts []Tool) {
	for _, t := range ts {
		w.tool(t)
	}
}

func (w *anthropicWriter) tool(t Tool) {
	w.begin("tool_use", map[string]any{"id": t.ID, "name": t.Name, "input": map[string]any{}})
	for _, part := range append([]string{""}, halves(t.Args)...) {
		w.delta(map[string]any{"type": "input_json_delta", "partial_json": part})
	}
	w.close()
}

func (w *anthropicWriter) fail(code, message string) {
	if code == "" {
		code = "api_error"
	}
	w.event("error", map[string]any{"error": map[string]any{"type": code, "message": message}})
}

func (w *anthropicWriter) end(stop model.Stop, u model.Usage) {
	w.close()
	raw := map[model.Stop]string{model.StopEnd: "end_turn", model.StopTools: "tool_use", model.StopLength: "max_tokens",
		model.StopContext: "model_context_window_exceeded", model.StopRefusal: "refusal", model.StopPause: "pause_turn"}[stop]
	v := map[string]any{"delta": map[string]any{"stop_reason": raw, "stop_sequence": nil}}
	if u.Known {
		v["usage"] = map[string]any{"output_tokens": u.Output, "output_tokens_details": map[string]any{"thinking_tokens": u.Reasoning}}
	}
	w.event("message_delta", v)
	w.event("message_stop", map[string]any{})
}
