package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/lorimer-dev/lorimer/acp"
	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/trace"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools/approve"
)

// settings reads, for each send, what it depends on.
type settings struct{ a *App }

// read returns the configuration as it is now.
func (s *settings) read() (*config.Config, error) {
	c, err := s.a.config.read()
	if err != nil {
		return nil, faulty(err)
	}
	return c, nil
}

// faulty makes an error of a configuration, which names file and line, one that
// the user is told wherever it shows: each send reads the files again.
func faulty(err error) error {
	return &acp.Error{Code: acp.ConfigInvalid, Message: err.Error()}
}

// Freeze reads the configuration, with what the directory's own file demands, and
// what stands beside it: the project, the workspace, the files of the directory and
// the skills. What a session names and is not there is told before anything is
// looked up that its model needs, such as a key.
func (s *settings) Freeze(ctx context.Context, p harness.Place, c harness.Choice) (harness.Snapshot, error) {
	s.a.o.Log.Debug().Str("session", p.Session).Msg("reading settings") // once for each send (R-TOOLS-03)
	cfg, err := s.read()
	if err != nil {
		return harness.Snapshot{}, err
	}
	mode, notices, err := s.a.tighten(cfg, p.Dir, c.Mode)
	if err != nil {
		return harness.Snapshot{}, err
	}
	f := facts(cfg)
	more, err := s.a.join(ctx, cfg, p, &f)
	if err != nil {
		return harness.Snapshot{}, err
	}
	if p.Persona != nil {
		f.PersonaAt = "" // it is the client's
	}
	m, err := s.a.choose(ctx, cfg, c.Model)
	if err != nil {
		return harness.Snapshot{}, err
	}
	f.Profile = profile(cfg, m.Ref())
	found := s.a.find(cfg, p)
	f.Skills = told(found)
	return harness.Snapshot{
		Model:     m.Descriptor,
		Mode:      mode,
		Open:      m.open,
		Notices:   slices.Concat(s.a.finder.notices(ctx, cfg, c.Model), notices, more),
		Prompt:    f,
		Zone:      cfg.Run.Zone,
		Inline:    cfg.Attachments.InlineBytes,
		SkillFile: s.a.skillFile(found),
		NoNested:  !cfg.Instructions.AgentsMD,
	}, nil
}

// Settle looks for the project and the workspace that p names.
func (s *settings) Settle(ctx context.Context, p harness.Place) (harness.Place, error) {
	return s.a.settle(ctx, p)
}

// tighten returns the mode that holds in a directory, whose own file may demand
// a stricter one than the user chose, and what the user should know of that file.
func (a *App) tighten(c *config.Config, dir string, chosen approve.Mode) (approve.Mode, []string, error) {
	user := *c
	user.Mode = string(chosen)
	here, warnings, err := user.Within(dir)
	if err != nil {
		return "", nil, faulty(err)
	}
	var notices []string
	for _, w := range append(warnings, unusedHere(&user, here)...) {
		notices = append(notices, w.String())
	}
	mode := approve.Mode(here.Mode)
	if mode != chosen {
		notices = append(notices, fmt.Sprintf("This workspace's own configuration allows no more than the mode %s.", mode))
	}
	return mode, notices, nil
}

// Default returns the options of a new session.
func (s *settings) Default(ctx context.Context) (harness.Choice, error) {
	cfg, err := s.read()
	if err != nil {
		return harness.Choice{}, err
	}
	return harness.Choice{
		Model: s.a.finder.find(ctx, cfg), Mode: approve.Mode(cfg.Mode), Tools: "on",
		Citations: prompt.Citations(cfg.Citations), Voice: "off",
	}, nil
}

// Models lists what can be used without another step: the model in use, those
// of providers whose key is there, and the built-in one.
func (s *settings) Models(ctx context.Context) ([]model.Descriptor, error) {
	cfg, err := s.read()
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
		_, d, err := s.a.describe(cfg, ref)
		if err != nil {
			continue // a session opens with it all the same, and its first prompt says why it is of no use (C017)
		}
		all = append(all, d)
	}
	return all, nil
}

// A chosen model is its description and the way to set it up.
type chosen struct {
	model.Descriptor
	open func(context.Context) (model.Streamer, error)
}

// describe returns what ref names, as far as the user says nothing else of it in
// models.toml. Neither is the provider asked nor its key looked for, which may run
// a command.
func (a *App) describe(c *config.Config, ref string) (config.Choice, model.Descriptor, error) {
	choice, err := c.Choose(ref)
	if err != nil {
		return choice, model.Descriptor{}, &model.Error{Kind: model.Unavailable, Message: err.Error(), Err: err}
	}
	d := a.known(choice, ref)
	return choice, said(d, c.ModelProfile(d.Ref())), nil
}

// said returns d with what the user says of the model.
func said(d model.Descriptor, p config.ModelProfile) model.Descriptor {
	d.Name = cmp.Or(p.Name, d.Name)
	if p.Window != nil {
		d.Window = *p.Window
	}
	if p.Images != nil {
		d.Images = *p.Images
	}
	if p.ToolUsage != nil {
		d.NoTools = *p.ToolUsage == 0
	}
	return d
}

// known returns what this program and a server on this machine know of a model.
func (a *App) known(choice config.Choice, ref string) model.Descriptor {
	switch {
	case choice.Offline:
		return offline.Descriptor()
	case choice.Script != "":
		return model.Descriptor{Kind: "script", ID: ref, Name: "Script", Window: 128_000, Images: true, Thinks: true}
	}
	e := choice.Endpoint
	d := catalog.Describe(e.Name, choice.ID, e.Local)
	d.Kind, d.Provider, d.ID, d.BaseURL = e.Kind, e.Name, choice.ID, e.BaseURL
	if m, ok := a.finder.model(d.Ref()); ok {
		d.Window = cmp.Or(m.Window, d.Window)
		d.Images = m.Images.Or(d.Images)
	}
	return d
}

// choose returns the model that ref names, ready to be set up.
func (a *App) choose(ctx context.Context, c *config.Config, ref string) (chosen, error) {
	choice, d, err := a.describe(c, ref)
	if err != nil {
		return chosen{}, err
	}
	switch {
	case choice.Offline:
		return a.wrapped(d, func(context.Context) (model.Streamer, error) {
			return offline.New(offline.Options{}), nil
		}), nil
	case choice.Script != "":
		return a.wrapped(d, func(ctx context.Context) (model.Streamer, error) {
			s, err := a.script(choice.Script)
			if err != nil {
				return nil, &model.Error{Kind: model.Unavailable, Provider: "script", Message: err.Error(), Err: err}
			}
			return s.Open(ctx)
		}), nil
	}
	return a.provider(ctx, c, choice.Endpoint, d)
}

// provider is choose for a model of a provider. A missing key is told when the
// model is set up, so that the session opens and says so (C017).
func (a *App) provider(ctx context.Context, c *config.Config, e config.Endpoint, d model.Descriptor) (chosen, error) {
	key, keyErr := c.Key(ctx, e.Name)
	if ctx.Err() != nil {
		return chosen{}, ctx.Err()
	}
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
		return normalise.Wrap(trace.Wrap(s, a.trace), d, normalise.Options{}), nil
	}}
}

// transport reaches providers, through a proxy where one is configured.
func transport(c *config.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = c.Proxy.Func()
	return t
}
