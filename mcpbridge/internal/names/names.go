// Package names gives the tools of MCP servers the names under which a model calls
// them: legal with every provider, readable, and the same in every run.
//
// A name is a function of the server's prefix and the tool's own name. It does not tell
// them apart again: of "a_b_c" nobody can say whether it is "c" of "a_b" or "b_c" of
// "a". Whoever needs the owner keeps a map (R-MCP-07).
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	// Max is the longest name in bytes that every provider takes.
	Max = 64

	kept = 55 // bytes of a name that is cut; an underscore and eight digits follow
)

// Prefix returns the prefix for a server's name where no other server has it: lower
// case, with an underscore for each run of other characters than letters and digits of
// ASCII (R-MCP-02).
func Prefix(server string) string {
	p := strings.Trim(replace(strings.ToLower(server), isPrefix), "_")
	if p == "" {
		return "mcp"
	}
	return p
}

// Prefixes returns the prefixes of servers, in their order. One that is taken is counted
// upward from _2, and what comes of that is taken too (R-MCP-03).
func Prefixes(servers []string) []string {
	all := make([]string, len(servers))
	taken := make(map[string]bool, len(servers))
	for i, s := range servers {
		p := Prefix(s)
		for n := 2; taken[p]; n++ {
			p = Prefix(s) + "_" + strconv.Itoa(n)
		}
		all[i], taken[p] = p, true
	}
	return all
}

// Tool returns the name of a tool (or of a prompt) of the server with that name and
// prefix. It matches ^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$ (R-MCP-04, R-MCP-06, C087): one that
// is too long, or has other characters, is adjusted and ends in a hash of what it was
// made of, so that distinct tools stay distinct.
func Tool(server, prefix, tool string) string {
	adjusted := replace(tool, isName)
	name := lead(prefix + "_" + adjusted)
	if adjusted == tool && tool != "" && len(name) <= Max {
		return name
	}
	if adjusted != tool {
		name = lead(prefix + "_" + strings.Trim(adjusted, "_"))
	}
	return name[:min(len(name), kept)] + "_" + hash(server, prefix, tool)
}

// Start returns what the names of all tools under prefix begin with, whatever the
// server calls them.
func Start(prefix string) string {
	s := lead(prefix + "_")
	return s[:min(len(s), kept)]
}

// lead puts an underscore before a digit, which some providers do not take first.
func lead(name string) string {
	if name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// hash tells tools apart. Where several servers share a name, the prefix does it.
func hash(server, prefix, tool string) string {
	if Prefix(server) != prefix {
		server = prefix
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	return hex.EncodeToString(sum[:4])
}

// replace returns s with an underscore for each run of bytes that are not legal.
func replace(s string, legal func(c byte) bool) string {
	if i := illegal(s, legal); i == len(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		i := illegal(s, legal)
		b.WriteString(s[:i])
		if i == len(s) {
			break
		}
		b.WriteByte('_')
		for i < len(s) && !legal(s[i]) {
			i++
		}
		s = s[i:]
	}
	return b.String()
}

// illegal returns where the first byte is that is not legal, the length if all are.
func illegal(s string, legal func(c byte) bool) int {
	for i := range len(s) {
		if !legal(s[i]) {
			return i
		}
	}
	return len(s)
}

func isPrefix(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func isName(c byte) bool {
	return isPrefix(c) || c >= 'A' && c <= 'Z' || c == '_' || c == '-'
}
