package acp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
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

// An opening is what a request to open a session asks for: session/new, load,
// resume and fork alike.
type opening struct {
	dirs    Dirs
	servers servers
	place   harness.Place // what the client says of the session
	skipped []error       // why skills of the client are left out
}

// same reports whether o asks for what p does.
func (o opening) same(p opening) bool {
	return o.dirs.Cwd == p.dirs.Cwd && slices.Equal(o.dirs.More, p.dirs.More) &&
		o.servers.digest == p.servers.digest && reflect.DeepEqual(o.place, p.place)
}

// A startSession makes the harness's side of a session, such as [harness.Engine.Open].
type startSession func(context.Context, harness.Spec) (*harness.Session, error)

// maxTold is how many skills that are left out are named in the log.
const maxTold = 5

// open opens s as o says, in place of a session of the harness that it has already.
// That one has no prompt left when it is ended, and only once there is another: what
// cannot be opened must not cost it its life. So after an error s is as it was,
// unless the ending was what failed; then it is not open.
func (c *conn) open(ctx context.Context, s *session, b *Backend, o opening, start startSession) error {
	ws, err := b.Open(ctx, o.dirs)
	if err != nil {
		return fmt.Errorf("opening workspace: %w", err)
	}
	told := &announcer{}
	h, err := start(ctx, s.spec(b, o, ws, told))
	if err != nil {
		return errors.Join(placeFailure(o.place, err), ws.close())
	}
	told.tell = func() { s.update(commandsUpdate{"available_commands_update", commands(h)}) }
	err = s.end(ctx)
	if n := len(o.skipped); n > 0 { // one line, whatever comes
		c.o.Log.Warn().Str("session", s.id).Int("count", n).Errs("errors", o.skipped[:min(n, maxTold)]).Msg("skills of the client are left out")
	}
	enc := v1.New(c.wire, v1.Options{
		Session: s.id, Dir: o.dirs.Cwd, Notices: c.client.notices, Terminal: c.client.terminal,
	})
	c.mu.Lock()
	s.h, s.enc, s.commands, s.workspace, s.opened = h, enc, told, ws, o
	s.chosen = s.chosen || b.Chosen
	if c.closed { // nobody else would end it
		err = errors.Join(harness.ErrClosed, err)
	}
	c.mu.Unlock()
	if err != nil {
		return errors.Join(err, s.end(ctx))
	}
	return nil
}

// spec describes the session of the harness that s is opened with.
func (s *session) spec(b *Backend, o opening, ws Workspace, told *announcer) harness.Spec {
	cl := s.c.client
	sp := harness.Spec{
		ID:       s.id,
		FS:       clientio.New(ws.FS, s, clientio.Offer{Read: cl.readFile, Write: cl.writeFile}),
		Runner:   ws.Runner,
		Scratch:  ws.Scratch,
		Approver: s,
		Client:   prompt.Client{Name: cl.name, Version: cl.version},
		Notices:  slices.Clone(b.Notices),
		Place:    o.place,
		Changed:  told.changed,
	}
	if len(o.servers.names) > 0 {
		sp.Notices = append(sp.Notices, serversNotice(o.servers.names))
	}
	if cl.elicits {
		sp.Asker = s
	}
	sp.Place.Locale = cmp.Or(o.place.Locale, cl.locale) // that of the session counts (M-21)
	return sp
}

// state is what every answer that opens a session says of it, with the values
// that hold (C016). The commands follow the answer, since many clients drop what
// comes before it (R-ACP-14).
func (s *session) state(r *wire.Request) (*acpsdk.SessionModeState, []acpsdk.SessionConfigOption) {
	r.After(s.commands.begin)
	set := s.h.OptionSet()
	return modes(set), configOptions(set)
}

// startFailure makes the error of [Options.Start] one for the user.
func startFailure(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || ctx.Err() != nil {
		return err
	}
	return &Error{Code: ConfigInvalid, Message: sentence(err.Error())}
}

// backend returns what sessions are made of.
func (c *conn) backend(ctx context.Context) (*Backend, error) {
	b, err := c.start.get(ctx)
	if err != nil {
		return nil, startFailure(ctx, err)
	}
	return b, nil
}

// readOpening reads what session/new, load, resume and fork have in common.
func readOpening(p object) (opening, error) {
	if _, err := p.ours("sessionId"); err != nil {
		return opening{}, err
	}
	cwd, err := p.required("cwd")
	if err != nil {
		return opening{}, err
	}
	if cwd == "" { // of a client without a project
		if cwd, err = os.Getwd(); err != nil {
			return opening{}, invalid("cwd", "is empty, and the directory of the process is gone")
		}
	}
	var o opening
	if o.place, o.skipped, err = readPlace(p); err != nil {
		return opening{}, err
	}
	if o.dirs.Cwd, err = directory("cwd", cwd); err != nil {
		return opening{}, err
	}
	more, err := p.list("additionalDirectories")
	if err != nil {
		return opening{}, err
	}
	i := 0
	for raw := range more {
		field := fmt.Sprintf("additionalDirectories[%d]", i)
		i++
		path, ok := wire.Text(raw)
		if !ok {
			return opening{}, invalid(field, "must be a string")
		}
		dir, err := directory(field, path)
		if err != nil {
			return opening{}, err
		}
		if dir != o.dirs.Cwd && !slices.Contains(o.dirs.More, dir) {
			o.dirs.More = append(o.dirs.More, dir)
		}
	}
	o.servers, err = readServers(p)
	return o, err
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

// servers are the MCP servers of a request.
type servers struct {
	names  []string
	digest [sha256.Size]byte // tells two lists apart, without keeping the secrets in them
}

// readServers reads the MCP servers of a request. The kinds are told apart here,
// since the library takes one for another: a server without a type is one that
// is started.
func readServers(p object) (servers, error) {
	list, err := p.list("mcpServers")
	if err != nil {
		return servers{}, err
	}
	var out servers
	var all bytes.Buffer
	i := 0
	for raw := range list {
		field := fmt.Sprintf("mcpServers[%d]", i)
		i++
		s := members(raw)
		if s == nil {
			return servers{}, invalid(field, "must be an object")
		}
		name, err := s.required("name")
		if err != nil {
			return servers{}, invalid(field+".name", "must be a string")
		}
		need := "url"
		switch kind := s.text("type"); {
		case kind == "http", kind == "sse":
		case kind == "stdio", !s.has("type"):
			need = "command"
		default:
			return servers{}, invalid(field+".type", "is %.100s; it must be stdio, http or sse", s["type"])
		}
		if s.text(need) == "" {
			return servers{}, invalid(field+"."+need, "is missing")
		}
		out.names = append(out.names, name)
		if err := json.Compact(&all, raw); err != nil {
			return servers{}, invalid(field, "is not valid JSON")
		}
	}
	out.digest = sha256.Sum256(all.Bytes())
	return out, nil
}

func serversNotice(names []string) string {
	list := tools.Line(strings.Join(names, ", "), 200)
	if len(names) == 1 {
		return fmt.Sprintf("This build does not connect MCP servers yet. The one that the editor named (%s) is missing.", list)
	}
	return fmt.Sprintf("This build does not connect MCP servers yet. The %d that the editor named (%s) are missing.", len(names), list)
}
