//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// reaches has the agent reach the server by the protocols of both providers. The
// user names an older model, which a session then offers.
func (e *editor) reaches(m *modeltest.Server) *editor {
	e.file(".config/lorimer/models.toml", fmt.Sprintf("[models.%q]\n", gpt))
	e.env = slices.Concat(e.env, []string{
		"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + m.OpenAI(),
		"ANTHROPIC_API_KEY=sk-test-0123456789", "ANTHROPIC_BASE_URL=" + m.Anthropic(),
	})
	return e.offers(bothProviders())
}

// offers has the sessions of the agent offer the models of the providers, which they
// do when the user has named them.
func (e *editor) offers(all []provider) *editor {
	var b strings.Builder
	for _, p := range all {
		fmt.Fprintf(&b, "[models.%q]\n", p.model)
	}
	e.file(".config/lorimer/models.toml", b.String())
	return e
}

// Models of the two providers that read pictures.
const (
	gpt    = "openai/gpt-5.2"
	claude = "anthropic/claude-sonnet-5"
)

// A provider is one of the protocols of the strict server.
type provider struct {
	name, model string
	busy        int    // the status that it overloads with
	kind        string // the protocol
	route       string // what the path of each of its requests has
}

func bothProviders() []provider { return allProviders()[:2] }

// Models of the other protocols, which read pictures and think too.
const (
	responder = "responses/gpt-5.6"
	gemini    = "gemini/gemini-3.5-flash"
	llama     = "ollama/llama-see"
)

// allProviders are the protocols of the strict server, for an agent that reachesAll.
func allProviders() []provider {
	return []provider{
		{"openai", gpt, 503, "openai-chat", "/chat/completions"},
		{"anthropic", claude, 529, "anthropic", "/messages"},
		{"responses", responder, 503, "openai-responses", "/responses"},
		{"gemini", gemini, 503, "gemini", ":streamGenerateContent"},
		{"ollama", llama, 503, "ollama", "/api/chat"},
	}
}

// reachesAll has the agent reach the server by every protocol. The configuration
// is what configAll makes of settings.
func (e *editor) reachesAll(m *modeltest.Server, settings ...string) *editor {
	_, id, _ := strings.Cut(llama, "/")
	m.Listed = []modeltest.ModelInfo{{ID: id, Window: 128_000, Images: true, Thinks: true}} // asked by Ollama's protocol
	e.env = append(e.env, "ALL_KEY=sk-test-0123456789")
	e.file(configFile, configAll(m, settings...))
	return e.offers(allProviders())
}

// configAll is a configuration of all providers, with other settings before it.
func configAll(m *modeltest.Server, settings ...string) string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintln(&b, s)
	}
	urls := map[string]string{}
	for _, p := range modeltest.Protocols() {
		urls[p.Name] = p.URL(m)
	}
	for _, p := range allProviders() {
		_, id, _ := strings.Cut(p.model, "/")
		fmt.Fprintf(&b, "[providers.%s]\nkind = %q\nbase_url = %q\nmodel = %q\napi_key_env = \"ALL_KEY\"\n", p.name, p.kind, urls[p.kind], id)
	}
	return b.String()
}

// tool is a call in an answer of a provider.
func tool(name string, args object) modeltest.Tool {
	return modeltest.Tool{Name: name, Args: modeltest.JSON(args)}
}
