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
		sp.Choice = &harness.Choice{Model: offline.Name, Mode: mode}
		sp.Changed = d.change
		r.session, err = a.engine.Open(ctx, sp)
		return r, err
	})
}

func (d *Desk) spec(ws acp.Workspace) harness.Spec {
	return harness.Spec{FS: ws.FS, Runner: ws.Runner, Scratch: ws.Scratch, Client: d.o.Client}
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

// Watch has changed hear of lists that may be others, until stop is called.
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
	own := make(map[string]bool)
	for _, t := range workspaceTools(harness.Scope{}) {
		own[t.Info().Name] = true
	}
	var all []serve.Tool
	for _, i := range infos {
		if i.Origin == nil && d.o.Offer.Workspace && own[i.Name] || i.Origin != nil && d.o.Offer.Servers {
			all = append(all, serve.Tool{Name: i.Name, Description: i.Description, Input: i.Schema, Effect: i.Effect})
		}
	}
	return all, nil
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
	told     int
}

// Emit implements [event.Sink].
func (s *callSink) Emit(e event.Event) error {
	switch e := e.(type) {
	case event.ToolCall:
		if e.Status == event.InProgress {
			s.tell(e.Title)
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

// wordsArgument is what a skill is used with.
const wordsArgument = "message"

// Prompts implements [serve.Prompter]: the skills, then the prompts of servers. The
// first of a name counts.
func (d *Desk) Prompts(ctx context.Context) ([]serve.Prompt, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	skills, err := d.skills(r)
	if err != nil {
		return nil, d.public(err)
	}
	var all []serve.Prompt
	for _, s := range skills {
		all = append(all, serve.Prompt{Name: s.Name, Description: s.Description, Arguments: []server.Argument{
			{Name: wordsArgument, Description: "What to do by the skill"},
		}})
	}
	if r.servers == nil {
		return all, nil
	}
	for _, p := range r.servers.Prompts() {
		if !slices.ContainsFunc(all, func(other serve.Prompt) bool { return other.Name == p.Command }) {
			all = append(all, serve.Prompt{Name: p.Command, Description: p.Description, Arguments: p.Arguments})
		}
	}
	return all, nil
}

// skills returns the skills on offer, by name.
func (d *Desk) skills(r *room) ([]prompt.Skill, error) {
	if !d.o.Offer.Skills {
		return nil, nil
	}
	c, err := r.app.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	all := told(r.app.find(c, harness.Place{Dir: d.o.Dir}))
	slices.SortStableFunc(all, func(a, b prompt.Skill) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Prompt implements [serve.Prompter].
func (d *Desk) Prompt(ctx context.Context, name string, arguments map[string]string) ([]server.Part, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	skills, err := d.skills(r)
	if err != nil {
		return nil, d.public(err)
	}
	for _, s := range skills {
		if s.Name == name {
			text := strings.TrimSpace(s.Full() + "\n\n" + arguments[wordsArgument])
			return []server.Part{{Role: "user", Text: text}}, nil
		}
	}
	if r.servers == nil || !slices.ContainsFunc(r.servers.Prompts(), func(p server.Prompt) bool { return p.Command == name }) {
		return nil, serve.ErrNone
	}
	return r.servers.Prompt(ctx, name, arguments)
}

// Resources implements [serve.Library].
func (d *Desk) Resources(ctx context.Context) ([]server.Resource, error) {
	r, err := d.enter(ctx)
	if err != nil || r.servers == nil {
		return nil, err
	}
	return r.servers.Resources(), nil
}

// Read implements [serve.Library].
func (d *Desk) Read(ctx context.Context, uri string) ([]server.Part, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return nil, err
	}
	if r.servers == nil {
		return nil, serve.ErrNone
	}
	parts, owned, err := r.servers.Read(ctx, uri)
	if err == nil && !owned {
		err = serve.ErrNone
	}
	return parts, err
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

// An opened is something that the first who wants it opens. When that fails, the next
// one tries again.
type opened[T any] struct {
	token  chan struct{} // held by who looks at the fields below, also while it is opened
	have   bool
	closed bool
	value  T
}

func newOpened[T any]() *opened[T] { return &opened[T]{token: make(chan struct{}, 1)} }

var errDeskClosed = errors.New("the desk is closed")

// get returns the value, which open opens unless that was done.
func (o *opened[T]) get(ctx context.Context, open func() (T, error)) (none T, err error) {
	if err := o.hold(ctx); err != nil {
		return none, err
	}
	defer func() { <-o.token }()
	switch {
	case o.closed:
		return none, errDeskClosed
	case o.have:
		return o.value, nil
	}
	v, err := open()
	if err != nil {
		return none, err
	}
	o.value, o.have = v, true
	return v, nil
}

// close closes the value with f, if it was opened. It can be opened no more.
func (o *opened[T]) close(ctx context.Context, f func(T) error) error {
	if err := o.hold(ctx); err != nil {
		return err
	}
	defer func() { <-o.token }()
	if o.closed || !o.have {
		o.closed = true
		return nil
	}
	o.closed = true
	return f(o.value)
}

func (o *opened[T]) hold(ctx context.Context) error {
	select {
	case o.token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
