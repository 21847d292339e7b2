// Package catalog knows what well-known models can do and what they cost.
//
// A model is known exactly, from a snapshot that is part of the program, or as
// one of a family whose ids begin alike, so that versions that came later are
// known roughly as soon as they appear. A family says nothing of prices: what a
// model costs is never guessed. Of a model that is not known at all the window is
// assumed with care: 128k tokens for a hosted model, 8k for one on this machine.
//
// Nothing is read before the first question.
package catalog

import (
	"github.com/lorimer-dev/lorimer/harness/model"
)

// windows of models that are not known, in tokens.
const (
	hostedWindow = 128_000
	localWindow  = 8_192
)

// A Model is what is known of a model of a provider.
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
// zeros is that of a model that is free (R-BILL-05).
type Price struct {
	Input      int64 // of what is not cached
	Output     int64
	CacheRead  int64
	CacheWrite int64
}

// Find returns the model that provider calls id: by its id, by an alias, or by a
// dated or latest version of either. Case does not count.
func Find(provider, id string) (Model, bool) {
	return Model{}, false
}

// Models returns the models of a provider by their ids.
func Models(provider string) []Model { return nil }

// Providers returns the providers of which models are known, by their names.
func Providers() []string { return nil }

// Describe returns what is known of the model id of a provider; local says that
// the provider is a server on this machine. It decides on the window itself,
// usually on less than the model could have.
func Describe(provider, id string, local bool) model.Descriptor {
	d := model.Descriptor{Provider: provider, ID: id}
	if f, ok := lookup(id); ok {
		d.Window, d.Images, d.NoTools, d.Thinks = f.Window, f.Images, f.NoTools, f.Thinks
	}
	if local {
		d.Window, d.Assumed = localWindow, true
	}
	if d.Window == 0 {
		d.Window, d.Assumed = hostedWindow, true
	}
	return d
}
