// Package normalise makes a history fit for the model that is to read it
// (R-HARN-15).
//
// A session keeps what happened, whatever model it happened with. Providers are
// strict: every call wants its result, names and ids have an alphabet, thoughts
// go back to no one but their author (R-HARN-31). The difference is made up here,
// for one request, in a copy; the history itself is never touched. What a message
// becomes depends on it and on what stands before it alone, so that a history
// that grows keeps its prefix (R-HARN-14).
package normalise

import (
	"context"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Options say what is free in a history.
type Options struct {
	// Text has the answers of another vendor told as text, as they are to a model
	// without tools (R-TASK-40).
	Text bool
	// Executed is the template of a call that is told as text, with {{tool}} and
	// {{summary}}; "" is the usual one.
	Executed string
	// Dropped is told of each tool that is left out of requests, and why: the
	// schema of its arguments is broken, so that a provider would refuse the whole
	// request (C100). It is told once for each schema, from the goroutine that
	// streams, and may be nil.
	Dropped func(tool string, why error)
}

// Wrap returns a streamer that asks s, a client of the model d, with requests
// that d takes. Names that had to be changed are changed back in the answer.
func Wrap(s model.Streamer, d model.Descriptor, o Options) model.Streamer {
	return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		fit := Request(req, d, o)
		back := renamed(req.Tools)
		if len(back) == 0 {
			return s.Stream(ctx, fit, sink)
		}
		reply, err := s.Stream(ctx, fit, func(e model.Event) error {
			if start, ok := e.(model.ToolStart); ok {
				start.Name = original(back, start.Name)
				e = start
			}
			return sink(e)
		})
		return restore(reply, back), err
	})
}

// Request returns req as the model d takes it. It shares with req what it does
// not change.
func Request(req *model.Request, d model.Descriptor, o Options) *model.Request {
	out := *req
	out.Tools = wireTools(req.Tools, d)
	out.Callable = wireNames(req.Callable)
	h := history{model: d, ids: map[string]bool{}, prose: len(req.Tools) == 0}
	for _, m := range req.Messages {
		h.add(m)
	}
	out.Messages = h.end()
	return &out
}

// original is the name that the wire name stands for.
func original(back map[string]string, name string) string {
	if n, ok := back[name]; ok {
		return n
	}
	return name
}

// restore gives the calls of r the names that they have outside.
func restore(r *model.Reply, back map[string]string) *model.Reply {
	if r == nil {
		return nil
	}
	out := *r
	out.Parts = make([]llms.ContentPart, len(r.Parts))
	for i, p := range r.Parts {
		switch t := p.(type) {
		case llms.ToolCall:
			p = rename(t, original(back, callName(t)))
		case model.Extra:
			t.ToolCall = rename(t.ToolCall, original(back, callName(t.ToolCall)))
			p = t
		}
		out.Parts[i] = p
	}
	return &out
}

func rename(t llms.ToolCall, name string) llms.ToolCall {
	if t.FunctionCall == nil || t.FunctionCall.Name == name {
		return t
	}
	f := *t.FunctionCall
	f.Name = name
	t.FunctionCall = &f
	return t
}

func callName(t llms.ToolCall) string {
	if t.FunctionCall == nil {
		return ""
	}
	return t.FunctionCall.Name
}
