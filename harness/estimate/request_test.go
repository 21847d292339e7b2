package estimate_test

import (
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/model"
)

func TestParts(t *testing.T) {
	f := llms.ToolCall{FunctionCall: &llms.FunctionCall{Name: "read", Arguments: `{"path": "a"}`}}
	response := llms.ToolCallResponse{Name: "read", Content: "four words of text"}
	png := llms.BinaryContent{MIMEType: "image/png", Data: []byte{1}}
	tests := []struct {
		name string
		part llms.ContentPart
		want estimate.Size
	}{
		{"text", llms.TextContent{Text: "four words of text"}, estimate.Size{Likely: 5, Least: 4}},
		{"signed text", model.SignedText{TextContent: llms.TextContent{Text: "four words of text"}}, estimate.Size{Likely: 5, Least: 4}},
		{"thoughts", model.Reasoning{TextContent: llms.TextContent{Text: "four words of text"}}, estimate.Size{Likely: 5}},
		{"call", f, estimate.Size{Likely: 1 + 4}},
		{"call with more", model.Extra{ToolCall: f}, estimate.Size{Likely: 1 + 4}},
		{"call of nothing", llms.ToolCall{}, estimate.Size{}},
		{"response", response, estimate.Size{Likely: 5, Least: 4}},
		{"result", model.ToolResult{ToolCallResponse: response, Images: []llms.BinaryContent{png, png}}, estimate.Size{Likely: 5 + 2*estimate.Picture, Least: 4}},
		{"picture", png, estimate.Size{Likely: estimate.Picture}},
		{"named picture", model.Picture{BinaryContent: png, Name: "a.png"}, estimate.Size{Likely: estimate.Picture}},
		{"picture by its address", llms.ImageURLContent{URL: "https://example.com/a.png"}, estimate.Size{Likely: estimate.Picture}},
		{"data", llms.BinaryContent{MIMEType: "application/pdf", Data: []byte{1}}, estimate.Size{}},
		{"cached", llms.CachedContent{ContentPart: llms.TextContent{Text: "four words of text"}}, estimate.Size{Likely: 5, Least: 4}},
		{"author", model.Author{Ref: "p/m"}, estimate.Size{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := estimate.Parts([]llms.ContentPart{tt.part}); got != tt.want {
				t.Errorf("Parts() = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	req := &model.Request{
		System:   "four words of text",
		Tools:    []model.Tool{{Name: "read", Description: "Reads a file.", Schema: []byte(`{"type":"object"}`)}},
		Messages: []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "hello", "there")},
	}
	if got, want := estimate.Request(req), 5+1+4+5+2+2; got != want {
		t.Errorf("Request() = %d, want %d", got, want)
	}
	if got, want := estimate.Tools(req.Tools), (estimate.Size{Likely: 1 + 4 + 5}); got != want {
		t.Errorf("Tools() = %+v, want %+v", got, want)
	}
}
