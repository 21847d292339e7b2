package model_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// spy answers every request with reply and keeps the last one.
type spy struct {
	req   *model.Request
	reply *model.Reply
	err   error
}

func (s *spy) model() model.Func {
	return func(_ context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		s.req = req
		for _, e := range []model.Event{model.Think("hm"), model.ToolStart{ID: "a", Name: "ls"}, model.ToolArgs{Fragment: "{}"}, model.Text("ok")} {
			if err := sink(e); err != nil {
				return nil, err
			}
		}
		return s.reply, s.err
	}
}

func TestGenerateAsks(t *testing.T) {
	s := &spy{reply: &model.Reply{}}
	human := llms.TextParts(llms.ChatMessageTypeHuman, "hi")
	_, err := s.model().GenerateContent(t.Context(),
		[]llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "one"), human, llms.TextParts(llms.ChatMessageTypeSystem, "two")},
		llms.WithMaxTokens(9), llms.WithTemperature(0.5), llms.WithJSONMode(), llms.WithToolChoice("none"), llms.WithThinkingMode(llms.ThinkingModeHigh),
		llms.WithTools([]llms.Tool{{Type: "function"}, {Type: "function", Function: &llms.FunctionDefinition{Name: "ls", Description: "d", Parameters: map[string]any{"type": "object"}}}}))
	if err != nil {
		t.Fatal(err)
	}
	warm := 0.5
	want := &model.Request{Kind: "main", System: "one\n\ntwo", Messages: []llms.MessageContent{human}, MaxTokens: 9, Temperature: &warm,
		JSON: true, NoTools: true, Effort: model.EffortHigh, Tools: []model.Tool{{Name: "ls", Description: "d", Schema: []byte(`{"type":"object"}`)}}}
	if diff := cmp.Diff(want, s.req); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

// A history of another chain has the parts of langchaingo, one to a message.
func TestGenerateTakesAnyHistory(t *testing.T) {
	s := &spy{reply: &model.Reply{}}
	cached := func(p llms.ContentPart) llms.ContentPart {
		return llms.WithCacheControl(p, &llms.CacheControl{Type: "ephemeral"})
	}
	call := llms.ToolCall{ID: "a", Type: "function", FunctionCall: &llms.FunctionCall{Name: "ls", Arguments: "{}"}}
	other := llms.ToolCall{ID: "b", Type: "function", FunctionCall: &llms.FunctionCall{Name: "ls", Arguments: "{}"}}
	results := []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "a", Name: "ls", Content: "x"}, llms.ToolCallResponse{ToolCallID: "b", Name: "ls"}}
	text := llms.TextContent{Text: "hi"}
	msgs := []llms.MessageContent{
		{Role: llms.ChatMessageTypeSystem, Parts: []llms.ContentPart{cached(llms.TextContent{Text: "one"}), model.SignedText{TextContent: llms.TextContent{Text: "two"}}}},
		{Role: llms.ChatMessageTypeGeneric, Parts: []llms.ContentPart{cached(cached(text)), llms.CachedContent{}}},
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{text, call, other}},
		{Role: llms.ChatMessageTypeTool, Parts: results[:1]},
		{Role: llms.ChatMessageTypeFunction, Parts: results[1:]},
		{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{text}},
	}
	before := llms.MessageContent{Role: msgs[3].Role, Parts: slices.Clone(msgs[3].Parts)}
	_, err := s.model().GenerateContent(t.Context(), msgs, llms.WithToolChoice(llms.ToolChoice{Type: "none"}), llms.WithResponseMIMEType("application/json"),
		llms.WithFunctions([]llms.FunctionDefinition{{Name: "ls", Description: "d"}}))
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Request{
		Kind: "main", System: "one\n\ntwo", JSON: true, NoTools: true,
		Messages: []llms.MessageContent{
			{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{text}},
			{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{text, call, other}},
			{Role: llms.ChatMessageTypeTool, Parts: results},
			{Role: llms.ChatMessageTypeHuman, Parts: []llms.ContentPart{text}},
		},
		Tools: []model.Tool{{Name: "ls", Description: "d", Schema: []byte(`{"type":"object","properties":{}}`)}},
	}
	if diff := cmp.Diff(want, s.req); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, msgs[3]); diff != "" {
		t.Errorf("the history was changed (-want +got):\n%s", diff)
	}
}

