package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

const (
	askWhole  = 15 * time.Second // for a server to list its models, when that is what the user waits for
	askSilent = time.Second      // before the user is told who is waited for
)

// A Query says which models are to be listed. The zero value are those that a session
// offers.
type Query struct {
	Provider string // every model of that one
	All      bool   // every model of every provider
	Ask      bool   // servers say what they have, and what it can do
	// Slow hears, with Ask, who has not answered after a second.
	Slow func(providers []string)
}

// A Listed model is one of a list.
type Listed struct {
	Known
	Default bool // new sessions begin with it
}

// List returns the models of q, those of a provider together. The failures are
// servers that had no answer; the error is of q as a whole.
func (a *App) List(ctx context.Context, q Query) (all []Listed, failures []error, err error) {
	c, err := a.config.read()
	if err != nil {
		return nil, nil, err
	}
	if q.Provider != "" {
		if _, ok := c.Provider(q.Provider); !ok {
			if _, err := c.Choose(q.Provider); err != nil {
				return nil, nil, err
			}
			return nil, nil, fmt.Errorf("%q is a model and no provider; \"lorimer models show %s\" tells of it", q.Provider, q.Provider)
		}
	}
	served := map[string][]string{} // ids by provider
	if q.Ask {
		if served, failures = a.askAll(ctx, c, q); ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
	}
	first := a.finder.find(ctx, c)
	for _, ref := range a.refs(ctx, c, q, served) {
		choice, err := c.Choose(ref)
		if err != nil {
			continue // it is configured, and the first prompt says why it is of no use (C017)
		}
		all = append(all, Listed{a.know(c, choice, ref), ref == first})
	}
	return all, failures, nil
}

// refs returns the references of q, each once.
func (a *App) refs(ctx context.Context, c *config.Config, q Query, served map[string][]string) []string {
	var refs []string
	if q.Provider == "" {
		refs = a.offered(ctx, c)
	}
	for _, e := range c.Endpoints() {
		has := served[e.Name]
		switch {
		case q.Provider == e.Name || q.All:
			refs = append(refs, usual(c, e)...)
			for _, m := range catalog.Models(e.Name) {
				refs = append(refs, e.Name+"/"+m.ID)
			}
		case q.Provider != "":
			continue
		case len(catalog.Models(e.Name)) > 0:
			continue // of what the server has, the short list shows what is best known
		default:
			has = has[:min(len(has), topModels)]
		}
		for _, id := range has {
			refs = append(refs, e.Name+"/"+id)
		}
	}
	if q.Provider != "" {
		refs = append(refs, a.finder.of(q.Provider)...)
	}
	return grouped(c, refs)
}

// grouped returns refs, each once, those of a provider together in the order in which
// providers are looked for.
func grouped(c *config.Config, refs []string) []string {
	rank := make(map[string]int)
	for i, e := range c.Endpoints() {
		rank[e.Name] = i
	}
	of := func(ref string) int {
		choice, err := c.Choose(ref)
		if err != nil || choice.Endpoint.Name == "" {
			return len(rank) // what no provider has comes last
		}
		return rank[choice.Endpoint.Name]
	}
	refs = distinct(refs)
	slices.SortStableFunc(refs, func(a, b string) int { return cmp.Compare(of(a), of(b)) })
	return refs
}

// askAll asks the servers of q at once for their models and remembers what they say.
// It returns the ids by provider.
func (a *App) askAll(ctx context.Context, c *config.Config, q Query) (map[string][]string, []error) {
	if q.Provider == "" {
		a.finder.servers(ctx, c)
	}
	type outcome struct {
		provider string
		ids      []string
		err      error
	}
	outcomes := make(chan outcome)
	waiting := make(map[string]bool)
	for _, e := range c.Endpoints() {
		if q.Provider != e.Name && (q.Provider != "" || !c.HasKey(e)) {
			continue
		}
		waiting[e.Name] = true
		go func() {
			ids, err := a.askOne(ctx, c, e)
			outcomes <- outcome{e.Name, ids, err}
		}()
	}
	slow := time.NewTimer(askSilent)
	defer slow.Stop()
	served := make(map[string][]string)
	var failures []error
	for len(waiting) > 0 {
		select {
		case o := <-outcomes:
			delete(waiting, o.provider)
			served[o.provider] = o.ids
			// A provider that nobody can ask is no failure, unless it is the one meant.
			if o.err != nil && (q.Provider != "" || !errors.Is(o.err, errors.ErrUnsupported)) {
				failures = append(failures, o.err)
			}
		case <-slow.C:
			if q.Slow != nil {
				q.Slow(slices.Sorted(maps.Keys(waiting)))
			}
		}
	}
	slices.SortFunc(failures, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return served, failures
}

// askOne asks the server of e for its models and remembers what it says of each.
func (a *App) askOne(ctx context.Context, c *config.Config, e config.Endpoint) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWhole)
	defer cancel()
	key, err := c.Key(ctx, e.Name)
	if err != nil {
		return nil, err
	}
	s, err := a.server(c, e, e.Kind, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	models, err := probe.List(ctx, s)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range models {
		a.servers.tell(e, m)
		ids = append(ids, m.ID)
	}
	return ids, nil
}
