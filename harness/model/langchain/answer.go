package langchain

import (
	"context"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
)

// options translates what a request asks for.
func (r *run) options() []llms.CallOption {
	req, o := r.req, &r.a.o
	var opts []llms.CallOption
	if len(req.Tools) > 0 && !o.NoTools {
		opts = append(opts, llms.WithTools(tools(req.Tools)))
		if req.NoTools {
			opts = append(opts, llms.WithToolChoice("none"))
		}
	}
	if n := limit(req.MaxTokens, o.MaxTokens); n > 0 {
		opts = append(opts, llms.WithMaxTokens(n))
	}
	if req.Temperature != nil {
		opts = append(opts, llms.WithTemperature(*req.Temperature))
	}
	if req.JSON {
		opts = append(opts, llms.WithJSONMode())
	}
	if mode := thinking(req.Effort); mode != "" {
		opts = append(opts, llms.WithThinkingMode(mode))
	}
	if r.whole {
		return opts
	}
	return append(opts, llms.WithStreamingFunc(func(_ context.Context, p []byte) error {
		if len(p) == 0 || len(req.Tools) > 0 && isToolJSON(p) {
			return r.hear(nil)
		}
		return r.hear(model.Text(p))
	}), llms.WithStreamingReasoningFunc(func(_ context.Context, thought, _ []byte) error {
		if len(thought) == 0 {
			return nil
		}
		return r.hear(model.Think(thought))
	}))
}

// limit is the most tokens of an answer: what the request wants, up to what the
// model can.
func limit(want, most int) int {
	if want > 0 && most > 0 {
		return min(want, most)
	}
	return max(want, most)
}

// thinking is an effort in the words of langchaingo, which has three.
func thinking(e model.Effort) llms.ThinkingMode {
	switch e {
	case model.EffortOff:
		return llms.ThinkingModeNone
	case model.EffortMinimal, model.EffortLow:
		return llms.ThinkingModeLow
	case model.EffortMedium:
		return llms.ThinkingModeMedium
	case model.EffortHigh, model.EffortXHigh, model.EffortMax:
		return llms.ThinkingModeHigh
	}
	return ""
}

// partial is the reply of a request that did not end well: calls may be cut short,
// so there are none.
func (r *run) partial() *model.Reply {
	reply := &model.Reply{}
	r.put(reply, r.think.String(), r.text.String())
	if len(reply.Parts) == 0 {
		return nil
	}
	return reply
}

// put appends what was thought and said to reply.
func (r *run) put(reply *model.Reply, think, text string) {
	if think != "" {
		reply.Parts = append(reply.Parts, model.Reasoning{TextContent: llms.TextContent{Text: think}, Provider: r.a.o.Ref})
	}
	if text != "" {
		reply.Parts = append(reply.Parts, llms.TextContent{Text: text})
	}
}

// end makes the reply of a model that has returned, and tells the sink what had
// not been streamed.
func (r *run) end(ctx context.Context, res *result) (*model.Reply, error) {
	if ctx.Err() != nil { // some models return what they have and no error
		return r.partial(), r.spoiled(context.Cause(ctx))
	}
	if res.err != nil || res.resp == nil || len(res.resp.Choices) == 0 {
		return r.partial(), r.a.failure(res.err, r.told)
	}
	whole := gather(res.resp.Choices)
	if r.cut(&whole) {
		return r.partial(), r.a.cut(r.told)
	}
	think, err := r.rest(whole.think, r.think.String(), func(s string) model.Event { return model.Think(s) })
	if err != nil {
		return r.partial(), err
	}
	text, err := r.rest(whole.text, r.text.String(), func(s string) model.Event { return model.Text(s) })
	if err != nil {
		return r.partial(), err
	}
	reply := &model.Reply{RawStop: whole.stop, Stop: stop(whole.stop, len(whole.calls) > 0), Usage: whole.usage}
	r.put(reply, think, text)
	for i, c := range whole.calls {
		reply.Parts = append(reply.Parts, c)
		for _, e := range []model.Event{
			model.ToolStart{Index: i, ID: c.ID, Name: c.FunctionCall.Name},
			model.ToolArgs{Index: i, Fragment: c.FunctionCall.Arguments},
		} {
			if err := r.pass(e); err != nil {
				return r.partial(), err
			}
		}
	}
	if len(reply.Parts) == 0 && reply.Stop == model.StopEnd {
		return reply, &model.Error{Kind: model.Empty, Provider: r.a.o.Provider, Message: "the answer is empty"}
	}
	return reply, nil
}

