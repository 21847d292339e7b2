package mcpbridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// A site is a server with an address, over streamable HTTP.
type site struct {
	token string // that requests must bear; "" is any

	mu       sync.Mutex // guards the fields below
	sessions int
	current  string // the session that is known
	forget   int    // calls after which it is not any more; 0 is never
	heard    []string
	tools    []string
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.token != "" && r.Header.Get("Authorization") != "Bearer "+s.token {
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct {
			Name            string
			ProtocolVersion string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, strings.TrimSpace(m.Method+" "+m.Params.Name))
	answer := func(member string, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, member: v})
	}
	switch {
	case m.Method == "server/discover":
		answer("error", map[string]any{"code": -32601, "message": "Method not found"})
	case m.Method == "initialize":
		s.sessions++
		s.current = fmt.Sprint("session-", s.sessions)
		w.Header().Set("Mcp-Session-Id", s.current)
		answer("result", map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "site", "version": "1"},
		})
	case r.Header.Get("Mcp-Session-Id") != s.current:
		w.WriteHeader(http.StatusNotFound)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/list":
		var list []any
		for _, name := range s.tools {
			list = append(list, map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}})
		}
		answer("result", map[string]any{"tools": list})
	case m.Method == "tools/call":
		if s.forget--; s.forget == 0 {
			s.current = "none"
		}
		answer("result", map[string]any{"content": []any{map[string]any{"type": "text", "text": "from " + r.Header.Get("Mcp-Session-Id")}}})
	default:
		answer("error", map[string]any{"code": -32601, "message": "Method not found"})
	}
}

// count returns how often a message was heard.
func (s *site) count(what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heard {
		if h == what {
			n++
		}
	}
	return n
}

// serve returns the declaration of a site.
func serve(t *testing.T, s *site) mcpbridge.Server {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return mcpbridge.Server{Name: "site", Kind: mcpbridge.HTTP, URL: srv.URL + "/mcp"}
}

func TestSiteForgetsTheSession(t *testing.T) { // C089
	s := &site{forget: 1, tools: []string{"x"}}
	b := realPool(t).Open(t.Context(), session, []mcpbridge.Server{serve(t, s)})
	got := message(t, b)
	s.mu.Lock()
	s.tools = append(s.tools, "y")
	s.mu.Unlock()
	var texts []string
	for range 3 {
		texts = append(texts, got.run(t, "site_x", `{}`).Text)
	}
	want := []string{
		"from session-1",
		"The MCP server site had forgotten the session, and the call was not run. It is reconnected: call again.",
		"from session-2",
	}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if names := message(t, b).Names; !slices.Equal(names, []string{"site_x", "site_y"}) {
		t.Errorf("the list was not read again: %q", names)
	}
	if n := s.count("initialize"); n != 2 {
		t.Errorf("%d times initialised", n)
	}
}

func TestSiteKeepsTheSessionOfALoad(t *testing.T) { // C095
	s := &site{tools: []string{"x"}}
	p, declared := realPool(t), serve(t, s)
	var b *mcpbridge.Bridge
	for range 20 {
		b = load(t, p, b, session, declared)
		if got := message(t, b).run(t, "site_x", `{}`).Text; got != "from session-1" {
			t.Errorf("the call gave %q", got)
		}
	}
	if n, asked := s.count("initialize"), s.count("server/discover"); n != 1 || asked != 1 {
		t.Errorf("%d times initialised, %d times asked what it speaks", n, asked)
	}
}

// A desk has the credential once somebody has logged in.
type desk struct {
	mu    sync.Mutex // guards token
	token string
}

func (d *desk) Token(context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token == "" {
		return "", nil
	}
	return "Bearer " + d.token, nil
}

func (d *desk) Refused(context.Context, string, int, string) (bool, error) { return false, nil }

func TestSiteWantsALogin(t *testing.T) { // R-MCP-19, C096
	s, d := &site{token: "secret-token", tools: []string{"x"}}, &desk{}
	p := mcpbridge.NewPool(mcpbridge.Options{Auth: func(mcpbridge.Server) web.Authorizer { return d }})
	t.Cleanup(func() { _ = p.Close(background(t)) })
	b := p.Open(t.Context(), session, []mcpbridge.Server{serve(t, s)})
	if got := message(t, b); len(got.Notices) != 1 || !strings.Contains(got.Notices[0], "lorimer mcp login site") {
		t.Errorf("send without a login = %+v", got)
	}
	if got := status(t, b, "site"); got.State != server.NeedsLogin || got.LastError != "needs authorization (HTTP 401)" {
		t.Errorf("status = %+v", got)
	}
	for _, try := range []struct {
		token string
		want  server.State
		why   string
	}{{"other-token", server.Failed, "credential rejected (HTTP 401)"}, {"secret-token", server.Connected, ""}} {
		d.mu.Lock()
		d.token = try.token
		d.mu.Unlock()
		if got, err := b.Probe(t.Context(), "site"); err != nil || got.State != try.want || got.LastError != try.why {
			t.Errorf("with %s Probe() = %+v, %v", try.token, got, err)
		}
	}
	if got := message(t, b).run(t, "site_x", `{}`); got.Text != "from session-1" {
		t.Errorf("after the login the call gave %+v", got)
	}
}
