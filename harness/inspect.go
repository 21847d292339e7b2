package harness

import (
	"context"
	"encoding/json"

	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
)

// A Preview is what the next send of a session would carry beside the user's
// message.
type Preview struct {
	System    string // the whole system string
	Parts     prompt.Parts
	Assembly  prompt.Assembly
	Signature Signature
}

// Preview composes the next send without making it. Nothing is stored and no
// model is asked.
func (s *Session) Preview(ctx context.Context) (Preview, error) {
	t, err := s.glance(ctx, nil)
	if err != nil {
		return Preview{}, err
	}
	conv := new(thread.Conversation)
	if t.shape == prompt.Stateless { // what the user has answered is part of the system string
		if err := t.catchUp(ctx, conv, nil); err != nil {
			return Preview{}, err
		}
	}
	if err := t.compose(conv); err != nil {
		return Preview{}, err
	}
	return Preview{System: t.comp.System, Parts: t.parts, Assembly: t.assembly, Signature: t.sig}, nil
}

// Tools lists the tools that the next send would offer, in wire order.
func (s *Session) Tools(ctx context.Context) ([]tools.Info, error) {
	t, err := s.glance(ctx, nil)
	if err != nil {
		return nil, err
	}
	var infos []tools.Info
	for _, w := range t.wire {
		if tool, ok := t.tools.Lookup(w.Name); ok {
			infos = append(infos, tool.Info())
		}
	}
	return infos, nil
}

// A CallResult is the result of a single call.
type CallResult struct {
	tools.Result
	Refused bool // nobody was there to allow it
}

// Call runs one tool as a turn would: checked, under the rules of the session,
// without a model. Sink hears of the call while it runs, until Call returns; nil is
// nobody. Unless there is such a tool and its input is right, the error says why, as
// a [tools.PublicError].
func (s *Session) Call(ctx context.Context, name string, input json.RawMessage, sink event.Sink) (CallResult, error) {
	t, err := s.glance(ctx, sink)
	if err != nil {
		return CallResult{}, err
	}
	c := &call{Call: thread.Call{ID: "call", Name: name, Args: string(input)}}
	if t.screen(c); c.refused != nil {
		return CallResult{}, &tools.PublicError{Text: c.refused.Text}
	}
	t.announce(c)
	t.introduce(c)
	r := t.perform(ctx, c)
	if ctx.Err() != nil {
		return CallResult{}, ctx.Err()
	}
	return CallResult{r, c.unasked}, nil
}

// glance freezes what the next send would depend on, for a turn whose events sink
// hears; nil is nobody.
func (s *Session) glance(ctx context.Context, sink event.Sink) (*turn, error) {
	if sink == nil {
		sink = event.SinkFunc(func(event.Event) error { return nil })
	}
	t := newTurn(s, s.Choice(), Input{}, &watcher{sink: sink, cancel: func(error) {}})
	t.quiet = true
	return t, t.freeze(ctx)
}
