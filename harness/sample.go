package harness

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/estimate"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/retry"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// What the user is asked when a server wants the model to answer.
//
//go:embed text/sample.md
var sampleText string

const (
	maxSample = 4096      // tokens of an answer for a server
	maxAsked  = 2000      // characters of a request that the user is shown
	maxSaid   = 256 << 10 // bytes of text of a request

	maxPictured = 5 << 20 // bytes of the pictures that a server gives at once
)

// A running is a call of a server's tool that runs. What the server asks meanwhile is
// counted for it.
type running struct {
	server string
	t      *turn
	c      *call
	after  func(f func()) (stop func() bool) // calls f when the call has ended
	asks   sync.WaitGroup                    // requests that are answered; begun while the call is among those of its session

	mu   sync.Mutex  // guards used
	used model.Usage // by what the server has asked
}

// add counts what a request has used.
func (r *running) add(u model.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = plus(r.used, u)
}

// execute runs a call, and lets its server ask meanwhile. What it has asked ends with
// the call, and is waited for: it uses the model of the turn, and is counted for it.
func (t *turn) execute(ctx context.Context, c *call, in tools.Call) (tools.Result, error) {
	if c.info.Origin == nil {
		return c.tool.Run(ctx, in)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &running{server: c.info.Origin.Server, t: t, c: c}
	r.after = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	t.s.enter(r)
	defer func() {
		t.s.exit(r)
		cancel()
		r.asks.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		c.used = r.used
	}()
	return c.tool.Run(ctx, in)
}

func (s *Session) enter(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = append(s.running, r)
}

func (s *Session) exit(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = slices.DeleteFunc(s.running, func(o *running) bool { return o == r })
}

// asking is caller for a request, after which the call is not over before its asks are
// done.
func (s *Session) asking(name string) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.caller(name)
	if r != nil {
		r.asks.Add(1)
	}
	return r
}

// caller returns the last of the calls of a server that run, or nil. Its caller holds
// s.mu.
func (s *Session) caller(name string) *running {
	for _, r := range slices.Backward(s.running) {
		if r.server == name {
			return r
		}
	}
	return nil
}

// Calling returns the id of the tool call that the MCP server called name is at work on,
// the last one of several, and a context that ends with it and with ctx; "" is none. The
// caller calls stop.
func (s *Session) Calling(ctx context.Context, name string) (during context.Context, id string, stop func()) {
	during, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	r := s.caller(name)
	s.mu.Unlock()
	if r == nil {
		return during, "", cancel
	}
	forget := r.after(cancel)
	return during, r.c.ID, func() {
		forget()
		cancel()
	}
}

