// Package gemini speaks Google's own protocol, generateContent, as a stream.
//
// A model of Google signs what it thinks: the signatures stand on calls, on text
// and on thoughts, and go back in the part in which they came. Calls have a name
// and rarely an id; ids that we make up stay on our side of the wire.
package gemini

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// defaultBaseURL is where a descriptor without a base URL points.
const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Options tune a client. The zero value talks without a key.
type Options struct {
	Key     string            // API key; "" sends no X-Goog-Api-Key header
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
		Provider: cmp.Or(d.Provider, "gemini"),
		URL:      endpoint(d.BaseURL, d.ID),
		Client:   o.Client,
		First:    o.First,
		Idle:     o.Idle,
	}}
	c.post.Authorize("X-Goog-Api-Key", "", o.Key, o.Headers)
	return c
}

// endpoint is the address of the stream of the model id under base, which may
// carry a query; one without a path gets that of Google. An id may name its
// collection, as the list of models does (models/…, tunedModels/…).
func endpoint(base, id string) string {
	base, query, _ := strings.Cut(cmp.Or(base, defaultBaseURL), "?")
	if query != "" {
		query = "&" + query
	}
	base = strings.TrimRight(base, "/")
	if _, rest, ok := strings.Cut(base, "://"); ok && !strings.Contains(rest, "/") {
		base += "/v1beta"
	}
	words := strings.Split(id, "/")
	switch words[0] {
	case "models", "tunedModels", "publishers", "projects":
	default:
		words = append([]string{"models"}, words...)
	}
	for i, w := range words {
		words[i] = url.PathEscape(w)
	}
	return base + "/" + strings.Join(words, "/") + ":streamGenerateContent?alt=sse" + query
}

// Stream answers req as [model.Streamer] says. With an error the reply holds the
// text and the thoughts that had arrived, and no calls: what follows from them is
// not known.
func (c *Client) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	p := c.post
	p.Body = c.body(req)
	a := &answer{Teller: stream.Teller{Sink: sink}, ref: c.model.Ref()}
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
