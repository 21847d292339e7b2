package mcpbridge

import (
	"context"
	"fmt"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Status tells how each server stands, in their order (R-MCP-20). Nothing in it is secret
// (R-MCP-19).
func (b *Bridge) Status() []server.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.merge()
	all := make([]server.Status, len(b.links))
	for i, l := range b.links {
		all[i] = l.status(m)
	}
	return all
}

// status is what [Bridge.Status] tells of one server. Its caller holds b.mu.
func (l *link) status(m *merged) server.Status {
	s := server.Status{
		Name: l.s.Name, Prefix: l.prefix, State: l.state, Kind: string(l.s.Kind), Address: l.address, Source: l.s.Source,
		Attempts: l.tries, LastError: l.why, Stderr: l.stderr,
		Tools: append([]string{}, m.names[l]...),
	}
	if l.conn != nil {
		about := l.conn.peer.About()
		s.Attempts = 0
		s.Program, s.Revision = tools.Line(strings.TrimSpace(about.Name+" "+about.Version), 100), about.Revision
		s.Prompts, s.Resources = len(l.catalog.prompts), len(l.catalog.resources)
	}
	if n := m.left[l]; n > 0 && s.LastError == "" {
		s.LastError = fmt.Sprintf("its %d tools are left out: with those of the servers before it they are more than %d", n, l.b.pool.o.Limit)
	}
	return s
}

// Probe tells how the server of that name stands after one fresh attempt to reach it, and
// to read what it has, within ctx. Servers that nobody has contacted yet it leaves alone.
// Where names repeat it is the first. The error is that of ctx, or public where there is
// no such server.
func (b *Bridge) Probe(ctx context.Context, name string) (server.Status, error) {
	l := b.named(name)
	if l == nil {
		return server.Status{}, tools.Publicf("there is no MCP server %q; lorimer mcp list shows those there are", name)
	}
	b.mu.Lock()
	if l.conn != nil {
		l.conn.changed(l.conn.peer.About().Has...) // what a server says that is still there
	}
	l.begin()
	l.dialAtOnce()
	b.mu.Unlock()
	err := b.until(ctx, func() bool { return b.closed || !l.dialing && (l.conn == nil || l.conn.settled()) })
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed && err == nil {
		err = errClosed
	}
	return l.status(b.merge()), err
}

func (b *Bridge) named(name string) *link {
	for _, l := range b.links {
		if l.s.Name == name {
			return l
		}
	}
	return nil
}

// settled reports whether all lists of c are read that there is reason to read.
func (c *conn) settled() bool {
	for _, k := range []client.Kind{client.Tools, client.Prompts, client.Resources} {
		if _, read := c.mark(k); !read {
			return false
		}
	}
	return true
}

// reason returns what may be shown of an error, on one line (R-MCP-19).
func (l *link) reason(err error) string {
	if err == nil {
		return ""
	}
	return l.hidden.line(err.Error(), maxReason)
}

// tail returns what may be shown of what a program wrote at last.
func (l *link) tail(stderr string) string {
	text := strings.ToValidUTF8(strings.TrimSpace(stderr), "\uFFFD")
	text = l.hidden.hide(text)
	if len(text) > maxStderr {
		text = text[len(text)-maxStderr:]
		if _, whole, ok := strings.Cut(text, "\n"); ok { // the first line has lost its beginning
			text = whole
		}
	}
	return tools.Visible(strings.ToValidUTF8(text, ""))
}

// span returns a duration without the zeros that Go writes.
func span(d fmt.Stringer) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
