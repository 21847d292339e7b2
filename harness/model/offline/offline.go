// Package offline is a model without a model (R-CMD-14).
//
// It knows a small set of plain requests, turns each into calls of the tools
// that are offered, and reports what they gave. It is deterministic, uses no
// network, and says what it is. A machine without keys shows the whole program
// with it, and the author of a client has an agent that always does the same.
package offline

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Name is the provider, and the whole name under which a user chooses it.
const Name = "offline"

//go:embed help.md
var helpText string

//go:embed unknown.md
var unknownText string

// Options tune the model. The zero value is right for most uses.
type Options struct {
	Pause time.Duration // between two pieces of an answer; default none
}

// New returns the model. It is safe for concurrent use.
func New(o Options) model.Streamer { return model.Func(o.stream) }

// Descriptor describes the model.
func Descriptor() model.Descriptor {
	return model.Descriptor{Kind: Name, ID: Name, Name: "Offline (no language model)", Window: 128_000, Thinks: true}
}

func (o Options) stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	if req.Kind != "" && req.Kind != "main" && req.Kind != "sampling" {
		return nil, &model.Error{
			Kind: model.Unavailable, Provider: Name, Final: true,
			Message: fmt.Sprintf("the offline model answers no requests of kind %q", req.Kind),
		}
	}
	w := writer{ctx: ctx, sink: sink, pause: o.Pause}
	err := w.write(answer(req))
	return w.reply(req), err
}

// answer decides what to say and what to call.
func answer(req *model.Request) step {
	c, results, noted, ok := lastTurn(req.Messages)
	t := turn{req, results}
	switch {
	case !ok:
		return step{text: strings.TrimSpace(unknownText) + "\n\n" + strings.TrimSpace(helpText)}
	case noted && len(results) > 0:
		return step{text: c.report(t)}
	}
	return c.next(t)
}

// A step is one answer: thoughts, text, then calls of tools.
type step struct {
	think string
	text  string
	calls []toolCall
}

// A writer streams a step and keeps what it has sent.
type writer struct {
	ctx   context.Context
	sink  func(model.Event) error
	pause time.Duration
	think strings.Builder
	text  strings.Builder
	calls []llms.ToolCall
}

func (w *writer) write(s step) error {
	for piece := range pieces(s.think) {
		if err := w.send(model.Think(piece)); err != nil {
			return err
		}
		w.think.WriteString(piece)
	}
	for piece := range pieces(s.text) {
		if err := w.send(model.Text(piece)); err != nil {
			return err
		}
		w.text.WriteString(piece)
	}
	for i, c := range s.calls {
		if err := w.send(model.ToolStart{Index: i, ID: c.id, Name: c.name}); err != nil {
			return err
		}
		if err := w.sink(model.ToolArgs{Index: i, Fragment: c.args}); err != nil {
			return err
		}
		w.calls = append(w.calls, llms.ToolCall{
			ID: c.id, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.name, Arguments: c.args},
		})
	}
	return nil
}

// send passes e on, after the pause of the options.
func (w *writer) send(e model.Event) error {
	if w.pause > 0 {
		t := time.NewTimer(w.pause)
		defer t.Stop()
		select {
		case <-t.C:
		case <-w.ctx.Done():
		}
	}
	if w.ctx.Err() != nil {
		return &model.Error{Kind: model.Canceled, Provider: Name, Message: "the request was cancelled", Err: context.Cause(w.ctx)}
	}
	return w.sink(e)
}

// reply returns what has been sent.
func (w *writer) reply(req *model.Request) *model.Reply {
	r := &model.Reply{Stop: model.StopEnd, Model: Name}
	if w.think.Len() > 0 {
		r.Parts = append(r.Parts, model.Reasoning{TextContent: llms.TextContent{Text: w.think.String()}, Provider: Name})
	}
	if w.text.Len() > 0 {
		r.Parts = append(r.Parts, llms.TextContent{Text: w.text.String()})
	}
	for _, c := range w.calls {
		r.Parts = append(r.Parts, c)
		r.Stop = model.StopTools
	}
	r.RawStop = string(r.Stop)
	r.Usage = usage(req, r)
	return r
}

// usage counts words, which are the tokens of this model.
func usage(req *model.Request, r *model.Reply) model.Usage {
	u := model.Usage{Input: words(req.System), Known: true}
	for _, m := range req.Messages {
		u.Input += partWords(m.Parts)
	}
	for _, t := range req.Tools {
		u.Input += words(t.Description) + words(string(t.Schema))
	}
	u.Output = partWords(r.Parts)
	if t, ok := firstReasoning(r.Parts); ok {
		u.Reasoning = words(t)
	}
	return u
}

func words(s string) int {
	n := 0
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

func firstReasoning(parts []llms.ContentPart) (string, bool) {
	for _, p := range parts {
		if t, ok := p.(model.Reasoning); ok {
			return t.Text, true
		}
	}
	return "", false
}

func partWords(parts []llms.ContentPart) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case llms.TextContent:
			n += words(p.Text)
		case model.SignedText:
			n += words(p.Text)
		case model.Reasoning:
			n += words(p.Text)
		case llms.ToolCall:
			n += words(p.FunctionCall.Arguments)
		case model.Extra:
			n += words(p.FunctionCall.Arguments)
		case model.ToolResult:
			n += words(p.Content)
		case llms.ToolCallResponse:
			n += words(p.Content)
		}
	}
	return n
}

// pieces yields s word by word, each with the space after it.
func pieces(s string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for s != "" {
			end := strings.IndexAny(s, " \n")
			for end >= 0 && end < len(s) && (s[end] == ' ' || s[end] == '\n') {
				end++
			}
			if end <= 0 {
				end = len(s)
			}
			if !yield(s[:end]) {
				return
			}
			s = s[end:]
		}
	}
}
