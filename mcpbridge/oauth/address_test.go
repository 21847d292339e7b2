package oauth

import (
	"net/url"
	"slices"
	"testing"
)

func parsed(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParseServer(t *testing.T) {
	tests := []struct{ address, want string }{
		{"https://mcp.example/mcp", "https://mcp.example/mcp"},
		{"HTTPS://MCP.Example:443/Mcp", "https://mcp.example/Mcp"},
		{"https://mcp.example/", "https://mcp.example"},
		{"https://mcp.example:8443/a/?tenant=1#part", "https://mcp.example:8443/a/?tenant=1"},
		{"https://user:secret@mcp.example/a%2fb", "https://mcp.example/a%2fb"},
		{"http://localhost:80/mcp", "http://localhost/mcp"},
		{"http://[::1]:8080", "http://[::1]:8080"},
		{"http://127.9.9.9/", "http://127.9.9.9"},
		{"http://mcp.example/mcp", ""},
		{"http://127.0.0.1.example/", ""},
		{"ws://127.0.0.1/", ""},
		{"mcp.example", ""},
		{"", ""},
	}
	for _, tt := range tests {
		got := ""
		if u, err := parseServer(tt.address); err == nil {
			got = u.String()
		}
		if got != tt.want {
			t.Errorf("parseServer(%q) = %q, want %q", tt.address, got, tt.want)
		}
	}
}

func TestCovers(t *testing.T) {
	const at = "https://mcp.example/team/mcp?a=b"
	tests := []struct {
		resource string
		want     bool
	}{
		{at, true},
		{"https://mcp.example/team/mcp", true},
		{"https://MCP.example:443/team/", true},
		{"https://mcp.example", true},
		{"https://mcp.example/", true},
		{"https://mcp.example/team/mc", false},
		{"https://mcp.example/team/mcp/2", false},
		{"https://mcp.example/Team", false},
		{"https://mcp.example/team/mcp?a=c", false},
		{"https://mcp.example:444/team/mcp", false},
		{"http://mcp.example/team/mcp", false},
		{"https://example/team/mcp", false},
		{"https://mcp.example@bank.example/team/mcp", false},
		{"https://mcp.example/team/mcp#x", false},
		{"", false},
		{":", false},
	}
	for _, tt := range tests {
		if got := covers(tt.resource, parsed(t, at)); got != tt.want {
			t.Errorf("covers(%q, %q) = %v, want %v", tt.resource, at, got, tt.want)
		}
	}
}

func TestWellKnown(t *testing.T) {
	tests := []struct {
		places  func(*url.URL) []string
		address string
		want    []string
	}{
		{resourceMetadata, "https://a.example", []string{"https://a.example/.well-known/oauth-protected-resource"}},
		{resourceMetadata, "https://a.example/mcp/", []string{
			"https://a.example/.well-known/oauth-protected-resource/mcp",
			"https://a.example/.well-known/oauth-protected-resource",
		}},
		{resourceMetadata, "https://a.example/?t=1", []string{
			"https://a.example/.well-known/oauth-protected-resource?t=1",
			"https://a.example/.well-known/oauth-protected-resource",
		}},
		{issuerMetadata, "https://a.example/", []string{
			"https://a.example/.well-known/oauth-authorization-server",
			"https://a.example/.well-known/openid-configuration",
		}},
		{issuerMetadata, "https://a.example:9/b/c", []string{
			"https://a.example:9/.well-known/oauth-authorization-server/b/c",
			"https://a.example:9/.well-known/openid-configuration/b/c",
			"https://a.example:9/b/c/.well-known/openid-configuration",
		}},
	}
	for _, tt := range tests {
		if got := tt.places(parsed(t, tt.address)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.address, got, tt.want)
		}
	}
}

func TestSameIssuer(t *testing.T) {
	tests := []struct {
		got, want string
		same      bool
	}{
		{"https://a.example", "https://a.example", true},
		{"https://a.example/", "https://a.example", true},
		{"https://a.example", "https://a.example/", true},
		{"https://a.example/b/", "https://a.example/b", false},
		{"https://A.example", "https://a.example", false},
		{"https://a.example:443", "https://a.example", false},
		{"", "", true},
		{"", "https://a.example", false},
		{"https://b.example", "https://a.example", false},
	}
	for _, tt := range tests {
		if got := sameIssuer(tt.got, tt.want); got != tt.same {
			t.Errorf("sameIssuer(%q, %q) = %v, want %v", tt.got, tt.want, got, tt.same)
		}
	}
}
