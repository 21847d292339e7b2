package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A NamedServer is an MCP server with its name.
type NamedServer struct {
	Name string
	Server
}

// Servers lists the MCP servers in the order of the file (R-MCP-01).
func (c *Config) Servers() []NamedServer {
	var all []NamedServer
	for name, s := range c.MCP {
		all = append(all, NamedServer{name, s})
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