// Sample has the model of the session answer a request of the MCP server called name.
// The user is asked each time. It belongs to a call of the server that runs: it is counted
// with it and ends with it. Without such a call, or without anybody to ask, it is
// [server.ErrRefused]. The model gets no tools, and nothing of the conversation.
func (s *Session) Sample(ctx context.Context, name string, req server.Sampling) (server.Sampled, error) {
	r := s.asking(name)
	if r != nil {
		defer r.asks.Done()
	}
	switch {
	case r == nil, s.spec.Approver == nil:
		return server.Sampled{}, fmt.Errorf("there is nobody to ask: %w", server.ErrRefused)
	case r.t.lease.harness == nil:
		return server.Sampled{}, fmt.Errorf("there is no model here: %w", server.ErrRefused)
	}
	if err := sized(req); err != nil { // before the user is asked in vain
		return server.Sampled{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer r.after(cancel)()
	if err := r.allowed(ctx, s.spec.Approver, req); err != nil {
		return server.Sampled{}, err
	}
	return r.sample(ctx, req)
}

// sized returns an error for a request that is too long.
func sized(req server.Sampling) error {
	n, data := len(req.System), 0
	for _, p := range req.Messages {
		n, data = n+len(p.Text), data+len(p.Data)
	}
	switch {
	case n > maxSaid:
		return fmt.Errorf("the request has %d bytes of text; %d are the most", n, maxSaid)
	case data > maxPictured:
		return fmt.Errorf("the request has %d bytes of data; %d are the most", data, maxPictured)
	}
	return nil
}

// allowed asks the user whether the model may answer req. What it says stands indented,
// so that nothing in it is taken for a word of this program.
func (r *running) allowed(ctx context.Context, a approve.Approver, req server.Sampling) error {
	name := tools.Line(r.server, maxNamed)
	said := []string{req.System}
	for _, p := range req.Messages {
		if len(p.Data) > 0 {
			p.Text = unfit(p.MIME, len(p.Data))
		}
		said = append(said, p.Text)
	}
	shown := tools.Visible(clip(strings.TrimSpace(strings.Join(said, "\n\n")), maxAsked))
	shown = strings.ReplaceAll(shown, "\n", "\n    ")
	answer, err := a.Approve(ctx, approve.Question{
		CallID: r.c.ID, Tool: r.c.Name, Kind: tools.KindOther,
		Plan:   tools.Plan{Title: "Let the MCP server " + name + " ask the model"},
		Reason: strings.NewReplacer("NAME", name, "TEXT", shown).Replace(strings.TrimSpace(sampleText)),
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("asking the user: %w", err)
	case answer != approve.AllowOnce && answer != approve.AllowAlways:
		return server.ErrRefused
	}
	return nil
}

// errNoSample is what a server hears of a model that does not answer: why is not its
// business.
var errNoSample = errors.New("the model did not answer")

// sample asks the model.
func (r *running) sample(ctx context.Context, req server.Sampling) (server.Sampled, error) {
	d := r.t.snap.Model
	limit := min(cmp.Or(req.Limit, maxSample), maxSample)
	asked := &model.Request{
		Kind: "sampling", Session: r.t.s.id, Signature: r.t.sig.Digest(),
		System: valid(req.System), Messages: r.messages(req.Messages),
		MaxTokens: limit, Effort: d.Effort(model.EffortOff),
	}
	size := estimate.Text(asked.System)
	for _, p := range req.Messages {
		size = size.Add(estimate.Text(p.Text))
	}
	err := fits(d, size)
	var reply *model.Reply
	if err == nil {
		reply, err = retry.Wrap(r.t.lease.model, retry.Policy{}).Stream(ctx, asked, func(model.Event) error { return nil })
	}
	if reply != nil {
		r.add(reply.Usage.Plausible())
	}
	switch {
	case ctx.Err() != nil:
		return server.Sampled{}, ctx.Err()
	case err != nil, reply == nil:
		r.t.log.Warn().Err(err).Str("server", r.server).Msg("the model did not answer a server")
		return server.Sampled{}, errNoSample
	}
	out := server.Sampled{Model: d.ID, Text: spoken(reply.Parts), Stop: "endTurn"}
	if reply.Stop == model.StopLength {
		out.Stop = "maxTokens"
	}
	return out, nil
}

// messages returns parts as the model takes them: user and assistant in turn, and
// pictures where it can see them.
func (r *running) messages(parts []server.Part) (out []llms.MessageContent) {
	for _, p := range parts {
		role := llms.ChatMessageTypeHuman
		if p.Role == "assistant" {
			role = llms.ChatMessageTypeAI
		}
		var said llms.ContentPart = llms.TextContent{Text: valid(p.Text)}
		if len(p.Data) > 0 {
			mime := model.PictureType(p.MIME, p.Data)
			said = llms.TextContent{Text: unfit(mime, len(p.Data))}
			if role == llms.ChatMessageTypeHuman && r.t.snap.Model.Sees(mime) {
				said = llms.BinaryContent{MIMEType: mime, Data: p.Data}
			}
		}
		if n := len(out); n > 0 && out[n-1].Role == role {
			out[n-1].Parts = append(out[n-1].Parts, said)
			continue
		}
		out = append(out, llms.MessageContent{Role: role, Parts: []llms.ContentPart{said}})
	}
	return out
}

// spoken returns the text of an answer.
func spoken(parts []llms.ContentPart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case llms.TextContent:
			b.WriteString(p.Text)
		case model.SignedText:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
