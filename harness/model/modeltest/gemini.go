package modeltest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// gemini is the protocol of streamGenerateContent.
type gemini struct{}

// geminiStatus is the word for an HTTP status.
func geminiStatus(status int) string {
	word := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}[status]
	if word == "" {
		return "UNKNOWN"
	}
	return word
}

func (gemini) fault(status int, code, message string) any {
	if code == "" {
		code = geminiStatus(status)
	}
	return map[string]any{"error": map[string]any{"code": status, "message": message, "status": code}}
}

func (gemini) parse(r *http.Request, body []byte) (*request, error) {
	m, err := members("request", body)
	if err != nil {
		return nil, err
	}
	path := r.URL.Path
	id := strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ":streamGenerateContent")
	req := &request{model: id, implicit: true}
	req.segments = append(req.segments, segment{text: "model:" + id})
	for _, raw := range list(m["tools"]) {
		req.segments = append(req.segments, segment{text: "tool:" + string(raw)})
	}
	if !absent(m["systemInstruction"]) {
		req.segments = append(req.segments, segment{text: "system:" + string(m["systemInstruction"])})
	}
	for _, raw := range list(m["contents"]) {
		var c struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse struct{ Response json.RawMessage }
			}
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, err
		}
		var said []string
		for _, p := range c.Parts {
			said = append(said, p.Text+resultText(p.FunctionResponse.Response))
		}
		if c.Role == "user" {
			req.last = strings.TrimSpace(strings.Join(said, "\n"))
			if req.session == "" {
				req.session = req.last
			}
		}
		req.segments = append(req.segments, segment{text: c.Role + ":" + string(raw)})
	}
	return req, nil
}

// resultText is what the strings in the response of a function say.
func resultText(raw json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	var out []string
	for _, k := range []string{"output", "result", "error"} {
		if s, ok := m[k].(string); ok {
			out = append(out, s)
		}
	}
	return strings.Join(out, "\n")
}

// geminiWriter writes chunks.
type geminiWriter struct {
	e     *events
	req   *request
	usage model.Usage
	said  strings.Builder
}

func (gemini) stream(e *events, req *request, _ *Reply, u model.Usage) writer {
	e.open()
	return &geminiWriter{e: e, req: req, usage: u}
}

// thinks reports whether the model signs what it thinks.
func (w *geminiWriter) thinks() bool { return strings.HasPrefix(w.req.model, "gemini-") }

// has3 reports whether the model is Gemini 3 or later, which names its calls.
func (w *geminiWriter) has3() bool {
	return w.thinks() && !strings.HasPrefix(w.req.model, "gemini-1") && !strings.HasPrefix(w.req.model, "gemini-2")
}

// part sends a chunk with one part; raw goes into it as it is, for @raw.
func (w *geminiWriter) part(p map[string]any, raw, finish string) {
	c := map[string]any{"index": 0}
	if p != nil {
		c["content"] = map[string]any{"role": "model", "parts": []any{p}}
	}
	if finish != "" {
		c["finishReason"] = finish
	}
	v := map[string]any{"candidates": []any{c}, "modelVersion": w.req.model, "responseId": "resp_test"}
	if u := w.usage; u.Known {
		meta := map[string]any{"promptTokenCount": u.Input, "totalTokenCount": u.Input}
		if finish != "" {
			meta = map[string]any{"promptTokenCount": u.Input, "candidatesTokenCount": u.Output - u.Reasoning,
				"thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.Input + u.Output}
		}
		if u.CacheRead > 0 {
			meta["cachedContentTokenCount"] = u.CacheRead
		}
		v["usageMetadata"] = meta
	}
	w.e.piece("", strings.Replace(JSON(v), `"@raw"`, raw, 1))
}

func (w *geminiWriter) think(s string) { w.part(map[string]any{"text": s, "thought": true}, "", "") }

func (w *geminiWriter) text(s string) {
	w.said.WriteString(s)
	w.part(map[string]any{"text": s}, "", "")
}

func (w *geminiWriter) tools(ts []Tool) {
	for i, t := range ts {
		args := t.Args
		if args == "" {
			args = "{}"
		}
		call := map[string]any{"name": t.Name, "args": "@raw"}
		if w.has3() {
			call["id"] = t.ID
		}
		p := map[string]any{"functionCall": call}
		if i == 0 && w.thinks() {
			p["thoughtSignature"] = sign(w.req.model, "call:"+t.Name)
		}
		w.part(p, args, "")
	}
}

func (w *geminiWriter) fail(code, message string) {
	status := 500
	if strings.Contains(code, "overloaded") || code == "UNAVAILABLE" {
		status = 503
	}
	w.e.send("", gemini{}.fault(status, geminiStatus(status), message))
}

func (w *geminiWriter) end(stop model.Stop, _ model.Usage) {
	finish := map[model.Stop]string{model.StopLength: "MAX_TOKENS", model.StopContext: "MAX_TOKENS", model.StopRefusal: "SAFETY"}[stop]
	if finish == "" {
		finish = "STOP"
	}
	p := map[string]any{"text": ""}
	if w.has3() && stop == model.StopEnd && w.said.Len() > 0 {
		p["thoughtSignature"] = sign(w.req.model, "text:"+w.said.String())
	}
	w.part(p, "", finish)
}
