package mcpbridge_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
)

// BenchmarkTools is what the tools of 20 servers with 20 tools each cost a send.
func BenchmarkTools(b *testing.B) {
	bridge := full(b)
	b.ReportAllocs()
	for b.Loop() {
		ts, err := bridge.Tools(b.Context(), func(string) {})
		if err != nil || len(ts) != 400 {
			b.Fatalf("%d tools, %v", len(ts), err)
		}
	}
}

// TestToolsCostNothing holds the figure of the benchmark: what has not changed is not made
// anew.
func TestToolsCostNothing(t *testing.T) { // R-MCP-21
	bridge := full(t)
	tell := func(string) {}
	if got := testing.AllocsPerRun(100, func() {
		if _, err := bridge.Tools(t.Context(), tell); err != nil {
			t.Fatal(err)
		}
	}); got > 2 {
		t.Errorf("%v allocations for a send", got)
	}
}

// full returns a bridge that is connected to 20 servers with 20 tools each.
func full(t testing.TB) *mcpbridge.Bridge {
	var declared []mcpbridge.Server
	servers := make(map[string]*fake)
	for i := range 20 {
		name := fmt.Sprintf("server-%d", i)
		f := &fake{About: client.About{Has: []client.Kind{client.Tools}}}
		for n := range 20 {
			f.Tools = append(f.Tools, tool(fmt.Sprintf("tool_%d", n)))
		}
		servers[name], declared = f, append(declared, program(name))
	}
	w := newWorld(servers)
	p := mcpbridge.NewPool(mcpbridge.Options{Connect: w.connect, Limit: 1000})
	t.Cleanup(func() {
		if err := p.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("closing the pool: %v", err)
		}
	})
	b := p.Open(t.Context(), mcpbridge.Session{ID: "s", Dir: "/w"}, declared)
	if _, err := b.Tools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return b
}
