// Package langchain makes a [model.Streamer] of any model of langchaingo.
//
// Those models hand out a stream of bytes that mixes text with the JSON of tool
// calls, errors that are sentences, and answers spread over several choices.
// The adapter cleans the stream, gives the errors their kind, and joins the
// choices. What such a model cannot carry stays behind: reasoning does not go
// back, the error mark of a tool result becomes a word, and pictures in a tool
// result are left out.
package langchain

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Options tune the adapter. The zero value is right for most models.
type Options struct {
	Provider string // named in errors; default langchain
	// WholeWithTools asks for the answer in one piece when tools are offered,
	// for models that lose their calls while they stream.
	WholeWithTools bool
}

// Wrap returns m as a streamer. A model that does not heed its context keeps
// Stream waiting until it is done.
func Wrap(m llms.Model, o Options) model.Streamer {
	if o.Provider == "" {
		o.Provider = "langchain"
	}
	a := adapter{m, o}
	return model.Func(a.stream)
}

type adapter struct {
	m llms.Model
	o Options
}

// A chunk is a piece that the model has streamed; done receives what the sink
// said to it.
type chunk struct {
	event model.Event
	done  chan<- error
}

// stream runs the model beside itself, since some call back from goroutines of
// their own, while the sink is to be called from this one.
func (a *adapter) stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	chunks := make(chan chunk)
	type result struct {
		resp *llms.ContentResponse
		err  error
	}
	ended := make(chan result, 1)
	go func() {
		resp, err := a.m.GenerateContent(ctx, messages(req), a.options(req, chunks)...)
		ended <- result{resp, err}
	}()
	var text strings.Builder
	var refused error // what the sink said
	for {
		select {
		case c := <-chunks:
			if refused == nil {
				if t, ok := c.event.(model.Text); ok {
					text.WriteString(string(t))
				}
				if refused = sink(c.event); refused != nil {
					cancel()
				}
			}
			c.done <- refused
		case r := <-ended:
			if refused != nil {
				return partial(text.String()), refused
			}
			if r.err != nil || r.resp == nil {
				return partial(text.String()), a.failure(ctx, r.err, text.Len() > 0)
			}
			return a.finish(r.resp, text.String(), sink)
		}
	}
}

// partial is the reply of a request that did not end well.
func partial(text string) *model.Reply {
	if text == "" {
		return nil
	}
	return &model.Reply{Parts: []llms.ContentPart{llms.TextContent{Text: text}}}
}

// options translates what a request asks for.
func (a *adapter) options(req *model.Request, chunks chan<- chunk) []llms.CallOption {
	var opts []llms.CallOption
	if len(req.Tools) > 0 {
		opts = append(opts, llms.WithTools(tools(req.Tools)))
		if req.NoTools {
			opts = append(opts, llms.WithToolChoice("none"))
		}
	}
	if req.MaxTokens > 0 {
		opts = append(opts, llms.WithMaxTokens(req.MaxTokens))
	}
	if req.Temperature != nil {
		opts = append(opts, llms.WithTemperature(*req.Temperature))
	}
	if req.JSON {
		opts = append(opts, llms.WithJSONMode())
	}
	if mode, ok := map[model.Effort]llms.ThinkingMode{
		model.EffortOff: llms.ThinkingModeNone, model.EffortLow: llms.ThinkingModeLow,
		model.EffortMedium: llms.ThinkingModeMedium, model.EffortHigh: llms.ThinkingModeHigh,
	}[req.Effort]; ok {
		opts = append(opts, llms.WithThinkingMode(mode))
	}
	if a.o.WholeWithTools && len(req.Tools) > 0 {
		return opts
	}
	return append(opts, llms.WithStreamingFunc(func(ctx context.Context, p []byte) error {
		if len(p) == 0 || len(req.Tools) > 0 && isToolJSON(p) {
			return nil
		}
		done := make(chan error, 1)
		select {
		case chunks <- chunk{model.Text(p), done}:
			return <-done
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}))
}

// finish tells the sink what had not been streamed, and makes the reply.
func (a *adapter) finish(resp *llms.ContentResponse, streamed string, sink func(model.Event) error) (*model.Reply, error) {
	r := &model.Reply{Stop: model.StopEnd}
	var text strings.Builder
	var calls []llms.ToolCall
	for _, c := range resp.Choices {
		text.WriteString(c.Content)
		calls = append(calls, c.ToolCalls...)
		if think := cleanThink(c); think != "" {
			r.Parts = append(r.Parts, model.Reasoning{TextContent: llms.TextContent{Text: think}, Provider: a.o.Provider})
			if err := sink(model.Think(think)); err != nil {
				return r, err
			}
		}
		r.RawStop = c.StopReason
		r.Usage = usage(c.GenerationInfo)
	}
	whole := text.String()
	if rest, ok := strings.CutPrefix(whole, streamed); ok && rest != "" {
		if err := sink(model.Text(rest)); err != nil {
			return r, err
		}
	} else if !ok {
		whole = streamed // what the user has seen is what was said
	}
	if whole != "" {
		r.Parts = append(r.Parts, llms.TextContent{Text: whole})
	}
	calls = slices.DeleteFunc(calls, func(c llms.ToolCall) bool { return c.FunctionCall == nil })
	for i, c := range calls {
		if c.ID == "" {
			c.ID = "call_" + strconv.Itoa(i)
		}
		c.Type = "function"
		r.Parts = append(r.Parts, c)
		if err := sink(model.ToolStart{Index: i, ID: c.ID, Name: c.FunctionCall.Name}); err != nil {
			return r, err
		}
		if err := sink(model.ToolArgs{Index: i, Fragment: c.FunctionCall.Arguments}); err != nil {
			return r, err
		}
	}
	r.Stop = stop(r.RawStop, len(calls) > 0)
	if len(r.Parts) == 0 && r.Stop == model.StopEnd {
		return r, &model.Error{Kind: model.Malformed, Provider: a.o.Provider, Message: "the answer is empty"}
	}
	return r, nil
}

// cleanThink returns the reasoning of a choice, wherever the model put it.
func cleanThink(c *llms.ContentChoice) string {
	if c.ReasoningContent != "" {
		return c.ReasoningContent
	}
	think, _ := c.GenerationInfo["ThinkingContent"].(string)
	return think
}

// failure gives err its kind.
func (a *adapter) failure(ctx context.Context, err error, began bool) error {
	if err == nil {
		err = errors.New("no answer")
	}
	e := &model.Error{Provider: a.o.Provider, Message: err.Error(), Partial: began, Err: err}
	if ctx.Err() != nil {
		e.Kind, e.Message, e.Err = model.Canceled, "the request was cancelled", context.Cause(ctx)
		return e
	}
	e.Kind = a.kind(err)
	return e
}

// kind finds the kind of an error. Beside the errors of the network, langchaingo's
// models have nothing but sentences, which its own mapper and this one look into.
func (a *adapter) kind(err error) model.Kind {
	known, ok := errors.AsType[*llms.Error](err)
	if !ok {
		known, ok = errors.AsType[*llms.Error](llms.NewErrorMapper(a.o.Provider).Map(err))
	}
	if ok && known.Code != llms.ErrCodeUnknown {
		return kind(known.Code)
	}
	if _, ok := errors.AsType[net.Error](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return model.Connection
	}
	text := strings.ToLower(err.Error())
	for _, sign := range []string{"network error", "connection re", "unexpected eof", "broken pipe"} {
		if strings.Contains(text, sign) {
			return model.Connection
		}
	}
	return model.Unknown
}
