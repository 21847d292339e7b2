package app

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// An Offer is what `lorimer mcp serve` has for other agents (R-CMD-12).
type Offer struct {
	Workspace bool // the tools that work in the directory
	Skills    bool // as prompts
	Servers   bool // the tools, prompts and resources of the configured servers
	Agent     bool // whole turns
}

// DeskOptions set a [Desk] up.
type DeskOptions struct {
	Offer  Offer
	Dir    string                        // where it works, absolute
	Client prompt.Client                 // what its sessions are told of who is there
	Open   func(keep Keep) (*App, error) // is called when the first of something is asked for
	Log    zerolog.Logger
}

// A Desk is what sessions in a directory have, for other agents: their tools are one
// session's, which leaves nothing behind, and each conversation with the agent is a
// session of its own, which is kept. Nothing is opened before somebody asks for it. It
// is safe for concurrent use.
type Desk struct {
	o    DeskOptions
	room *opened[*room]
	chat *opened[*chat]

	mu      sync.Mutex // guards the field below
	changed func()     // is to hear that a list may be another one; nil is nobody
}

var (
	_ serve.Desk     = (*Desk)(nil)
	_ serve.Prompter = (*Desk)(nil)
	_ serve.Library  = (*Desk)(nil)
	_ serve.Asker    = (*Desk)(nil)
)

// NewDesk returns a desk. It opens nothing.
func NewDesk(o DeskOptions) *Desk {
	return &Desk{o: o, room: newOpened[*room](), chat: newOpened[*chat]()}
}

// What the model of another agent is told.
var (
	//go:embed serve.md
	deskText string
	//go:embed serve_skills.md
	deskSkillsText string
)

// Instructions tell a model of another agent how to use what is on offer.
func (d *Desk) Instructions() string {
	text := strings.ReplaceAll(strings.TrimSpace(deskText), "DIRECTORY", d.o.Dir)
	if d.o.Offer.Skills {
		text += " " + strings.TrimSpace(deskSkillsText)
	}
	return text
}

// Close ends what was opened, within ctx.
func (d *Desk) Close(ctx context.Context) error {
	return errors.Join(
		d.chat.close(ctx, func(c *chat) error { return c.close(ctx) }),
		d.room.close(ctx, func(r *room) error { return r.close(ctx) }),
	)
}

// A room is the session whose tools are on offer.
type room struct {
	app     *App
	space   acp.Workspace
	session *harness.Session
	servers server.Set // nil has none
	unwatch func()     // ends the watch of servers
}

func (r *room) close(ctx context.Context) error {
	r.unwatch()
	return errors.Join(r.app.Close(ctx), r.space.Close())
}

// enter returns the room, which is opened by the first who does. It has the offline
// model, since none is asked: so a tool needs no key, and no model decides whether
// there are any.
func (d *Desk) enter(ctx context.Context) (*room, error) {
	return d.room.get(ctx, func() (_ *room, err error) {
		a, err := d.o.Open(Apart)
		if err != nil {
			return nil, d.public(faulty(err))
		}
		r := &room{app: a, unwatch: func() {}, space: acp.Workspace{Close: func() error { return nil }}}
		defer func() {
			if err != nil {
				err = errors.Join(d.public(err), r.close(ctx))
			}
		}()
		mode, err := a.servedMode()
		if err != nil {
			return nil, err
		}
		if r.space, err = a.Workspace(d.o.Dir); err != nil {
			return nil, err
		}
		sp := d.spec(r.space)
		if d.o.Offer.Servers {
			if sp.Servers, err = d.connect(ctx, a, r.space); err != nil {
				return nil, err
			}
		}
		sp.Choice = &harness.Choice{Model: offline.Name, Mode: mode}
		sp.Changed = d.change
		if r.session, err = a.engine.Open(ctx, sp); err != nil {
			return nil, err
		}
		if r.servers = sp.Servers; r.servers != nil {
			r.unwatch = r.servers.Watch(d.change)
		}
		return r, nil
	})
}

func (d *Desk) spec(ws acp.Workspace) harness.Spec {
	return harness.Spec{FS: ws.FS, Runner: ws.Runner, Scratch: ws.Scratch, Client: d.o.Client}
}

// connect returns the MCP servers of a session of a, which closes them.
func (d *Desk) connect(ctx context.Context, a *App, ws acp.Workspace) (server.Set, error) {
	return a.Connect(ctx, acp.Servers{
		Dirs: acp.Dirs{Cwd: d.o.Dir}, Scratch: ws.Scratch, Host: Alone{Dirs: []string{d.o.Dir}},
	})
}

