// Package langchain makes a [model.Streamer] of any model of langchaingo.
//
// Those models hand out a stream of bytes that mixes text with the JSON of tool
// calls, errors that are sentences, and answers spread over several choices; some
// heed no context, some take half an answer for a whole one. The adapter cleans
// the stream, gives the errors their kind, joins the choices and watches over the
// time. What differs from model to model is data, in [Options].
//
// What such a model cannot carry stays behind: reasoning does not go back, the
// error mark of a tool result becomes a word, and pictures in a tool result are
// left out. Package kinds opens langchaingo's own providers by name.
package langchain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// An Adapter is a model of langchaingo as a streamer.
type Adapter struct {
	m llms.Model
	o Options
}

var _ model.Streamer = (*Adapter)(nil)

// Wrap returns m as a streamer.
func Wrap(m llms.Model, o Options) *Adapter {
	o.Provider = cmp.Or(o.Provider, "langchain")
	o.Ref = cmp.Or(o.Ref, o.Provider)
	o.First = cmp.Or(o.First, 300*time.Second)
	o.Idle = cmp.Or(o.Idle, 300*time.Second)
	o.Grace = cmp.Or(o.Grace, 250*time.Millisecond)
	o.Left = cmp.Or(o.Left, &Left{})
	return &Adapter{m: m, o: o}
}

// GenerateContent answers as [model.Generate] says.
func (a *Adapter) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	return model.Generate(ctx, a, m, o...)
}

// Call answers a single prompt.
func (a *Adapter) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, a, prompt, o...)
}

// Stream answers as [model.Streamer] says. A model that does not end when its
// context does is left behind after [Options.Grace]: what it still says is dropped,
// and its goroutine ends when its library returns. While there are sixteen of those
// in [Options.Left] no request begins.
func (a *Adapter) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	if a.o.Left.full() {
		return nil, &model.Error{Kind: model.Unavailable, Provider: a.o.Provider, Final: true,
			Message: "too many cancelled requests have not ended; wait a few minutes or start the program anew"}
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{a: a, req: req, sink: sink, pieces: make(chan piece), over: inner.Done(), whole: a.whole(req)}
	ended, result := make(chan struct{}), &result{}
	msgs, opts := messages(req, &a.o), r.options()
	go func() {
		defer close(ended)
		defer result.recover()
		result.resp, result.err = a.m.GenerateContent(inner, msgs, opts...)
	}()
	switch why := r.listen(ctx, ended, cancel); {
	case why == nil:
		return r.end(ctx, result)
	default:
		if !r.ends(ended) {
			a.o.Left.add(ended)
		}
		return r.partial(), r.spoiled(why)
	}
}

// whole reports whether the answer to req is to come in one piece.
func (a *Adapter) whole(req *model.Request) bool {
	return a.o.Whole || a.o.WholeWithTools && len(req.Tools) > 0 && !a.o.NoTools
}

// A result is what the model returned. It is read after the goroutine that writes
// it has ended.
type result struct {
	resp *llms.ContentResponse
	err  error
}

// recover makes an error of a panic: there are models that look for something in
// an answer without a doubt that it is there.
func (r *result) recover() {
	if p := recover(); p != nil {
		r.resp, r.err = nil, &model.Error{Kind: model.Malformed, Message: fmt.Sprintf("the library cannot take this answer: %v", p)}
	}
}

// A run is one request. The model runs on a goroutine of its own, since some call
// back from others still, while the sink is to be called from that of Stream.
type run struct {
	a    *Adapter
	req  *model.Request
	sink func(model.Event) error

	pieces chan piece
	over   <-chan struct{} // closed when nobody listens any more
	whole  bool

	text  strings.Builder // that was streamed
	think strings.Builder
	told  bool // the sink has heard something
}

// A piece is what the model has streamed, nil for a sign of life; done receives
// what the sink said to it.
type piece struct {
	event model.Event
	done  chan<- error
}

// errSink is an error of the sink, which goes back as it is.
type errSink struct{ error }

// errSilent says that the model fell silent.
var errSilent = errors.New("the model fell silent")

// listen passes pieces to the sink until the model has ended. Any other end is an
// error: the sink's, that of ctx, or that the model fell silent.
func (r *run) listen(ctx context.Context, ended <-chan struct{}, cancel func()) error {
	defer cancel()
	patience := r.a.o.First
	if r.whole {
		patience += r.a.o.Idle
	}
	watch := time.NewTimer(patience)
	defer watch.Stop()
	for {
		select {
		case p := <-r.pieces:
			err := r.pass(p.event)
			p.done <- err
			if err != nil {
				return errSink{err}
			}
			watch.Reset(r.a.o.Idle)
		case <-ended:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-watch.C:
			return errSilent
		}
	}
}

// pass gives an event to the sink and remembers it.
func (r *run) pass(e model.Event) error {
	switch e := e.(type) {
	case nil:
		return nil
	case model.Text:
		r.text.WriteString(string(e))
	case model.Think:
		r.think.WriteString(string(e))
	}
	r.told = true
	return r.sink(e)
}

// hear is the callback of the model: it hands e over and returns what became of it.
func (r *run) hear(e model.Event) error {
	done := make(chan error, 1)
	select {
	case r.pieces <- piece{e, done}:
		err := <-done
		if r.a.o.Deaf {
			return nil
		}
		return err
	case <-r.over:
		if r.a.o.Deaf {
			return nil
		}
		return context.Canceled
	}
}

// ends waits for the model, which has been told to stop, as long as is fair.
func (r *run) ends(ended <-chan struct{}) bool {
	patience := time.NewTimer(r.a.o.Grace)
	defer patience.Stop()
	select {
	case <-ended:
		return true
	case <-patience.C:
		return false
	}
}

// spoiled is the error of a request that listen has ended.
func (r *run) spoiled(why error) error {
	if own, ok := why.(errSink); ok {
		return own.error
	}
	e := &model.Error{Kind: model.Canceled, Provider: r.a.o.Provider, Message: "the request was cancelled", Partial: r.told, Err: why}
	if why == errSilent {
		e.Kind, e.Message = model.Idle, why.Error()
	}
	return e
}
