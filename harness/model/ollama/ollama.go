// Package ollama speaks the native protocol of Ollama, lines of JSON from
// /api/chat.
//
// The protocol that Ollama shares with others cannot say how large the context is
// to be, and a prompt beyond it loses its beginning without a word. The native one
// can, and here a prompt that was cut is an error, never an answer.
package ollama

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
const defaultBaseURL = "http://127.0.0.1:11434"

// Options tune a client. The zero value talks without a key, as a server on this
// machine wants it.
type Options struct {
	Key     string            // for ollama.com or a proxy; "" sends no Authorization header
	Headers map[string]string // beside those of the protocol, over which they win
	Client  *http.Client      // default http.DefaultClient
	First   time.Duration     // patience until the first byte, while the model is loaded; default 300s
	Idle    time.Duration     // patience with a stream that falls silent; default 120s
}

// A Client is one model behind one server.
type Client struct {
	model model.Descriptor
	post  stream.Post // without a body
}

var _ model.Streamer = (*Client)(nil)

// New returns a client for the model d. It connects to nothing.
func New(d model.Descriptor, o Options) *Client {
	c := &Client{model: d, post: stream.Post{
		Provider: cmp.Or(d.Provider, "ollama"),
		URL:      endpoint(d.BaseURL),
		Header:   http.Header{},
		Client:   o.Client,
		Lines:    true,
		First:    o.First,
		Idle:     o.Idle,
	}}
	if o.Key != "" {
		c.post.Header.Set("Authorization", "Bearer "+o.Key)
		c.post.Secrets = append(c.post.Secrets, o.Key)
	}
	for k, v := range o.Headers {
		c.post.Header.Set(k, v)
		c.post.Secrets = append(c.post.Secrets, v)
	}
	return c
}

// endpoint is the address of the chat under base, which may be it already or that
// of the protocol that is shared with others.
func endpoint(base string) string {
	base = strings.TrimRight(cmp.Or(base, defaultBaseURL), "/")
	for _, tail := range []string{"/api/chat", "/api", "/v1"} {
		base = strings.TrimSuffix(base, tail)
	}
	return base + "/api/chat"
}

// Stream answers req as [model.Streamer] says.
func (c *Client) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	return nil, &model.Error{Kind: model.Unavailable, Provider: c.post.Provider}
}

// GenerateContent answers as [model.Generate] says.
func (c *Client) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	return model.Generate(ctx, c, m, o...)
}

// Call answers a single prompt.
func (c *Client) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, c, prompt, o...)
}
