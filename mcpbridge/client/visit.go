package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// visitTimeout bounds the wait for a server to tell that the user is done at the
// address that it asked to be opened; it need not tell.
const visitTimeout = time.Minute

// visited has the user open the addresses without which a server of 2025-11-25 does
// not do what it was asked for. It returns nil where that may be repeated, else the
// error to go on with.
func (p *peer) visited(ctx context.Context, err error) error {
	refusal, ok := errors.AsType[*transport.Error](err)
	if !ok || refusal.Code != transport.CodeURLElicitation || !p.offers.URL {
		return err
	}
	o, _ := fields(refusal.Data)
	places, _ := elements(o["elicitations"])
	if len(places) == 0 {
		return err
	}
	defer p.ask()()
	for _, raw := range places {
		o, _ := fields(raw)
		e, ok := address(o)
		if !ok {
			return err
		}
		done, forget := p.visit(e.ID)
		defer forget()
		reply, fail := p.o.Host.Elicit(ctx, p.o.Label, e)
		if fail == nil && reply.Action != "accept" {
			fail = server.ErrRefused
		}
		if fail != nil {
			return fmt.Errorf("%w: %w", err, fail)
		}
		if fail = p.await(ctx, done, visitTimeout); fail != nil {
			return fail
		}
	}
	return nil
}

// address reads a question that has the user open an address. It reports whether it
// is one that a browser opens.
func address(o object) (e server.Elicitation, ok bool) {
	e.Message, _ = text(o["message"])
	e.URL, _ = text(o["url"])
	e.ID, _ = text(o["elicitationId"])
	u, err := url.Parse(e.URL)
	return e, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// visit returns a channel that is closed when the server tells that the user is done
// with the question id.
func (p *peer) visit(id string) (done <-chan struct{}, forget func()) {
	c := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visits[id] = c
	return c, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.visits[id] == c {
			delete(p.visits, id)
		}
	}
}

// left hears that the user is done with a question.
func (p *peer) left(params json.RawMessage) {
	o, _ := fields(params)
	id, _ := text(o["elicitationId"])
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.visits[id]; c != nil {
		delete(p.visits, id)
		close(c)
	}
}
