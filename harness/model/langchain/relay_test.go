package langchain_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// relay stands between a client of Mistral and the test server and makes their
// dialects of one protocol meet: results without the id of their call, fields that
// no other server takes, and answers in one piece. It returns its address.
func relay(t *testing.T, s *modeltest.Server) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		whole := body["stream"] != true
		toChat(body)
		text, err := json.Marshal(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, s.OpenAI()+"/chat/completions", bytes.NewReader(text))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		req.Header.Set("Authorization", r.Header.Get("Authorization"))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		if whole && res.StatusCode == http.StatusOK {
			collect(w, res.Body)
			return
		}
		w.WriteHeader(res.StatusCode)
		pass(w, res.Body)
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return front.URL
}

// pass copies a stream as it comes, and breaks where it breaks.
func pass(w http.ResponseWriter, body io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				return // the client is gone
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// toChat turns a request for Mistral into one of chat completions.
func toChat(body map[string]any) {
	for _, name := range []string{"random_seed", "safe_prompt", "top_p", "max_tokens", "temperature"} {
		delete(body, name)
	}
	if tools, ok := body["tools"].([]any); ok && len(tools) == 0 {
		delete(body, "tools")
	}
	body["stream"] = true
	open := ""
	messages, _ := body["messages"].([]any)
	for _, m := range messages {
		m, _ := m.(map[string]any)
		switch m["role"] {
		case "assistant":
			calls, _ := m["tool_calls"].([]any)
			if len(calls) > 0 && m["content"] == "" {
				m["content"] = nil
			}
			for _, c := range calls {
				c, _ := c.(map[string]any)
				open, _ = c["id"].(string)
			}
		case "tool":
			m["tool_call_id"] = open // positions are all that Mistral has
		}
	}
}

// collect answers with the whole of a stream.
func collect(w http.ResponseWriter, body io.Reader) {
	type call struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	var content, finish string
	var calls []call
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []struct {
						Index int
						call
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok || json.Unmarshal([]byte(data), &chunk) != nil {
			continue // the empty lines and [DONE]
		}
		for _, c := range chunk.Choices {
			content += c.Delta.Content
			finish += c.FinishReason
			for _, d := range c.Delta.ToolCalls {
				if d.ID != "" {
					calls = append(calls, d.call)
					continue
				}
				calls[d.Index].Function.Arguments += d.Function.Arguments
			}
		}
	}
	message := map[string]any{"role": "assistant", "content": content, "tool_calls": calls}
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}})
}

// editing is a transport that changes the body of a request, where a provider takes
// more than the test server does.
type editing struct {
	edit func(body map[string]any)
	next http.RoundTripper
}

func (e editing) RoundTrip(req *http.Request) (*http.Response, error) {
	var body map[string]any
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		return nil, err
	}
	e.edit(body)
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	out := req.Clone(req.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return e.next.RoundTrip(out)
}

// mergeTurns puts turns of one role together, as Anthropic does with what it gets.
func mergeTurns(body map[string]any) {
	var merged []map[string]any
	messages, _ := body["messages"].([]any)
	for _, m := range messages {
		m, _ := m.(map[string]any)
		n := len(merged)
		if n == 0 || merged[n-1]["role"] != m["role"] {
			merged = append(merged, m)
			continue
		}
		before, _ := merged[n-1]["content"].([]any)
		more, _ := m["content"].([]any)
		merged[n-1]["content"] = append(before, more...)
	}
	body["messages"] = merged
}

// dropFormat takes out a format that is empty, which to Ollama is none.
func dropFormat(body map[string]any) {
	if body["format"] == "" {
		delete(body, "format")
	}
}
