package ollama_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
)

// sent returns the body that d is asked with.
func sent(t *testing.T, d model.Descriptor, req *model.Request) string {
	t.Helper()
	s := &streamtest.Server{Answers: []streamtest.Answer{{Body: done("")}}}
	c := ollama.New(d, ollama.Options{Client: s.Client()})
	if _, _, err := modeltest.Collect(t.Context(), c, req); err != nil {
		t.Fatal(err)
	}
	if !json.Valid([]byte(s.Bodies[0])) {
		t.Fatalf("not JSON: %s", s.Bodies[0])
	}
	return s.Bodies[0]
}

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, Type: "function", FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

func result(id, name, content string) model.ToolResult {
	return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Name: name, Content: content}}
}

func TestBody(t *testing.T) {
	warm := 0.5
	failed := result("b", "grep", "no such file")
	failed.IsError = true
	seen := result("a", "read", "a picture")
	seen.Images = []llms.BinaryContent{{MIMEType: "image/png", Data: []byte("one")}}
	req := modeltest.Ask("look <here>")
	req.Tools = append(req.Tools, model.Tool{Name: "now", Description: "Tells the time."})
	req.Messages = append(req.Messages,
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: "ollama/m", Field: "thinking"},
			model.Reasoning{TextContent: llms.TextContent{Text: "of another"}, Provider: "ollama/other", Field: "thinking"},
			toolCall("a", "read", ` {"z":1, "a":12345678901234567890}`), model.Extra{ToolCall: toolCall("b", "grep", `{"cut`)}}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{seen, failed}},
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextContent{Text: "I"}, model.SignedText{TextContent: llms.TextContent{Text: "see."}}}},
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "alone"}}}},
		llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{
			llms.TextContent{Text: "and"}, llms.BinaryContent{MIMEType: "image/png", Data: []byte("two")},
			llms.ImageURLContent{URL: "data:image/png;base64,dGhyZWU="}, llms.ImageURLContent{URL: "https://h/four.png"}}},
		llms.MessageContent{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{llms.TextContent{}}})
	req.MaxTokens, req.Temperature, req.JSON, req.Effort, req.NoTools = 4096, &warm, true, model.EffortHigh, true
	want := strings.Join([]string{
		`{"model":"m","stream":true,"truncate":false,"shift":false,"tools":[`,
		`{"type":"function","function":{"name":"grep","description":"Finds text.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},`,
		`{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},`,
		`{"type":"function","function":{"name":"now","description":"Tells the time.","parameters":{"type":"object","properties":{}}}}],`,
		`"messages":[{"role":"system","content":"You are under test."},`,
		`{"role":"user","content":"look <here>"},`,
		`{"role":"assistant","content":"","thinking":"hm","tool_calls":[`,
		`{"id":"a","function":{"index":0,"name":"read","arguments":{"z":1, "a":12345678901234567890}}},`,
		`{"id":"b","function":{"index":1,"name":"grep","arguments":{}}}]},`,
		`{"role":"tool","content":"a picture","tool_name":"read","tool_call_id":"a"},`,
		`{"role":"tool","content":"ERROR: no such file","tool_name":"grep","tool_call_id":"b"},`,
		`{"role":"user","content":"Images from the result of the tool \"read\":","images":["b25l"]},`,
		`{"role":"assistant","content":"I\n\nsee."},`,
		`{"role":"user","content":"and\n\n[A picture at https://h/four.png, which cannot be fetched here.]","images":["dHdv","dGhyZWU="]}],`,
		`"options":{"num_ctx":32768,"num_predict":99,"temperature":0.5},"think":true,"format":"json"}`,
	}, "\n")
	got := sent(t, model.Descriptor{Provider: "ollama", ID: "m", Window: 32768, Output: 99, Thinks: true}, req)
	if got != strings.ReplaceAll(want, "\n", "") {
		t.Errorf("body =\n%s\nwant\n%s", got, want)
	}
}

func TestLeastBody(t *testing.T) {
	req := &model.Request{Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hi")}}
	want := `{"model":"m","stream":true,"truncate":false,"shift":false,"messages":[{"role":"user","content":"hi"}]}`
	if got := sent(t, model.Descriptor{ID: "m"}, req); got != want {
		t.Errorf("body = %s\nwant   %s", got, want)
	}
}

func TestThink(t *testing.T) {
	efforts := []model.Effort{model.EffortDefault, model.EffortOff, model.EffortMinimal, model.EffortLow, model.EffortMedium, model.EffortHigh, model.EffortXHigh, model.EffortMax}
	tests := []struct {
		name string
		d    model.Descriptor
		want []string // by effort; "" is not sent
	}{
		{"does not think", model.Descriptor{ID: "llama3.2"}, []string{"", "", "", "", "", "", "", ""}},
		{"thinks or not", model.Descriptor{ID: "qwen3:8b", Thinks: true}, []string{"", "false", "true", "true", "true", "true", "true", "true"}},
		{"has levels by its name", model.Descriptor{ID: "gpt-oss:20b", Thinks: true}, []string{"", "false", `"low"`, `"low"`, `"medium"`, `"high"`, `"high"`, `"high"`}},
		{"has levels", model.Descriptor{ID: "m", Thinks: true, Efforts: []model.Effort{model.EffortLow, model.EffortMax}},
			[]string{"", "false", `"low"`, `"low"`, `"low"`, `"low"`, `"low"`, `"max"`}},
		{"has all levels", model.Descriptor{ID: "m", Thinks: true, Efforts: model.Efforts()}, []string{"", "false", `"low"`, `"low"`, `"medium"`, `"high"`, `"high"`, `"max"`}},
		{"has no level", model.Descriptor{ID: "m", Thinks: true, Efforts: []model.Effort{}}, []string{"", "false", "", "", "", "", "", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, e := range efforts {
				req := modeltest.Ask("go")
				req.Effort = e
				var body struct{ Think json.RawMessage }
				if err := json.Unmarshal([]byte(sent(t, tt.d, req)), &body); err != nil {
					t.Fatal(err)
				}
				got = append(got, string(body.Think))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("think by effort (-want +got):\n%s", diff)
			}
		})
	}
}

// A request begins with the bytes of the one before it, up to the end of the
// messages (R-HARN-14).
func TestPrefixOfASession(t *testing.T) {
	s := modeltest.New(t)
	for range 6 {
		s.Add(modeltest.Reply{Think: []string{"hm"}, Text: []string{"I look."}, Tools: []modeltest.Tool{{ID: "", Name: "read", Args: `{"path":"<ä>", "n":1.0}`}}})
	}
	c := ollama.New(model.Descriptor{Provider: "ollama", ID: modeltest.ModelID, BaseURL: s.Ollama(), Window: 8192, Thinks: true}, ollama.Options{})
	req := modeltest.Ask("go")
	for range 6 {
		_, reply, err := modeltest.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, modeltest.Results(reply, "package ä")...)
	}
	modeltest.Prefixes(t, s.Requests(), `],"options"`)
}
