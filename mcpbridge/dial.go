package mcpbridge

import (
	"context"
	"fmt"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/stdio"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// connect dials a program or an address.
func (p *Pool) connect(ctx context.Context, s Server, o client.Options) (client.Peer, error) {
	var dial client.Dial
	switch s.Kind {
	case Stdio:
		dial = p.program(ctx, s, o)
	case HTTP, SSE:
		dial = p.address(s, o)
	default:
		return nil, fmt.Errorf("servers of the type %q cannot be reached; use stdio, http or sse", s.Kind)
	}
	return client.Connect(ctx, dial, o)
}

// program dials a program. The environment is read once, for all attempts of one connect.
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

// address dials an address. Its credential is asked for anew with each request.
func (p *Pool) address(s Server, o client.Options) client.Dial {
	set := web.Options{
		URL: s.URL, SSE: s.Kind == SSE, Headers: s.Headers, HTTP: p.o.HTTP,
		Label: s.Name, Secrets: secretsOf(s), Log: o.Log,
	}
	if p.o.Auth != nil {
		set.Auth = p.o.Auth(s)
	}
	return func() transport.Transport { return web.New(set) }
}
