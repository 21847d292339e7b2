package openai_test

import (
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
)

// The same model may have answered in another protocol before, and what goes with
// its calls has the form of that.
func TestCallsOfAnotherProtocol(t *testing.T) {
	const standIn = `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`
	tests := []struct{ name, content, want string }{
		{"the same", `{"google":{"thought_signature":"s"}}`, `"extra_content":{"google":{"thought_signature":"s"}}`},
		{"Google's own", `{"id":"a","thoughtSignature":"s"}`, `"extra_content":{"google":{"thought_signature":"s"}}`},
		{"Google's own, unsigned", `{"id":"a"}`, standIn},
		{"Responses", `{"type":"function_call","id":"fc_1"}`, standIn},
		{"nothing", ``, standIn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &streamtest.Server{Answers: []streamtest.Answer{{Body: stream(finish("stop"), "[DONE]")}}}
			d := model.Descriptor{Provider: "gemini", ID: "gemini-3-pro", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}
			req := modeltest.Ask("go")
			call := llms.ToolCall{ID: "a", Type: "function", FunctionCall: &llms.FunctionCall{Name: "read", Arguments: "{}"}}
			req.Messages = append(req.Messages, llms.MessageContent{Role: llms.ChatMessageTypeAI,
				Parts: []llms.ContentPart{model.Extra{ToolCall: call, Provider: d.Ref(), Content: []byte(tt.content)}}})
			if _, _, err := modeltest.Collect(t.Context(), openai.New(d, openai.Options{Client: s.Client()}), req); err != nil {
				t.Fatal(err)
			}
			if got := s.Bodies[0]; strings.Count(got, "extra_content") != 1 || !strings.Contains(got, tt.want) {
				t.Errorf("body = %s, want %s once", got, tt.want)
			}
		})
	}
}
