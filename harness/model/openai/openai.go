// Package openai speaks the chat completions protocol, to its inventor and to
// everyone who serves something like it.
//
// Servers differ in small things; what is known of them is a [Profile], a row of
// data. Answers are read tolerantly, since no two servers cut the calls of tools
// into pieces alike; requests are written strictly, and in the same bytes for the
// same request (R-HARN-14).
package openai

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// defaultBaseURL is where a descriptor without a base URL points.
const defaultBaseURL = "https://api.openai.com/v1"

// Options tune a client. The zero value talks without a key.
type Options struct {
	Key     string            // API key; "" sends no Authorization header
	Headers map[string]string // beside those of the protocol, over which they win
	Client  *http.Client      // default http.DefaultClient
	Profile *Profile          // what the server wants; default [ProfileFor] of the model
	First   time.Duration     // patience until the first byte; default 300s
	Idle    time.Duration     // patience with a stream that falls silent; default 120s
}

// A Client is one model behind one server.
type Client struct {
	model   model.Descriptor
	profile Profile
	post    stream.Post // without a body
}

var _ model.Streamer = (*Client)(nil)

// New returns a client for the model d. It connects to nothing.
func New(d model.Descriptor, o Options) *Client {
	c := &Client{model: d, post: stream.Post{
		Provider: cmp.Or(d.Provider, "openai"),
		URL:      stream.Endpoint(cmp.Or(d.BaseURL, defaultBaseURL), "/chat/completions"),
		Client:   o.Client,
		First:    o.First,
		Idle:     o.Idle,
	}}
	if o.Profile != nil {
		c.profile = *o.Profile
	} else {
		c.profile = ProfileFor(d)
	}
	c.post.Authorize("Authorization", "Bearer ", o.Key, o.Headers)
	return c
}

// Stream answers req as [model.Streamer] says. With an error the reply holds the
// text and the thoughts that had arrived, and no calls: they may be cut short.
func (c *Client) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	p := c.post
	p.Body = c.body(req)
	a := newAnswer(c.model.Ref(), &c.profile, sink)
	h, err := p.Do(ctx, func(data []byte) (stream.Progress, error) { return a.chunk(&p, data) })
	if err == nil {
		err = a.finish(&p)
	}
	reply := a.reply(h.Get("X-Request-Id"), err == nil)
	a.Complete(err, reply.RequestID)
	return reply, err
}

// GenerateContent answers as [model.Generate] says.
func (c *Client) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	return model.Generate(ctx, c, m, o...)
}

// Call answers a single prompt.
func (c *Client) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, c, prompt, o...)
}
