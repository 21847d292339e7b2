package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/oauth"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// credentials returns where the credentials for MCP servers are kept.
func credentials(c *config.Config) *oauth.Store {
	return oauth.NewStore(filepath.Join(c.Paths.State, "oauth"))
}

// authorizer returns who has the credential for an MCP server, nil where a login is of
// no use.
func (a *App) authorizer(c *config.Config, s mcpbridge.Server, way http.RoundTripper) web.Authorizer {
	if noLogin(s) != nil {
		return nil
	}
	return oauth.NewAuthorizer(credentials(c), a.loginOptions(s, way))
}

func (a *App) loginOptions(s mcpbridge.Server, way http.RoundTripper) oauth.Options {
	return oauth.Options{URL: s.URL, Settings: oauth.Settings(s.OAuth), Client: way, Log: a.o.Log}
}

// noLogin says why nobody logs in at a server, nil if one can.
func noLogin(s mcpbridge.Server) error {
	if s.Kind != mcpbridge.HTTP && s.Kind != mcpbridge.SSE {
		return errors.New("it is a program, which gets its credentials from its env")
	}
	for name := range s.Headers {
		if textproto.CanonicalMIMEHeaderKey(name) == "Authorization" {
			return errors.New("its declaration has a header Authorization, which goes before a login; take it out first")
		}
	}
	return nil
}

// An MCPLogin is how to log in at an MCP server.
type MCPLogin struct {
	Server string // name or address
	Port   int    // that the browser is sent to; 0 is that of the configuration, or any
	Open   func(address string) error
	Tell   func(line string)
}

// LogIn lets the user log in at an MCP server of a session in dir.
func (a *App) LogIn(ctx context.Context, dir string, l MCPLogin) (oauth.Grant, error) {
	c, s, err := a.loginServer(dir, l.Server)
	if err != nil {
		return oauth.Grant{}, err
	}
	switch {
	case s.Trouble != "":
		return oauth.Grant{}, fmt.Errorf("the MCP server %q cannot be reached: %s", l.Server, s.Trouble)
	case s.Off != "":
		return oauth.Grant{}, fmt.Errorf("the MCP server %q is off: %s", l.Server, s.Off)
	}
	if err := noLogin(s); err != nil {
		return oauth.Grant{}, fmt.Errorf("nobody logs in at the MCP server %q: %w", l.Server, err)
	}
	o := oauth.LoginOptions{Options: a.loginOptions(s, route{a}), Open: l.Open, Tell: l.Tell}
	if l.Port != 0 {
		o.Settings.CallbackPort = l.Port
	}
	g, err := oauth.Login(ctx, credentials(c), o)
	if err != nil {
		return g, fmt.Errorf("logging in at %s: %w", l.Server, err)
	}
	return g, nil
}

// LogOut forgets the credential for an MCP server of a session in dir.
func (a *App) LogOut(ctx context.Context, dir, server string) (oauth.Gone, error) {
	c, s, err := a.loginServer(dir, server)
	if err != nil {
		return oauth.Gone{}, err
	}
	if s.URL == "" {
		return oauth.Gone{}, fmt.Errorf("nobody logs in at the MCP server %q: it has no address", server)
	}
	g, err := oauth.Logout(ctx, credentials(c), a.loginOptions(s, route{a}))
	if err != nil {
		return g, fmt.Errorf("logging out of %s: %w", server, err)
	}
	return g, nil
}

// loginServer returns a server by its name, or one that only an editor declares by its
// address.
func (a *App) loginServer(dir, name string) (*config.Config, mcpbridge.Server, error) {
	c, err := a.config.read()
	if err != nil {
		return nil, mcpbridge.Server{}, err
	}
	all, err := a.Servers(dir)
	if err != nil {
		return nil, mcpbridge.Server{}, err
	}
	by := func(is func(mcpbridge.Server) bool) *mcpbridge.Server {
		if i := slices.IndexFunc(all, is); i >= 0 {
			return &all[i]
		}
		return nil
	}
	s := by(func(s mcpbridge.Server) bool { return s.Name == name })
	if s == nil {
		s = by(func(s mcpbridge.Server) bool { return s.URL == name && name != "" })
	}
	if s == nil {
		if !strings.HasPrefix(name, "https://") && !strings.HasPrefix(name, "http://") {
			return nil, mcpbridge.Server{}, fmt.Errorf("there is no MCP server %q; \"lorimer mcp list\" shows those there are, and one that only an editor declares goes by its address", name)
		}
		s = &mcpbridge.Server{Name: name, Kind: mcpbridge.HTTP, URL: name}
	}
	return c, *s, nil
}
