package serve_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
)

// dial connects mcp-go's client to a served desk. The server ends with the test.
func dial(t testing.TB, d serve.Desk, o serve.Options, more ...mcpclient.ClientOption) *mcpclient.Client {
	t.Helper()
	o.Name, o.Version = "test", "1"
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serve.New(d, o).Serve(t.Context(), inR, outW)
		outW.Close()
		ended <- err
	}()
	c := mcpclient.NewClient(transport.NewIO(outR, inW, io.NopCloser(strings.NewReader(""))), more...)
	t.Cleanup(func() {
		inW.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve = %v", err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// The client of mcp-go finds everything, in the era that it chooses itself and in every
// revision that it can be told to speak.
func TestClientOfMCPGo(t *testing.T) {
	tests := []struct {
		name, want string
		more       []mcpclient.ClientOption
	}{
		{"its own choice", "2026-07-28", nil},
		{"with a handshake", "2025-11-25", []mcpclient.ClientOption{mcpclient.WithProtocolVersion("2025-11-25")}},
		{"2025-06-18", "2025-06-18", []mcpclient.ClientOption{mcpclient.WithProtocolVersion("2025-06-18")}},
		{"2025-03-26", "2025-03-26", []mcpclient.ClientOption{mcpclient.WithProtocolVersion("2025-03-26")}},
		{"2024-11-05", "2024-11-05", []mcpclient.ClientOption{mcpclient.WithProtocolVersion("2024-11-05")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newChanging()
			d := dial(t, c, serve.Options{Prompts: books{}, Resources: books{}, Watch: c.watch, Instructions: "Be kind."}, tt.more...)
			heard := make(chan string, 10)
			d.OnNotification(func(n mcp.JSONRPCNotification) { heard <- n.Method })
			hello, err := d.Initialize(t.Context(), mcp.InitializeRequest{Params: mcp.InitializeParams{ProtocolVersion: tt.want}})
			if err != nil {
				t.Fatal(err)
			}
			if hello.ProtocolVersion != tt.want || hello.ServerInfo.Name != "test" || hello.Instructions != "Be kind." {
				t.Errorf("initialize gives %+v", hello)
			}
			seeAll(t, d)
			if tt.want >= "2026" {
				stop, err := d.ListenAsync(t.Context(), mcp.SubscriptionFilter{ToolsListChanged: true}, func(err error) { t.Log(err) })
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				if got := <-heard; got != "notifications/subscriptions/acknowledged" {
					t.Errorf("heard %s", got)
				}
			}
			c.add("more")
			(<-c.changed)()
			if got := <-heard; got != "notifications/tools/list_changed" {
				t.Errorf("heard %s", got)
			}
		})
	}
}

// seeAll lists and uses what a desk with books has.
func seeAll(t *testing.T, c *mcpclient.Client) {
	t.Helper()
	ctx := t.Context()
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "echo" || !*tools.Tools[0].Annotations.ReadOnlyHint {
		t.Errorf("tools %+v, %v", tools, err)
	}
	result, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "é"}}})
	if err != nil || result.IsError || len(result.Content) != 1 || result.Content[0].(mcp.TextContent).Text != `{"text":"é"}` {
		t.Errorf("echo gives %+v, %v", result, err)
	}
	if _, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "none"}}); err == nil || !strings.Contains(err.Error(), "there is no tool") {
		t.Errorf("an unknown tool gives %v", err)
	}
	prompts, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
	if err != nil || len(prompts.Prompts) != 1 || !prompts.Prompts[0].Arguments[0].Required {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	prompt, err := c.GetPrompt(ctx, mcp.GetPromptRequest{Params: mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"name": "Ada"}}})
	if err != nil || len(prompt.Messages) != 3 {
		t.Errorf("prompt %+v, %v", prompt, err)
	}
	resources, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
	if err != nil || len(resources.Resources) != 1 {
		t.Errorf("resources %+v, %v", resources, err)
	}
	read, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: "memo://1"}})
	if err != nil || len(read.Contents) != 2 {
		t.Errorf("resource %+v, %v", read, err)
	}
}

// A call that its client gives up ends on this side too.
func TestClientOfMCPGoCancels(t *testing.T) {
	d := &desk{}
	ended := make(chan error, 1)
	d.add("hangs", func(ctx context.Context, _ serve.Call) (serve.Result, error) {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return serve.Result{}, ctx.Err()
	})
	c := dial(t, d, serve.Options{})
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "hangs"}}); err == nil {
		t.Error("the call was answered")
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the client has cancelled") {
		t.Errorf("the call ended because of %v", err)
	}
}
