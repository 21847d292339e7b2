package langchain_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// foreign is a function as a model of langchaingo.
type foreign func(ctx context.Context, msgs []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error)

func (f foreign) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, set := range opts {
		set(&o)
	}
	return f(ctx, msgs, o)
}

func (f foreign) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, f, prompt, opts...)
}

// chunks streams texts and ends with an answer.
func chunks(resp *llms.ContentResponse, texts ...string) foreign {
	return func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		for _, text := range texts {
			if o.StreamingFunc == nil {
				break
			}
			if err := o.StreamingFunc(ctx, []byte(text)); err != nil {
				return nil, err
			}
		}
		return resp, nil
	}
}

func choices(cs ...*llms.ContentChoice) *llms.ContentResponse {
	return &llms.ContentResponse{Choices: cs}
}

func toolCall(id, name, args string) llms.ToolCall {
	return llms.ToolCall{ID: id, FunctionCall: &llms.FunctionCall{Name: name, Arguments: args}}
}

// typed is a call as it stands in a reply.
func typed(id, name, args string) llms.ToolCall {
	c := toolCall(id, name, args)
	c.Type = "function"
	return c
}

func TestAnswer(t *testing.T) {
	const leak = `[{"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]`
	tests := []struct {
		name   string
		m      foreign
		o      langchain.Options
		events []model.Event
		want   *model.Reply
	}{
		{
			"tool calls that leak into the text are dropped",
			chunks(choices(&llms.ContentChoice{Content: "Hi", StopReason: "tool_calls", ToolCalls: []llms.ToolCall{toolCall("a", "read", "{}")}}), "H", "", leak, "i"),
			langchain.Options{},
			[]model.Event{model.Text("H"), model.Text("i"), model.ToolStart{ID: "a", Name: "read"}, model.ToolArgs{Fragment: "{}"}},
			&model.Reply{Stop: model.StopTools, RawStop: "tool_calls", Parts: []llms.ContentPart{llms.TextContent{Text: "Hi"}, typed("a", "read", "{}")}},
		},
		{
			"text that was lost in the stream comes at the end",
			chunks(choices(&llms.ContentChoice{Content: "Hello", StopReason: "stop"}), "He"),
			langchain.Options{},
			[]model.Event{model.Text("He"), model.Text("llo")},
			&model.Reply{Stop: model.StopEnd, RawStop: "stop", Parts: []llms.ContentPart{llms.TextContent{Text: "Hello"}}},
		},
		{
			"one choice for each block is one answer",
			chunks(choices(
				&llms.ContentChoice{Content: "Look:", GenerationInfo: map[string]any{"ThinkingContent": "hm", "InputTokens": 5, "CacheReadInputTokens": 3, "OutputTokens": 2}},
				&llms.ContentChoice{ToolCalls: []llms.ToolCall{toolCall("w", "a", "{}")}, GenerationInfo: map[string]any{"InputTokens": 5, "CacheReadInputTokens": 3, "OutputTokens": 2}},
				&llms.ContentChoice{ToolCalls: []llms.ToolCall{toolCall("x", "b", "[")}, StopReason: "tool_use", GenerationInfo: map[string]any{"InputTokens": 5, "CacheReadInputTokens": 3, "OutputTokens": 2}},
			)),
			langchain.Options{Provider: "bedrock", WholeWithTools: true},
			[]model.Event{
				model.Think("hm"), model.Text("Look:"),
				model.ToolStart{Index: 0, ID: "w", Name: "a"}, model.ToolArgs{Index: 0, Fragment: "{}"},
				model.ToolStart{Index: 1, ID: "x", Name: "b"}, model.ToolArgs{Index: 1, Fragment: "["},
			},
			&model.Reply{Stop: model.StopTools, RawStop: "tool_use", Usage: model.Usage{Input: 8, Output: 2, CacheRead: 3, Known: true}, Parts: []llms.ContentPart{
				model.Reasoning{TextContent: llms.TextContent{Text: "hm"}, Provider: "bedrock"},
				llms.TextContent{Text: "Look:"}, typed("w", "a", "{}"), typed("x", "b", "["),
			}},
		},
		{
			"a call of nothing is none", chunks(choices(&llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "n"}, toolCall("x", "b", "{}")}})),
			langchain.Options{},
			[]model.Event{model.ToolStart{ID: "x", Name: "b"}, model.ToolArgs{Fragment: "{}"}},
			&model.Reply{Stop: model.StopTools, Parts: []llms.ContentPart{typed("x", "b", "{}")}},
		},
		{
			"usage of OpenAI", chunks(choices(&llms.ContentChoice{Content: "x", StopReason: "length", GenerationInfo: map[string]any{
				"PromptTokens": 9, "PromptCachedTokens": 4, "CompletionTokens": 3, "ReasoningTokens": 1}})),
			langchain.Options{},
			[]model.Event{model.Text("x")},
			&model.Reply{Stop: model.StopLength, RawStop: "length", Parts: []llms.ContentPart{llms.TextContent{Text: "x"}}, Usage: model.Usage{Input: 9, Output: 3, CacheRead: 4, Reasoning: 1, Known: true}},
		},
		{
			"thoughts stream", foreign(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
				for _, piece := range []string{"h", "m"} {
					if err := o.StreamingReasoningFunc(ctx, []byte(piece), nil); err != nil {
						return nil, err
					}
				}
				// Some repeat the text here.
				return choices(&llms.ContentChoice{Content: "x", ReasoningContent: "hm."}), o.StreamingReasoningFunc(ctx, nil, []byte("x"))
			}),
			langchain.Options{Provider: "p", Ref: "p/m"},
			[]model.Event{model.Think("h"), model.Think("m"), model.Think("."), model.Text("x")},
			&model.Reply{Stop: model.StopEnd, Parts: []llms.ContentPart{
				model.Reasoning{TextContent: llms.TextContent{Text: "hm."}, Provider: "p/m"}, llms.TextContent{Text: "x"}}},
		},
		{
			"usage that is nothing but zeros was not reported", chunks(choices(&llms.ContentChoice{Content: "x", GenerationInfo: map[string]any{"PromptTokens": 0, "CompletionTokens": 0}})),
			langchain.Options{}, []model.Event{model.Text("x")},
			&model.Reply{Stop: model.StopEnd, Parts: []llms.ContentPart{llms.TextContent{Text: "x"}}},
		},
		{
			"a reason that a later choice does not repeat stays", chunks(choices(&llms.ContentChoice{Content: "x", StopReason: "length"}, &llms.ContentChoice{StopReason: "<nil>"}, nil)),
			langchain.Options{NamesEnd: true}, []model.Event{model.Text("x")},
			&model.Reply{Stop: model.StopLength, RawStop: "length", Parts: []llms.ContentPart{llms.TextContent{Text: "x"}}},
		},
		{
			"a refusal without text", chunks(choices(&llms.ContentChoice{StopReason: "content_filter"})),
			langchain.Options{}, nil, &model.Reply{Stop: model.StopRefusal, RawStop: "content_filter"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events, got, err := modeltest.Collect(t.Context(), langchain.Wrap(tt.m, tt.o), modeltest.Ask("go"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
		})
	}
}

