package acp

import (
	"context"
	"fmt"

	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// editorSource is who has declared the servers of a request.
const editorSource = "the editor"

// connect returns the MCP servers of s, which are not contacted yet.
func (s *session) connect(ctx context.Context, b *Backend, o opening, ws Workspace, h server.Host) (server.Set, error) {
	if b.Connect == nil {
		return nil, nil
	}
	set, err := b.Connect(ctx, Servers{Session: s.id, Dirs: o.dirs, Scratch: ws.Scratch, Editor: o.servers, Host: h})
	if err != nil {
		return nil, fmt.Errorf("connecting MCP servers: %w", err)
	}
	return set, nil
}

// disconnect closes servers that are no session's.
func (s *session) disconnect(ctx context.Context, set server.Set) error {
	if set == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.c.o.Grace)
	defer cancel()
	return set.Close(ctx)
}

// readServers reads the MCP servers of a request (R-MCP-01). The kinds are told apart
// here, since the library takes one for another: a server without a type is one that is
// started.
func readServers(p object) (all []mcpbridge.Server, err error) {
	list, err := p.list("mcpServers")
	if err != nil {
		return nil, err
	}
	for raw := range list {
		field := fmt.Sprintf("mcpServers[%d]", len(all))
		o := members(raw)
		if o == nil {
			return nil, invalid(field, "must be an object")
		}
		s, err := readServer(block{field: field, object: o})
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func readServer(b block) (s mcpbridge.Server, err error) {
	s.Source, s.Editor = editorSource, true
	if s.Name, err = b.need("name"); err != nil {
		return s, invalid(b.field+".name", "must be a string")
	}
	switch kind := b.text("type"); {
	case kind == "http", kind == "sse":
		s.Kind = mcpbridge.Kind(kind)
		if s.URL = b.text("url"); s.URL == "" {
			return s, invalid(b.field+".url", "is missing")
		}
		s.Headers, err = b.pairs("headers")
	case kind == "stdio", !b.has("type"):
		s.Kind = mcpbridge.Stdio
		if s.Command = b.text("command"); s.Command == "" {
			return s, invalid(b.field+".command", "is missing")
		}
		if s.Args, err = b.texts("args"); err != nil {
			return s, err
		}
		s.Env, err = b.pairs("env")
	default:
		err = invalid(b.field+".type", "is %.100s; it must be stdio, http or sse", b.object["type"])
	}
	return s, err
}

// texts returns a member that is a list of strings; absent is empty.
func (b block) texts(key string) (all []string, err error) {
	if b.has(key) && b.object[key][0] != '[' {
		return nil, invalid(b.field+"."+key, "must be an array")
	}
	for raw := range wire.Elements(b.object[key]) {
		text, ok := wire.Text(raw)
		if !ok {
			return nil, invalid(fmt.Sprintf("%s.%s[%d]", b.field, key, len(all)), "must be a string")
		}
		all = append(all, text)
	}
	return all, nil
}

// pairs returns a member that is a list of names with values, of which the last of a
// name counts; absent is empty.
func (b block) pairs(key string) (map[string]string, error) {
	if b.has(key) && b.object[key][0] != '[' {
		return nil, invalid(b.field+"."+key, "must be an array of name and value")
	}
	var all map[string]string
	n := 0
	for raw := range wire.Elements(b.object[key]) {
		e := block{field: fmt.Sprintf("%s.%s[%d]", b.field, key, n), object: members(raw)}
		n++
		name, err := e.need("name")
		if err != nil {
			return nil, err
		}
		value, err := e.need("value")
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make(map[string]string)
		}
		all[name] = value
	}
	return all, nil
}
