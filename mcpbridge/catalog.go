package mcpbridge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/tools/server"
)

const (
	listLimit = 30 * time.Second       // of reading one list
	quiet     = 250 * time.Millisecond // after a change, for those that come with it
)

// A catalog is what a server has. It does not change: another takes its place.
type catalog struct {
	specs     []client.Tool // all
	tools     []*tool       // those that the declaration lets through, one of a name, in the order of the server
	prompts   []client.Prompt
	resources []server.Resource
}

// catalogue returns the catalog with those tools, and everything else of old.
func (l *link) catalogue(c *conn, specs []client.Tool, old *catalog) *catalog {
	have := &catalog{}
	if old != nil {
		*have = *old
	}
	have.specs, have.tools = specs, nil
	icon := c.peer.About().Icon
	taken := make(map[string]string, len(specs))
	for _, s := range specs {
		if !l.s.admits(s.Name) {
			continue
		}
		t := newTool(l, s, icon)
		if other, ok := taken[t.info.Name]; ok {
			l.log.Warn().Str("tool", s.Name).Str("other", other).Str("name", t.info.Name).Msg("two tools of a server have one name; the first is used")
			continue
		}
		taken[t.info.Name] = s.Name
		have.tools = append(have.tools, t)
	}
	return have
}

// admits reports whether a tool passes the patterns of the declaration, which are matched
// against the server's own names.
func (s Server) admits(tool string) bool {
	return (len(s.Include) == 0 || matches(s.Include, tool)) && !matches(s.Exclude, tool)
}

// matches reports whether a pattern fits name. A star stands for a slash too. What is no
// pattern is a name.
func matches(patterns []string, name string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(flat(p), flat(name))
		return ok || err != nil && p == name
	})
}

// readTools reads the tools that the server lists.
func (l *link) readTools(ctx context.Context, c *conn) ([]client.Tool, error) {
	within, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	specs, err := c.peer.Tools(within)
	switch {
	case err == nil:
		return specs, nil
	case within.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("its tools were not listed within %s: %w", span(listLimit), err)
	}
	return nil, fmt.Errorf("listing its tools: %w", err)
}

// refresh reads lists again that have changed, off the path of the messages, and once for
// changes that come together, until ctx ends (R-MCP-14).
func (l *link) refresh(ctx context.Context, c *conn) {
	for {
		for _, k := range []client.Kind{client.Tools, client.Prompts, client.Resources} {
			mark, read := c.mark(k)
			if read {
				continue
			}
			err := l.reread(ctx, c, k)
			if ctx.Err() != nil {
				return
			}
			c.done(k, mark)
			if err != nil {
				l.log.Warn().Str("list", string(k)).Str("error", l.reason(err)).Msg("list of a server not read; the last one stays")
				if broken(err) {
					l.lose(c, err)
					return
				}
			}
			l.b.change(func() {
				if l.conn == c && k == client.Tools {
					l.why = l.reason(err)
				}
			})
			if k == client.Prompts {
				l.b.announce()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(quiet):
		}
	}
}

// reread reads one list and puts it in place of the old one. Where it cannot be read the
// old one stays.
func (l *link) reread(ctx context.Context, c *conn, k client.Kind) (err error) {
	within, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var put func(old *catalog) *catalog
	switch k {
	case client.Tools:
		var specs []client.Tool
		specs, err = l.readTools(ctx, c)
		put = func(old *catalog) *catalog { return l.catalogue(c, specs, old) }
	case client.Prompts:
		var prompts []client.Prompt
		prompts, err = c.peer.Prompts(within)
		put = func(old *catalog) *catalog { have := *old; have.prompts = prompts; return &have }
	case client.Resources:
		var resources []server.Resource
		resources, err = c.peer.Resources(within)
		put = func(old *catalog) *catalog { have := *old; have.resources = resources; return &have }
	}
	if err != nil {
		return err
	}
	have := put(l.known()) // nobody else changes it while c is there
	l.b.change(func() {
		if l.conn == c {
			l.use(have)
		}
	})
	return nil
}

// known returns what the server had when it was asked last.
func (l *link) known() *catalog {
	l.b.mu.Lock()
	defer l.b.mu.Unlock()
	return l.catalog
}
