package langchain_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// sent returns what a model behind the adapter is asked.
func sent(t *testing.T, req *model.Request, o langchain.Options) ([]llms.MessageContent, llms.CallOptions) {
	t.Helper()
	var msgs []llms.MessageContent
	var opts llms.CallOptions
	m := foreign(func(_ context.Context, got []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		msgs, opts = got, o
		return choices(&llms.ContentChoice{Content: "x"}), nil
	})
	if _, _, err := modeltest.Collect(t.Context(), langchain.Wrap(m, o), req); err != nil {
		t.Fatal(err)
	}
	return msgs, opts
}

// history is a request with everything that a message can hold.
func history() *model.Request {
	req := modeltest.Ask("go")
	req.Messages[0].Parts = append(req.Messages[0].Parts, llms.TextContent{Text: "on"}, llms.BinaryContent{MIMEType: "image/png", Data: []byte("pic")})
	result := func(id, text string, failed bool) model.ToolResult {
		return model.ToolResult{ToolCallResponse: llms.ToolCallResponse{ToolCallID: id, Name: "read", Content: text}, IsError: failed}
	}
	req.Messages = append(req.Messages,
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{
			model.Author{Ref: "other/m"}, model.Reasoning{TextContent: llms.TextContent{Text: "secret thought"}}, llms.TextContent{},
			model.SignedText{TextContent: llms.TextContent{Text: "Look:"}, Provider: "other/m"},
			model.Extra{ToolCall: toolCall("a", "read", "{}")}, toolCall("b", "read", "{}"),
		}},
		llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{result("a", "fine", false), result("b", "no", true)}},
		llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{model.Author{Ref: "other/m"}}},
	)
	return req
}

func TestShapes(t *testing.T) {
	system := llms.TextParts(llms.ChatMessageTypeSystem, "You are under test.")
	message := func(role llms.ChatMessageType, parts ...llms.ContentPart) llms.MessageContent {
		return llms.MessageContent{Role: role, Parts: parts}
	}
	human, ai, tool := llms.ChatMessageTypeHuman, llms.ChatMessageTypeAI, llms.ChatMessageTypeTool
	text := func(s string) llms.ContentPart { return llms.TextContent{Text: s} }
	pic := llms.BinaryContent{MIMEType: "image/png", Data: []byte("pic")}
	a, b := toolCall("a", "read", "{}"), toolCall("b", "read", "{}")
	first := llms.ToolCallResponse{ToolCallID: "a", Name: "read", Content: "fine"}
	second := llms.ToolCallResponse{ToolCallID: "b", Name: "read", Content: "ERROR: no"}
	tests := []struct {
		name string
		o    langchain.Options
		want []llms.MessageContent
	}{
		{"grouped", langchain.Options{}, []llms.MessageContent{
			system, message(human, text("go"), text("on"), pic), message(ai, text("Look:"), a, b), message(tool, first), message(tool, second)}},
		{"split", langchain.Options{Shape: langchain.Split}, []llms.MessageContent{
			system, message(human, text("go")), message(human, text("on")), message(human, pic), message(ai, text("Look:")), message(ai, a), message(ai, b),
			message(tool, first), message(tool, second)}},
		{"paired", langchain.Options{Shape: langchain.Paired, Pictures: langchain.DataURL}, []llms.MessageContent{
			system, message(human, text("go")), message(human, text("on")), message(human, llms.ImageURLPart("data:image/png;base64,cGlj")),
			message(ai, text("Look:")), message(ai, a), message(tool, first), message(ai, b), message(tool, second)}},
		{"joined", langchain.Options{Shape: langchain.Joined}, []llms.MessageContent{
			system, message(human, text("go\n\non"), pic), message(ai, text("Look:")), message(tool, text("fine\n\nERROR: no"))}},
		{"flat", langchain.Options{Shape: langchain.Flat}, []llms.MessageContent{
			message(human, text("You are under test.\n\nUser: go\n\non\n\nAssistant: Look:\n\nUser: fine\n\nERROR: no\n\nAssistant:"))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := sent(t, history(), tt.o)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a flat request that is one message", func(t *testing.T) {
		req := modeltest.Ask("Name this thread.")
		req.System = ""
		got, _ := sent(t, req, langchain.Options{Shape: langchain.Flat})
		if diff := cmp.Diff([]llms.MessageContent{llms.TextParts(human, "Name this thread.")}, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

func TestOptions(t *testing.T) {
	half := 0.5
	req := modeltest.Ask("go")
	req.MaxTokens, req.Temperature, req.JSON, req.NoTools, req.Effort = 7, &half, true, true, model.EffortMax
	_, o := sent(t, req, langchain.Options{MaxTokens: 100})
	thinking := llms.GetThinkingConfig(&o)
	if o.MaxTokens != 7 || o.Temperature != 0.5 || !o.JSONMode || o.ToolChoice != "none" || len(o.Tools) != 2 || thinking == nil || thinking.Mode != llms.ThinkingModeHigh || o.StreamingFunc == nil {
		t.Errorf("options = %+v", o)
	}
	if schema, ok := o.Tools[0].Function.Parameters.(map[string]any); !ok || schema["type"] != "object" {
		t.Errorf("schema = %v, want a map", o.Tools[0].Function.Parameters)
	}
	tests := []struct {
		name string
		req  model.Request
		o    langchain.Options
		want llms.CallOptions // its MaxTokens, tools and whether it streams
	}{
		{"nothing is asked for", model.Request{}, langchain.Options{}, llms.CallOptions{StreamingFunc: none}},
		{"the limit of the model", model.Request{}, langchain.Options{MaxTokens: 100}, llms.CallOptions{MaxTokens: 100, StreamingFunc: none}},
		{"more than the model can", model.Request{MaxTokens: 200}, langchain.Options{MaxTokens: 100}, llms.CallOptions{MaxTokens: 100, StreamingFunc: none}},
		{"whole with tools", model.Request{Tools: req.Tools}, langchain.Options{WholeWithTools: true}, llms.CallOptions{Tools: make([]llms.Tool, 2)}},
		{"whole with tools, without any", model.Request{}, langchain.Options{WholeWithTools: true}, llms.CallOptions{StreamingFunc: none}},
		{"always whole", model.Request{}, langchain.Options{Whole: true}, llms.CallOptions{}},
		{"tools that nobody looks at", model.Request{Tools: req.Tools}, langchain.Options{NoTools: true, WholeWithTools: true}, llms.CallOptions{StreamingFunc: none}},
	}
	for _, tt := range tests {
		tt.req.Messages = req.Messages
		_, got := sent(t, &tt.req, tt.o)
		if got.MaxTokens != tt.want.MaxTokens || len(got.Tools) != len(tt.want.Tools) || (got.StreamingFunc == nil) != (tt.want.StreamingFunc == nil) {
			t.Errorf("%s: options = %+v", tt.name, got)
		}
	}
}

func none(context.Context, []byte) error { return nil }
