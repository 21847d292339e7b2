package acp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/clientio"
	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// An opening is what a request to open a session asks for: session/new, load,
// resume and fork alike.
type opening struct {
	dirs    Dirs
	servers []mcpbridge.Server // of the editor
	place   harness.Place      // what the client says of the session
	skipped []error            // why skills of the client are left out
}

// same reports whether o asks for what p does.
func (o opening) same(p opening) bool {
	return o.dirs.Cwd == p.dirs.Cwd && slices.Equal(o.dirs.More, p.dirs.More) &&
		mcpbridge.Fingerprint(o.servers) == mcpbridge.Fingerprint(p.servers) && reflect.DeepEqual(o.place, p.place)
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
	asked := &host{s: s, dirs: o.dirs}
	set, err := s.connect(ctx, b, o, ws, asked)
	if err != nil {
		return errors.Join(err, ws.close())
	}
	told := &announcer{}
	h, err := start(ctx, s.spec(b, o, ws, set, told))
	if err != nil {
		return errors.Join(placeFailure(o.place, err), s.disconnect(ctx, set), ws.close())
	}
	asked.h = h
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
	h.Begin() // the servers of the session before have ended
	return nil
}

// spec describes the session of the harness that s is opened with.
func (s *session) spec(b *Backend, o opening, ws Workspace, set server.Set, told *announcer) harness.Spec {
	cl := s.c.client
	sp := harness.Spec{
		ID:       s.id,
		FS:       clientio.New(ws.FS, s, clientio.Offer{Read: cl.readFile, Write: cl.writeFile}),
		Runner:   ws.Runner,
		Scratch:  ws.Scratch,
		Approver: s,
		Client:   prompt.Client{Name: cl.name, Version: cl.version},
		Servers:  set,
		Notices:  slices.Clone(b.Notices),
		Place:    o.place,
		Changed:  told.changed,
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
