package acp

import (
	"context"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
)

// methodPromptRender is the one extension method so far (R-ACP-24). initialize
// tells of it.
const methodPromptRender = "_" + v1.Namespace + "/prompt_render"

// A rendering is what the next prompt of a session would carry beside the user's
// message.
type rendering struct {
	System    string `json:"system"`
	Stable    string `json:"stable"`
	Volatile  string `json:"volatile"`
	Full      string `json:"full"`
	Signature string `json:"signature"` // digest
}

// promptRender answers with the prompt as it would be now. It changes nothing.
func (s *session) promptRender(ctx context.Context, _ *wire.Request, _ *turn) (any, error) {
	p, err := s.h.Preview(ctx)
	if err != nil {
		return nil, err
	}
	return rendering{
		System:    p.System,
		Stable:    p.Parts.Stable,
		Volatile:  p.Parts.Volatile,
		Full:      p.Parts.Full,
		Signature: p.Signature.Digest(),
	}, nil
}
