package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	maxBytes = 4 << 20 // of an answer
	maxPages = 10      // of a list
	pageSize = 1000    // models of a page
)

// A Server is where models are asked for.
type Server struct {
	Kind     string // the protocol: openai-chat, openai-responses, anthropic, gemini or ollama
	Provider string // name in the configuration; it tells products of one protocol apart
	BaseURL  string
	Header   http.Header  // sent with each request, the key among it
	Client   *http.Client // nil is one with the usual transport
}

// Ask returns what the server says of its model id, which may be an alias. The
// error names the provider and holds no secrets; it is errors.ErrUnsupported of a
// kind that has nobody to ask. The caller bounds the time with ctx.
func Ask(ctx context.Context, s Server, id string) (Model, error) {
	m, err := s.one(ctx, id)
	if err != nil {
		return Model{}, fmt.Errorf("asking %s about the model %s: %w", s.name(), id, err)
	}
	m.ID = id
	return m, nil
}

// List returns the models of the server with what it says of them, in its own
// order. Errors are those of [Ask].
func List(ctx context.Context, s Server) ([]Model, error) {
	all, err := s.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking %s for its models: %w", s.name(), err)
	}
	return all, nil
}

func (s Server) name() string { return cmp.Or(s.Provider, "the server") }

func (s Server) one(ctx context.Context, id string) (Model, error) {
	a := s.asker()
	switch s.Kind {
	case "anthropic":
		return a.anthropicModel(ctx, s.root(), id)
	case "gemini":
		return a.geminiModel(ctx, s.base(), id)
	case "ollama":
		return a.ollamaModel(ctx, s.root(), id)
	}
	all, err := s.all(ctx)
	if err != nil {
		return Model{}, err
	}
	m, ok := pick(all, id)
	if !ok {
		return Model{}, fmt.Errorf("it is not among the %d models of the server", len(all))
	}
	return m, nil
}

func (s Server) all(ctx context.Context) ([]Model, error) {
	a := s.asker()
	switch s.Kind {
	case "anthropic":
		return a.anthropicModels(ctx, s.root())
	case "gemini":
		return a.geminiModels(ctx, s.base())
	case "ollama":
		return a.ollama(ctx, s.root())
	case "openai", "openai-chat", "openai-responses":
		return a.openAI(ctx, s)
	}
	return nil, fmt.Errorf("nobody can be asked about models of the kind %q: %w", s.Kind, errors.ErrUnsupported)
}

// base is the address without what a query or a slash adds to it.
func (s Server) base() string {
	base, _, _ := strings.Cut(s.BaseURL, "?")
	return strings.TrimRight(base, "/")
}

// root is the address without the version of the interface.
func (s Server) root() string { return strings.TrimSuffix(s.base(), "/v1") }

// asker returns one that follows no redirect: the key in the header is for this
// server alone.
func (s Server) asker() *asker {
	client := http.Client{}
	if s.Client != nil {
		client = *s.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &asker{client: client, header: s.Header}
}

// An asker asks servers for JSON.
type asker struct {
	client http.Client
	header http.Header
	limit  time.Duration // for each answer; 0 is without
}

// errShape says that an answer is not one of the product.
var errShape = errors.New("answer of another product")

// late is the end of the time that a server has.
type late struct{ error }

func (late) Error() string   { return "no answer in time" }
func (l late) Unwrap() error { return l.error }

// inTime returns err in words that say so when a server took too long.
func inTime(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return late{err}
	}
	return err
}

// get asks for address and decodes the answer into out.
func (a *asker) get(ctx context.Context, address string, out any) error {
	return a.do(ctx, http.MethodGet, address, nil, out)
}

// post is get with a body.
func (a *asker) post(ctx context.Context, address string, body, out any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return a.do(ctx, http.MethodPost, address, data, out)
}

func (a *asker) do(ctx context.Context, method, address string, body []byte, out any) error {
	if a.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.limit)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return errors.New("its address is none")
	}
	if a.header != nil {
		req.Header = a.header.Clone()
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.client.Do(req)
	if err != nil {
		// The address, which may hold a password, is left out.
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return inTime(err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("it sends elsewhere (HTTP %d), which is not followed", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		// The body is left out: servers quote the key that they refuse.
		return fmt.Errorf("HTTP %s", strings.TrimSpace(fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))))
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
	switch {
	case err != nil:
		return inTime(err)
	case len(data) > maxBytes:
		return fmt.Errorf("an answer of more than %d MB", maxBytes>>20)
	}
	if err := decode(data, out); err != nil {
		return errors.New("an answer that is not the JSON expected")
	}
	return nil
}
