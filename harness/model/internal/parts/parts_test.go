package parts_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

func TestParts(t *testing.T) {
	call := llms.ToolCall{ID: "a", FunctionCall: &llms.FunctionCall{Name: "read"}}
	result := llms.ToolCallResponse{ToolCallID: "a", Content: "no"}
	type kind struct{ Text, Call, Result bool }
	tests := []struct {
		name string
		part llms.ContentPart
		want kind
	}{
		{"text", llms.TextContent{Text: "x"}, kind{Text: true}},
		{"signed text", model.SignedText{TextContent: llms.TextContent{Text: "x"}}, kind{Text: true}},
		{"call", call, kind{Call: true}},
		{"call with more", model.Extra{ToolCall: call}, kind{Call: true}},
		{"call of nothing", llms.ToolCall{ID: "a"}, kind{}},
		{"result", result, kind{Result: true}},
		{"result with more", model.ToolResult{ToolCallResponse: result}, kind{Result: true}},
		{"thought", model.Reasoning{TextContent: llms.TextContent{Text: "x"}}, kind{}},
		{"picture", llms.BinaryContent{}, kind{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got kind
			_, got.Text = parts.Text(tt.part)
			_, got.Call = parts.Call(tt.part)
			_, got.Result = parts.Result(tt.part)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJoin(t *testing.T) {
	text := llms.TextContent{Text: "a"}
	signed := model.SignedText{TextContent: llms.TextContent{Text: "b"}}
	if got, ok := parts.Join([]llms.ContentPart{text, signed}); !ok || got != "a\n\nb" {
		t.Errorf("Join(text) = %q, %v", got, ok)
	}
	if got, ok := parts.Join([]llms.ContentPart{text, llms.BinaryContent{}}); ok {
		t.Errorf("Join(text, picture) = %q, want none", got)
	}
}

func TestTold(t *testing.T) {
	r := model.ToolResult{ToolCallResponse: llms.ToolCallResponse{Content: "no such file"}}
	if got := parts.Told(&r); got != "no such file" {
		t.Errorf("Told = %q", got)
	}
	r.IsError = true
	if got := parts.Told(&r); got != "ERROR: no such file" {
		t.Errorf("Told of an error = %q", got)
	}
}

func TestSaidInTheirPlace(t *testing.T) {
	if got, want := parts.Caption("read"), `Images from the result of the tool "read":`; got != want {
		t.Errorf("Caption = %q, want %q", got, want)
	}
	if got := parts.Between(); got == "" || strings.TrimSpace(got) != got {
		t.Errorf("Between = %q, want a sentence", got)
	}
}

func TestLimit(t *testing.T) {
	for _, tt := range []struct{ wish, output, want int }{{0, 0, 0}, {-1, 0, 0}, {-1, 100, 0}, {0, 100, 0}, {50, 0, 50}, {50, 100, 50}, {200, 100, 100}} {
		if got := parts.Limit(&model.Request{MaxTokens: tt.wish}, &model.Descriptor{Output: tt.output}); got != tt.want {
			t.Errorf("Limit(%d of %d) = %d, want %d", tt.wish, tt.output, got, tt.want)
		}
	}
}
