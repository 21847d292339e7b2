// Package anthropic speaks the Messages protocol, to its inventor and to servers
// that offer the same.
//
// A request is cut for the prompt cache: its marks stand where the next request
// will look for them. Signed thoughts go back as they came, arguments of tools
// byte for byte.
package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// defaultBaseURL is where a descriptor without a base URL points.
const defaultBaseURL = "https://api.anthropic.com"

// version is the protocol that this package speaks.
const version = "2023-06-01"

// Options tune a client. The zero value talks without a key.
type Options struct {
	Key     string            // API key; "" sends no x-api-key header
	Headers map[string]string // beside those of the protocol, over which they win
	Client  *http.Client      // default http.DefaultClient
	First   time.Duration     // patience until the first byte; default 300s
	Idle    time.Duration     // patience with a stream that falls silent; default 120s
}

// A Client is one model behind one server.
type Client struct {
	model  model.Descriptor
	family family
	post   stream.Post // without a body
}

var _ model.Streamer = (*Client)(nil)

// New returns a client for the model d. It connects to nothing.
func New(d model.Descriptor, o Options) *Client {
	c := &Client{model: d, family: familyOf(d.ID), post: stream.Post{
		Provider: cmp.Or(d.Provider, "anthropic"),
		URL:      endpoint(d.BaseURL),
		Header:   http.Header{"Anthropic-Version": {version}},
		Client:   o.Client,
		First:    o.First,
		Idle:     o.Idle,
	}}
	if c.family.interleave {
		c.post.Header.Set("Anthropic-Beta", "interleaved-thinking-2025-05-14")
	}
	c.post.Authorize("X-Api-Key", "", o.Key, o.Headers)
	return c
}

// endpoint is the address of messages under base, which may name the version and
// may carry a query.
func endpoint(base string) string {
	base, query, found := strings.Cut(cmp.Or(base, defaultBaseURL), "?")
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1") + "/v1/messages"
	if found {
		return base + "?" + query
	}
	return base
}

// Stream answers req as [model.Streamer] says. With an error the reply holds the
// text and the whole thoughts that had arrived, and no calls: they may be cut
// short. A paused answer ends with [model.StopPause]; the same request with the
// reply appended goes on with it.
func (c *Client) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	p := c.post
	p.Body = c.body(req)
	a := &answer{Teller: stream.Teller{Sink: sink}, ref: c.model.Ref()}
	h, err := p.Do(ctx, func(data []byte) (stream.Progress, error) { return a.event(&p, data) })
	if err == nil {
		err = a.finish()
	}
	reply := a.reply(cmp.Or(h.Get("Request-Id"), h.Get("X-Request-Id")), err == nil)
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
