package catalog

import (
	"slices"
	"strings"
)

// A maker is a provider whose models others resell.
type maker struct {
	provider string
	names    []string // as resellers call it, beside its own name
	open     bool     // its models can be had on a machine of one's own
}

func makers() []maker {
	return []maker{
		{provider: "anthropic"},
		{provider: "openai"},
		{provider: "gemini", names: []string{"google"}},
		{provider: "deepseek", names: []string{"deepseek-ai"}, open: true},
		{provider: "mistral", names: []string{"mistralai"}, open: true},
		{provider: "xai", names: []string{"x-ai"}},
		{provider: "moonshot", names: []string{"moonshotai"}, open: true},
		{provider: "zai", names: []string{"z-ai", "zai-org"}, open: true},
	}
}

func isMaker(provider string) bool {
	return slices.ContainsFunc(makers(), func(m maker) bool { return m.provider == provider })
}

// resold returns the model of its maker for one that provider may have of it. The
// id is MAKER/MODEL, or the model's own. What provider asks for it is unknown.
func resold(provider, id string) (m Model, open, ok bool) {
	name, bare, found := strings.Cut(strings.ToLower(id), "/")
	if found {
		bare, _, _ = strings.Cut(bare, ":") // a variant of a reseller
	} else {
		name, bare = "", name
	}
	for _, k := range makers() {
		if name != "" && name != k.provider && !slices.Contains(k.names, name) {
			continue
		}
		m, ok = of(k.provider).find(bare)
		if !ok && k.provider == "anthropic" { // resellers write its versions with a dot
			m, ok = of(k.provider).find(strings.ReplaceAll(bare, ".", "-"))
		}
		if ok {
			m.Provider, m.ID, m.Price, m.Aliases = provider, id, nil, nil
			return m, k.open, true
		}
	}
	return Model{}, false, false
}
