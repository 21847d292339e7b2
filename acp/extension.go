package acp

import (
	"context"
	"slices"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// The extension methods (R-ACP-24), of which initialize tells. They change nothing
// (R-ACP-46).
const (
	methodPromptRender = "_" + v1.Namespace + "/prompt_render"
	methodMCPStatus    = "_" + v1.Namespace + "/mcp_status"
)

// A rendering is what the next prompt of a session would carry beside the user's
// message.
type rendering struct {
	System    string `json:"system"`
	Stable    string `json:"stable"`
	Volatile  string `json:"volatile"`
	Full      string `json:"full"`
	Signature string `json:"signature"` // digest
}

// promptRender answers with the prompt as it would be now.
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

// statuses tell how the MCP servers of a session stand, in their order, the disabled
// ones too (R-MCP-20).
type statuses struct {
	Servers []server.Status `json:"servers"`
}

// mcpStatus answers with what is known of the servers, and asks none of them.
func (s *session) mcpStatus(context.Context, *wire.Request, *turn) (any, error) {
	all := slices.Clone(s.h.Servers())
	for i := range all {
		all[i].Tools = append([]string{}, all[i].Tools...) // none is a list too
	}
	return statuses{append([]server.Status{}, all...)}, nil
}
