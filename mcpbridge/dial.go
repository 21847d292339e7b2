package mcpbridge

import (
	"context"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// connect dials a program or an address.
func (p *Pool) connect(ctx context.Context, s Server, o client.Options) (client.Peer, error) {
	return client.Connect(ctx, func() transport.Transport { return nil }, o)
}
