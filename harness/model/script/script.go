package script

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	provider = "script"
	mainKind = "main"
	anyKind  = "*"
	maxHead  = 80 // code points of the last message in an error
)

// A Script is a file of answers and how far it has been used. It outlives the
// models that are opened on it, so that a model that is built anew goes on
// where the one before it stopped. It is safe for concurrent use.
type Script struct {
	name string

	mu    sync.Mutex // guards the fields below
	lines []*line
	calls int // tool calls made so far, for their ids
}

// Descriptor describes the model. Its ref is the name under which a user
// chooses it.
func (s *Script) Descriptor() model.Descriptor {
	return model.Descriptor{Kind: provider, ID: s.ref(), Name: "Script", Window: 128_000, Images: true, Thinks: true}
}

// ref names s and what it makes.
func (s *Script) ref() string { return provider + ":" + s.name }

// Open returns a model that answers from s. It fails where the script says so.
func (s *Script) Open(ctx context.Context) (model.Streamer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if l.failed < int(l.FailBuild) {
			l.failed++
			return nil, &model.Error{Kind: model.Unavailable, Provider: provider, Message: fmt.Sprintf("%s:%d: fail_build", s.name, l.number)}
		}
		// A build is due to fail only after the answers before it.
		if l.Repeat != forever && l.used < int(l.Repeat) && !l.empty() && l.Match.Kind == mainKind {
			break
		}
	}
	return model.Func(s.stream), nil
}

// stream answers one request.
func (s *Script) stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	l, ids, err := s.take(req)
	if err != nil {
		return nil, err
	}
	p := player{ctx: ctx, sink: sink, ref: s.ref(), delay: time.Duration(l.DelayMS) * time.Millisecond}
	if err := p.play(l, ids); err != nil {
		return p.reply(l), err
	}
	if e := l.err(); e != nil {
		return p.reply(l), e
	}
	return p.reply(l), nil
}

// take returns the line for req, used once more, with ids for its calls.
func (s *Script) take(req *model.Request) (*line, []string, error) {
	kind, last := cmp.Or(req.Kind, mainKind), req.LastText()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		m := l.Match
		if l.empty() && l.FailBuild > 0 || l.used >= int(l.Repeat) ||
			m.Kind != anyKind && m.Kind != kind ||
			m.Session != "" && m.Session != req.Session ||
			!strings.Contains(last, m.Contains) {
			continue
		}
		l.used++
		var ids []string
		for _, t := range l.Tools {
			s.calls++
			ids = append(ids, cmp.Or(t.ID, "call_"+strconv.Itoa(s.calls)))
		}
		return l, ids, nil
	}
	return nil, nil, &model.Error{
		Kind: model.Invalid, Provider: provider, Final: true,
		Message: fmt.Sprintf("no unused line of %s fits the request (kind %q, session %q, last message %q)", s.name, kind, req.Session, head(last)),
	}
}

// head returns the beginning of text.
func head(text string) string {
	runes := []rune(text)
	if len(runes) <= maxHead {
		return text
	}
	return string(runes[:maxHead]) + "…"
}

// A player sends a line piece by piece, and keeps what it has sent.
type player struct {
	ctx   context.Context
	sink  func(model.Event) error
	ref   string
	delay time.Duration
	think strings.Builder
	text  strings.Builder
	calls []llms.ToolCall
}

func (p *player) play(l *line, ids []string) error {
	for _, t := range l.Think {
		if err := p.send(model.Think(t)); err != nil {
			return err
		}
		p.think.WriteString(t)
	}
	for _, t := range l.Text {
		if err := p.send(model.Text(t)); err != nil {
			return err
		}
		p.text.WriteString(t)
	}
	for i, t := range l.Tools {
		if err := p.send(model.ToolStart{Index: i, ID: ids[i], Name: t.Name}); err != nil {
			return err
		}
		if err := p.sink(model.ToolArgs{Index: i, Fragment: string(t.Args)}); err != nil {
			return err
		}
		p.calls = append(p.calls, llms.ToolCall{
			ID: ids[i], Type: "function", FunctionCall: &llms.FunctionCall{Name: t.Name, Arguments: string(t.Args)},
		})
	}
	return p.pause(0)
}

// send passes e on after the delay of the line.
func (p *player) send(e model.Event) error {
	if err := p.pause(p.delay); err != nil {
		return err
	}
	return p.sink(e)
}

// pause waits for d; the error says that the request was cancelled.
func (p *player) pause(d time.Duration) error {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-p.ctx.Done():
		}
	}
	if p.ctx.Err() == nil {
		return nil
	}
	return &model.Error{Kind: model.Canceled, Provider: provider, Message: "the request was cancelled", Err: context.Cause(p.ctx)}
}

// reply returns what has been sent.
func (p *player) reply(l *line) *model.Reply {
	r := &model.Reply{Stop: model.Stop(l.Stop), RawStop: l.Stop, Model: provider}
	if p.think.Len() > 0 {
		r.Parts = append(r.Parts, model.Reasoning{TextContent: llms.TextContent{Text: p.think.String()}, Provider: p.ref})
	}
	if p.text.Len() > 0 {
		r.Parts = append(r.Parts, llms.TextContent{Text: p.text.String()})
	}
	for _, c := range p.calls {
		r.Parts = append(r.Parts, c)
	}
	if r.Stop == "" {
		r.Stop = model.StopEnd
		if len(p.calls) > 0 {
			r.Stop = model.StopTools
		}
	}
	if u := l.Usage; u != nil {
		r.Usage = model.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning, Known: true}
	}
	return r
}