// An answer is what the choices of a response say together: some models spread an
// answer over them.
type answer struct {
	text, think string
	calls       []llms.ToolCall
	stop        string
	usage       model.Usage
}

func gather(choices []*llms.ContentChoice) answer {
	var a answer
	for _, c := range choices {
		if c == nil {
			continue
		}
		a.text += c.Content
		a.think += thought(c)
		for _, call := range c.ToolCalls {
			if call.FunctionCall != nil && call.FunctionCall.Name != "" {
				a.calls = append(a.calls, call)
			}
		}
		if c.StopReason != "" && c.StopReason != "<nil>" {
			a.stop = c.StopReason
		}
		if u := usage(c.GenerationInfo); u.Known {
			a.usage = u
		}
	}
	a.calls = slices.Clip(a.calls)
	for i := range a.calls {
		a.calls[i].Type = "function"
		if a.calls[i].ID == "" {
			a.calls[i].ID = parts.NewID()
		}
	}
	return a
}

// thought returns the reasoning of a choice, wherever the model put it.
func thought(c *llms.ContentChoice) string {
	if c.ReasoningContent != "" {
		return c.ReasoningContent
	}
	think, _ := c.GenerationInfo["ThinkingContent"].(string)
	return think
}

// cut reports whether the answer is only the begin of one: it has no reason to
// end where others have one, or it lost the text that had been streamed, as models
// do that fill their response with the last piece.
func (r *run) cut(a *answer) bool {
	lost := a.text == "" && r.text.Len() > 0 && a.stop == "" && len(a.calls) == 0
	return lost || r.a.o.NamesEnd && a.stop == ""
}

// rest tells the sink the end of whole that had not been streamed, and returns
// what was said. If something else was streamed, that is what was said: the user
// has seen it.
func (r *run) rest(whole, streamed string, event func(string) model.Event) (string, error) {
	rest, ok := strings.CutPrefix(whole, streamed)
	if !ok {
		return streamed, nil
	}
	if rest == "" {
		return whole, nil
	}
	return whole, r.pass(event(rest))
}

// stop gives the words of many providers one meaning.
func stop(raw string, calls bool) model.Stop {
	switch strings.ToLower(raw) {
	case "length", "max_tokens", "model_length", "finishreasonmaxtokens":
		return model.StopLength
	case "model_context_window_exceeded":
		return model.StopContext
	case "content_filter", "content_filtered", "refusal", "safety", "finishreasonsafety":
		return model.StopRefusal
	case "pause_turn":
		return model.StopPause
	}
	if calls {
		return model.StopTools
	}
	return model.StopEnd
}

// usage reads the token counts under the names that langchaingo's models use. Some
// leave the cached part out of the input; it is part of it here. They have 0 where
// nothing was reported.
func usage(info map[string]any) model.Usage {
	count := func(names ...string) int {
		for _, name := range names {
			switch n := info[name].(type) {
			case int:
				return n
			case int32:
				return int(n)
			case int64:
				return int(n)
			case float64:
				return int(n)
			}
		}
		return 0
	}
	u := model.Usage{
		Input:      count("PromptTokens", "input_tokens"),
		CacheRead:  count("PromptCachedTokens", "CacheReadInputTokens"),
		CacheWrite: count("CacheCreationInputTokens"),
		Output:     count("CompletionTokens", "OutputTokens", "output_tokens"),
		Reasoning:  count("ReasoningTokens", "CompletionReasoningTokens", "ThinkingTokens"),
	}
	if bare := count("InputTokens"); u.Input == 0 && bare > 0 { // without the cached part
		u.Input = bare + u.CacheRead + u.CacheWrite
	}
	u.Known = u.Input > 0
	return u
}
