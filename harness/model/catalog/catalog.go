// Package catalog knows what well-known models can do and what they cost.
//
// A model is known exactly, from a snapshot that is part of the program, or as
// one of a family whose ids begin alike, so that versions that came later are
// known roughly as soon as they appear. Only the snapshot has prices, and a model
// has no other's: what it costs is never guessed (R-BILL-05). Of a model that is
// not known at all the window is assumed with care: 128k tokens for a hosted model,
// 8k for one on this machine.
//
// Nothing is read before the first question. The files NOTICE.md and gen/main.go
// tell where the snapshot comes from.
package catalog

import (
	"slices"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// windows of models that are not known, in tokens.
const (
	hostedWindow = 128_000
	localWindow  = 8_192
)

// A Model is what is known of a model of a provider. It is shared: nobody changes
// what it points to.
type Model struct {
	Provider string
	ID       string         // as the provider wants it
	Name     string         // for people
	Window   int            // in tokens
	Output   int            // the most tokens of one answer; 0 is unknown
	Images   bool           // takes pictures
	NoTools  bool           // cannot call tools
	Thinks   bool           // has an effort to set
	Efforts  []model.Effort // those beside off, weakest first; nil is low, medium and high
	Price    *Price         // nil is unknown
	Aliases  []string       // other ids of the same model
}

// A Price is in micro-dollars for a million tokens: 3 USD are 3_000_000. One of
// zeros is that of a model that is free (R-BILL-05). Where a provider asks more for
// long prompts it is the price of short ones, where it asks more at some hours that
// of these.
type Price struct {
	Input      int64 // of a token that is not in the cache
	Output     int64
	CacheRead  int64 // 0 is as much as Input
	CacheWrite int64 // 0 is as much as Input
}

// Find returns the model that provider calls id: by its id, by an alias, or by a
// dated or latest version of either. Case does not count. What a provider of the
// snapshot resells as MAKER/MODEL, and the snapshot does not have of it, is the
// model of its maker, without a price. Without an exact answer it is not found;
// [Describe] knows more.
func Find(provider, id string) (Model, bool) {
	models := of(provider)
	if models == nil {
		return Model{}, false
	}
	if m, ok := models.find(id); ok {
		return m, true
	}
	if isMaker(provider) {
		return Model{}, false
	}
	m, _, ok := resold(provider, id)
	return m, ok
}

// Models returns the models of a provider by their ids.
func Models(provider string) []Model { return slices.Clone(of(provider).all()) }

// Describe returns what is known of the model id of a provider: exactly, by its
// maker, or by its family. The window is assumed if nobody knows the model, and if
// the provider is a server on this machine, as local says: it decides on the window
// itself, usually on less than the model could have. A model that can only be had
// from its vendor keeps its window, since the server then is on the way to it.
func Describe(provider, id string, local bool) model.Descriptor {
	d := model.Descriptor{Provider: provider, ID: id}
	m, ok := Find(provider, id)
	open := false
	if !ok {
		m, open, ok = resold(provider, id)
	}
	if ok {
		d.Name, d.Window, d.Output = m.Name, m.Window, m.Output
		d.Images, d.NoTools, d.Thinks, d.Efforts = m.Images, m.NoTools, m.Thinks, m.Efforts
	} else {
		f := lookup(id)
		d.Window, open = f.Window, !f.Closed
		d.Images, d.NoTools, d.Thinks, d.Efforts = f.Images, f.NoTools, f.Thinks, efforts(f.Efforts)
	}
	switch {
	case local && open:
		d.Window, d.Assumed = localWindow, true
	case d.Window == 0:
		d.Window, d.Assumed = hostedWindow, true
	}
	return d
}
