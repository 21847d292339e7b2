package oauthtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// resource is the protected MCP server.
func (s *Server) resource(w http.ResponseWriter, r *http.Request) {
	const known = "/.well-known/oauth-protected-resource"
	c := s.config()
	at := c.ResourceAt
	if at == nil {
		at = []string{"path"}
	}
	switch {
	case r.URL.Path == "/mcp":
		s.protocol(w, r, s.note(r), c)
	case c.Legacy:
		s.authorization(w, r)
	case slices.Contains(at, "path") && r.URL.Path == known+"/mcp", slices.Contains(at, "root") && r.URL.Path == known:
		s.note(r)
		s.protected(w, c)
	default:
		s.note(r)
		nothing(w, r, c)
	}
}

// protected has the document of the resource.
func (s *Server) protected(w http.ResponseWriter, c Config) {
	m := map[string]any{
		"resource":              cmp.Or(c.Resource, s.URL()),
		"authorization_servers": []string{s.issuer(c)},
	}
	if c.Issuers != nil {
		m["authorization_servers"] = c.Issuers
	}
	if c.Garbled {
		m["authorization_servers"] = 7
	}
	if c.ScopesOf != nil {
		m["scopes_supported"] = c.ScopesOf
	}
	reply(w, http.StatusOK, m)
}

// challenge refuses a request.
func (s *Server) challenge(w http.ResponseWriter, c Config, status int, params ...string) {
	if !c.Legacy && len(c.ResourceAt) == 0 {
		params = append(params, fmt.Sprintf("resource_metadata=%q", s.mcp.URL+"/.well-known/oauth-protected-resource/mcp"))
	}
	if !c.Quiet {
		w.Header().Set("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(params, ", ")))
	}
	w.WriteHeader(status)
}

// protocol is the endpoint of MCP: a session with the tools whoami and those of
// [Config.Needs].
func (s *Server) protocol(w http.ResponseWriter, r *http.Request, n Request, c Config) {
	s.mu.Lock()
	held, ok := s.tokens[strings.TrimPrefix(n.Auth, "Bearer ")]
	s.mu.Unlock()
	switch {
	case c.Open:
	case n.Auth == "":
		var asked []string
		if c.ScopesAsked != "" {
			asked = append(asked, fmt.Sprintf("scope=%q", c.ScopesAsked))
		}
		s.challenge(w, c, http.StatusUnauthorized, asked...)
		return
	case !ok || !strings.HasPrefix(n.Auth, "Bearer "):
		s.challenge(w, c, http.StatusUnauthorized, `error="invalid_token"`)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	id, asks := n.JSON["id"]
	if !asks {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	params, _ := n.JSON["params"].(map[string]any)
	name, _ := params["name"].(string)
	if need := c.Needs[name]; need != "" && n.JSON["method"] == "tools/call" && !slices.Contains(strings.Fields(held.scope), need) {
		s.challenge(w, c, http.StatusForbidden, `error="insufficient_scope"`, fmt.Sprintf("scope=%q", need))
		return
	}
	result, known := s.result(n.JSON["method"], params, held, c)
	if !known {
		reply(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32601, "message": "no such method"}})
		return
	}
	reply(w, http.StatusOK, map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// result answers a method of the protocol.
func (s *Server) result(method any, params map[string]any, held token, c Config) (any, bool) {
	switch method {
	case "initialize":
		return map[string]any{
			"protocolVersion": params["protocolVersion"],
			"capabilities":    map[string]any{"tools": map[string]any{}},
			"serverInfo":      map[string]any{"name": "oauthtest", "version": "1"},
		}, true
	case "ping":
		return map[string]any{}, true
	case "tools/list":
		names := []string{"whoami"}
		for name := range c.Needs {
			names = append(names, name)
		}
		slices.Sort(names)
		var all []any
		for _, name := range names {
			all = append(all, map[string]any{"name": name, "description": "Says what was allowed.", "inputSchema": map[string]any{"type": "object"}})
		}
		return map[string]any{"tools": all}, true
	case "tools/call":
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": "allowed: " + held.scope}}}, true
	}
	return nil, false
}
