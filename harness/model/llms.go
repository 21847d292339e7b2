package model

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"
)

// A Func is a function as a [Streamer]; wrappers and fakes are mostly this.
type Func func(ctx context.Context, req *Request, sink func(Event) error) (*Reply, error)

var _ Streamer = Func(nil)

// Stream calls f.
func (f Func) Stream(ctx context.Context, req *Request, sink func(Event) error) (*Reply, error) {
	return f(ctx, req, sink)
}

// GenerateContent is [Generate] of f.
func (f Func) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	return Generate(ctx, f, msgs, opts...)
}

// Call answers a single prompt with the text of the answer.
func (f Func) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, f, prompt, opts...)
}

// Generate is llms.Model's GenerateContent on top of Stream, so that a type with
// a Stream method is a whole [Streamer] with two lines:
//
//	func (c *Client) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
//		return model.Generate(ctx, c, m, o...)
//	}
//	func (c *Client) Call(ctx context.Context, p string, o ...llms.CallOption) (string, error) {
//		return llms.GenerateFromSinglePrompt(ctx, c, p, o...)
//	}
//
// The messages may be those of any chain: parts marked for a cache are the parts
// in them, and the results of a step may stand in one message each.
//
// A StreamingFunc hears the text of the answer and nothing else, a
// StreamingReasoningFunc both text and thoughts. Of the options the tools, be they
// called functions, the tool choice "none", the token limit, JSON as the form of
// the answer, a temperature above 0 (llms cannot tell 0 from unset) and the
// thinking mode are honoured. The response has one choice; its GenerationInfo holds
// token counts under the names that langchaingo's own models use, and "Parts", the
// parts to append to the history.
//
// Errors are [*llms.Error] with the [*Error] as the cause. Their Details hold what
// it knows: "retryable" and "partial" (bool) always; "status" (int), "retry_after"
// (time.Duration), "request_id" and "code" (string) where there is one.
func Generate(ctx context.Context, s Streamer, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, f := range opts {
		f(&o)
	}
	req, err := request(msgs, &o)
	if err != nil {
		return nil, err
	}
	reply, err := s.Stream(ctx, req, func(e Event) error { return tell(ctx, &o, e) })
	if err != nil {
		return nil, llmsError(err)
	}
	return response(reply), nil
}

// tell passes e to the callbacks of o.
func tell(ctx context.Context, o *llms.CallOptions, e Event) error {
	switch e := e.(type) {
	case Text:
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, []byte(e)); err != nil {
				return err
			}
		}
		if o.StreamingReasoningFunc != nil {
			return o.StreamingReasoningFunc(ctx, nil, []byte(e))
		}
	case Think:
		if o.StreamingReasoningFunc != nil {
			return o.StreamingReasoningFunc(ctx, []byte(e), nil)
		}
	case Retrying:
		if e.Partial && (o.StreamingFunc != nil || o.StreamingReasoningFunc != nil) {
			return e.Err // a callback has no way to learn that the answer begins anew
		}
	}
	return nil
}

// request turns the arguments of GenerateContent into a request; system
// messages, wherever they stand, become its system prompt.
func request(msgs []llms.MessageContent, o *llms.CallOptions) (*Request, error) {
	req := &Request{
		Kind: "main", MaxTokens: o.MaxTokens, NoTools: noTools(o),
		JSON: o.JSONMode || o.ResponseMIMEType == "application/json",
	}
	if o.Temperature > 0 {
		req.Temperature = &o.Temperature
	}
	if t := llms.GetThinkingConfig(o); t != nil {
		req.Effort = map[llms.ThinkingMode]Effort{
			llms.ThinkingModeNone: EffortOff, llms.ThinkingModeLow: EffortLow,
			llms.ThinkingModeMedium: EffortMedium, llms.ThinkingModeHigh: EffortHigh,
		}[t.Mode]
	}
	var system []string
	for _, m := range msgs {
		m.Parts = uncached(m.Parts)
		if m.Role != llms.ChatMessageTypeSystem {
			req.add(m)
			continue
		}
		for _, p := range m.Parts {
			switch t := p.(type) {
			case llms.TextContent:
				system = append(system, t.Text)
			case SignedText:
				system = append(system, t.Text)
			}
		}
	}
	req.System = strings.Join(system, "\n\n")
	for _, t := range o.Tools {
		if err := req.declare(t.Function); err != nil {
			return nil, err
		}
	}
	for i := range o.Functions {
		if err := req.declare(&o.Functions[i]); err != nil {
			return nil, err
		}
	}
	return req, nil
}

