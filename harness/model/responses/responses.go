// Package responses speaks OpenAI's Responses protocol, in which its models think
// and call tools at once.
//
// Nothing is kept at the provider: each request carries the whole history
// (store is false), and the items that an answer was made of go back to the model
// that wrote them as they came, its encrypted thoughts among them. A history of
// another model is plain text and plain calls (R-HARN-15, R-HARN-31).
package responses

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/gpt"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// defaultBaseURL is where a descriptor without a base URL points.
const defaultBaseURL = "https://api.openai.com/v1"

// Options tune a client. The zero value talks without a key.
type Options struct {
	Key     string            // API key; "" sends no Authorization header
	Headers map[string]string // beside those of the protocol, over which they win
	Client  *http.Client      // default http.DefaultClient
	First   time.Duration     // patience until the first byte; default 300s
	Idle    time.Duration     // patience with a stream that falls silent; default 120s
}

// A Client is one model behind one server.
type Client struct {
	model  model.Descriptor
	kind   gpt.Model
	home   bool // the server is OpenAI's own
	thinks bool // the model thinks, and its thoughts go back to it
	post   stream.Post
	spared spared
}

var _ model.Streamer = (*Client)(nil)

// New returns a client for the model d. It connects to nothing.
func New(d model.Descriptor, o Options) *Client {
	c := &Client{model: d, kind: gpt.Of(d.ID), home: gpt.Home(d.BaseURL), post: stream.Post{
		Provider: cmp.Or(d.Provider, "openai"),
		URL:      stream.Endpoint(cmp.Or(d.BaseURL, defaultBaseURL), "/responses"),
		Client:   o.Client,
		First:    o.First,
		Idle:     o.Idle,
	}}
	c.thinks = c.kind.Thinks() || d.Thinks && !c.kind.Strict()
	c.post.Authorize("Authorization", "Bearer ", o.Key, o.Headers)
	return c
}

// Stream answers req as [model.Streamer] says. With an error the reply holds the
// text and the thoughts that had arrived, and no calls: they may be cut short.
//
// A request that the server refuses for something that an answer can do without
// is sent once more without it.
func (c *Client) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	for {
		reply, again, err := c.ask(ctx, req, sink)
		if !again {
			return reply, err
		}
	}
}

// ask sends one request, and says whether it is worth sending again without what the
// server has refused.
func (c *Client) ask(ctx context.Context, req *model.Request, sink func(model.Event) error) (reply *model.Reply, again bool, err error) {
	p := c.post
	p.Body = c.body(req)
	a := &answer{Teller: stream.Teller{Sink: sink}, ref: c.model.Ref()}
	h, err := p.Do(ctx, func(data []byte) (stream.Progress, error) { return a.event(&p, data) })
	reply = a.reply(h.Get("X-Request-Id"), err == nil)
	a.Complete(err, reply.RequestID)
	e, failed := a.Failure(err)
	if failed && e.Status == http.StatusNotFound && e.Code == "" {
		e.Message += `; a server without the Responses protocol wants kind = "openai-chat"`
	}
	return reply, failed && !e.Partial && c.without(req, e), err
}

// GenerateContent answers as [model.Generate] says.
func (c *Client) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	return model.Generate(ctx, c, m, o...)
}

// Call answers a single prompt.
func (c *Client) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, c, prompt, o...)
}