// servedMode is the mode of what is served: that of the command line, or the strictest.
// What a user allows an editor that asks him is not allowed to a program that does not.
func (a *App) servedMode() (approve.Mode, error) {
	c, err := a.config.read()
	if err != nil {
		return "", faulty(err)
	}
	if c.Given("mode") {
		return approve.Mode(c.Mode), nil
	}
	return approve.ReadOnly, nil
}

// Watch has changed hear of lists that may be others, until stop is called. Who watches
// last is the only one: a desk has one client.
func (d *Desk) Watch(changed func()) (stop func()) {
	d.mu.Lock()
	d.changed = changed
	d.mu.Unlock()
	return func() {
		d.mu.Lock()
		d.changed = nil
		d.mu.Unlock()
	}
}

func (d *Desk) change() {
	d.mu.Lock()
	changed := d.changed
	d.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// Tools implements [serve.Desk].
func (d *Desk) Tools(ctx context.Context) ([]serve.Tool, error) {
	if !d.o.Offer.Workspace && !d.o.Offer.Servers {
		return nil, nil
	}
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	infos, err := r.session.Tools(ctx)
	if err != nil {
		return nil, d.public(err)
	}
	var all []serve.Tool
	for _, i := range infos {
		if i.Origin == nil && d.o.Offer.Workspace && ofWorkspace(i.Name) || i.Origin != nil && d.o.Offer.Servers {
			all = append(all, serve.Tool{Name: i.Name, Description: i.Description, Input: i.Schema, Effect: i.Effect})
		}
	}
	return all, nil
}

// ofWorkspace reports whether a tool is one of those that work in the directory.
func ofWorkspace(name string) bool {
	return slices.ContainsFunc(workspaceTools(harness.Scope{}), func(t tools.Tool) bool { return t.Info().Name == name })
}

// Call implements [serve.Desk].
func (d *Desk) Call(ctx context.Context, c serve.Call) (serve.Result, error) {
	offered, err := d.Tools(ctx)
	switch {
	case err != nil:
		return serve.Result{}, err
	case !slices.ContainsFunc(offered, func(t serve.Tool) bool { return t.Name == c.Tool }):
		return serve.Result{}, serve.ErrNone
	}
	r, err := d.enter(ctx)
	if err != nil {
		return serve.Result{}, err
	}
	result, err := r.session.Call(ctx, c.Tool, c.Arguments, &callSink{progress: c.Progress})
	if err != nil {
		return serve.Result{}, d.public(err)
	}
	out := serve.Result{IsError: result.IsError}
	if result.Text != "" || len(result.Images) == 0 {
		out.Blocks = append(out.Blocks, serve.Block{Type: serve.Text, Text: result.Text})
	}
	for _, i := range result.Images {
		out.Blocks = append(out.Blocks, serve.Block{Type: serve.Image, MIME: i.MIME, Data: i.Data})
	}
	return out, nil
}

// A callSink tells how far a call is, by its title and then by its output.
type callSink struct {
	progress func(serve.Progress)
	titles   titles
	told     int
}

// Emit implements [event.Sink].
func (s *callSink) Emit(e event.Event) error {
	switch e := e.(type) {
	case event.ToolCall:
		if title := s.titles.begun(e); title != "" {
			s.tell(title)
		}
	case event.Output:
		lines := strings.Split(strings.TrimRight(e.Data, "\r\n"), "\n")
		s.tell(tools.Line(lines[len(lines)-1], maxLine))
	}
	return nil
}

// maxLine is how many characters of a line of output are told as progress.
const maxLine = 200

func (s *callSink) tell(message string) {
	s.told++
	s.progress(serve.Progress{Done: float64(s.told), Message: message})
}

// titles are what calls do in words, by their ids. The zero value is ready.
type titles map[string]event.ToolCall

// begun returns what a call does that e lets begin, or "". The title of a tool of the
// workspace, a command or a path, says too little without the icon that an editor shows
// beside it, and so has the name of the tool before it.
func (t *titles) begun(e event.ToolCall) string {
	if *t == nil {
		*t = make(titles)
	}
	c := (*t)[e.ID]
	c.Name, c.Title = cmp.Or(c.Name, e.Name), cmp.Or(e.Title, c.Title)
	(*t)[e.ID] = c
	switch {
	case e.Status != event.InProgress:
		return ""
	case ofWorkspace(c.Name):
		return c.Name + ": " + c.Title
	}
	return c.Title
}

// public returns err as one whose text other agents may read: what a client of a
// session would be told. The rest is in the log.
func (d *Desk) public(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, ok := errors.AsType[*tools.PublicError](err); ok {
		return err
	}
	d.o.Log.Warn().Err(err).Msg("another agent cannot get what it asks for")
	return &tools.PublicError{Text: acp.Explain(err).Message, Err: err}
}
