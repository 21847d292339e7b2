// Package kinds opens langchaingo's own providers by name, behind the adapter of
// package langchain: what they stream is cleaned, what they answer is whole or an
// error, and no key leaves for another address than theirs.
//
// It offers those that are no protocol of ours. Where a provider takes an HTTP
// client it gets one for each request, which sends to the configured address only
// and keeps what the library drops: the status of a refusal, the time to wait, an
// answer that was cut short. Nothing is taken from the environment.
package kinds

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// Options are what a provider is opened with, besides the model.
type Options struct {
	Key     string            // see [Info].Key for what it is
	Headers map[string]string // sent with each request, where [Info].Client
	Client  *http.Client      // for the requests, where [Info].Client; nil is http.DefaultClient
	// Settings are what this provider needs besides; [Info].Settings names them.
	Settings map[string]string
	// First, Idle and Left are those of [langchain.Options].
	First, Idle time.Duration
	Left        *langchain.Left
}

// An Info says what a kind is and what it needs.
type Info struct {
	Name     string // in a configuration, after "langchain/"
	Title    string // for people
	BaseURL  string // see [BaseURL], without settings
	Key      string // what the key is, such as "API key"; "" takes none
	Settings []Setting
	Tools    bool // some of its models call tools; see [Tools]
	Images   bool // it takes pictures
	Client   bool // it uses the client and the headers of the options
	// Tag is the build tag without which this program does not have it; "" if it
	// always does.
	Tag string
}

// A Setting is a value that a provider needs besides its key.
type Setting struct {
	Name     string
	Help     string // what it is, as half a sentence
	Required bool
	Secret   bool // is kept out of errors
}

// Names returns the names of all kinds, those included that take a build tag,
// sorted.
func Names() []string {
	var names []string
	for _, k := range all() {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return names
}

// Lookup returns what is known of a kind.
func Lookup(name string) (Info, bool) {
	k, ok := find(name)
	return k.Info, ok
}

// Tools reports whether the model id of a kind can call tools. The descriptor of one
// that cannot is to have NoTools set, so that its requests are written without any.
func Tools(name, id string) bool {
	k, _ := find(name)
	return k.Tools && (k.callsTools == nil || k.callsTools(id))
}

// BaseURL returns where a kind with these settings sends to unless a descriptor
// names another address; "" for a name that is none.
func BaseURL(name string, settings map[string]string) string {
	k, _ := find(name)
	return k.address(model.Descriptor{}, settings)
}

// Open returns the model d of a kind as a streamer. Nothing is sent until it is
// asked. An error is a [*model.Error] that names the way out: a name that is none,
// a kind that this program is built without, a key or a setting that is missing or
// that the kind does not know.
func Open(name string, d model.Descriptor, o Options) (model.Streamer, error) {
	k, ok := find(name)
	switch {
	case !ok:
		return nil, refuse(d, model.NotFound, unknown(name))
	case k.open == nil:
		return nil, refuse(d, model.Unavailable, fmt.Sprintf("this program is built without langchain/%s; build it with: go build -tags %s ./cmd/lorimer", k.Name, k.Tag))
	}
	if problem := k.check(d, o); problem != "" {
		return nil, refuse(d, model.Invalid, problem)
	}
	return k.streamer(d, o), nil
}
