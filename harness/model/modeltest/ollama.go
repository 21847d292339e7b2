package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// ollama is Ollama's own protocol: a line of JSON a piece.
type ollama struct{}

func (ollama) fault(_ int, _, message string) any { return map[string]any{"error": message} }

func (ollama) parse(_ *http.Request, body []byte) (*request, error) {
	m, err := members("request", body)
	if err != nil {
		return nil, err
	}
	req := &request{model: text(m["model"]), implicit: true, uncached: true}
	req.segments = append(req.segments, segment{text: "model:" + req.model})
	for _, raw := range list(m["tools"]) {
		req.segments = append(req.segments, segment{text: "tool:" + string(raw)})
	}
	for _, raw := range list(m["messages"]) {
		var msg struct{ Role, Content string }
		if err := json.Unmarshal(raw, &msg); err != nil {
			return nil, err
		}
		if msg.Role == "user" || msg.Role == "tool" {
			req.last = msg.Content
			if req.session == "" {
				req.session = req.last
			}
		}
		req.segments = append(req.segments, segment{text: msg.Role + ":" + string(raw)})
	}
	return req, nil
}

// ollamaWriter writes lines.
type ollamaWriter struct {
	e     *events
	model string
}

func (ollama) stream(e *events, req *request, _ *Reply, _ model.Usage) writer {
	e.lines = true
	e.open()
	return &ollamaWriter{e, req.model}
}

// line sends a message; raw goes into it as it is, for @raw.
func (w *ollamaWriter) line(msg map[string]any, raw string) {
	msg["role"] = "assistant"
	if msg["content"] == nil {
		msg["content"] = ""
	}
	v := map[string]any{"model": w.model, "created_at": "2026-01-02T03:04:05.678Z", "message": msg, "done": false}
	w.e.piece("", strings.Replace(JSON(v), `"@raw"`, raw, 1))
}

func (w *ollamaWriter) think(s string) { w.line(map[string]any{"thinking": s}, "") }
func (w *ollamaWriter) text(s string)  { w.line(map[string]any{"content": s}, "") }

func (w *ollamaWriter) tools(ts []Tool) {
	for i, t := range ts {
		args := t.Args
		if args == "" {
			args = "{}"
		}
		w.line(map[string]any{"tool_calls": []any{map[string]any{"id": t.ID,
			"function": map[string]any{"index": i, "name": t.Name, "arguments": "@raw"}}}}, args)
	}
}

func (w *ollamaWriter) fail(_, message string) { w.e.send("", map[string]any{"error": message}) }

func (w *ollamaWriter) end(stop model.Stop, u model.Usage) {
	reason := "stop"
	if stop == model.StopLength || stop == model.StopContext {
		reason = "length"
	}
	v := map[string]any{"model": w.model, "created_at": "2026-01-02T03:04:05.678Z", "done": true, "done_reason": reason,
		"message": map[string]any{"role": "assistant", "content": ""}, "total_duration": 5_000_000, "load_duration": 1_000_000}
	if u.Known {
		v["prompt_eval_count"], v["eval_count"] = u.Input, u.Output
		v["prompt_eval_duration"], v["eval_duration"] = 1_000_000, 3_000_000
	}
	w.e.send("", v)
}
