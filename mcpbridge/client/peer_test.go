package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// newGoServer is a server of mcp-go with one of each.
func newGoServer() *mcpserver.MCPServer {
	s := mcpserver.NewMCPServer("peer", "3.1", mcpserver.WithToolCapabilities(true), mcpserver.WithTaskCapabilities(true, true, true),
		mcpserver.WithPromptCapabilities(true), mcpserver.WithResourceCapabilities(false, true),
		mcpserver.WithElicitation(), mcpserver.WithInstructions("be kind"))
	s.AddTool(mcp.NewToolWithRawSchema("echo", "Says it again.", json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"$comment":"kept"}`)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(r.GetString("text", "")), nil
		})
	s.AddTool(mcp.NewTool("ask"), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer := mcpserver.ElicitationResponse(r.Params.InputResponses, "name")
		if answer == nil {
			return mcpserver.NewInputRequestBuilder("state").Elicit("name", mcp.ElicitationParams{
				Message: "Who?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}},
			}).ToolResult(), nil
		}
		text, err := json.Marshal(answer)
		return mcp.NewToolResultText(string(text)), err
	})
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.AddTaskTool(mcp.NewTool("task", mcp.WithTaskSupport(mcp.TaskSupportRequired)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
			return &mcp.CreateTaskResult{Content: []mcp.Content{mcp.NewTextContent("worked")}}, nil
		})
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("who", mcp.RequiredArgument())),
		func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Greet "+r.Params.Arguments["who"]))}), nil
		})
	s.AddResource(mcp.NewResource("memo://1", "one"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "memo://1", Text: "a memo"}}, nil
	})
	return s
}

// old turns a server into one of the older era, which has not heard of the probe.
func old(serve func(io.Reader, io.Writer)) func(io.Reader, io.Writer) {
	return func(in io.Reader, out io.Writer) {
		theirs, forward := io.Pipe()
		var wg sync.WaitGroup
		wg.Go(func() {
			defer forward.Close()
			for r := bufio.NewReader(in); ; {
				line, err := r.ReadBytes('\n')
				if err != nil {
					return
				}
				var f frame
				if json.Unmarshal(line, &f) == nil && f.Method == "server/discover" {
					io.WriteString(out, `{"jsonrpc":"2.0","id":`+string(f.ID)+`,"error":{"code":-32601,"message":"Method not found"}}`+"\n")
					continue
				}
				forward.Write(line)
			}
		})
		serve(theirs, out)
		wg.Wait()
	}
}

// Everything works with the server of mcp-go, in both of its eras.
func TestGoServer(t *testing.T) {
	tests := []struct {
		name     string
		wrap     func(func(io.Reader, io.Writer)) func(io.Reader, io.Writer)
		era      client.Era
		revision string
	}{
		{"newer era", func(s func(io.Reader, io.Writer)) func(io.Reader, io.Writer) { return s }, client.Stateless, "2026-07-28"},
		{"older era", old, client.Handshake, "2025-11-25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changed := make(chan client.Kind, 10)
			s := newGoServer()
			h := &host{offers: offersForm, elicit: accepts(`{"name":"Ann"}`)}
			p, w := over(t, tt.wrap(goServer(s)), client.Options{Name: "lorimer", Version: "1", Host: h, Label: "peer",
				Changed: func(kind client.Kind) { changed <- kind }})
			about := p.About()
			want := client.About{Name: "peer", Version: "3.1", Instructions: "be kind", Era: tt.era, Revision: tt.revision,
				Has: []client.Kind{client.Tools, client.Prompts, client.Resources}}
			if diff := cmp.Diff(want, about); diff != "" {
				t.Errorf("About() (-want +got):\n%s", diff)
			}
			list := tools(t, p)
			find := func(name string) client.Tool {
				return list[slices.IndexFunc(list, func(tool client.Tool) bool { return tool.Name == name })]
			}
			if got, want := string(find("echo").Input), `{"type":"object","properties":{"text":{"type":"string"}},"$comment":"kept"}`; got != want {
				t.Errorf("schema = %s, want %s", got, want)
			}
			calls := []struct{ tool, arguments, want string }{
				{"echo", `{"text":"hi"}`, "hi"},
				{"echo", ``, ""},
				{"ask", ``, `{"action":"accept","content":{"name":"Ann"}}`},
				{"task", ``, "worked"},
			}
			for _, call := range calls {
				if call.tool == "task" && tt.era == client.Stateless {
					continue // it has tasks of the older revision alone
				}
				r, err := p.Call(t.Context(), find(call.tool), json.RawMessage(call.arguments), client.CallOptions{})
				if err != nil || len(r.Blocks) != 1 || r.Blocks[0].Text != call.want {
					t.Errorf("%s %s = %+v, %v, want %s", call.tool, call.arguments, r, err, call.want)
				}
			}
			if _, err := p.Call(t.Context(), client.Tool{Name: "none"}, nil, client.CallOptions{}); err == nil {
				t.Error("an unknown tool was called")
			} else if refusal, ok := errors.AsType[*transport.Error](err); !ok || refusal.Code != transport.CodeInvalidParams {
				t.Errorf("an unknown tool: %v", err)
			}
			if parts, err := p.Prompt(t.Context(), "greet", map[string]string{"who": "Ann"}); err != nil ||
				!cmp.Equal(parts, []server.Part{{Role: "user", Text: "Greet Ann"}}) {
				t.Errorf("Prompt() = %v, %v", parts, err)
			}
			if prompts, err := p.Prompts(t.Context()); err != nil || len(prompts) != 1 || !prompts[0].Arguments[0].Required {
				t.Errorf("Prompts() = %v, %v", prompts, err)
			}
			if resources, err := p.Resources(t.Context()); err != nil || len(resources) != 1 || resources[0].URI != "memo://1" {
				t.Errorf("Resources() = %v, %v", resources, err)
			}
			if parts, err := p.Read(t.Context(), "memo://1"); err != nil || !cmp.Equal(parts, []server.Part{{URI: "memo://1", Text: "a memo"}}) {
				t.Errorf("Read() = %v, %v", parts, err)
			}

			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			if _, err := p.Call(ctx, find("wait"), nil, client.CallOptions{}); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call = %v", err)
			}

			s.AddTool(mcp.NewTool("late"), nil)
			for kind := range changed {
				if kind == client.Tools {
					break
				}
			}
			if list = tools(t, p); !slices.ContainsFunc(list, func(tool client.Tool) bool { return tool.Name == "late" }) {
				t.Errorf("the new tool is not in the list of %d", len(list))
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if asked := strings.Join(w.asked, " "); strings.Contains(asked, "initialize") == (tt.era == client.Stateless) {
				t.Errorf("asked for %s", asked)
			}
		})
	}
}
