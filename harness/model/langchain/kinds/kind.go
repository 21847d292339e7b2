package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
)

// A kind is a provider of langchaingo and what is to be known to use it.
type kind struct {
	Info
	adapt langchain.Options
	// open makes a model. With Client it is called for each request, with a client
	// that is for that request alone. It is nil where the program is built without.
	open func(d model.Descriptor, o Options, c *http.Client) (llms.Model, error)
	// callsTools narrows Tools down to some models; nil is all.
	callsTools func(id string) bool
	// end is what an answer that is streamed has in it when it is whole; "" if it
	// cannot be told from the bytes.
	end string
	// output is the most tokens of an answer where neither the request nor the
	// descriptor says so; 0 leaves it to the library.
	output int
	// base is the address where that depends on the settings; nil is BaseURL.
	base func(settings map[string]string) string
	// fixed is the address that the library uses whatever it is told; "" if it can
	// be told another.
	fixed string
	// path is the last element of the address, where the library knows only some of
	// them; nil leaves the address alone.
	path func(id string) string
}

// all returns every kind.
func all() []kind {
	return []kind{bedrock(), cloudflare(), cohere(), ernie(), huggingface(), llamafile(), maritaca(), mistral(), watsonx()}
}

func find(name string) (kind, bool) {
	kinds := all()
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.Name == name })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// unknown says what to take instead of a name that is none.
func unknown(name string) string {
	ours := map[string]string{
		"openai": "openai", "anthropic": "anthropic", "ollama": "ollama", "local": "ollama",
		"googleai": "gemini", "google": "gemini", "vertex": "gemini", "palm": "gemini",
	}
	if kind, ok := ours[name]; ok {
		return fmt.Sprintf("langchain/%s is not offered; kind = %q speaks that protocol itself", name, kind)
	}
	return fmt.Sprintf("there is no langchain/%s; there are %s", name, strings.Join(Names(), ", "))
}

// check returns what is missing or wrong in o; "" if nothing is.
func (k *kind) check(d model.Descriptor, o Options) string {
	if k.Key != "" && o.Key == "" {
		return fmt.Sprintf("langchain/%s needs the %s as its key; set api_key_env or api_key_command of the provider", k.Name, k.Key)
	}
	if d.ID == "" {
		return "the model has no id"
	}
	var names []string
	for _, s := range k.Settings {
		names = append(names, s.Name)
		if s.Required && o.Settings[s.Name] == "" {
			return fmt.Sprintf("langchain/%s needs the option %s, %s", k.Name, s.Name, s.Help)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Settings)) {
		if !slices.Contains(names, name) {
			return fmt.Sprintf("langchain/%s has no option %s; it has %s", k.Name, name, cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	if u, err := url.Parse(k.address(d, o.Settings)); err != nil || u.Host == "" {
		return fmt.Sprintf("base_url %q is no address", d.BaseURL)
	}
	return ""
}

// address is where a model is.
func (k *kind) address(d model.Descriptor, settings map[string]string) string {
	base := k.BaseURL
	if k.base != nil {
		base = k.base(settings)
	}
	return strings.TrimRight(cmp.Or(d.BaseURL, base), "/")
}

// streamer puts a model of langchaingo together with what keeps it in order.
func (k *kind) streamer(d model.Descriptor, o Options) model.Streamer {
	a := k.adapt
	a.Provider, a.Ref = cmp.Or(d.Provider, k.Name), d.Ref()
	a.Secrets = k.secrets(o)
	a.NoTools = !Tools(k.Name, d.ID)
	a.MaxTokens = cmp.Or(d.Output, k.output)
	a.First, a.Idle, a.Left = o.First, o.Idle, o.Left
	d.BaseURL = k.address(d, o.Settings)
	return langchain.Wrap(&opener{kind: k, model: d, options: o}, a)
}

// secrets returns what must not be seen in an error. A region is not among it: an
// error that names it says where nobody answered.
func (k *kind) secrets(o Options) []string {
	out := slices.AppendSeq([]string{o.Key}, maps.Values(o.Headers))
	for _, s := range k.Settings {
		if s.Secret {
			out = append(out, o.Settings[s.Name])
		}
	}
	return out
}

// refuse is the error of a model that cannot be opened.
func refuse(d model.Descriptor, kind model.Kind, message string) error {
	return &model.Error{Kind: kind, Provider: d.Provider, Message: message, Final: true}
}
