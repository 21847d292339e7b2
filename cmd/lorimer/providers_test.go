//go:build unix

package main

import (
	"slices"

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

// tool is a call in an answer of a provider.
func tool(name string, args object) modeltest.Tool {
	return modeltest.Tool{Name: name, Args: modeltest.JSON(args)}
}
