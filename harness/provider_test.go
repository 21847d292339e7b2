package harness_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// providers returns how each real provider is set up against a server.
func providers(s *modeltest.Server) map[string]func(model.Descriptor) model.Streamer {
	return map[string]func(model.Descriptor) model.Streamer{
		"openai": func(d model.Descriptor) model.Streamer {
			d.Kind, d.BaseURL = "openai-chat", s.OpenAI()
			return normalise.Wrap(openai.New(d, openai.Options{Key: "k"}), d, normalise.Options{})
		},
		"responses": func(d model.Descriptor) model.Streamer {
			d.Kind, d.BaseURL = "openai-responses", s.OpenAI()
			return normalise.Wrap(responses.New(d, responses.Options{Key: "k"}), d, normalise.Options{})
		},
		"anthropic": func(d model.Descriptor) model.Streamer {
			d.Kind, d.BaseURL = "anthropic", s.Anthropic()
			return normalise.Wrap(anthropic.New(d, anthropic.Options{Key: "k"}), d, normalise.Options{})
		},
		"gemini": func(d model.Descriptor) model.Streamer {
			d.Kind, d.BaseURL = "gemini", s.Gemini()
			return normalise.Wrap(gemini.New(d, gemini.Options{Key: "k"}), d, normalise.Options{})
		},
		"ollama": func(d model.Descriptor) model.Streamer {
			d.Kind, d.BaseURL = "ollama", s.Ollama()
			return normalise.Wrap(ollama.New(d, ollama.Options{}), d, normalise.Options{})
		},
	}
}

// protocols returns the names of the providers.
func protocols() []string { return slices.Sorted(maps.Keys(providers(nil))) }

// cut is arguments that break off, or whole ones where the provider takes them apart
// itself and tells of none that break off.
func cut(provider string) string {
	if provider == "gemini" || provider == "ollama" {
		return `{"path":"a"}`
	}
	return `{"path":"a`
}

// drawing is a tool whose result has a picture.
func drawing() tools.Tool {
	png := []byte("\x89PNG\r\n\x1a\n0000")
	return toolstest.Answer("draw", tools.Result{Text: "drawn", Images: []tools.Image{{MIME: "image/png", Data: png}}})
}

func TestPrefixOnTheWire(t *testing.T) { // R-HARN-14, over the bytes of real requests
	for name := range providers(nil) {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t)
			for range 20 {
				server.Add(
					modeltest.Reply{Think: []string{"hm"}, Text: []string{"I look."}, Tools: []modeltest.Tool{
						{ID: "same", Name: "look", Args: `{"b": 1, "a": 12345678901234567890}`}, {Name: "draw", Args: "{}"},
					}},
					modeltest.Reply{Tools: []modeltest.Tool{{Name: "nope", Args: cut(name)}}},
					modeltest.Reply{Text: []string{"Done", "."}},
				)
			}
			f := newFixture(toolstest.Echo("look"), drawing())
			f.settings.open = func(context.Context) (model.Streamer, error) {
				return providers(server)[name](f.settings.model), nil
			}
			s := f.open(t)
			for range 20 {
				if out, rec := ask(t, s, "go on"); out.Stop != harness.EndTurn || !strings.HasSuffix(rec.text(), "Done.") {
					t.Fatalf("turn: %+v, %q", out, rec.text())
				}
			}
			if got := server.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
			if got := server.Ratio(); got != 1 || len(server.Requests()) != 60 {
				t.Errorf("prefix reuse over %d requests = %.4f, want 1", len(server.Requests()), got)
			}
		})
	}
}

