package langchain_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/mistral"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A library is a provider of langchaingo and how to wrap it.
type library struct {
	name  string
	open  func(t *testing.T, s *modeltest.Server) (llms.Model, error)
	wrap  langchain.Options
	tools bool // it can call them
	think bool // it passes thoughts on
	usage bool // it counts tokens while it streams
	limit bool // it tells that an answer was cut at its limit
}

func libraries() []library {
	return []library{
		{
			name: "openai", tools: true, think: true, usage: true, limit: true,
			open: func(_ *testing.T, s *modeltest.Server) (llms.Model, error) {
				return openai.New(openai.WithBaseURL(s.OpenAI()), openai.WithToken("k"), openai.WithModel("m"))
			},
			wrap: langchain.Options{NamesEnd: true, Pictures: langchain.DataURL},
		},
		{
			name: "anthropic", tools: true, think: true, usage: true, limit: true,
			open: func(_ *testing.T, s *modeltest.Server) (llms.Model, error) {
				return anthropic.New(anthropic.WithBaseURL(s.Anthropic()+"/v1"), anthropic.WithToken("k"), anthropic.WithModel("claude-sonnet-4-5"),
					anthropic.WithHTTPClient(client(mergeTurns)))
			},
			wrap: langchain.Options{Shape: langchain.Split, NamesEnd: true},
		},
		{
			name: "ollama", usage: true,
			open: func(_ *testing.T, s *modeltest.Server) (llms.Model, error) {
				return ollama.New(ollama.WithServerURL(s.Ollama()), ollama.WithModel("m"), ollama.WithHTTPClient(client(dropFormat)))
			},
			wrap: langchain.Options{Shape: langchain.Joined, NoTools: true},
		},
		{
			name: "mistral", tools: true, limit: true,
			open: func(t *testing.T, s *modeltest.Server) (llms.Model, error) {
				return mistral.New(mistral.WithEndpoint(relay(t, s)), mistral.WithAPIKey("k"), mistral.WithModel("m"), mistral.WithMaxRetries(1))
			},
			wrap: langchain.Options{Shape: langchain.Paired, WholeWithTools: true, NamesEnd: true, Deaf: true},
		},
	}
}

func client(edit func(map[string]any)) *http.Client {
	return &http.Client{Transport: editing{edit, http.DefaultTransport}}
}

// eachLibrary runs f for each provider; open gives it replies and returns it
// behind the adapter.
func eachLibrary(t *testing.T, f func(t *testing.T, l library, open func(replies ...modeltest.Reply) (model.Streamer, *modeltest.Server))) {
	t.Helper()
	for _, l := range libraries() {
		t.Run(l.name, func(t *testing.T) {
			f(t, l, func(replies ...modeltest.Reply) (model.Streamer, *modeltest.Server) {
				t.Helper()
				s := modeltest.New(t, replies...)
				m, err := l.open(t, s)
				if err != nil {
					t.Fatal(err)
				}
				l.wrap.Provider = l.name
				return langchain.Wrap(m, l.wrap), s
			})
		})
	}
}

// request is a request that the provider can take.
func (l library) request() *model.Request {
	req := modeltest.Ask("go")
	if !l.tools {
		req.Tools = nil
	}
	return req
}

// heard is the text and the thoughts that events tell.
func heard(events []model.Event) (text, think string) {
	for _, e := range events {
		switch e := e.(type) {
		case model.Text:
			text += string(e)
		case model.Think:
			think += string(e)
		}
	}
	return text, think
}

func TestProviderAnswers(t *testing.T) {
	eachLibrary(t, func(t *testing.T, l library, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		reply := modeltest.Reply{Text: []string{"Hello ", "there."}, Usage: &model.Usage{Input: 20, Output: 3, Known: true}}
		if l.think {
			reply.Think = []string{"Let me ", "think."}
		}
		m, s := open(reply, modeltest.Reply{Text: []string{"Hello"}, Stop: model.StopLength})
		req := l.request()
		req.Tools = nil // so that all of them stream
		events, r, err := modeltest.Collect(t.Context(), m, req)
		if err != nil {
			t.Fatalf("%v; the server refused: %q", err, s.Rejected())
		}
		text, think := heard(events)
		if text != "Hello there." || l.think && think != "Let me think." || len(events) < 2 || r.Stop != model.StopEnd {
			t.Errorf("heard %q and %q in %d pieces, stop %q", text, think, len(events), r.Stop)
		}
		if want := (model.Usage{Input: 20, Output: 3, Known: true}); l.usage && r.Usage != want {
			t.Errorf("usage = %+v, want %+v", r.Usage, want)
		}
		if _, r, err = modeltest.Collect(t.Context(), m, req); err != nil || l.limit && r.Stop != model.StopLength {
			t.Errorf("an answer at its limit: %+v (%v)", r, err)
		}
	})
}

