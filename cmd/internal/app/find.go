package app

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

// A finder chooses the model of new sessions (R-CMD-13): the configured one, or
// that of the first provider whose key is there, or what a server on this
// machine has, or the built-in one. Servers are asked once in the life of the
// process, and only if nothing before them was found.
type finder struct {
	log zerolog.Logger

	mu    sync.Mutex // guards the fields below
	asked bool
	local []probe.Found
}

// find returns the reference of the model to begin with.
func (f *finder) find(ctx context.Context, c *config.Config) string {
	ref, _ := f.choose(ctx, c)
	return ref
}

// choose returns the model and where it comes from.
func (f *finder) choose(ctx context.Context, c *config.Config) (ref, from string) {
	if c.Model != "" {
		return full(c, c.Model), ""
	}
	if e, variable, ok := c.Keyed(); ok {
		return e.Name + "/" + e.Model, variable + " is set"
	}
	if found := f.servers(ctx, c); len(found) > 0 {
		return found[0].Provider + "/" + found[0].Models[0].ID, fmt.Sprintf("%s answers at %s", found[0].Provider, found[0].BaseURL)
	}
	return offline.Name, "no key of a provider is in the environment and no model server answers on this machine"
}

// full returns ref with the usual model of its provider, if it names the provider
// alone: an option has one name for a model.
func full(c *config.Config, ref string) string {
	choice, err := c.Choose(ref)
	if err != nil || choice.Offline || choice.Script != "" {
		return ref
	}
	return choice.Endpoint.Name + "/" + choice.ID
}

// servers asks the usual ports of this machine, once.
func (f *finder) servers(ctx context.Context, c *config.Config) []probe.Found {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.asked {
		f.local = probe.Local(ctx, places(c))
		f.asked = ctx.Err() == nil
		f.log.Debug().Int("found", len(f.local)).Msg("asked for local models")
	}
	return f.local
}

// others returns the references of the local models that were found.
func (f *finder) others() []string { return f.of("") }

// of is others for one provider; "" is each of them.
func (f *finder) of(provider string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var refs []string
	for _, l := range f.local {
		if provider != "" && l.Provider != provider {
			continue
		}
		for _, m := range l.Models {
			refs = append(refs, l.Provider+"/"+m.ID)
		}
	}
	return refs
}

// model returns what its server said of a local model that was found.
func (f *finder) model(ref string) (probe.Model, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.local {
		for _, m := range l.Models {
			if l.Provider+"/"+m.ID == ref {
				return m, true
			}
		}
	}
	return probe.Model{}, false
}

// notices tell which model was found and how to choose another; there is nothing
// to tell when the user has chosen, in the configuration or in the session, whose
// model is in use.
func (f *finder) notices(ctx context.Context, c *config.Config, use string) []string {
	ref, from := f.choose(ctx, c)
	if from == "" || ref != use {
		return nil
	}
	return []string{fmt.Sprintf("Using the model %s, because %s. To choose another, set model in %s or use --model; in an editor, switch it in the session.",
		ref, from, c.Paths.Config)}
}

// places returns where the local servers are.
func places(c *config.Config) probe.Options {
	at := func(name string) string {
		e, _ := c.Provider(name) // one that is unknown has no address
		return strings.TrimSuffix(e.BaseURL, "/v1")
	}
	return probe.Options{Ollama: at("ollama"), LMStudio: at("lmstudio"), LlamaCPP: at("llamacpp")}
}