func TestSwitchOfProvider(t *testing.T) { // R-HARN-15, C030, C049, C101, C106
	server := modeltest.New(t)
	f := newFixture(toolstest.Echo("look"), drawing())
	open := providers(server)
	to := func(name string) {
		f.settings.model.Provider, f.settings.model.ID = name, "test-"+name
		d := f.settings.model
		f.settings.open = func(context.Context) (model.Streamer, error) { return open[name](d), nil }
	}
	to("anthropic")
	s := f.open(t)
	var way []string // each provider after each other one: their number is prime
	for step, all := 1, protocols(); step < len(all); step++ {
		for i := range all {
			way = append(way, all[i*step%len(all)])
		}
	}
	for i, name := range way {
		to(name)
		half, whole := fmt.Sprint("half of ", i), fmt.Sprint("whole of ", i) // no text twice: servers know theirs
		server.Add(
			modeltest.Reply{Think: []string{"hm"}, Text: []string{fmt.Sprint("Both of ", i)}, Tools: []modeltest.Tool{
				{ID: "same", Name: "look", Args: `{"n": 1}`}, {ID: "same", Name: "draw", Args: "{}"}, {Name: "look", Args: cut(name)},
			}},
			modeltest.Reply{Text: []string{half}, Tools: []modeltest.Tool{{Name: "look", Args: cut(name)}}, Hang: true},
			modeltest.Reply{Text: []string{whole}},
		)
		ctx, cancel := context.WithCancel(t.Context())
		rec := &recorder{hook: func(e event.Event) error {
			if c, ok := e.(event.Text); ok && c.Text == half {
				cancel()
			}
			return nil
		}}
		out, err := prompted(t, s, ctx, "draw and look", rec)
		cancel()
		if err != nil || out.Stop != harness.Cancelled {
			t.Fatalf("turn %d with %s: %+v, %v, want cancelled", i+1, name, out, err)
		}
		if out, rec := ask(t, s, "again"); out.Stop != harness.EndTurn || rec.text() != whole {
			t.Fatalf("turn %d with %s after the cancel: %+v, %q", i+1, name, out, rec.text())
		}
	}
	if got := server.Rejected(); len(got) > 0 {
		t.Errorf("rejected: %q", got)
	}
	if err := paired(f.entries(t, s)); err != nil {
		t.Error(err)
	}
}

func TestHookThatDropsATool(t *testing.T) { // R-TOOLS-23: what the model was not told of does not run
	look, draw := toolstest.Echo("look"), toolstest.Echo("draw")
	f := newFixture(look, draw)
	f.settings.facts.Extras = []prompt.Extra{{Hooks: []prompt.Hook{
		func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
			var kept []prompt.ToolSchema
			for _, s := range a.Tools {
				if s.Name != "draw" {
					kept = append(kept, s)
				}
			}
			a.Tools = kept
			return next(a)
		},
	}}}
	f.script.steps = []step{wants(want{"a", "draw", "{}"}, want{"b", "look", "{}"}), says("x")}
	ask(t, f.open(t), "go")
	if len(draw.Calls()) != 0 || len(look.Calls()) != 1 {
		t.Errorf("draw ran %d times, look %d times, want look alone", len(draw.Calls()), len(look.Calls()))
	}
}

func BenchmarkTurn(b *testing.B) { // a turn of 2,000 chunks, without model and encoder
	pieces := make([]string, 2000)
	for i := range pieces {
		pieces[i] = "some words "
	}
	f := newFixture()
	f.script.steps = []step{says(pieces...)}
	prompts, err := prompt.New(prompt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e := harness.New(harness.Options{
		Threads: f.threads, Settings: &f.settings, Prompts: prompts,
		Tools: func(harness.Scope) []tools.Tool { return nil },
	})
	sink := event.SinkFunc(func(event.Event) error { return nil })
	b.ReportAllocs()
	for b.Loop() {
		s, err := e.Open(b.Context(), harness.Spec{FS: files{}})
		if err != nil {
			b.Fatal(err)
		}
		slot, err := s.Enter()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := slot.Prompt(b.Context(), harness.Input{Blocks: []event.Block{{Text: "go"}}}, sink); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(pieces)), "ns/chunk")
}