func TestProviderCalls(t *testing.T) {
	eachLibrary(t, func(t *testing.T, l library, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		if !l.tools {
			t.Skip("it cannot call tools")
		}
		calls := []modeltest.Tool{{ID: "call00001", Name: "read", Args: `{"path":"a"}`}, {ID: "call00002", Name: "grep", Args: `{"path":"b"}`}}
		m, s := open(modeltest.Reply{Text: []string{"I ", "look."}, Tools: calls}, modeltest.Reply{Text: []string{"Done."}})
		req := l.request()
		events, r, err := modeltest.Collect(t.Context(), m, req)
		if err != nil {
			t.Fatalf("%v; the server refused: %q", err, s.Rejected())
		}
		if text, _ := heard(events); text != "I look." || r.Stop != model.StopTools {
			t.Errorf("heard %q, stop %q; want the text alone and the calls", text, r.Stop)
		}
		want := []llms.ContentPart{llms.TextContent{Text: "I look."}, typed("call00001", "read", `{"path":"a"}`), typed("call00002", "grep", `{"path":"b"}`)}
		if diff := cmp.Diff(want, r.Parts); diff != "" {
			t.Errorf("reply (-want +got):\n%s", diff)
		}
		req.Messages = append(req.Messages, modeltest.Results(r, "one", "two")...)
		if _, r, err = modeltest.Collect(t.Context(), m, req); err != nil || !cmp.Equal([]llms.ContentPart{llms.TextContent{Text: "Done."}}, r.Parts) {
			t.Errorf("second answer = %+v (%v); the server refused: %q", r, err, s.Rejected())
		}
	})
}

func TestProviderErrors(t *testing.T) {
	tests := []struct {
		reply modeltest.Reply
		want  model.Kind
	}{
		{modeltest.Reply{Status: 429, Error: "slow down"}, model.RateLimit},
		{modeltest.Reply{Status: 401, Error: "bad key"}, model.Auth},
		{modeltest.Reply{Status: 503, Error: "busy"}, model.Overloaded},
		{modeltest.Reply{Status: 400, Error: "prompt is too long: 210000 tokens > 200000 maximum"}, model.TokenLimit},
	}
	eachLibrary(t, func(t *testing.T, l library, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		for _, tt := range tests {
			if l.name == "ollama" && tt.reply.Status != 400 {
				continue // its status gets lost without a trace
			}
			m, _ := open(tt.reply)
			_, _, err := modeltest.Collect(t.Context(), m, l.request())
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.want || l.name != "ollama" && e.Status != tt.reply.Status || e.Provider != l.name || !strings.Contains(e.Message, tt.reply.Error) {
				t.Errorf("%d: %+v (%v), want %s", tt.reply.Status, e, err, tt.want)
			}
		}
	})
}

// An answer whose end does not come is partial, and has no calls.
func TestProviderEnd(t *testing.T) {
	eachLibrary(t, func(t *testing.T, l library, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		for name, reply := range map[string]modeltest.Reply{"the connection breaks": {Cut: true}, "the stream ends": {EOF: true}, "an error in the stream": {Error: "boom", Code: "server_error"}} {
			reply.Text = []string{"I ", "look."}
			if l.tools {
				reply.Tools = []modeltest.Tool{{ID: "call00001", Name: "read", Args: `{"path":"a"}`}}
			}
			m, _ := open(reply)
			events, r, err := modeltest.Collect(t.Context(), m, l.request())
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind == model.Canceled || e.Kind == model.Invalid || e.Kind == model.TokenLimit {
				t.Errorf("%s: error = %v, want that of a broken answer", name, err)
				continue
			}
			text, _ := heard(events)
			if r == nil { // what comes whole is lost whole
				r = &model.Reply{}
			}
			for _, p := range r.Parts {
				if p != llms.ContentPart(llms.TextContent{Text: text}) {
					t.Errorf("%s: part %+v, want the text %q that was heard and no calls", name, p, text)
				}
			}
			if e.Partial != (len(events) > 0) {
				t.Errorf("%s: partial = %v after %d events", name, e.Partial, len(events))
			}
		}
	})
}

func TestProviderCancel(t *testing.T) {
	eachLibrary(t, func(t *testing.T, l library, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		for name, reply := range map[string]modeltest.Reply{"before the first piece": {Hang: true}, "in the middle": {Text: []string{"a"}, Hang: true}} {
			m, s := open(reply)
			ctx, cancel := context.WithCancel(t.Context())
			if len(reply.Text) == 0 {
				cancel()
			}
			req := l.request()
			req.Tools = nil
			_, err := m.Stream(ctx, req, func(model.Event) error { cancel(); return nil })
			cancel()
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.Canceled || !errors.Is(err, context.Canceled) || e.Partial != (len(reply.Text) > 0) {
				t.Errorf("%s: error = %+v (%v), want a cancelled request", name, e, err)
			}
			if err := s.Close(); err != nil { // ends those that cannot be told to
				t.Error(err)
			}
		}
	})
}

// A line that is longer than the buffers of the library is no prompt that is too
// long.
func TestLongLine(t *testing.T) {
	eachLibrary(t, func(t *testing.T, l library, open func(...modeltest.Reply) (model.Streamer, *modeltest.Server)) {
		m, _ := open(modeltest.Reply{Text: []string{strings.Repeat("x", 600<<10)}})
		req := l.request()
		req.Tools = nil
		_, _, err := modeltest.Collect(t.Context(), m, req)
		if l.name == "mistral" { // reads lines of any length
			if err != nil {
				t.Errorf("error = %v", err)
			}
			return
		}
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind == model.TokenLimit || e.Kind == model.Invalid {
			t.Errorf("error = %v, want that of an answer that cannot be read", err)
		}
	})
}
