package client_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
)

const annotatedTools = `{"tools":[
	{"name":"plain","inputSchema":{"type":"object"}},
	{"name":"good","inputSchema":{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":["integer","string"],"x-mcp-header":"N"},
		"deep":{"type":"object","properties":{"ok":{"type":"boolean","x-mcp-header":"Ok"}}},"any":true,"list":{"properties":[]}}}},
	{"name":"number","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}},
	{"name":"space","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A B"},"any":true}}},
	{"name":"twice","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}}]}`

func TestHeaders(t *testing.T) {
	tests := []struct {
		name   string
		server *fake
		http   bool
		tools  []string
		want   map[string]string // of a call
	}{
		{"2026-07-28 over HTTP", stateless(nil), true, []string{"plain", "good"},
			map[string]string{"Mcp-Param-Region": "=?base64?w6k=?=", "Mcp-Param-N": "7", "Mcp-Param-Ok": "true"}},
		{"2026-07-28 of a program", stateless(nil), false, []string{"plain", "good", "number", "space", "twice"}, nil},
		{"2025-11-25 over HTTP", handshake(nil), true, []string{"plain", "good", "number", "space", "twice"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.server.knows["tools/list"] = says(annotatedTools)
			tt.server.knows["tools/call"] = says(`{}`)
			bubble(t, tt.server, client.Options{HTTP: tt.http}, func(t *testing.T, p client.Peer) {
				var names []string
				for _, tool := range tools(t, p) {
					names = append(names, tool.Name)
				}
				if diff := cmp.Diff(tt.tools, names); diff != "" {
					t.Errorf("Tools() (-want +got):\n%s", diff)
				}
				arguments := []byte(`{"region":"é","n":7,"deep":{"ok":true},"any":null}`)
				if _, err := p.Call(t.Context(), client.Tool{Name: "good"}, arguments, client.CallOptions{}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, tt.server.last(t, "tools/call").Headers); diff != "" {
					t.Errorf("headers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A server that finds the headers wrong has changed the tool since it was listed.
func TestHeadersChanged(t *testing.T) {
	var got changes
	listed := func(header string) reply {
		return says(`{"tools":[{"name":"t","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"` + header + `"}}}}]}`)
	}
	f := stateless(map[string]reply{
		"tools/list": inTurn(listed("Old"), listed("New")),
		"tools/call": inTurn(refuses(-32020, "Mcp-Param-New is missing"), says(`{"content":"done"}`)),
	})
	bubble(t, f, client.Options{HTTP: true, Changed: got.add}, func(t *testing.T, p client.Peer) {
		tool := tools(t, p)[0]
		if _, err := p.Call(t.Context(), tool, []byte(`{"a":"x"}`), client.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{"Mcp-Param-New": "x"}, f.last(t, "tools/call").Headers); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]client.Kind{client.Tools}, got.take()); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}
