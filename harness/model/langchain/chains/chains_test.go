package chains_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/prompts"
	"github.com/tmc/langchaingo/tools"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/anthropic"
	"github.com/lorimer-dev/lorimer/harness/model/gemini"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/offline"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
	"github.com/lorimer-dev/lorimer/harness/model/openai"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
	"github.com/lorimer-dev/lorimer/harness/model/script"
)

// clients opens our client of each protocol.
var clients = map[string]func(model.Descriptor) llms.Model{
	"openai-chat":      func(d model.Descriptor) llms.Model { return openai.New(d, openai.Options{Key: "k"}) },
	"openai-responses": func(d model.Descriptor) llms.Model { return responses.New(d, responses.Options{Key: "k"}) },
	"anthropic":        func(d model.Descriptor) llms.Model { return anthropic.New(d, anthropic.Options{Key: "k"}) },
	"gemini":           func(d model.Descriptor) llms.Model { return gemini.New(d, gemini.Options{Key: "k"}) },
	"ollama":           func(d model.Descriptor) llms.Model { return ollama.New(d, ollama.Options{Key: "k"}) },
}

// each runs f for each model that says what it is told to say: those that speak a
// protocol, against a server that refuses what the real ones refuse, and the one
// that reads a script. asked returns the last request, "" where there is none to see.
func each(t *testing.T, replies []modeltest.Reply, f func(t *testing.T, m llms.Model, asked func() string)) {
	t.Helper()
	for _, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			open, ok := clients[p.Name]
			if !ok {
				t.Fatalf("no client for %s", p.Name)
			}
			s := modeltest.New(t, replies...)
			f(t, open(model.Descriptor{Provider: "house", ID: p.ID, BaseURL: p.URL(s), Window: 128_000}), func() string {
				reqs := s.Requests()
				return string(reqs[len(reqs)-1].Body)
			})
			if refused := s.Rejected(); len(refused) > 0 {
				t.Errorf("the server refused: %q", refused)
			}
		})
	}
	t.Run("script", func(t *testing.T) { f(t, scripted(t, replies), func() string { return "" }) })
}

// scripted is a model that reads the replies from a script.
func scripted(t *testing.T, replies []modeltest.Reply) llms.Model {
	t.Helper()
	var text strings.Builder
	for _, r := range replies {
		line := map[string]any{"text": r.Text}
		for _, call := range r.Tools {
			line["tools"] = []any{map[string]any{"id": call.ID, "name": call.Name, "args": json.RawMessage(call.Args)}}
		}
		text.WriteString(modeltest.JSON(line) + "\n")
	}
	s, err := script.Parse(strings.NewReader(text.String()), "test")
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// listener collects what a model streams.
type listener struct{ pieces []string }

func (l *listener) hear(_ context.Context, p []byte) error {
	l.pieces = append(l.pieces, string(p))
	return nil
}

func TestChain(t *testing.T) {
	replies := []modeltest.Reply{{Think: []string{"Hm."}, Text: []string{"Hello ", "there."}}}
	each(t, replies, func(t *testing.T, m llms.Model, asked func() string) {
		var l listener
		chain := chains.NewLLMChain(m, prompts.NewPromptTemplate("Greet {{.who}}.", []string{"who"}))
		got, err := chains.Run(t.Context(), chain, "the world", chains.WithStreamingFunc(l.hear), chains.WithMaxTokens(500))
		if err != nil {
			t.Fatal(err)
		}
		if got != "Hello there." || !cmp.Equal([]string{"Hello ", "there."}, l.pieces) {
			t.Errorf("answer %q in %q", got, l.pieces)
		}
		if body := asked(); body != "" && !strings.Contains(body, "Greet the world.") {
			t.Errorf("request = %s", body)
		}
	})
}

func TestConversation(t *testing.T) {
	replies := []modeltest.Reply{{Text: []string{"I am ", "called Ada."}}, {Text: []string{"Ada."}}}
	each(t, replies, func(t *testing.T, m llms.Model, asked func() string) {
		chain := chains.NewConversation(m, memory.NewConversationBuffer())
		for _, tt := range []struct{ say, want string }{{"Who are you?", "I am called Ada."}, {"What was your name?", "Ada."}} {
			got, err := chains.Run(t.Context(), chain, tt.say)
			if err != nil || got != tt.want {
				t.Errorf("answer to %q = %q, %v; want %q", tt.say, got, err, tt.want)
			}
		}
		if body := asked(); body != "" && !strings.Contains(body, "called Ada.") {
			t.Errorf("the second request does not hold the first answer: %s", body)
		}
	})
}

// A clock is a tool of langchaingo.
type clock struct{ inputs []string }

var _ tools.Tool = (*clock)(nil)

func (*clock) Name() string        { return "clock" }
func (*clock) Description() string { return "Tells the time of a place." }

func (c *clock) Call(_ context.Context, input string) (string, error) {
	c.inputs = append(c.inputs, input)
	return "ten past nine", nil
}

// An agent offers tools, gets calls, and sends their results back.
func TestAgent(t *testing.T) {
	replies := []modeltest.Reply{
		{Text: []string{"I look."}, Tools: []modeltest.Tool{{ID: "call_1", Name: "clock", Args: `{"place":"Bergen"}`}}},
		{Text: []string{"It is ten past nine."}},
	}
	each(t, replies, func(t *testing.T, m llms.Model, asked func() string) {
		c := &clock{}
		agent := agents.NewExecutor(agents.NewOpenAIFunctionsAgent(m, []tools.Tool{c}))
		got, err := chains.Run(t.Context(), agent, "What time is it in Bergen?")
		if err != nil || got != "It is ten past nine." {
			t.Errorf("answer = %q, %v", got, err)
		}
		if len(c.inputs) != 1 || !sameJSON(c.inputs[0], `{"place":"Bergen"}`) {
			t.Errorf("the tool was called with %q", c.inputs)
		}
		if body := asked(); body != "" && !strings.Contains(body, "ten past nine") {
			t.Errorf("the result was not sent back: %s", body)
		}
	})
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

// The model without a model serves chains as well.
func TestOffline(t *testing.T) {
	var l listener
	chain := chains.NewConversation(offline.New(offline.Options{}), memory.NewConversationBuffer())
	got, err := chains.Run(t.Context(), chain, "help", chains.WithStreamingFunc(l.hear))
	if err != nil || got == "" || strings.TrimSpace(strings.Join(l.pieces, "")) != strings.TrimSpace(got) {
		t.Errorf("answer %q (%v), heard %q", got, err, l.pieces)
	}
}