func TestGenerateForbidsTools(t *testing.T) {
	tests := []struct {
		name   string
		option llms.CallOption
		want   bool
	}{
		{"not at all", llms.WithToolChoice(nil), false},
		{"a word", llms.WithToolChoice("none"), true},
		{"another word", llms.WithToolChoice("auto"), false},
		{"a choice", llms.WithToolChoice(&llms.ToolChoice{Type: "none"}), true},
		{"no choice", llms.WithToolChoice((*llms.ToolChoice)(nil)), false},
		{"as of functions", llms.WithFunctionCallBehavior(llms.FunctionCallBehaviorNone), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &spy{reply: &model.Reply{}}
			if _, err := s.model().GenerateContent(t.Context(), nil, tt.option); err != nil || s.req.NoTools != tt.want {
				t.Errorf("NoTools = %v (%v), want %v", s.req.NoTools, err, tt.want)
			}
		})
	}
}

func TestGenerateAnswers(t *testing.T) {
	call := llms.ToolCall{ID: "a", Type: "function", FunctionCall: &llms.FunctionCall{Name: "ls", Arguments: "{}"}}
	parts := []llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "hm"}}, llms.TextContent{Text: "ok"}, model.Extra{ToolCall: call}}
	s := &spy{reply: &model.Reply{Parts: parts, Stop: model.StopTools, RawStop: "tool_use", Usage: model.Usage{Input: 10, Output: 2, CacheRead: 8, Known: true}}}
	var text, think string
	res, err := s.model().GenerateContent(t.Context(), nil,
		llms.WithStreamingFunc(func(_ context.Context, b []byte) error { text += string(b); return nil }),
		llms.WithStreamingReasoningFunc(func(_ context.Context, r, b []byte) error { think += string(r); text += "+" + string(b); return nil }))
	if err != nil {
		t.Fatal(err)
	}
	c := res.Choices[0]
	if c.Content != "ok" || c.ReasoningContent != "hm" || c.StopReason != "tool_calls" || len(c.ToolCalls) != 1 || c.FuncCall != call.FunctionCall {
		t.Errorf("choice = %+v", c)
	}
	if text != "+ok+ok" || think != "hm" {
		t.Errorf("heard %q and %q", text, think)
	}
	info := map[string]any{"PromptTokens": 10, "CompletionTokens": 2, "TotalTokens": 12, "PromptCachedTokens": 8, "UsageKnown": true, "RawStopReason": "tool_use"}
	for k, want := range info {
		if got := c.GenerationInfo[k]; got != want {
			t.Errorf("GenerationInfo[%s] = %v, want %v", k, got, want)
		}
	}
}

func TestGenerateFails(t *testing.T) {
	cause := &model.Error{Kind: model.Canceled, Provider: "p"}
	s := &spy{err: cause}
	_, err := s.model().Call(t.Context(), "hi")
	if e, ok := errors.AsType[*llms.Error](err); !ok || e.Code != llms.ErrCodeCanceled || e.Cause != error(cause) {
		t.Errorf("error = %#v, want one of llms with the cause", err)
	}
	e, _ := errors.AsType[*llms.Error](err)
	if diff := cmp.Diff(map[string]any{"retryable": false, "partial": false}, e.Details); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	if got, want := err.Error(), "p: canceled: canceled"; got != want {
		t.Errorf("an error without words says %q, want %q", got, want)
	}
	own := errors.New("enough")
	_, err = s.model().GenerateContent(t.Context(), nil, llms.WithStreamingFunc(func(context.Context, []byte) error { return own }))
	if err != own {
		t.Errorf("error of the callback = %v, want it unchanged", err)
	}
	_, err = s.model().GenerateContent(t.Context(), nil, llms.WithTools([]llms.Tool{{Function: &llms.FunctionDefinition{Name: "ls", Parameters: func() {}}}}))
	if err == nil {
		t.Error("a schema that cannot be written is no error")
	}
}

