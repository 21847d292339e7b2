package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/trace"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// settings reads, for each send, what it depends on.
type settings struct{ a *App }

// Freeze reads the configuration and describes the chosen model.
func (s *settings) Freeze(ctx context.Context, c harness.Choice) (harness.Snapshot, error) {
	cfg, err := s.a.config.read()
	if err != nil {
		return harness.Snapshot{}, err
	}
	m, err := s.a.describe(ctx, cfg, c.Model)
	if err != nil {
		return harness.Snapshot{}, err
	}
	return harness.Snapshot{
		Model:  m.Descriptor,
		Open:   m.open,
		Notice: s.a.finder.notice(ctx, cfg),
		Prompt: facts(cfg),
		Zone:   cfg.Run.Zone,
	}, nil
}

// Default returns the options of a new session.
func (s *settings) Default(ctx context.Context) (harness.Choice, error) {
	cfg, err := s.a.config.read()
	if err != nil {
		return harness.Choice{}, err
	}
	return harness.Choice{Model: s.a.finder.find(ctx, cfg), Mode: approve.Mode(cfg.Mode), Tools: "on"}, nil
}

// Models lists what can be used without another step: the model in use, those
// of providers whose key is there, and the built-in one.
func (s *settings) Models(ctx context.Context) ([]model.Descriptor, error) {
	cfg, err := s.a.config.read()
	if err != nil {
		return nil, err
	}
	refs := []string{s.a.finder.find(ctx, cfg)}
	for _, e := range cfg.Endpoints() {
		if !cfg.HasKey(e) {
			continue
		}
		if e.Model != "" {
			refs = append(refs, e.Name+"/"+e.Model)
		}
	}
	refs = append(refs, s.a.finder.others()...)
	refs = append(refs, offline.Name)
	var all []model.Descriptor
	for _, ref := range refs {
		if slices.ContainsFunc(all, func(d model.Descriptor) bool { return d.Ref() == ref }) {
			continue
		}
		m, err := s.a.describe(ctx, cfg, ref)
		if err != nil {
			continue // a session opens with it all the same, and its first prompt says why it is of no use (C017)
		}
		all = append(all, m.Descriptor)
	}
	return all, nil
}

// A chosen model is its description and the way to set it up.
type chosen struct {
	model.Descriptor
	open func(context.Context) (model.Streamer, error)
}

// describe returns the model that ref names. The provider is not asked.
func (a *App) describe(ctx context.Context, c *config.Config, ref string) (chosen, error) {
	choice, err := c.Choose(ref)
	if err != nil {
		return chosen{}, &model.Error{Kind: model.Unavailable, Provider: "lorimer", Message: err.Error(), Err: err}
	}
	switch {
	case choice.Offline:
		return a.wrapped(offline.Descriptor(), func(context.Context) (model.Streamer, error) {
			return offline.New(offline.Options{}), nil
		}), nil
	case choice.Script != "":
		d := model.Descriptor{Kind: "script", ID: ref, Name: "Script", Window: 128_000, Images: true, Thinks: true}
		return a.wrapped(d, func(ctx context.Context) (model.Streamer, error) {
			s, err := a.script(choice.Script)
			if err != nil {
				return nil, &model.Error{Kind: model.Unavailable, Provider: "script", Message: err.Error(), Err: err}
			}
			return s.Open(ctx)
		}), nil
	}
	return a.provider(ctx, c, choice)
}

// provider describes a model of a provider. A missing key is told when the
// model is set up, so that the session opens and says so (C017).
func (a *App) provider(ctx context.Context, c *config.Config, choice config.Choice) (chosen, error) {
	e := choice.Endpoint
	d := catalog.Describe(e.Name, choice.ID)
	d.Kind, d.Provider, d.ID, d.BaseURL = e.Kind, e.Name, choice.ID, e.BaseURL
	key, keyErr := c.Key(ctx, e.Name)
	if key != "" {
		sum := sha256.Sum256([]byte(key))
		d.KeyDigest = hex.EncodeToString(sum[:])
		a.trace.Redact(key)
	}
	client := &http.Client{Transport: transport(c)}
	return a.wrapped(d, func(context.Context) (model.Streamer, error) {
		if keyErr != nil {
			kind := model.Unavailable
			if errors.Is(keyErr, config.ErrNoKey) {
				kind = model.Auth
			}
			return nil, &model.Error{Kind: kind, Provider: e.Name, Message: keyErr.Error(), Err: keyErr}
		}
		switch e.Kind {
		case "anthropic":
			return anthropic.New(d, anthropic.Options{Key: key, Headers: e.Headers, Client: client}), nil
		case "openai":
			return openai.New(d, openai.Options{Key: key, Headers: e.Headers, Client: client}), nil
		}
		return nil, fmt.Errorf("provider %s: no protocol %q", e.Name, e.Kind)
	}), nil
}

// wrapped puts the wrappers of every model around open, from the inside out:
// the trace sees what the provider gets.
func (a *App) wrapped(d model.Descriptor, open func(context.Context) (model.Streamer, error)) chosen {
	return chosen{d, func(ctx context.Context) (model.Streamer, error) {
		s, err := open(ctx)
		if err != nil {
			return nil, err
		}
		return normalise.Wrap(trace.Wrap(s, a.trace), d), nil
	}}
}

// transport reaches providers, through a proxy where one is configured.
func transport(c *config.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = c.Proxy.Func()
	return t
}
