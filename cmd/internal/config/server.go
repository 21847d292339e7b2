package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Server is an MCP server. It has a command or a URL. Variables in it, such as ${HOME},
// are not replaced.
type Server struct {
	Command  string            `toml:"command"`
	Args     []string          `toml:"args" show:"args"`
	Env      map[string]string `toml:"env" show:"secret"`
	Cwd      string            `toml:"cwd"` // seen from the directory of the session
	URL      string            `toml:"url" show:"url"`
	Type     string            `toml:"type"` // http or sse; default http; stdio follows from command
	Headers  map[string]string `toml:"headers" show:"secret"`
	OAuth    Login             `toml:"oauth"`
	Disabled bool              `toml:"disabled"`

	Timeout      Duration `toml:"timeout"`         // of one call; default 60s (R-MCP-18)
	Connect      Duration `toml:"connect_timeout"` // default 60s (R-MCP-10)
	Include      []string `toml:"include"`         // patterns of the server's own names of tools; nil is all
	Exclude      []string `toml:"exclude"`         // wins
	Instructions *bool    `toml:"instructions"`    // the model is told what the server says on its use; default true
}

// Login is what is known beforehand of how to log in at an MCP server.
type Login struct {
	ClientID     string   `toml:"client_id"`
	ClientSecret string   `toml:"client_secret" show:"secret"`
	Scopes       []string `toml:"scopes"`
	CallbackPort int      `toml:"callback_port"`           // default any
	MetadataURL  string   `toml:"metadata_url" show:"url"` // of the authorization server; default looks for it
}

// A NamedServer is an MCP server with its name.
type NamedServer struct {
	Name string
	Server
	At string // FILE:LINE
}

// Check returns what is wrong with the declaration of a server, which fails for that and
// takes nothing else with it.
func (s Server) Check() error {
	if (s.Command == "") == (s.URL == "") {
		return errors.New("give either command or url")
	}
	if err := oneOf(s.Type, "", "http", "sse", "stdio"); err != nil {
		return fmt.Errorf("type: %w", err)
	}
	if (s.Type == "stdio") != (s.Command != "") && s.Type != "" {
		return fmt.Errorf("type %s does not go with what is given; leave it out", s.Type)
	}
	if p := s.OAuth.CallbackPort; p < 0 || p > 65535 {
		return errors.New("oauth.callback_port must be a number up to 65535")
	}
	for _, d := range []struct {
		key  string
		span Duration
	}{{"timeout", s.Timeout}, {"connect_timeout", s.Connect}} {
		if err := d.span.check(); err != nil {
			return fmt.Errorf("%s: %w", d.key, err)
		}
	}
	return nil
}

// ServerFiles lists the files of other programs that declare MCP servers, absolute: as
// configured, seen from the directory of the configuration file.
func (c *Config) ServerFiles() []string {
	var all []string
	for _, file := range c.MCPFiles {
		all = append(all, c.beside(file))
	}
	return all
}

// Servers lists the MCP servers in the order of the file (R-MCP-01).
func (c *Config) Servers() []NamedServer {
	var all []NamedServer
	for name, s := range c.MCP {
		all = append(all, NamedServer{name, s, c.near("mcp." + name)})
	}
	slices.SortFunc(all, func(a, b NamedServer) int {
		return cmp.Or(cmp.Compare(c.line("mcp."+a.Name), c.line("mcp."+b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// line returns the first line of the file that says something of key or below
// it, or 0.
func (c *Config) line(key string) int {
	first := 0
	for _, m := range []map[string]string{c.origin.values, c.origin.tables} {
		for k, origin := range m {
			if k != key && !strings.HasPrefix(k, key+".") {
				continue
			}
			i := strings.LastIndexByte(origin, ':')
			if n, err := strconv.Atoi(origin[i+1:]); err == nil && (first == 0 || n < first) {
				first = n
			}
		}
	}
	return first
}
