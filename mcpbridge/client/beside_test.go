package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
)

const hello = `{"protocolVersion":"2025-11-25","serverInfo":{"name":"s","version":"1"},"capabilities":{"tools":{}}}`

// These lists are why the client of mcp-go is not used: it loses all tools, or what a
// schema says. The day that a row fails because it does not, the reason is gone.
func TestListsBesideMCPGo(t *testing.T) {
	const schema = `{"type":"object","properties":{"n":{"type":"integer","maximum":9223372036854775807}},"oneOf":[{"required":["n"]}],"$ref":"#/$defs/a"}`
	tests := []struct {
		name, tool string
		theirs     int    // tools; 0 is an error
		keeps      string // schema of ours
	}{
		{"type is an array", `{"name":"t","inputSchema":{"type":["object","null"]}}`, 0, `{"type":["object","null"]}`},
		{"properties is an array", `{"name":"t","inputSchema":{"properties":[]}}`, 0, `{"properties":[]}`},
		{"annotations is an array", `{"name":"t","annotations":[]}`, 0, ``},
		{"the description is an array", `{"name":"t","description":["d"]}`, 0, ``},
		{"icons is an object", `{"name":"t","icons":{}}`, 0, ``},
		{"a schema with more at its top", `{"name":"t","inputSchema":` + schema + `}`, 2, schema},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := lines(map[string]string{"initialize": hello, "tools/list": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},` + tt.tool + `]}`})

			p, _ := over(t, server, client.Options{})
			want := []client.Tool{{Name: "echo", Input: json.RawMessage(`{"type":"object"}`)}, {Name: "t"}}
			if tt.keeps != "" {
				want[1].Input = json.RawMessage(tt.keeps)
			}
			if diff := cmp.Diff(want, tools(t, p)); diff != "" {
				t.Errorf("ours (-want +got):\n%s", diff)
			}

			c := goClient(t, server)
			if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
				t.Fatal(err)
			}
			list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
			if (err != nil) != (tt.theirs == 0) {
				t.Fatalf("theirs: %v", err)
			}
			if err != nil {
				return
			}
			if len(list.Tools) != tt.theirs {
				t.Fatalf("theirs: %d tools, want %d", len(list.Tools), tt.theirs)
			}
			if theirs := marshal(t, list.Tools[1].InputSchema); strings.Contains(theirs, "oneOf") || strings.Contains(theirs, "9223372036854775807") {
				t.Errorf("theirs keeps the schema: %s", theirs)
			}
		})
	}
}

// And these results.
func TestResultsBesideMCPGo(t *testing.T) {
	tests := []struct{ name, result, want string }{
		{"an unknown type beside a text", `{"content":[{"type":"text","text":"hi"},{"type":"hologram"}]}`, "hi"},
		{"only structured content", `{"structuredContent":{"a":1}}`, `{"a":1}`},
		{"content is a string", `{"content":"hello"}`, "hello"},
		{"isError is a string", `{"content":[{"type":"text","text":"boom"}],"isError":"true"}`, "boom"},
		{"text is a number", `{"content":[{"type":"text","text":5}]}`, "5"},
		{"a priority that is a string", `{"content":[{"type":"text","text":"a","annotations":{"priority":"high"}}]}`, "a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := lines(map[string]string{"initialize": hello, "tools/call": tt.result})

			p, _ := over(t, server, client.Options{})
			r, err := p.Call(t.Context(), client.Tool{Name: "t"}, nil, client.CallOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := string(r.Structured)
			if len(r.Blocks) > 0 {
				got = r.Blocks[0].Text
			}
			if got != tt.want {
				t.Errorf("ours gives %q, want %q", got, tt.want)
			}

			c := goClient(t, server)
			if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
				t.Fatal(err)
			}
			if theirs, err := c.CallTool(t.Context(), mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "t"}}); err == nil {
				t.Errorf("theirs gives %+v", theirs)
			}
		})
	}
}

// Any answer to its probe makes it believe that a server is of the newer era.
func TestProbeBesideMCPGo(t *testing.T) {
	server := lines(map[string]string{"server/discover": `{}`, "initialize": hello, "tools/list": `{"tools":[]}`})

	p, _ := over(t, server, client.Options{})
	if got := p.About().Era; got != client.Handshake {
		t.Errorf("ours takes it for one of the era %q", got)
	}

	c := goClient(t, server)
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := c.ProtocolVersion(); got != mcp.ProtocolVersion20260728 {
		t.Errorf("theirs takes it for one of %s", got)
	}
}
