package mcpbridge

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/internal/names"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

const (
	maxAdvice = 2048 // characters of a server's instructions

	// What an address is held against.
	maxTried       = 64   // templates of a server
	maxTemplate    = 1024 // bytes of one
	maxExpressions = 16   // of one
	maxExpanded    = 2048 // bytes of the address
)

// have calls visit with each connected server and what it has, in their order, until it
// returns false.
func (b *Bridge) have(visit func(l *link, c *conn, have *catalog) bool) {
	type open struct {
		l    *link
		c    *conn
		have *catalog
	}
	var all []open
	b.mu.Lock()
	for _, l := range b.links {
		if l.conn != nil && !b.closed {
			all = append(all, open{l, l.conn, l.catalog})
		}
	}
	b.mu.Unlock()
	for _, o := range all {
		if !visit(o.l, o.c, o.have) {
			return
		}
	}
}

// Advice returns the instructions of connected servers, unless the declaration wants
// them silent.
func (b *Bridge) Advice() (all []server.Advice) {
	b.have(func(l *link, c *conn, _ *catalog) bool {
		text := strings.TrimSpace(c.peer.About().Instructions)
		if text == "" || l.s.Silent {
			return true
		}
		if r := []rune(text); len(r) > maxAdvice {
			text = string(r[:maxAdvice])
		}
		all = append(all, server.Advice{Server: l.s.Name, Prefix: l.prefix, Text: strings.ToValidUTF8(text, "\uFFFD")})
		return true
	})
	return all
}

// prompts calls visit with each prompt that has a command, the first of each, until it
// returns false.
func (b *Bridge) prompts(visit func(l *link, command string, p client.Prompt) bool) {
	taken := make(map[string]bool)
	b.have(func(l *link, _ *conn, have *catalog) bool {
		for _, p := range have.prompts {
			command := names.Tool(l.s.Name, l.prefix, p.Name)
			if taken[command] {
				continue
			}
			taken[command] = true
			if !visit(l, command, p) {
				return false
			}
		}
		return true
	})
}

// Prompts lists the prompts of connected servers by their commands, whose names follow the
// rule for tools.
func (b *Bridge) Prompts() (all []server.Prompt) {
	b.prompts(func(l *link, command string, p client.Prompt) bool {
		description := p.Description
		if description == "" {
			description = p.Title
		}
		all = append(all, server.Prompt{
			Command: command, Server: l.s.Name, Name: p.Name,
			Description: tools.Line(description, tools.MaxTitle), Arguments: slices.Clone(p.Arguments),
		})
		return true
	})
	return all
}

// Prompt has the server fill a prompt in.
func (b *Bridge) Prompt(ctx context.Context, command string, arguments map[string]string) (parts []server.Part, err error) {
	var of *link
	var prompt client.Prompt
	b.prompts(func(l *link, c string, p client.Prompt) bool {
		if c == command {
			of, prompt = l, p
		}
		return of == nil
	})
	if of == nil {
		return nil, tools.Publicf("no MCP server that is connected has the prompt /%s", command)
	}
	for _, a := range prompt.Arguments {
		if _, ok := arguments[a.Name]; a.Required && !ok {
			return nil, tools.Publicf("/%s needs the argument %s: write /%s %s=…", command, show(a.Name), command, show(a.Name))
		}
	}
	err = of.do(ctx, true, func(ctx context.Context, p client.Peer) (err error) {
		parts, err = p.Prompt(ctx, prompt.Name, arguments)
		return err
	})
	return parts, of.public(ctx, err)
}

// Resources lists the resources of connected servers.
func (b *Bridge) Resources() (all []server.Resource) {
	b.have(func(l *link, _ *conn, have *catalog) bool {
		for _, r := range have.resources {
			r.Server = l.s.Name
			all = append(all, r)
		}
		return true
	})
	return all
}

// Read reads a resource from the server that lists it, else from the first whose templates
// fit its address, connected or not.
func (b *Bridge) Read(ctx context.Context, uri string) (parts []server.Part, owned bool, err error) {
	l := b.owner(uri)
	if l == nil {
		return nil, false, nil
	}
	err = l.do(ctx, true, func(ctx context.Context, p client.Peer) (err error) {
		parts, err = p.Read(ctx, uri)
		return err
	})
	return parts, true, l.public(ctx, err)
}

// owner returns whose resource uri is, or nil.
func (b *Bridge) owner(uri string) *link {
	type has struct {
		l    *link
		have *catalog
	}
	var all []has
	b.mu.Lock()
	for _, l := range b.links {
		if l.catalog != nil {
			all = append(all, has{l, l.catalog})
		}
	}
	b.mu.Unlock()
	for _, h := range all {
		if slices.ContainsFunc(h.have.resources, func(r server.Resource) bool { return !r.Template && r.URI == uri }) {
			return h.l
		}
	}
	for _, h := range all {
		tried := 0
		if slices.ContainsFunc(h.have.resources, func(r server.Resource) bool {
			if !r.Template || tried == maxTried {
				return false
			}
			tried++
			return expands(r.URI, uri)
		}) {
			return h.l
		}
	}
	return nil
}

// expands reports whether uri may have come of a template (RFC 6570), whatever its
// variables stand for. The time that it takes grows with the lengths alone: it is the
// server that writes templates.
func expands(template, uri string) bool {
	if len(template) > maxTemplate || len(uri) > maxExpanded || strings.Count(template, "{") > maxExpressions {
		return false
	}
	var pattern strings.Builder
	pattern.WriteString(`(?s)^`)
	for template != "" {
		literal, rest, begun := strings.Cut(template, "{")
		expression, after, ended := strings.Cut(rest, "}")
		if begun && (!ended || expression == "") || strings.Contains(literal, "}") {
			return false
		}
		pattern.WriteString(regexp.QuoteMeta(literal))
		if begun {
			pattern.WriteString(values(expression[0]))
		}
		template = after
	}
	re, err := regexp.Compile(pattern.String() + `$`)
	return err == nil && re.MatchString(uri)
}

// values returns the pattern of what an expression with an operator becomes, which may be
// nothing.
func values(operator byte) string {
	switch operator {
	case '+':
		return `.*`
	case '#':
		return `(#.*)?`
	case '/':
		return `(/[^?#]*)?`
	case '.', ';':
		return `(\` + string(operator) + `[^/?#]*)?`
	case '?', '&':
		return `(\` + string(operator) + `[^#]*)?`
	}
	return `[^/?#]*`
}

// public returns an error of a request as the user may read it.
func (l *link) public(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errClosed):
		return err
	}
	return &tools.PublicError{Text: "the MCP server " + show(l.s.Name) + ": " + l.reason(err), Err: err}
}
