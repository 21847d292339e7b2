// Package catalog knows what well-known models can do.
//
// It goes by the beginning of a model's id, so that dated and renamed versions
// of a family are known as soon as they appear. What it does not know it
// guesses with care: 128k tokens for a hosted model, 8k for a local one.
package catalog

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/model"
)

//go:embed families.json
var data []byte

// windows of models that are not known, in tokens.
const (
	hostedWindow = 128_000
	localWindow  = 8_192
)

// A family is a group of models whose ids begin alike.
type family struct {
	Prefix  string `json:"prefix"`
	Window  int    `json:"window"`
	Images  bool   `json:"images"`
	NoTools bool   `json:"no_tools"`
	Thinks  bool   `json:"thinks"`
}

// families reads the data once; it is part of the program, so that a mistake in
// it is one of ours.
var families = sync.OnceValue(func() []family {
	var all []family
	if err := json.Unmarshal(data, &all); err != nil {
		panic(fmt.Sprintf("reading the model catalog: %v", err))
	}
	return all
})

// Describe returns what is known of the model id of a provider: window, images,
// tools and thinking are set beside the two names.
func Describe(provider, id string) model.Descriptor {
	d := model.Descriptor{Provider: provider, ID: id}
	if f, ok := lookup(id); ok {
		d.Window, d.Images, d.NoTools, d.Thinks = f.Window, f.Images, f.NoTools, f.Thinks
	}
	switch provider {
	case "ollama", "lmstudio", "llamacpp", "vllm":
		// A local server decides on the window itself, usually on less.
		d.Window = localWindow
	}
	d.Window = cmp.Or(d.Window, hostedWindow)
	return d
}

// lookup finds the family with the longest prefix. A maker's name before a
// slash, as resellers write it, does not count, nor does case.
func lookup(id string) (best family, ok bool) {
	id = strings.ToLower(id)
	id = id[strings.LastIndexByte(id, '/')+1:]
	for _, f := range families() {
		if strings.HasPrefix(id, f.Prefix) && len(f.Prefix) > len(best.Prefix) {
			best, ok = f, true
		}
	}
	return best, ok
}
