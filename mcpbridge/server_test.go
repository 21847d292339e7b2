package mcpbridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools"
)

func TestAddress(t *testing.T) { // R-MCP-19, R-MCP-20
	tests := []struct {
		name string
		in   mcpbridge.Server
		want string
	}{
		{"a command", mcpbridge.Server{Kind: "stdio", Command: "npx", Args: []string{"-y", "server x", "", "/tmp"}}, `npx -y "server x" "" /tmp`},
		{"secrets among arguments", mcpbridge.Server{Kind: "stdio", Command: "s", Args: []string{"--token", "abcd", "--api-key=efgh", "-v", "--mode=fast"}}, "s --token ******** --api-key=******** -v --mode=fast"},
		{"addresses among arguments", mcpbridge.Server{Kind: "stdio", Command: "s", Args: []string{"postgres://me:pw@h/db", "--url=https://h/?k=v"}}, "s postgres://********@h/db --url=https://h/?k=********"},
		{"values of variables", mcpbridge.Server{Kind: "stdio", Command: "s", Args: []string{"x-hidden-y"}, Secrets: []string{"hidden"}}, "s x-********-y"},
		{"values of the environment", mcpbridge.Server{Kind: "stdio", Command: "s", Args: []string{"long-value"}, Env: map[string]string{"A": "long-value", "B": "s"}}, "s ********"},
		{"a URL", mcpbridge.Server{Kind: "http", URL: "https://h.example/mcp"}, "https://h.example/mcp"},
		{"secrets of a URL", mcpbridge.Server{Kind: "sse", URL: "https://me:pw@h/mcp?key=v&flag&a=b#part"}, "https://********@h/mcp?key=********&flag&a=********"},
		{"no URL", mcpbridge.Server{Kind: "http", URL: "http://[::1"}, "********"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.Address(); got != tt.want {
				t.Errorf("Address() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) { // R-MCP-12, R-ACP-41, C097
	base := func() mcpbridge.Server {
		return mcpbridge.Server{
			Name: "a", Kind: mcpbridge.Stdio, Command: "c", Args: []string{"x", "y"},
			Env: map[string]string{"A": "1", "B": "2"}, Headers: map[string]string{"H": "v"},
		}
	}
	tests := []struct {
		name     string
		change   func(s *mcpbridge.Server)
		server   bool // it is another server
		declared bool // it is another declaration
	}{
		{"nothing", func(*mcpbridge.Server) {}, false, false},
		{"name", func(s *mcpbridge.Server) { s.Name = "b" }, false, true},
		{"patterns", func(s *mcpbridge.Server) { s.Include = []string{"x"} }, false, true},
		{"patterns the other way", func(s *mcpbridge.Server) { s.Exclude = []string{"x"} }, false, true},
		{"time limit", func(s *mcpbridge.Server) { s.Timeout = time.Second }, false, true},
		{"off", func(s *mcpbridge.Server) { s.Off = "off" }, false, true},
		{"login", func(s *mcpbridge.Server) { s.OAuth.Scopes = []string{"all"} }, false, true},
		{"kind", func(s *mcpbridge.Server) { s.Kind = mcpbridge.HTTP }, true, true},
		{"command", func(s *mcpbridge.Server) { s.Command = "d" }, true, true},
		{"arguments", func(s *mcpbridge.Server) { s.Args = []string{"xy"} }, true, true},
		{"an argument that was part of the command", func(s *mcpbridge.Server) { s.Command, s.Args = "cx", []string{"y"} }, true, true},
		{"directory", func(s *mcpbridge.Server) { s.Dir = "/d" }, true, true},
		{"address", func(s *mcpbridge.Server) { s.URL = "http://h" }, true, true},
		{"environment", func(s *mcpbridge.Server) { s.Env = map[string]string{"A": "1", "B": "3"} }, true, true},
		{"a variable that is a header", func(s *mcpbridge.Server) {
			s.Env, s.Headers = map[string]string{"A": "1"}, map[string]string{"B": "2", "H": "v"}
		}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := base(), base()
			tt.change(&b)
			if got := a.Fingerprint() != b.Fingerprint(); got != tt.server {
				t.Errorf("another server: %v, want %v", got, tt.server)
			}
			if got := mcpbridge.Fingerprint([]mcpbridge.Server{a}) != mcpbridge.Fingerprint([]mcpbridge.Server{b}); got != tt.declared {
				t.Errorf("another declaration: %v, want %v", got, tt.declared)
			}
		})
	}
	a, b := base(), base()
	b.Name = "b"
	if mcpbridge.Fingerprint([]mcpbridge.Server{a, b}) == mcpbridge.Fingerprint([]mcpbridge.Server{b, a}) {
		t.Error("the order of the servers does not count")
	}
}

// Whatever a server and its program say of their secrets, nobody reads it.
func TestSecretsAreNotShown(t *testing.T) { // R-MCP-19, R-ACP-51, ACCEPTANCE 187
	bubble(t, func(t *testing.T) {
		secrets := []string{"tok-1", "env-value-2", "query3", "pass4", "arg5", "client6", "variable7", "user-name8", "in-arg9", "in-arg10", "in-env11"}
		spilt := strings.Join(secrets, " and ")
		a := &fake{Fail: failing(1, &transport.GoneError{State: "exit status 1", Stderr: strings.Repeat("x", 4000) + "\nlog\n" + spilt + "\n"}), Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"http://me:pass4@h/?token=query3": a})
		s := mcpbridge.Server{
			Name: "a", Kind: mcpbridge.HTTP, URL: "http://me:pass4@h/?token=query3", Args: []string{"--password", "arg5", "postgres://me:in-arg9@h/db", "--url=https://user-name8@h/?x=y&token=in-arg10"},
			Headers: map[string]string{"Authorization": "Bearer tok-1"}, Env: map[string]string{"PLAIN": "env-value-2", "DATABASE": "postgres://me:in-env11@h/db"},
			OAuth: mcpbridge.OAuth{ClientSecret: "client6"}, Secrets: []string{"variable7"},
		}
		var log strings.Builder
		b := open(t, w.pool(t, func(o *mcpbridge.Options) { o.Log = logTo(&log) }), s)
		said := message(t, b).Notices
		seen := []any{said, b.Status()}
		time.Sleep(time.Minute)
		a.set(func() {
			a.OnCall = func(_ context.Context, p *peer, _ call) (client.Result, error) {
				return client.Result{}, errors.Join(errors.New(spilt), errors.New("logged: "+p.o.Hide(spilt)))
			}
		})
		tool := message(t, b).tool(t, "a_x")
		got, err := tool.Run(t.Context(), tools.Call{ID: "c"})
		seen = append(seen, tool.Info(), got, fmt.Sprint(err), b.Status())
		if _, err := b.Prompt(t.Context(), "none", nil); err != nil {
			seen = append(seen, err.Error())
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if strings.Contains(string(text), s) {
				t.Errorf("%s is shown in %s", s, text)
			}
			if strings.Contains(log.String(), s) {
				t.Errorf("%s is in the log: %s", s, log.String())
			}
		}
		if log.Len() == 0 || !strings.Contains(string(text), "exit status 1") {
			t.Errorf("nothing was shown: %s, log %q", text, log.String())
		}
	})
}
