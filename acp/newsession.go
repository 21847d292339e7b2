package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/clientio"
	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
)

// newParams are the parameters of session/new.
type newParams struct {
	dirs    Dirs
	servers []string // names of the MCP servers
}

// newSession opens the session s, whose id is reserved (R-ACP-13).
func (c *conn) newSession(ctx context.Context, r *wire.Request, s *session) (any, error) {
	opened := false
	defer func() { c.release(s, opened) }()
	if s.h != nil {
		return nil, invalid(wishField, "is %.100q, which is taken", s.id)
	}
	if err := harness.CheckID(s.id); err != nil {
		return nil, openFailure(s.id, err)
	}
	p, err := readNew(r.Params)
	if err != nil {
		return nil, err
	}
	b, err := c.start.get(ctx)
	if err != nil {
		return nil, startFailure(ctx, err)
	}
	ws, err := b.Open(ctx, p.dirs)
	if err != nil {
		return nil, fmt.Errorf("opening workspace: %w", err)
	}
	s.enc = v1.New(c.wire, v1.Options{
		Session: s.id, Dir: p.dirs.Cwd, Notices: c.client.notices, Terminal: c.client.terminal,
	})
	notices := slices.Clone(b.Notices)
	if len(p.servers) > 0 {
		notices = append(notices, serversNotice(p.servers))
	}
	h, err := b.Engine.Open(ctx, harness.Spec{
		ID:       s.id,
		FS:       clientio.New(ws.FS, s, clientio.Offer{Read: c.client.readFile, Write: c.client.writeFile}),
		Runner:   ws.Runner,
		Scratch:  ws.Scratch,
		Approver: s,
		Client:   prompt.Client{Name: c.client.name, Version: c.client.version},
		Notices:  notices,
	})
	if err != nil {
		return nil, errors.Join(openFailure(s.id, err), ws.close())
	}
	c.mu.Lock()
	s.h, s.workspace, s.chosen = h, ws, b.Chosen
	c.mu.Unlock()
	opened = true

	r.After(func() { s.update(commandsUpdate{"available_commands_update", []any{}}) })
	set := h.OptionSet()
	return acpsdk.NewSessionResponse{
		SessionId:     acpsdk.SessionId(s.id),
		Modes:         modes(set),
		ConfigOptions: configOptions(set),
	}, nil
}

const wishField = `_meta["` + v1.Namespace + `"].sessionId`

// openFailure explains why the harness refused a session.
func openFailure(id string, err error) error {
	switch {
	case errors.Is(err, harness.ErrBadID):
		return invalid(wishField, "is %.100q; an id has up to 200 letters, digits, dots, hyphens and underscores, and is not . or ..", id)
	case errors.Is(err, harness.ErrTaken):
		return invalid(wishField, "is %.100q, which is taken", id)
	}
	return fmt.Errorf("opening session: %w", err)
}

// startFailure makes the error of [Options.Start] one for the user.
func startFailure(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || ctx.Err() != nil {
		return err
	}
	return &Error{Code: ConfigInvalid, Message: sentence(err.Error())}
}

func readNew(params json.RawMessage) (newParams, error) {
	p := members(params)
	if _, err := p.ours("sessionId"); err != nil {
		return newParams{}, err
	}
	cwd, err := p.required("cwd")
	if err != nil {
		return newParams{}, err
	}
	if cwd == "" { // of a client without a project
		if cwd, err = os.Getwd(); err != nil {
			return newParams{}, invalid("cwd", "is empty, and the directory of the process is gone")
		}
	}
	var n newParams
	if n.dirs.Cwd, err = directory("cwd", cwd); err != nil {
		return newParams{}, err
	}
	more, err := p.list("additionalDirectories")
	if err != nil {
		return newParams{}, err
	}
	i := 0
	for raw := range more {
		field := fmt.Sprintf("additionalDirectories[%d]", i)
		i++
		path, ok := wire.Text(raw)
		if !ok {
			return newParams{}, invalid(field, "must be a string")
		}
		dir, err := directory(field, path)
		if err != nil {
			return newParams{}, err
		}
		if dir != n.dirs.Cwd && !slices.Contains(n.dirs.More, dir) {
			n.dirs.More = append(n.dirs.More, dir)
		}
	}
	n.servers, err = readServers(p)
	return n, err
}

// directory checks a directory that the client names.
func directory(field, path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", invalid(field, "must be an absolute path; it is %.200q", path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", invalid(field, "does not exist: %.200q", path)
	case err != nil:
		return "", invalid(field, "cannot be opened: %.200q", path)
	case !info.IsDir():
		return "", invalid(field, "is not a directory: %.200q", path)
	}
	return filepath.Clean(path), nil
}

// readServers returns the names of the MCP servers of a request. The kinds are
// told apart here, since the library takes one for another: a server without a
// type is one that is started.
func readServers(p object) ([]string, error) {
	list, err := p.list("mcpServers")
	if err != nil {
		return nil, err
	}
	var names []string
	i := 0
	for raw := range list {
		field := fmt.Sprintf("mcpServers[%d]", i)
		i++
		s := members(raw)
		if s == nil {
			return nil, invalid(field, "must be an object")
		}
		name, err := s.required("name")
		if err != nil {
			return nil, invalid(field+".name", "must be a string")
		}
		need := "url"
		switch kind := s.text("type"); {
		case kind == "http", kind == "sse":
		case kind == "stdio", !s.has("type"):
			need = "command"
		default:
			return nil, invalid(field+".type", "is %.100s; it must be stdio, http or sse", s["type"])
		}
		if s.text(need) == "" {
			return nil, invalid(field+"."+need, "is missing")
		}
		names = append(names, name)
	}
	return names, nil
}

func serversNotice(names []string) string {
	list := tools.Line(strings.Join(names, ", "), 200)
	if len(names) == 1 {
		return fmt.Sprintf("This build does not connect MCP servers yet. The one that the editor named (%s) is missing.", list)
	}
	return fmt.Sprintf("This build does not connect MCP servers yet. The %d that the editor named (%s) are missing.", len(names), list)
}
