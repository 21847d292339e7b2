package modeltest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// responses is the protocol of Responses.
type responses struct{}

func (responses) fault(status int, code, message string) any {
	return openAI{}.fault(status, code, message)
}

func (responses) parse(_ *http.Request, body []byte) (*request, error) {
	m, err := members("request", body)
	if err != nil {
		return nil, err
	}
	var include []string
	if !absent(m["include"]) {
		if err := json.Unmarshal(m["include"], &include); err != nil {
			return nil, err
		}
	}
	req := &request{model: text(m["model"]), session: text(m["prompt_cache_key"]), implicit: true,
		encrypted: slices.Contains(include, "reasoning.encrypted_content")}
	req.segments = append(req.segments, segment{text: "model:" + req.model})
	for _, t := range list(m["tools"]) {
		req.segments = append(req.segments, segment{text: "tool:" + string(t)})
	}
	if !absent(m["instructions"]) {
		req.segments = append(req.segments, segment{text: "system:" + string(m["instructions"])})
	}
	first := ""
	for _, raw := range list(m["input"]) {
		req.segments = append(req.segments, segment{text: "input:" + string(raw)})
		var item struct{ Type, Role string }
		var parts map[string]json.RawMessage
		if json.Unmarshal(raw, &item) != nil || json.Unmarshal(raw, &parts) != nil {
			continue
		}
		switch {
		case item.Role == "user":
			req.last = strings.TrimSpace(plainContent(parts["content"]))
			if first == "" {
				first = req.last
			}
		case item.Type == "function_call_output":
			req.last = strings.TrimSpace(plainContent(parts["output"]))
		}
	}
	if req.session == "" {
		req.session = first
	}
	return req, nil
}
