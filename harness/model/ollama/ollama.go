// Package ollama speaks the native protocol of Ollama, lines of JSON from
// /api/chat.
//
// The protocol that Ollama shares with others cannot say how large the context is
// to be, and a prompt beyond it loses its beginning without a word. The native one
// can: the window of the model is asked for with every request, together with an
// error for what does not fit. Servers that know no such wish are watched: an
// answer to a prompt that was cut is an error, never an answer.
//
// The protocol has no tool choice. Where no tool may be called the tools stay, so
// that the prefix does, and a call is left to the caller to refuse.
package ollama

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/parts"
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

// New returns a client for the model d, whose window becomes the size of the
// context. It connects to nothing.
func New(d model.Descriptor, o Options) *Client {
	c := &Client{model: d, post: stream.Post{
		Provider: cmp.Or(d.Provider, "ollama"),
		URL:      endpoint(d.BaseURL),
		Client:   o.Client,
		Lines:    true,
		First:    o.First,
		Idle:     o.Idle,
	}}
	c.post.Authorize("Authorization", "Bearer ", o.Key, o.Headers)
	return c
}

// endpoint is the address of the chat under base, which may be it already, or the
// one that other protocols of the same server have.
func endpoint(base string) string {
	base = cmp.Or(base, defaultBaseURL)
	path, query, found := strings.Cut(base, "?")
	path = strings.TrimRight(path, "/")
	for _, tail := range []string{"/api/chat", "/api", "/v1"} {
		path = strings.TrimSuffix(path, tail)
	}
	if found {
		path += "?" + query
	}
	return stream.Endpoint(path, "/api/chat")
}

// Stream answers req as [model.Streamer] says. With an error the reply holds the
// text and the thoughts that had arrived, and no calls.
func (c *Client) Stream(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
	p := c.post
	p.Body = c.body(req)
	a := &answer{Teller: stream.Teller{Sink: sink}, ref: c.model.Ref(), window: c.model.Window, limit: parts.Limit(req, &c.model)}
	_, err := p.Do(ctx, func(data []byte) (stream.Progress, error) { return a.line(&p, data) })
	if err == nil {
		err = a.finish(&p, req)
	}
	if e, ok := a.Failure(err); ok {
		c.explain(&p, e)
	}
	a.Complete(err, "")
	return a.reply(err == nil), err
}

// GenerateContent answers as [model.Generate] says.
func (c *Client) GenerateContent(ctx context.Context, m []llms.MessageContent, o ...llms.CallOption) (*llms.ContentResponse, error) {
	return model.Generate(ctx, c, m, o...)
}

// Call answers a single prompt.
func (c *Client) Call(ctx context.Context, prompt string, o ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, c, prompt, o...)
}