// What is known of an error is there for those who know langchaingo alone.
func TestGenerateErrors(t *testing.T) {
	tests := []struct {
		kind      model.Kind
		want      llms.ErrorCode
		retryable bool
	}{
		{model.Unknown, llms.ErrCodeUnknown, false},
		{model.Canceled, llms.ErrCodeCanceled, false},
		{model.Auth, llms.ErrCodeAuthentication, false},
		{model.NotFound, llms.ErrCodeResourceNotFound, false},
		{model.Invalid, llms.ErrCodeInvalidRequest, false},
		{model.TokenLimit, llms.ErrCodeTokenLimit, false},
		{model.RateLimit, llms.ErrCodeRateLimit, true},
		{model.Quota, llms.ErrCodeQuotaExceeded, false},
		{model.Refused, llms.ErrCodeContentFilter, false},
		{model.Overloaded, llms.ErrCodeProviderUnavailable, true},
		{model.Connection, llms.ErrCodeProviderUnavailable, true},
		{model.Idle, llms.ErrCodeTimeout, true},
		{model.Malformed, llms.ErrCodeProviderUnavailable, true},
		{model.Empty, llms.ErrCodeProviderUnavailable, true},
		{model.Unavailable, llms.ErrCodeProviderUnavailable, false},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			cause := &model.Error{Kind: tt.kind, Provider: "p", Message: "why", Status: 499, Code: "c", RequestID: "r", RetryAfter: 7 * time.Second, Partial: true}
			s := &spy{err: cause}
			_, err := s.model().GenerateContent(t.Context(), nil)
			want := &llms.Error{
				Code: tt.want, Provider: "p", Message: "why", Cause: cause,
				Details: map[string]any{"status": 499, "code": "c", "request_id": "r", "retry_after": 7 * time.Second, "retryable": tt.retryable, "partial": true},
			}
			if diff := cmp.Diff(error(want), err); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if got, want := err.Error(), "p: "+string(tt.want)+": why"; got != want {
				t.Errorf("it says %q, want %q", got, want)
			}
		})
	}
}

// A callback cannot be told that the answer begins anew, so it hears the one that
// broke off and the error.
func TestGenerateDoesNotRepeatToACallback(t *testing.T) { // R-HARN-28
	fail := &model.Error{Kind: model.Connection, Provider: "p"}
	repeating := model.Func(func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		for _, e := range []model.Event{
			model.Retrying{Err: fail, Attempt: 1}, model.Text("he"), model.Retrying{Err: fail, Attempt: 2, Partial: true}, model.Text("hello"),
		} {
			if err := sink(e); err != nil {
				return nil, err
			}
		}
		return &model.Reply{Parts: []llms.ContentPart{llms.TextContent{Text: "hello"}}}, nil
	})
	heard := ""
	_, err := repeating.GenerateContent(t.Context(), nil,
		llms.WithStreamingFunc(func(_ context.Context, b []byte) error { heard += string(b); return nil }))
	if e, ok := errors.AsType[*llms.Error](err); !ok || e.Cause != error(fail) || heard != "he" {
		t.Errorf("error = %v after %q, want that of the first attempt", err, heard)
	}
	res, err := repeating.GenerateContent(t.Context(), nil)
	if err != nil || res.Choices[0].Content != "hello" {
		t.Errorf("without a callback: %+v, %v, want the answer", res, err)
	}
}
