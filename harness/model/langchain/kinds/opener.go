package kinds

import (
	"context"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// An opener opens a model of langchaingo for each request, with an HTTP client
// that sees what the library does not tell. A model that takes no client is used
// again, by one request at a time: opening it may cost a token or a vocabulary,
// and what it keeps is not made to be shared.
type opener struct {
	kind    *kind
	model   model.Descriptor
	options Options

	mu   sync.Mutex   // guards idle
	idle []llms.Model // models that take no client and no request uses
}

var _ llms.Model = (*opener)(nil)

// GenerateContent asks the model. What its client has seen goes before what the
// library says.
func (p *opener) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	w := newWitness(p)
	m, err := p.take(w)
	if err != nil {
		return nil, w.judge(ctx, err, false)
	}
	defer p.leave(m)
	resp, err := m.GenerateContent(ctx, msgs, opts...)
	var o llms.CallOptions
	for _, set := range opts {
		set(&o)
	}
	return resp, w.judge(ctx, err, o.StreamingFunc != nil)
}

// take returns a model that no other request uses.
func (p *opener) take(w *witness) (llms.Model, error) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		m := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return m, nil
	}
	p.mu.Unlock()
	return p.kind.open(p.model, p.options, w.client())
}

// leave keeps a model for the next request.
func (p *opener) leave(m llms.Model) {
	if p.kind.Client {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, m)
}

// Call answers a single prompt.
func (p *opener) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, p, prompt, opts...)
}
