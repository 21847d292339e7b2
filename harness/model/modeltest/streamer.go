package modeltest

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// A Streamer gives replies in order, in this process. The zero value has none
// and answers with errors. It is safe for concurrent use.
type Streamer struct {
	script script

	mu   sync.Mutex // guards the field below
	reqs []model.Request
}

var _ model.Streamer = (*Streamer)(nil)

// NewStreamer returns a streamer with replies.
func NewStreamer(replies ...Reply) *Streamer {
	s := &Streamer{}
	s.Add(replies...)
	return s
}

// Add appends replies to those that are left.
func (s *Streamer) Add(replies ...Reply) { s.script.add(replies) }

// Requests returns the requests so far. Their messages are those of the caller.
func (s *Streamer) Requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]model.Request(nil), s.reqs...)
}

// Stream gives the next reply.
func (s *Streamer) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	s.mu.Lock()
	s.reqs = append(s.reqs, *req)
	s.reqs[len(s.reqs)-1].Messages = append([]llms.MessageContent(nil), req.Messages...)
	s.mu.Unlock()
	r, err := s.script.next(req.LastText())
	if err != nil {
		return nil, &model.Error{Kind: model.Invalid, Provider: "modeltest", Message: err.Error()}
	}
	if r.Status != 0 {
		h := http.Header{}
		for k, v := range r.Header {
			h.Set(k, v)
		}
		return nil, fault(r.Status, h, r.Code, r.Error)
	}
	p := player{ctx: ctx, delay: r.Delay, sink: sink, reply: &model.Reply{Model: ModelID}}
	return p.play(&r)
}

func fault(status int, h http.Header, code, message string) *model.Error {
	p := stream.Post{Provider: "modeltest"}
	e := map[string]any{"message": message, "type": code}
	return p.Fault(status, h, []byte(JSON(map[string]any{"error": e})))
}

// GenerateContent answers as [model.Generate] says.
func (s *Streamer) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	return model.Generate(ctx, s, m, o...)
}

// Call answers a single prompt.
func (s *Streamer) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, s, prompt, o...)
}

// A player plays one reply to a sink.
type player struct {
	ctx   context.Context
	delay time.Duration
	sink  func(model.Event) error
	told  bool
	reply *model.Reply
}

func (p *player) play(r *Reply) (*model.Reply, error) {
	if err := p.pieces(r); err != nil {
		return p.reply, err
	}
	for _, t := range r.Tools {
		p.reply.Parts = append(p.reply.Parts, llms.ToolCall{ID: t.ID, Type: "function",
			FunctionCall: &llms.FunctionCall{Name: t.Name, Arguments: cmp.Or(t.Args, "{}")}})
	}
	p.reply.Stop, p.reply.RawStop = r.stop(), string(r.stop())
	p.reply.Usage = model.Usage{Input: 100, Output: size(r) / bytesPerToken, Known: true}
	if r.Usage != nil {
		p.reply.Usage = *r.Usage
	}
	return p.reply, nil
}

func (p *player) pieces(r *Reply) error {
	for _, s := range r.Think {
		if err := p.tell(model.Think(s)); err != nil {
			return err
		}
	}
	if t := strings.Join(r.Think, ""); t != "" {
		p.reply.Parts = append(p.reply.Parts, model.Reasoning{TextContent: llms.TextContent{Text: t}, Provider: ModelID, Signature: sign(ModelID, t)})
	}
	text := len(p.reply.Parts)
	for i, s := range r.Text {
		if err := p.tell(model.Text(s)); err != nil {
			return err
		}
		p.reply.Parts = append(p.reply.Parts[:text], llms.TextContent{Text: strings.Join(r.Text[:i+1], "")})
	}
	for i, t := range r.Tools {
		if err := p.tell(model.ToolStart{Index: i, ID: t.ID, Name: t.Name}); err != nil {
			return err
		}
		for _, part := range halves(t.Args) {
			if part == "" {
				continue
			}
			if err := p.tell(model.ToolArgs{Index: i, Fragment: part}); err != nil {
				return err
			}
		}
	}
	return p.ending(r)
}

// ending is the error in which r ends, if it does.
func (p *player) ending(r *Reply) error {
	switch {
	case r.Hang:
		<-p.ctx.Done()
		return p.canceled()
	case r.Cut, r.EOF:
		return &model.Error{Kind: model.Connection, Provider: "modeltest", Partial: p.told, Message: "the connection was lost in the middle of the answer"}
	case r.Error != "":
		e := fault(http.StatusOK, nil, r.Code, r.Error)
		e.Partial = p.told
		return e
	}
	return nil
}

func (p *player) tell(e model.Event) error {
	if p.delay > 0 {
		select {
		case <-p.ctx.Done():
		case <-time.After(p.delay):
		}
	}
	if p.ctx.Err() != nil {
		return p.canceled()
	}
	p.told = true
	return p.sink(e)
}

func (p *player) canceled() error {
	return &model.Error{Kind: model.Canceled, Provider: "modeltest", Partial: p.told, Err: context.Cause(p.ctx)}
}
