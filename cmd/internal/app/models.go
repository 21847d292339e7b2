package app

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
)

// topModels is how many models of one provider a session offers beside its usual
// one; "lorimer models PROVIDER" has all.
const topModels = 8

// Models lists what can be used without another step: the model in use, of each
// provider whose key is there the usual model, those that models.toml names exactly
// and the newest of its lines, those of servers on this machine, and the built-in
// one.
func (s *settings) Models(ctx context.Context) ([]model.Descriptor, error) {
	cfg, err := s.read()
	if err != nil {
		return nil, err
	}
	var all []model.Descriptor
	for i, ref := range s.a.offered(ctx, cfg) {
		choice, err := cfg.Choose(ref)
		if err != nil {
			continue // a session opens with it all the same, and its first prompt says why it is of no use (C017)
		}
		if i == 0 { // with which a session begins: whether it thinks shows in the options
			s.a.hearHere(ctx, cfg, choice, ref)
		}
		k := s.a.know(cfg, choice, ref)
		k.Unsure = k.unheard()
		all = append(all, k.Descriptor)
	}
	return all, nil
}

// offered returns the references of the models that a session offers.
func (a *App) offered(ctx context.Context, c *config.Config) []string {
	refs := []string{a.finder.find(ctx, c)}
	for _, e := range c.Endpoints() {
		if c.HasKey(e) {
			refs = append(refs, usual(c, e)...)
		}
	}
	refs = append(refs, a.finder.others()...)
	return distinct(append(refs, offline.Name))
}

// distinct returns refs, each at its first place.
func distinct(refs []string) []string {
	seen := make(map[string]bool)
	return slices.DeleteFunc(refs, func(ref string) bool {
		again := seen[ref]
		seen[ref] = true
		return again
	})
}

// usual returns the references of the models of e that are worth a place in a short
// list: its usual one, what the user names, and the newest that are known.
func usual(c *config.Config, e config.Endpoint) []string {
	var ids []string
	if e.Model != "" {
		ids = append(ids, e.Model)
	}
	ids = append(ids, named(c, e)...)
	for _, m := range newest(catalog.Models(e.Name), topModels) {
		ids = append(ids, m.ID)
	}
	refs := make([]string, len(ids))
	for i, id := range ids {
		refs[i] = e.Name + "/" + id
	}
	return refs
}

// named returns the ids of the models of e that models.toml names exactly.
func named(c *config.Config, e config.Endpoint) []string {
	var ids []string
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if id, ok := strings.CutPrefix(name, e.Name+"/"); ok && id != "" && !strings.HasSuffix(id, "*") {
			ids = append(ids, id)
		}
	}
	return ids
}