// noTools reports whether o forbids calls, in any of the ways that llms has.
func noTools(o *llms.CallOptions) bool {
	switch c := o.ToolChoice.(type) {
	case string:
		return c == "none"
	case llms.ToolChoice:
		return c.Type == "none"
	case *llms.ToolChoice:
		return c != nil && c.Type == "none"
	}
	return o.FunctionCallBehavior == llms.FunctionCallBehaviorNone
}

// uncached returns parts without the marks of a cache, which no provider of ours
// takes from a message.
func uncached(parts []llms.ContentPart) []llms.ContentPart {
	isCached := func(p llms.ContentPart) bool { _, ok := p.(llms.CachedContent); return ok }
	if !slices.ContainsFunc(parts, isCached) {
		return parts
	}
	var out []llms.ContentPart
	for _, p := range parts {
		for isCached(p) {
			p = p.(llms.CachedContent).ContentPart
		}
		if p != nil {
			out = append(out, p)
		}
	}
	return out
}

// add appends a message in one of the roles that a request has. Results that
// follow results are of one step, and providers want those together.
func (r *Request) add(m llms.MessageContent) {
	switch m.Role {
	case llms.ChatMessageTypeFunction:
		m.Role = llms.ChatMessageTypeTool
	case llms.ChatMessageTypeGeneric:
		m.Role = llms.ChatMessageTypeHuman
	}
	n := len(r.Messages)
	if n > 0 && m.Role == llms.ChatMessageTypeTool && r.Messages[n-1].Role == m.Role {
		r.Messages[n-1].Parts = slices.Concat(r.Messages[n-1].Parts, m.Parts)
		return
	}
	r.Messages = append(r.Messages, m)
}

// declare adds a tool. One without parameters takes an object without members.
func (r *Request) declare(f *llms.FunctionDefinition) error {
	if f == nil {
		return nil
	}
	schema, err := json.Marshal(f.Parameters)
	if err != nil {
		return fmt.Errorf("encoding the parameters of tool %s: %w", f.Name, err)
	}
	if string(schema) == "null" {
		schema = []byte(`{"type":"object","properties":{}}`)
	}
	r.Tools = append(r.Tools, Tool{Name: f.Name, Description: f.Description, Schema: schema})
	return nil
}

// response is r in the shape of langchaingo.
func response(r *Reply) *llms.ContentResponse {
	var text, think strings.Builder
	c := &llms.ContentChoice{StopReason: string(r.Stop), GenerationInfo: map[string]any{
		"PromptTokens": r.Usage.Input, "CompletionTokens": r.Usage.Output, "TotalTokens": r.Usage.Input + r.Usage.Output,
		"PromptCachedTokens": r.Usage.CacheRead, "CacheCreationInputTokens": r.Usage.CacheWrite,
		"ReasoningTokens": r.Usage.Reasoning, "UsageKnown": r.Usage.Known,
		"RawStopReason": r.RawStop, "RequestID": r.RequestID, "Parts": r.Parts,
	}}
	for _, p := range r.Parts {
		switch p := p.(type) {
		case llms.TextContent:
			text.WriteString(p.Text)
		case SignedText:
			text.WriteString(p.Text)
		case Reasoning:
			think.WriteString(p.Text)
		case llms.ToolCall:
			c.ToolCalls = append(c.ToolCalls, p)
		case Extra:
			c.ToolCalls = append(c.ToolCalls, p.ToolCall)
		}
	}
	c.Content, c.ReasoningContent = text.String(), think.String()
	if len(c.ToolCalls) > 0 {
		c.FuncCall = c.ToolCalls[0].FunctionCall
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{c}}
}
