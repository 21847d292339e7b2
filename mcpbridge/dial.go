package mcpbridge

import (
	"context"
	"fmt"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/stdio"
)

// connect dials a program or an address.
func (p *Pool) connect(ctx context.Context, s Server, o client.Options) (client.Peer, error) {
	var dial client.Dial
	switch s.Kind {
	case Stdio:
		dial = p.program(ctx, s, o)
	default:
		return nil, fmt.Errorf("servers of the kind %q cannot be reached; stdio, http and sse can", s.Kind)
	}
	return client.Connect(ctx, dial, o)
}

// program dials a program. Its environment is read once, for all attempts of one connect.
func (p *Pool) program(ctx context.Context, s Server, o client.Options) client.Dial {
	var process []string
	if p.o.Environ != nil {
		process = p.o.Environ(ctx)
	}
	set := stdio.Options{
		Command: s.Command, Args: s.Args, Env: environ(process, s.Env), Dir: s.Dir,
		Label: s.Name, Secrets: secretsOf(s), Log: o.Log,
	}
	return func() transport.Transport { return stdio.New(set) }
}
