package anthropic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
)

// sent returns the body that the model id is asked with, and the headers.
func sent(t *testing.T, id string, o anthropic.Options, req *model.Request) (string, http.Header) {
	t.Helper()
	s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
	c := anthropic.New(model.Descriptor{Provider: "test", ID: id, BaseURL: s.URL + "/v1/"}, o)
	if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
		t.Fatalf("%v\n%s", err, s.Requests()[0].Body)
	}
	return string(s.Requests()[0].Body), s.Requests()[0].Header
}

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func result(id, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Content: content}}
}

func TestBody(t *testing.T) {
	seen, failed := result("a", "a picture"), result("b", "no such file")
	seen.Images = []llms.BinaryContent{{MIMEType: "image/png", Data: []byte("one")}}
	failed.IsError = true
	req := modeltest.Ask("look <here>")
	req.Messages = append(req.Messages,
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			llms.TextContent{Text: "I look."}, llms.TextContent{Text: " \n"},
			model.Reasoning{TextContent: llms.TextContent{Text: "unsigned"}},
			toolCall("a", "read", `{"z":1, "a":12345678901234567890,"h":"<&>"}`), toolCall("b", "grep", `{"p":"cut`)}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{seen}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{failed}},
		llms.TextParts(llms.ChatMessageTypeHuman, "and now?"),
	)
	req.NoTools, req.MaxTokens = true, 100
	got, _ := sent(t, "claude-opus-4-7", anthropic.Options{}, req)
	want := `{"model":"claude-opus-4-7","max_tokens":100,"stream":true,"tools":[` +
		`{"name":"grep","description":"Finds text.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},` +
		`{"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}}],` +
		`"system":[{"type":"text","text":"You are under test.","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"look <here>"}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"I look."},` +
		`{"type":"tool_use","id":"a","name":"read","input":{"z":1, "a":12345678901234567890,"h":"<&>"}},` +
		`{"type":"tool_use","id":"b","name":"grep","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"a picture"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"b25l"}}]},` +
		`{"type":"tool_result","tool_use_id":"b","content":"no such file","is_error":true},` +
		`{"type":"text","text":"and now?","cache_control":{"type":"ephemeral"}}]}],` +
		`"tool_choice":{"type":"none"}}`
	if diff := cmp.Diff(strings.Split(want, "},{"), strings.Split(got, "},{")); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestFamilies(t *testing.T) {
	warm := 0.5
	tests := []struct {
		id     string
		effort model.Effort
		want   []string
		not    []string
	}{
		{"claude-opus-4-7", model.EffortHigh, []string{`"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}`, `"max_tokens":64000`}, []string{"temperature"}},
		{"claude-opus-4-7", model.EffortOff, nil, []string{"thinking", "output_config", "temperature"}},
		{"claude-opus-4-7", model.EffortDefault, nil, []string{"thinking", "output_config", "temperature"}},
		{"claude-fable-5", model.EffortOff, []string{`"output_config":{"effort":"low"}`}, []string{"thinking", "temperature"}},
		{"claude-sonnet-4-6", model.EffortLow, []string{`"adaptive"`, `"effort":"low"`}, []string{"temperature"}},
		{"claude-sonnet-4-6", model.EffortOff, []string{`"temperature":0.5`}, []string{"thinking"}},
		{"claude-sonnet-4-5-20250929", model.EffortMedium, []string{`"thinking":{"type":"enabled","budget_tokens":10000}`}, []string{"temperature", "output_config"}},
		{"claude-opus-4-20250514", model.EffortHigh, []string{`"max_tokens":32000`, `"budget_tokens":16000`}, nil},
		{"claude-3-7-sonnet-20250219", model.EffortLow, []string{`"budget_tokens":4000`}, nil},
		{"claude-3-5-haiku-latest", model.EffortHigh, []string{`"max_tokens":8192`, `"temperature":0.5`}, []string{"thinking"}},
		{"claude-3-haiku-20240307", model.EffortHigh, []string{`"max_tokens":4096`}, []string{"thinking"}},
		{"kimi-k2", model.EffortHigh, []string{`"max_tokens":16000`, `"temperature":0.5`}, []string{"thinking"}},
	}
	for _, tt := range tests {
		t.Run(tt.id+" "+string(tt.effort), func(t *testing.T) {
			req := modeltest.Ask("go")
			req.Effort, req.Temperature = tt.effort, &warm
			got, _ := sent(t, tt.id, anthropic.Options{}, req)
			for _, s := range tt.want {
				if !strings.Contains(got, s) {
					t.Errorf("%s is missing in %s", s, got)
				}
			}
			for _, s := range tt.not {
				if strings.Contains(got, s) {
					t.Errorf("%s is in %s", s, got)
				}
			}
		})
	}
}

