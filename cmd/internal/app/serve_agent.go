package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// maxTalks is how many sessions of the agent stay open: what a server holds for them
// is at hand when they go on.
const maxTalks = 8

// closingTalk is how long a session may take to end that makes room for another.
const closingTalk = 10 * time.Second

// A chat is the sessions in which the agent is asked.
type chat struct {
	desk    *Desk
	app     *App
	opening chan struct{} // holds a token while a session is opened, so that none is twice

	mu    sync.Mutex // guards the field below
	talks []*talk    // the one that was used last comes last
}

// A talk is an open session.
type talk struct {
	session *harness.Session
	space   acp.Workspace
	users   int // questions that are being answered
}

func (t *talk) close(ctx context.Context) error {
	return errors.Join(t.session.Close(ctx), t.space.Close())
}

func (c *chat) close(ctx context.Context) error {
	err := c.app.Close(ctx) // its sessions too
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, t := range c.talks {
		err = errors.Join(err, t.space.Close())
	}
	return err
}

// Ask implements [serve.Asker].
func (d *Desk) Ask(ctx context.Context, q serve.Question, w serve.Watcher) (serve.Answer, error) {
	c, err := d.chat.get(ctx, func() (*chat, error) {
		a, err := d.o.Open(Stored)
		if err != nil {
			return nil, d.public(faulty(err))
		}
		return &chat{desk: d, app: a, opening: make(chan struct{}, 1)}, nil
	})
	if err != nil {
		return serve.Answer{}, err
	}
	t, err := c.take(ctx, q.Session)
	if err != nil {
		return serve.Answer{}, err
	}
	defer c.leave(ctx, t)
	return c.answer(ctx, t.session, q.Prompt, w)
}

// Effect implements [serve.Asker].
func (d *Desk) Effect(ctx context.Context) (tools.Effect, error) {
	r, err := d.enter(ctx)
	if err != nil {
		return 0, err
	}
	if r.session.Choice().Mode == approve.ReadOnly {
		return tools.Reads | tools.Fetches, nil
	}
	return tools.Acts, nil
}

// take returns a session to ask in: the one with that id, which goes on in the
// directory of the desk, or a new one.
func (c *chat) take(ctx context.Context, id string) (*talk, error) {
	if id != "" && harness.CheckID(id) != nil {
		return nil, noSession(id)
	}
	select {
	case c.opening <- struct{}{}:
		defer func() { <-c.opening }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t := c.find(id); t != nil {
		return t, nil
	}
	space, err := c.app.Workspace(c.desk.o.Dir)
	if err != nil {
		return nil, c.desk.public(err)
	}
	session, err := c.open(ctx, id, space)
	if err != nil {
		return nil, errors.Join(err, space.Close())
	}
	t := &talk{session: session, space: space, users: 1}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.talks = append(c.talks, t)
	return t, nil
}

func noSession(id string) error {
	return tools.Publicf("there is no session %.100q; leave session out to begin one", id)
}

// find returns an open session, for one more user, or nil.
func (c *chat) find(id string) *talk {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.talks, func(t *talk) bool { return t.session.ID() == id })
	if i < 0 {
		return nil
	}
	t := c.talks[i]
	c.talks = append(slices.Delete(c.talks, i, i+1), t)
	t.users++
	return t
}

// open opens a session in space, or loads the one with that id.
func (c *chat) open(ctx context.Context, id string, space acp.Workspace) (*harness.Session, error) {
	sp := c.desk.spec(space)
	sp.ID = id
	var err error
	if sp.Servers, err = c.desk.connect(ctx, c.app, space); err != nil {
		return nil, c.desk.public(err)
	}
	var s *harness.Session
	if id != "" {
		s, err = c.app.engine.Load(ctx, sp)
	} else {
		s, err = c.begin(ctx, sp)
	}
	if err == nil {
		return s, nil
	}
	if sp.Servers != nil {
		err = errors.Join(err, sp.Servers.Close(ctx)) // nobody has been contacted
	}
	if errors.Is(err, harness.ErrNotFound) {
		return nil, noSession(id)
	}
	return nil, c.desk.public(err)
}

// begin opens a new session, in the mode that is served.
func (c *chat) begin(ctx context.Context, sp harness.Spec) (*harness.Session, error) {
	choice, err := c.app.Choice(ctx)
	if err != nil {
		return nil, err
	}
	if choice.Mode, err = c.app.servedMode(); err != nil {
		return nil, err
	}
	sp.Choice = &choice
	return c.app.engine.Open(ctx, sp)
}

