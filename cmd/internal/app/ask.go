package app

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

// Times for a server to say what its model can do, while a send waits.
const (
	askNear = 300 * time.Millisecond // on this machine
	askFar  = 1500 * time.Millisecond
)

// servers remember what servers said of their models. Each is asked for a model once
// in the life of the process, also when it has no answer, by the first who needs
// it; the others wait. The zero value is ready.
type servers struct {
	log zerolog.Logger

	mu    sync.Mutex // guards the field below
	asked map[question]*answer
}

// A question is about a model at an address.
type question struct{ provider, address, id string }

// An answer is what came of a question.
type answer struct {
	done  chan struct{} // closed when the fields below are set
	model probe.Model
	err   error
}

func about(e config.Endpoint, id string) question { return question{e.Name, e.BaseURL, id} }

// said returns what the server of e has said of a model, and where it is.
func (s *servers) said(e config.Endpoint, id string) (m probe.Model, from string, ok bool) {
	s.mu.Lock()
	a := s.asked[about(e, id)]
	s.mu.Unlock()
	if a == nil {
		return m, "", false
	}
	select {
	case <-a.done:
		return a.model, servedAt(e), a.err == nil
	default:
		return m, "", false // it is being asked
	}
}

// ask has the server of e asked for a model, unless it has been. It returns when the
// answer is there, when there will be none, or when ctx ends.
func (s *servers) ask(ctx context.Context, e config.Endpoint, id string, f func(context.Context) (probe.Model, error)) {
	q := about(e, id)
	for ctx.Err() == nil {
		s.mu.Lock()
		a := s.asked[q]
		if a == nil {
			a = &answer{done: make(chan struct{}), err: errBroke}
			if s.asked == nil {
				s.asked = make(map[question]*answer)
			}
			s.asked[q] = a
			s.mu.Unlock()
			s.put(ctx, q, a, e.Local, f)
			return
		}
		s.mu.Unlock()
		select {
		case <-a.done:
		case <-ctx.Done():
			return
		}
		if !left(a.err) {
			return
		}
	}
}

// tell remembers what the server of e has said of one of its models.
func (s *servers) tell(e config.Endpoint, m probe.Model) {
	a := &answer{done: make(chan struct{}), model: m}
	close(a.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = make(map[question]*answer)
	}
	s.asked[about(e, m.ID)] = a
}

// put asks q. What says nothing of the server is forgotten, so that the next who
// needs it asks again: the end of ctx, and that nobody listens on this machine yet,
// which is found out in no time.
func (s *servers) put(ctx context.Context, q question, a *answer, local bool, f func(context.Context) (probe.Model, error)) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if left(a.err) || local && errors.Is(a.err, syscall.ECONNREFUSED) {
			delete(s.asked, q)
		}
		close(a.done)
	}()
	limit := askFar
	if local {
		limit = askNear
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	a.model, a.err = f(bounded)
	if a.err == nil {
		return
	}
	if ctx.Err() == nil && bounded.Err() != nil {
		a.err = errSlow // which counts, unlike the end of ctx
	}
	s.log.Debug().Str("provider", q.provider).Str("model", q.id).AnErr("because", a.err).Msg("the server says nothing of its model")
}

var (
	errSlow  = errors.New("no answer in time")
	errBroke = errors.New("asking broke off because of a mistake in lorimer")
)

// hear has the server of choice asked for its model, unless it has been.
func (a *App) hear(ctx context.Context, c *config.Config, choice config.Choice, key string) {
	e := choice.Endpoint
	a.servers.ask(ctx, e, choice.ID, func(ctx context.Context) (probe.Model, error) {
		s, err := a.server(c, e, e.Protocol(choice.ID), key)
		if err != nil {
			return probe.Model{}, err
		}
		return probe.Ask(ctx, s, choice.ID)
	})
}

// hearHere is hear for a model that nobody has to be asked for beyond this machine,
// nor for a key.
func (a *App) hearHere(ctx context.Context, c *config.Config, choice config.Choice, ref string) {
	k := a.know(c, choice, ref)
	if e := choice.Endpoint; e.Local && c.KeyFrom(e) == "" && k.unheard() {
		a.hear(ctx, c, choice, "")
	}
}

// server returns where the models of e are asked for.
func (a *App) server(c *config.Config, e config.Endpoint, kind, key string) (probe.Server, error) {
	client, err := a.client(c, e)
	if err != nil {
		return probe.Server{}, err
	}
	h := http.Header{}
	switch {
	case key == "":
	case kind == "anthropic":
		h.Set("X-Api-Key", key)
	case kind == "gemini":
		h.Set("X-Goog-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	for name, value := range e.Headers {
		h.Set(name, value)
	}
	return probe.Server{Kind: kind, Provider: e.Name, BaseURL: e.BaseURL, Header: h, Client: client}, nil
}
