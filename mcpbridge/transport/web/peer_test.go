package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// A user accepts what servers want to know.
type user struct{}

func (user) Roots() []string       { return nil }
func (user) Offers() server.Offers { return server.Offers{Form: true} }

func (user) Elicit(_ context.Context, _ string, e server.Elicitation) (server.Reply, error) {
	return server.Reply{Action: "accept", Content: json.RawMessage(`{"name":"` + e.Message + `"}`)}, nil
}

func (user) Sample(context.Context, string, server.Sampling) (server.Sampled, error) {
	return server.Sampled{}, server.ErrRefused
}

// A peer is a server of mcp-go on the loopback, and who is connected to it.
type peer struct {
	server *mcpserver.MCPServer
	url    string

	mu    sync.Mutex // guards conns
	conns map[net.Conn]http.ConnState
}

// open returns the connections that are not closed.
func (p *peer) open() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, state := range p.conns {
		if state != http.StateClosed {
			n++
		}
	}
	return n
}

// serve serves a server of mcp-go that has the tools of these tests.
func serve(t *testing.T, handler func(*mcpserver.MCPServer) (h http.Handler, path string)) *peer {
	t.Helper()
	p := &peer{conns: make(map[net.Conn]http.ConnState)}
	p.server = mcpserver.NewMCPServer("peer", "1", mcpserver.WithToolCapabilities(true), mcpserver.WithElicitation())
	p.server.AddTool(mcp.NewTool("big", mcp.WithNumber("bytes")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", r.GetInt("bytes", 0))), nil
	})
	p.server.AddTool(mcp.NewTool("progress"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			err := p.server.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": r.Params.Meta.ProgressToken, "progress": float64(i + 1), "total": 3.0, "message": "on it",
			})
			if err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	p.server.AddTool(mcp.NewTool("hang"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p.server.AddTool(mcp.NewTool("more"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		p.server.AddTool(mcp.NewTool("late"), nil)
		return mcp.NewToolResultText("there is more"), nil
	})
	h, path := handler(p.server)
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conns[c] = state
	}
	s.Start()
	t.Cleanup(s.Close)
	p.url = s.URL + path
	return p
}

func streamableHTTP(o ...mcpserver.StreamableHTTPOption) func(*mcpserver.MCPServer) (http.Handler, string) {
	return func(s *mcpserver.MCPServer) (http.Handler, string) {
		return mcpserver.NewStreamableHTTPServer(s, o...), "/mcp"
	}
}

// Every kind of server of mcp-go works with the client over this transport: results,
// progress, changes of lists, cancellation, and an end of which nothing is left, no
// goroutine and no connection.
func TestPeers(t *testing.T) {
	tests := []struct {
		name    string
		handler func(*mcpserver.MCPServer) (http.Handler, string)
		sse     bool
		era     client.Era // as remembered
		want    string     // revision
	}{
		{"no sessions", streamableHTTP(), false, client.Unknown, "2026-07-28"},
		{"sessions", streamableHTTP(mcpserver.WithStreamableHTTPProtocolVersions("2025-11-25"), mcpserver.WithStateful(true)), false, client.Unknown, "2025-11-25"},
		{"sessions, long ago", streamableHTTP(mcpserver.WithStreamableHTTPProtocolVersions("2025-03-26"), mcpserver.WithStateful(true)), false, client.Unknown, "2025-03-26"},
		{"events", func(s *mcpserver.MCPServer) (http.Handler, string) { return mcpserver.NewSSEServer(s), "/sse" }, true, client.Handshake, "2025-11-25"},
		{"events that nobody has declared", func(s *mcpserver.MCPServer) (http.Handler, string) { return mcpserver.NewSSEServer(s), "/sse" }, false, client.Unknown, "2025-11-25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := serve(t, tt.handler)
			before := runtime.NumGoroutine()
			changes := make(chan client.Kind, 16)
			dial := func() transport.Transport { return web.New(web.Options{URL: p.url, SSE: tt.sse}) }
			c, err := client.Connect(t.Context(), dial, client.Options{
				Name: "test", Version: "1", HTTP: true, Era: tt.era, Host: user{}, Changed: func(k client.Kind) { changes <- k },
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.About().Revision; got != tt.want {
				t.Errorf("revision = %s, want %s", got, tt.want)
			}
			use(t, c, changes)
			if err := c.Close(t.Context()); err != nil {
				t.Errorf("Close() = %v", err)
			}
			settle(t, func() bool { return p.open() == 0 && runtime.NumGoroutine() <= before })
		})
	}
}

// use uses a peer.
func use(t *testing.T, c client.Peer, changes <-chan client.Kind) {
	t.Helper()
	list, err := c.Tools(t.Context())
	if err != nil || len(list) != 4 {
		t.Fatalf("Tools() = %d, %v", len(list), err)
	}
	const size = 3 << 20
	r, err := c.Call(t.Context(), client.Tool{Name: "big"}, json.RawMessage(`{"bytes":3145728}`), client.CallOptions{})
	if err != nil || len(r.Blocks[0].Text) != size {
		t.Errorf("big: %d blocks, %v", len(r.Blocks), err)
	}
	if r, err = c.Call(t.Context(), client.Tool{Name: "progress"}, nil, client.CallOptions{}); err != nil || r.Blocks[0].Text != "done" {
		t.Errorf("progress: %+v, %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, client.Tool{Name: "hang"}, nil, client.CallOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("hang: %v", err)
	}
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			if _, err := c.Call(t.Context(), client.Tool{Name: "big"}, nil, client.CallOptions{}); err != nil {
				t.Errorf("one of many: %v", err)
			}
		})
	}
	calls.Wait()
	if r, err = c.Call(t.Context(), client.Tool{Name: "more"}, nil, client.CallOptions{}); err != nil {
		t.Errorf("more: %v", err)
	}
	select {
	case kind := <-changes:
		if kind != client.Tools {
			t.Errorf("the %s have changed", kind)
		}
	case <-time.After(10 * time.Second):
		t.Error("no change of the tools was told")
	}
	if list, err = c.Tools(t.Context()); err != nil || len(list) != 5 {
		t.Errorf("Tools() = %d, %v", len(list), err)
	}
}

// settle waits for what ends on its own a moment later.
func settle(t *testing.T, done func() bool) {
	t.Helper()
	for range 500 {
		if done() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("something is left:\n%s", stacks[:runtime.Stack(stacks, true)])
}
