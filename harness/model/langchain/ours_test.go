package langchain_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/cache"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// eachOfOurs runs f for each of our clients; open gives it replies. The chains and
// agents of langchaingo are tried in the module chains, beside this package.
func eachOfOurs(t *testing.T, f func(t *testing.T, open func(replies ...modeltest.Reply) (model.Streamer, *modeltest.Server))) {
	t.Helper()
	clients := map[string]func(model.Descriptor) model.Streamer{
		"openai-chat":      func(d model.Descriptor) model.Streamer { return openai.New(d, openai.Options{Key: "k"}) },
		"openai-responses": func(d model.Descriptor) model.Streamer { return responses.New(d, responses.Options{Key: "k"}) },
		"anthropic":        func(d model.Descriptor) model.Streamer { return anthropic.New(d, anthropic.Options{Key: "k"}) },
		"gemini":           func(d model.Descriptor) model.Streamer { return gemini.New(d, gemini.Options{Key: "k"}) },
		"ollama":           func(d model.Descriptor) model.Streamer { return ollama.New(d, ollama.Options{Key: "k"}) },
	}
	for _, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			if p.Name == "openai-responses" {
				p.ID = "gpt-5.2" // later ones want the phase of a message back, for which llms has no part
			}
			f(t, func(replies ...modeltest.Reply) (model.Streamer, *modeltest.Server) {
				t.Helper()
				s := modeltest.New(t, replies...)
				return clients[p.Name](model.Descriptor{Provider: "house", ID: p.ID, BaseURL: p.URL(s), Window: 128_000}), s
			})
		})
	}
}

// shelf is a place for what langchaingo caches.
type shelf map[string]*llms.ContentResponse

func (s shelf) Get(_ context.Context, key string) *llms.ContentResponse    { return s[key] }
func (s shelf) Put(_ context.Context, key string, r *llms.ContentResponse) { s[key] = r }

// Our models do for users of langchaingo what its own do: they stream text, call
// tools, and take the parts of llms back.
func TestOursAreModels(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		ours, s := open(
			modeltest.Reply{Think: []string{"Hm."}, Text: []string{"I ", "look."}, Tools: []modeltest.Tool{{ID: "call_1", Name: "clock", Args: `{"place":"Bergen"}`}}},
			modeltest.Reply{Text: []string{"It is ", "ten past nine."}},
		)
		var m llms.Model = cache.New(ours, shelf{})
		tool := llms.Tool{Type: "function", Function: &llms.FunctionDefinition{
			Name: "clock", Description: "Tells the time of a place.",
			Parameters: map[string]any{"type": "object", "properties": map[string]any{"place": map[string]any{"type": "string"}}},
		}}
		msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "Be brief."), llms.TextParts(llms.ChatMessageTypeHuman, "What time is it in Bergen?")}
		var pieces []string
		heard := llms.WithStreamingFunc(func(_ context.Context, p []byte) error {
			pieces = append(pieces, string(p))
			return nil
		})
		res, err := m.GenerateContent(t.Context(), msgs, llms.WithTools([]llms.Tool{tool}), heard)
		if err != nil {
			t.Fatalf("%v; the server refused: %q", err, s.Rejected())
		}
		c := res.Choices[0]
		if c.Content != "I look." || !cmp.Equal([]string{"I ", "look."}, pieces) || len(c.ToolCalls) != 1 || c.ToolCalls[0].FunctionCall.Arguments != `{"place":"Bergen"}` {
			t.Fatalf("choice %+v, heard %q", c, pieces)
		}
		call := c.ToolCalls[0]
		msgs = append(msgs,
			llms.MessageContent{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextContent{Text: c.Content}, call}},
			llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: call.ID, Name: "clock", Content: "21:10"}}})
		for range 2 { // the second time from the cache
			pieces = nil
			res, err = m.GenerateContent(t.Context(), msgs, llms.WithTools([]llms.Tool{tool}), heard)
			if err != nil || res.Choices[0].Content != "It is ten past nine." || strings.Join(pieces, "") != "It is ten past nine." {
				t.Errorf("answer %+v (%v), heard %q; the server refused: %q", res, err, pieces, s.Rejected())
			}
		}
		if n := len(s.Requests()); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
	})
}

// A model of ours that comes back through the adapter is what it was.
func TestThereAndBack(t *testing.T) {
	eachOfOurs(t, func(t *testing.T, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		ours, s := open(
			modeltest.Reply{Think: []string{"Hm."}, Text: []string{"I ", "look."}, Tools: []modeltest.Tool{{ID: "call_1", Name: "read", Args: `{"path":"a"}`}}},
			modeltest.Reply{Text: []string{"Done."}},
			modeltest.Reply{Status: 429, Error: "slow down", Header: map[string]string{"Retry-After": "7"}},
		)
		m := langchain.Wrap(ours, langchain.Options{Provider: "house"})
		req := modeltest.Ask("go")
		events, r, err := modeltest.Collect(t.Context(), m, req)
		if err != nil {
			t.Fatalf("%v; the server refused: %q", err, s.Rejected())
		}
		if text, think := heard(events); text != "I look." || think != "Hm." || r.Stop != model.StopTools || !r.Usage.Known {
			t.Errorf("heard %q and %q, reply %+v", text, think, r)
		}
		req.Messages = append(req.Messages, modeltest.Results(r, "one")...)
		if _, r, err = modeltest.Collect(t.Context(), m, req); err != nil || !cmp.Equal([]llms.ContentPart{llms.TextContent{Text: "Done."}}, r.Parts) {
			t.Errorf("second answer = %+v (%v); the server refused: %q", r, err, s.Rejected())
		}
		_, _, err = modeltest.Collect(t.Context(), m, req)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.RateLimit || e.Status != 429 || e.RetryAfter.Seconds() != 7 {
			t.Errorf("error = %+v, want the rate limit with its wait", err)
		}
	})
}