// leave closes sessions that nobody asks in while there are too many of them, those
// first that were not used for longest.
func (c *chat) leave(ctx context.Context, t *talk) {
	c.mu.Lock()
	t.users--
	var surplus []*talk
	for i := 0; i < len(c.talks) && len(c.talks) > maxTalks; {
		if old := c.talks[i]; old.users == 0 {
			surplus = append(surplus, old)
			c.talks = slices.Delete(c.talks, i, i+1)
			continue
		}
		i++
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTalk)
	defer cancel()
	for _, old := range surplus {
		if err := old.close(ctx); err != nil {
			c.app.o.Log.Warn().Err(err).Str("session", old.session.ID()).Msg("a session of the agent did not end in order")
		}
	}
}

// answer runs a turn.
func (c *chat) answer(ctx context.Context, s *harness.Session, words string, w serve.Watcher) (serve.Answer, error) {
	in := harness.Input{Blocks: []event.Block{{Text: words}}}
	choice, err := c.demanded(ctx, s)
	if err != nil {
		return serve.Answer{}, c.desk.public(err)
	}
	in.Choice = choice
	slot, err := s.Enter()
	if err != nil {
		return serve.Answer{}, c.failed(s, err)
	}
	sink := &turnSink{watcher: w}
	out, err := slot.Prompt(ctx, in, sink)
	switch {
	case ctx.Err() != nil:
		return serve.Answer{}, ctx.Err()
	case err != nil:
		return serve.Answer{}, c.failed(s, err)
	}
	if out.Unasked > 0 {
		w.Log(serve.Warning, fmt.Sprintf("%d calls needed a permission that nobody could give; \"lorimer mcp serve --mode accept-edits\" or \"--mode auto\" allows more.", out.Unasked))
	}
	return serve.Answer{Text: sink.answer(), Session: s.ID(), Stop: string(out.Stop)}, nil
}

// failed explains why a turn failed; what was said stays in the session.
func (c *chat) failed(s *harness.Session, err error) error {
	err = c.desk.public(err)
	if p, ok := errors.AsType[*tools.PublicError](err); ok {
		return &tools.PublicError{Text: fmt.Sprintf("%s (session %s)", p.Text, s.ID()), Err: p.Err}
	}
	return err
}

// demanded returns the options that a turn has, where they are not those of its
// session: the mode is what is served, whatever the session had elsewhere, and the
// model is that of the command line if it names one.
func (c *chat) demanded(ctx context.Context, s *harness.Session) (*harness.Choice, error) {
	cfg, err := c.app.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	had := s.Choice()
	next := had
	if next.Mode, err = c.app.servedMode(); err != nil {
		return nil, err
	}
	if cfg.Given("model") {
		now, err := c.app.Choice(ctx)
		if err != nil {
			return nil, err
		}
		next.Model = now.Model
	}
	if next == had {
		return nil, nil
	}
	return &next, nil
}

// A turnSink gathers the answer of a turn and tells how far that is.
type turnSink struct {
	watcher  serve.Watcher
	titles   titles
	messages []*talked // that hold
}

// A talked is a message of the agent.
type talked struct {
	id   string
	text strings.Builder
}

// Emit implements [event.Sink].
func (s *turnSink) Emit(e event.Event) error {
	switch e := e.(type) {
	case event.Text:
		s.add(e)
		s.watcher.Text(s.answer())
	case event.Done:
		if e.Replaced() {
			s.messages = slices.DeleteFunc(s.messages, func(m *talked) bool { return m.id == e.MessageID })
		}
	case event.ToolCall:
		if title := s.titles.begun(e); title != "" {
			s.watcher.Does(title)
		}
	case event.Notice:
		s.watcher.Log(serve.Info, e.Text)
	case event.Retry:
		s.watcher.Log(serve.Info, e.Reason)
	}
	return nil
}

func (s *turnSink) add(e event.Text) {
	if n := len(s.messages); n == 0 || s.messages[n-1].id != e.MessageID {
		s.messages = append(s.messages, &talked{id: e.MessageID})
	}
	s.messages[len(s.messages)-1].text.WriteString(e.Text)
}

// answer is the last message: what came before were remarks between the steps.
func (s *turnSink) answer() string {
	if len(s.messages) == 0 {
		return ""
	}
	return s.messages[len(s.messages)-1].text.String()
}
