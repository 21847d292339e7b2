package kinds

import (
	"context"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// An opener opens a model of langchaingo for each request, with an HTTP client
// that sees what the library does not tell.
type opener struct {
	kind    *kind
	model   model.Descriptor
	options Options
}

var _ llms.Model = (*opener)(nil)

// GenerateContent asks the model. What its client has seen goes before what the
// library says.
func (p *opener) GenerateContent(ctx context.Context, msgs []llms.MessageContent, opts ...llms.CallOption) (*llms.ContentResponse, error) {
	w := newWitness(p)
	m, err := p.kind.open(p.model, p.options, w.client())
	if err != nil {
		return nil, w.judge(ctx, err, false)
	}
	resp, err := m.GenerateContent(ctx, msgs, opts...)
	var o llms.CallOptions
	for _, set := range opts {
		set(&o)
	}
	return resp, w.judge(ctx, err, o.StreamingFunc != nil)
}

// Call answers a single prompt.
func (p *opener) Call(ctx context.Context, prompt string, opts ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, p, prompt, opts...)
}
