package oauth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/oauth/oauthtest"
)

// Another client logs in at the servers that these tests use, and works there: what they
// take for granted is not only our reading of the rules.
func TestPeerLogsIn(t *testing.T) {
	s := start(t, oauthtest.Config{Clients: map[string]string{"peer": ""}, ScopesAsked: "read", Needs: map[string]string{"save": "write"}})
	c, err := mcpclient.NewOAuthStreamableHttpClient(s.URL(), mcpclient.OAuthConfig{
		ClientID:    "peer",
		RedirectURI: "http://127.0.0.1:1/callback",
		Scopes:      []string{"read"},
		TokenStore:  mcpclient.NewMemoryTokenStore(),
		PKCEEnabled: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // nothing of it is needed any more
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := mcp.InitializeRequest{}
	begin.Params.ProtocolVersion = "2025-11-25"
	_, err = c.Initialize(t.Context(), begin)
	if !mcpclient.IsOAuthAuthorizationRequiredError(err) {
		t.Fatalf("error = %v, want that a login is needed", err)
	}
	h := mcpclient.GetOAuthHandler(err)
	verifier, err := mcpclient.GenerateCodeVerifier()
	if err != nil {
		t.Fatal(err)
	}
	address, err := h.GetAuthorizationURL(t.Context(), "state", mcpclient.GenerateCodeChallenge(verifier))
	if err != nil {
		t.Fatal(err)
	}
	// It puts a second question mark behind an endpoint with a query (RFC 6749 3.1).
	address = strings.Replace(address, "?tenant=1?", "?tenant=1&", 1)
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := browser.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	at, err := url.Parse(res.Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	if err := h.ProcessAuthorizationResponse(t.Context(), at.Query().Get("code"), at.Query().Get("state"), verifier); err != nil {
		t.Fatal(err)
	}
	if _, err = c.Initialize(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil || len(list.Tools) != 2 {
		t.Fatalf("ListTools() = %+v, %v", list, err)
	}
	call := mcp.CallToolRequest{}
	call.Params.Name = "whoami"
	got, err := c.CallTool(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := mcp.AsTextContent(got.Content[0]); !ok || text.Text != "allowed: read" {
		t.Errorf("CallTool() = %+v", got)
	}
}