func TestBudgetLeavesRoomForTheAnswer(t *testing.T) {
	for limit, want := range map[int]string{4000: `"budget_tokens":2000`, 2000: ""} {
		req := modeltest.Ask("go")
		req.Effort, req.MaxTokens = model.EffortHigh, limit
		got, _ := sent(t, "claude-sonnet-4-5", anthropic.Options{}, req)
		if has := strings.Contains(got, "budget_tokens"); has != (want != "") || !strings.Contains(got, want) {
			t.Errorf("with %d tokens: %s, want %q", limit, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for base, want := range map[string]string{"": "/v1/messages", "/": "/v1/messages", "/v1": "/v1/messages", "/proxy/v1/": "/proxy/v1/messages",
		"/p/v1?api-version=1": "/p/v1/messages"} {
		s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}})
		c := anthropic.New(model.Descriptor{ID: "claude-opus-4-7", BaseURL: s.URL + base}, anthropic.Options{})
		if _, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go")); err != nil {
			t.Errorf("%s: %v", base, err)
		} else if got := s.Requests()[0].Path; got != want {
			t.Errorf("%s: path = %q, want %q", base, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	_, h := sent(t, "claude-opus-4-5", anthropic.Options{Key: "sk-1", Headers: map[string]string{"X-Title": "t"}}, modeltest.Ask("go"))
	got := []string{h.Get("X-Api-Key"), h.Get("Anthropic-Version"), h.Get("Anthropic-Beta"), h.Get("X-Title")}
	if diff := cmp.Diff([]string{"sk-1", "2023-06-01", "interleaved-thinking-2025-05-14", "t"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, h = sent(t, "claude-opus-4-7", anthropic.Options{}, modeltest.Ask("go")); h["X-Api-Key"] != nil || h["Authorization"] != nil {
		t.Errorf("a key without a key: %v", h)
	}
}

// session talks to the server as the model id; its history is the request's.
type session struct {
	t   *testing.T
	s   *modeltest.Server
	req *model.Request
}

func (s session) turn(id string, replies ...modeltest.Reply) (usage model.Usage) {
	s.t.Helper()
	d := model.Descriptor{Kind: "anthropic", Provider: "test", ID: id, BaseURL: s.s.URL}
	c := normalise.Wrap(anthropic.New(d, anthropic.Options{}), d, normalise.Options{})
	s.s.Add(replies...)
	for range replies {
		_, reply, err := modeltest.Collect(s.t.Context(), c, s.req)
		if err != nil {
			s.t.Fatalf("%s: %v in %q", id, err, s.s.Rejected())
		}
		contents := make([]string, len(reply.Parts))
		s.req.Messages = append(s.req.Messages, modeltest.Results(reply, contents...)...)
		usage = reply.Usage
	}
	s.req.Messages = append(s.req.Messages, llms.TextParts(llms.ChatMessageTypeHuman, fmt.Sprintf("message %d", len(s.req.Messages))))
	return usage
}

// C106: signed thoughts go back to their author alone, and a switch of models in
// between costs nothing but them. The server checks the signatures.
func TestSwitchOfModels(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("go")}
	step := modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{{Name: "read", Args: "{}"}}}
	done := modeltest.Reply{Think: []string{"ah"}, Text: []string{"Done."}}
	for _, id := range []string{"claude-opus-4-7", "claude-fable-5", "claude-opus-4-7"} {
		s.turn(id, step, done)
	}
	reqs := s.s.Requests()
	last := string(reqs[len(reqs)-1].Body)
	if n := strings.Count(last, `"signature"`); n != 3 {
		t.Errorf("%d signatures in the last request, want the 3 of its own model: %s", n, last)
	}
}

// A switch in the middle of a turn does not ask for a thought that is not there.
func TestBudgetInTheMiddleOfATurn(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("go")}
	s.turn("claude-opus-4-7", modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{{Name: "read", Args: "{}"}}})
	s.req.Messages = s.req.Messages[:len(s.req.Messages)-1] // the turn goes on
	s.req.Effort = model.EffortHigh
	s.turn("claude-sonnet-4-5", modeltest.Reply{Text: []string{"Done."}})
}

// R-HARN-14: over 20 turns with calls every request begins with the one before,
// and the cache finds it, also after a step that adds more blocks than it looks
// back.
func TestPrefixOfASession(t *testing.T) {
	s := session{t, modeltest.New(t), modeltest.Ask("start " + strings.Repeat("long ", 2000))}
	many := modeltest.Reply{Think: []string{"hm"}}
	for range 15 {
		many.Tools = append(many.Tools, modeltest.Tool{Name: "read", Args: `{"b":1, "a":2}`})
	}
	var usage model.Usage
	for range 20 {
		usage = s.turn("claude-opus-4-7", many, modeltest.Reply{Think: []string{"ah"}, Text: []string{"Done."}})
	}
	if got := s.s.Ratio(); got != 1 || len(s.s.Reuse()) != 39 {
		t.Errorf("prefix reuse = %v over %d comparisons, want 1 over 39", got, len(s.s.Reuse()))
	}
	if fresh := usage.Input - usage.CacheRead; fresh > 2000 {
		t.Errorf("%d of %d tokens of the last request are not from the cache", fresh, usage.Input)
	}
	for _, r := range s.s.Requests() {
		if n := strings.Count(string(r.Body), "cache_control"); n < 2 || n > 3 {
			t.Errorf("%d cache marks, want 2 or 3", n)
		}
	}
}
