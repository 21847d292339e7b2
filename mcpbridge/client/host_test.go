package client_test

import (
	"context"
	"sync"

	"github.com/lorimer-dev/lorimer/tools/server"
)

var (
	offersForm = server.Offers{Form: true}
	everything = server.Offers{Form: true, URL: true, Sampling: true}
)

// A host is one whose user does what a test says; by default nothing is allowed.
type host struct {
	offers server.Offers
	elicit func(context.Context, server.Elicitation) (server.Reply, error)
	sample func(context.Context, server.Sampling) (server.Sampled, error)

	mu    sync.Mutex // guards asked
	asked []any      // each Elicitation and Sampling
}

func (h *host) Roots() []string       { return []string{"/home/me/a project", "/srv"} }
func (h *host) Offers() server.Offers { return h.offers }

func (h *host) Elicit(ctx context.Context, label string, e server.Elicitation) (server.Reply, error) {
	h.note(e)
	if h.elicit == nil {
		return server.Reply{}, server.ErrRefused
	}
	return h.elicit(ctx, e)
}

func (h *host) Sample(ctx context.Context, label string, s server.Sampling) (server.Sampled, error) {
	h.note(s)
	if h.sample == nil {
		return server.Sampled{}, server.ErrRefused
	}
	return h.sample(ctx, s)
}

func (h *host) note(question any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, question)
}
