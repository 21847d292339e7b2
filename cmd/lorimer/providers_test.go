//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// reaches has the agent reach the server by the protocols of both providers.
func (e *editor) reaches(m *modeltest.Server) *editor {
	e.env = slices.Concat(e.env, []string{
		"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + m.OpenAI(),
		"ANTHROPIC_API_KEY=sk-test-0123456789", "ANTHROPIC_BASE_URL=" + m.Anthropic(),
	})
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
	busy        int // the status that it overloads with
}

func bothProviders() []provider { return []provider{{"openai", gpt, 503}, {"anthropic", claude, 529}} }

// Models of the other protocols, which read pictures and think too.
const (
	responder = "responses/gpt-5.6"
	gemini    = "gemini/gemini-3.5-flash"
	llama     = "ollama/llama-see"
)

// allProviders are the protocols of the strict server, for an agent that reachesAll.
func allProviders() []provider {
	return append(bothProviders(), provider{"responses", responder, 503}, provider{"gemini", gemini, 503}, provider{"ollama", llama, 503})
}

// reachesAll has the agent reach the server by every protocol. The configuration
// is what configAll makes of settings.
func (e *editor) reachesAll(m *modeltest.Server, settings ...string) *editor {
	_, id, _ := strings.Cut(llama, "/")
	m.Listed = []modeltest.ModelInfo{{ID: id, Window: 128_000, Images: true, Thinks: true}} // asked by Ollama's protocol
	e.env = append(e.env, "ALL_KEY=sk-test-0123456789")
	e.file(configFile, configAll(m, settings...))
	return e
}

// configAll is a configuration of all providers, with other settings before it.
func configAll(m *modeltest.Server, settings ...string) string {
	var b strings.Builder
	for _, s := range settings {
		fmt.Fprintln(&b, s)
	}
	for _, p := range []struct{ name, kind, url string }{
		{"openai", "openai-chat", m.OpenAI()}, {"responses", "openai-responses", m.OpenAI()},
		{"anthropic", "anthropic", m.Anthropic()}, {"gemini", "gemini", m.Gemini()}, {"ollama", "ollama", m.Ollama()},
	} {
		fmt.Fprintf(&b, "[providers.%s]\nkind = %q\nbase_url = %q\napi_key_env = \"ALL_KEY\"\n", p.name, p.kind, p.url)
	}
	return b.String()
}

// tool is a call in an answer of a provider.
func tool(name string, args object) modeltest.Tool {
	return modeltest.Tool{Name: name, Args: modeltest.JSON(args)}
}
