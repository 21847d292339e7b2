package mcpbridge

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
	"github.com/rs/zerolog"
)

// merged is the tools of a bridge as a send gets them. It does not change.
type merged struct {
	tools    []tools.Tool
	names    map[*link][]string // of each server that has some of them
	left     map[*link]int      // how many of a server are left out, because they are too many
	warnings []string           // for the user
}

// merge returns the tools that are there now: those of the first server first, and of two
// with one name the first, whether its server is connected or not, so that a name never
// comes to mean another tool because a server is down (R-MCP-05, R-MCP-07). Its caller
// holds b.mu.
func (b *Bridge) merge() *merged {
	if b.merged != nil {
		return b.merged
	}
	m := &merged{names: make(map[*link][]string), left: make(map[*link]int)}
	owners := make(map[string]*tool)
	for _, l := range b.links {
		if l.catalog == nil {
			continue
		}
		var mine []tools.Tool
		var names []string
		for _, t := range l.catalog.tools {
			name := t.info.Name
			if first, ok := owners[name]; ok {
				m.warnings = append(m.warnings, fmt.Sprintf("The tool %s of the MCP server %s and the tool %s of %s are both named %s; only the first is offered. Rename one of the servers to have both.",
					show(first.spec.Name), show(first.l.s.Name), show(t.spec.Name), show(l.s.Name), name))
				continue
			}
			owners[name] = t
			mine, names = append(mine, t), append(names, name)
		}
		switch limit := b.pool.o.Limit; {
		case l.conn == nil || len(mine) == 0:
		case len(m.tools)+len(mine) > limit:
			m.left[l] = len(mine)
			m.warnings = append(m.warnings, fmt.Sprintf("The %d tools of the MCP server %s are left out, because %d of other servers are offered and models take no more than %d in all. Name those that you need under include, in its declaration.",
				len(mine), show(l.s.Name), len(m.tools), limit))
		default:
			m.tools, m.names[l] = append(m.tools, mine...), names
		}
	}
	m.tools = slices.Clip(m.tools) // what a caller appends is its own
	b.merged = m
	return m
}

// offer returns the tools for a send, and tells the user what is missing.
func (b *Bridge) offer(tell func(string)) ([]tools.Tool, error) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, errClosed
	}
	m := b.merge()
	var notices []string
	if tell != nil {
		notices = b.notices(m)
	}
	b.mu.Unlock()
	for _, n := range notices {
		tell(n)
		level := zerolog.DebugLevel
		if slices.Contains(m.warnings, n) { // R-MCP-05
			level = zerolog.WarnLevel
		}
		b.log.WithLevel(level).Str("notice", n).Msg("user told of servers")
	}
	return m.tools, nil
}

// notices returns what the user has to be told and was not yet. Its caller holds b.mu.
func (b *Bridge) notices(m *merged) (all []string) {
	for _, l := range b.links {
		if l.missed || l.state == server.Connected || l.state == server.Disabled {
			continue
		}
		l.missed = true
		all = append(all, l.absence())
	}
	for _, w := range m.warnings {
		if !b.told[w] && len(b.told) < maxTold {
			b.told[w] = true
			all = append(all, w)
		}
	}
	return all
}

// absence tells the user that the tools of a server are missing, and what becomes of
// that. Its caller holds b.mu.
func (l *link) absence() string {
	name := show(l.s.Name)
	switch {
	case l.s.Trouble != "":
		return fmt.Sprintf("The MCP server %s is not used: %s.", name, l.why)
	case l.last == server.NeedsLogin:
		return fmt.Sprintf("The MCP server %s needs a login; run lorimer mcp login %s.", name, l.loginName())
	case !l.met:
		return fmt.Sprintf("The MCP server %s has not answered yet; its tools join the message after it has.", name)
	case l.state == server.Failed:
		return fmt.Sprintf("The MCP server %s did not connect: %s; the next message tries again.", name, l.why)
	}
	return fmt.Sprintf("The MCP server %s did not connect: %s; it is tried again in the background.", name, l.why)
}

// loginName is what lorimer mcp login knows the server by: its name, or the address of one
// that only the editor has declared.
func (l *link) loginName() string {
	word, what := l.s.Name, "name"
	if l.s.Editor {
		word, what = l.address, "address"
	}
	switch {
	case l.s.Editor && word != l.s.URL, show(word) != word && !l.s.Editor, strings.ContainsAny(word, "\"\\$`!%"):
		return "with its " + what // which cannot be shown, or means something to a shell
	case strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@+", r)
	}):
		return `"` + word + `"`
	}
	return word
}

// show returns a name that somebody else chose, for a line of text.
func show(name string) string { return tools.Line(name, 64) }
