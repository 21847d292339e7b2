package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
	"github.com/lorimer-dev/lorimer/harness/model/trace"
)

// A chosen model is what is known of it and the way to set it up.
type chosen struct {
	Known
	open    func(context.Context) (model.Streamer, error)
	notices []string // what the user is to know of it
}

// choose returns the model that ref names, ready to be set up.
func (a *App) choose(ctx context.Context, c *config.Config, ref string) (chosen, error) {
	choice, err := choiceOf(c, ref)
	if err != nil {
		return chosen{}, err
	}
	var m chosen
	switch {
	case choice.Offline:
		m = chosen{Known: a.know(c, choice, ref), open: func(context.Context) (model.Streamer, error) {
			return offline.New(offline.Options{}), nil
		}}
	case choice.Script != "":
		m = chosen{Known: a.know(c, choice, ref), open: func(ctx context.Context) (model.Streamer, error) {
			s, err := a.script(choice.Script)
			if err != nil {
				return nil, unavailable("script", err)
			}
			return s.Open(ctx)
		}}
	default:
		if m, err = a.provider(ctx, c, choice, ref); err != nil {
			return chosen{}, err
		}
	}
	return a.wrapped(c, m), nil
}

// choiceOf is [config.Config.Choose] with the error of a model that there is not.
func choiceOf(c *config.Config, ref string) (config.Choice, error) {
	choice, err := c.Choose(ref)
	if err != nil {
		return choice, unavailable("", err)
	}
	return choice, nil
}

// unavailable is the error of a model that cannot be set up.
func unavailable(provider string, err error) error {
	return &model.Error{Kind: model.Unavailable, Provider: provider, Message: err.Error(), Err: err}
}

// provider is choose for a model of a provider, which its server may be asked about
// first. That a key or a certificate is missing is told when the model is set up, so
// that the session opens and says so (C017).
func (a *App) provider(ctx context.Context, c *config.Config, choice config.Choice, ref string) (chosen, error) {
	e := choice.Endpoint
	key, keyErr := c.Key(ctx, e.Name)
	if ctx.Err() != nil {
		return chosen{}, ctx.Err()
	}
	if a.trace != nil {
		a.trace.Redact(c.Secrets()...) // which reads files
	}
	k := a.know(c, choice, ref)
	if keyErr == nil && k.unheard() {
		a.hear(ctx, c, choice, key)
		if ctx.Err() != nil {
			return chosen{}, ctx.Err()
		}
		k = a.know(c, choice, ref)
	}
	if key != "" {
		sum := sha256.Sum256([]byte(key))
		k.KeyDigest = hex.EncodeToString(sum[:])
	}
	k.Setup = setup(c, e, k.Ref())
	open := func(context.Context) (model.Streamer, error) {
		if keyErr != nil {
			return nil, keyError(e, keyErr)
		}
		client, err := a.client(c, e)
		if err != nil {
			return nil, unavailable(e.Name, err)
		}
		s, err := a.stream(k.Descriptor, e, key, client)
		if err != nil {
			return nil, err
		}
		return refused(s, func() { c.Forget(e.Name, key) }), nil
	}
	return chosen{Known: k, open: open, notices: k.strange(c, e)}, nil
}

// setup returns a digest of what the client of a model is made with beside its address
// and its key, as far as the user says something of it: what has changed there needs
// another client. It is "" where nothing is said.
func setup(c *config.Config, e config.Endpoint, ref string) string {
	var said []string
	for _, named := range []map[string]string{e.Headers, e.Options} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			said = append(said, name, named[name])
		}
		said = append(said, "")
	}
	said = append(said, trust(e.CAFiles), c.History.Executed)
	if c.History.CrossVendor == "text" {
		said = append(said, c.History.CrossVendor)
	}
	if n := c.ModelProfile(ref).Answer; n != nil {
		said = append(said, strconv.Itoa(*n))
	}
	if !slices.ContainsFunc(said, func(s string) bool { return s != "" }) {
		return ""
	}
	h := sha256.New()
	for _, s := range said {
		fmt.Fprintf(h, "%d:%s", len(s), s) // so that a character moved from one to the next changes it
	}
	return hex.EncodeToString(h.Sum(nil))
}

// keyError is the error of a provider without its key.
func keyError(e config.Endpoint, err error) error {
	kind := model.Unavailable
	if errors.Is(err, config.ErrNoKey) {
		kind = model.Auth
	}
	return &model.Error{Kind: kind, Provider: e.Name, Message: err.Error(), Err: err}
}

// client returns what reaches e and nothing else.
func (a *App) client(c *config.Config, e config.Endpoint) (*http.Client, error) {
	t, err := a.transports.get(c.Proxy, e.CAFiles)
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: guard(e.Address(), t)}, nil
}

// stream opens the model d of e.
func (a *App) stream(d model.Descriptor, e config.Endpoint, key string, client *http.Client) (model.Streamer, error) {
	switch d.Kind {
	case "anthropic":
		return anthropic.New(d, anthropic.Options{Key: key, Headers: e.Headers, Client: client}), nil
	case "gemini":
		return gemini.New(d, gemini.Options{Key: key, Headers: e.Headers, Client: client}), nil
	case "ollama":
		return ollama.New(d, ollama.Options{Key: key, Headers: e.Headers, Client: client}), nil
	case "openai-chat":
		return openai.New(d, openai.Options{Key: key, Headers: e.Headers, Client: client}), nil
	case "openai-responses":
		return responses.New(d, responses.Options{Key: key, Headers: e.Headers, Client: client}), nil
	}
	if name, ok := e.Langchain(); ok {
		return kinds.Open(name, d, kinds.Options{Key: key, Headers: e.Headers, Client: client, Settings: e.Options, Left: &a.left})
	}
	return nil, unavailable(e.Name, fmt.Errorf("there is no protocol %q", d.Kind))
}

// refused calls forget when the provider refuses the key of s.
func refused(s model.Streamer, forget func()) model.Streamer {
	return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		reply, err := s.Stream(ctx, req, sink)
		if fail, ok := errors.AsType[*model.Error](err); ok && fail.Kind == model.Auth {
			forget()
		}
		return reply, err
	})
}

// wrapped puts the wrappers of every model around m, from the inside out: the trace
// sees what the provider gets.
func (a *App) wrapped(c *config.Config, m chosen) chosen {
	open, d := m.open, m.Descriptor
	m.open = func(ctx context.Context) (model.Streamer, error) {
		s, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return normalise.Wrap(trace.Wrap(s, a.trace), d, normalise.Options{
			Text: c.History.CrossVendor == "text", Executed: c.History.Executed,
			Dropped: func(tool string, why error) {
				a.o.Log.Warn().Str("model", d.Ref()).Str("tool", tool).Err(why).Msg("tool left out")
			},
		}), nil
	}
	return m
}