// Calls that come without an id get one that no other call of the session has.
func TestIDsAreMadeUp(t *testing.T) {
	seen := map[string]bool{}
	for range 3 {
		m := chunks(choices(&llms.ContentChoice{ToolCalls: []llms.ToolCall{toolCall("", "a", "{}"), toolCall("", "b", "{}")}}))
		_, r, err := modeltest.Collect(t.Context(), langchain.Wrap(m, langchain.Options{}), modeltest.Ask("go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Parts {
			seen[p.(llms.ToolCall).ID] = true
		}
	}
	if len(seen) != 6 || seen[""] {
		t.Errorf("ids = %v, want six", seen)
	}
}

func TestEmptyAnswer(t *testing.T) {
	m := chunks(choices(&llms.ContentChoice{StopReason: "stop"}))
	_, _, err := modeltest.Collect(t.Context(), langchain.Wrap(m, langchain.Options{}), modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Empty {
		t.Errorf("error = %v, want an empty answer", err)
	}
}

func TestBrokenAnswerIsPartial(t *testing.T) {
	m := foreign(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		if err := o.StreamingFunc(ctx, []byte("half")); err != nil {
			return nil, err
		}
		return nil, io.ErrUnexpectedEOF
	})
	_, r, err := modeltest.Collect(t.Context(), langchain.Wrap(m, langchain.Options{}), modeltest.Ask("go"))
	e, ok := errors.AsType[*model.Error](err)
	if want := []llms.ContentPart{llms.TextContent{Text: "half"}}; !ok || !e.Partial || !cmp.Equal(want, r.Parts) {
		t.Errorf("error %v with %+v, want a partial one with the text", err, r)
	}
}

func TestSinkEndsTheRequest(t *testing.T) {
	gone := errors.New("nobody watches")
	m := foreign(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
		for {
			if err := o.StreamingFunc(ctx, []byte("x")); err != nil {
				return nil, err
			}
		}
	})
	n := 0
	_, err := langchain.Wrap(m, langchain.Options{}).Stream(t.Context(), modeltest.Ask("go"), func(model.Event) error {
		if n++; n == 3 {
			return gone
		}
		return nil
	})
	if err != gone || n != 3 {
		t.Errorf("error = %v after %d pieces, want the sink's after 3", err, n)
	}
}

func TestCallbackFromAnotherGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := foreign(func(ctx context.Context, _ []llms.MessageContent, o llms.CallOptions) (*llms.ContentResponse, error) {
			done := make(chan error)
			go func() { done <- o.StreamingFunc(ctx, []byte("x")) }()
			return choices(&llms.ContentChoice{Content: "x"}), <-done
		})
		events, _, err := modeltest.Collect(t.Context(), langchain.Wrap(m, langchain.Options{}), modeltest.Ask("go"))
		if err != nil || !cmp.Equal([]model.Event{model.Text("x")}, events) {
			t.Errorf("events = %v (%v)", events, err)
		}
	})
}
