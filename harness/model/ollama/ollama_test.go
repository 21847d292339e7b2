package ollama_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/ollama"
)

func TestStreamer(t *testing.T) {
	modeltest.TestStreamer(t, func(t *testing.T, replies ...modeltest.Reply) model.Streamer {
		s := modeltest.New(t, replies...)
		d := model.Descriptor{Provider: "test", ID: modeltest.ModelID, BaseURL: s.Ollama(), Window: 8192}
		return ollama.New(d, ollama.Options{})
	}, modeltest.NoRefusal, modeltest.NoCacheRead, modeltest.NoCacheWrite, modeltest.NoReasoningUsage)
}

// client returns a client of d whose server sends lines.
func client(d model.Descriptor, lines ...string) *ollama.Client {
	return ollama.New(d, ollama.Options{Client: streamtest.Client(stream(lines...))})
}

func stream(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

// says is a line with members of a message.
func says(members string) string {
	return `{"model":"m","created_at":"2026-01-02T03:04:05Z","message":{"role":"assistant",` + members + `},"done":false}`
}

// done is the last line, with members of it.
func done(members string) string {
	return `{"model":"m","message":{"role":"assistant","content":""},"done":true` + members + `}`
}

const stopped = `,"done_reason":"stop","prompt_eval_count":26,"eval_count":9`

type call struct{ ID, Name, Args string }

// callsOf returns the calls of r, with "new" for an id that was made up.
func callsOf(r *model.Reply) (out []call) {
	for _, p := range r.Parts {
		if t, ok := p.(llms.ToolCall); ok {
			id := t.ID
			if strings.HasPrefix(id, "call_") && len(id) == 21 {
				id = "new"
			}
			out = append(out, call{id, t.FunctionCall.Name, t.FunctionCall.Arguments})
		}
	}
	return out
}

// A server that knows no wish for an error reads as much of a prompt as there is room
// for, and answers that.
func TestServerThatCuts(t *testing.T) {
	s := modeltest.New(t, modeltest.Reply{Text: []string{"ok"}}, modeltest.Reply{Text: []string{"ok"}})
	c := ollama.New(model.Descriptor{ID: modeltest.ModelID, BaseURL: s.Ollama(), Window: 8192}, ollama.Options{})
	if _, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask(strings.Repeat("word ", 4000))); err != nil || !reply.Usage.Known {
		t.Errorf("a prompt that fits: %v, %+v", err, reply.Usage)
	}
	_, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask(strings.Repeat("word ", 40_000)))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.TokenLimit {
		t.Errorf("a prompt that does not fit: %v, want an error of the window", err)
	}
}

func TestEndpoint(t *testing.T) {
	const want = "http://h:11434/api/chat"
	for _, base := range []string{"http://h:11434", "http://h:11434/", "http://h:11434/api", "http://h:11434/api/chat", "http://h:11434/v1/"} {
		s := &streamtest.Server{Answers: []streamtest.Answer{{Body: done(stopped)}}}
		c := ollama.New(model.Descriptor{ID: "m", BaseURL: base}, ollama.Options{Client: s.Client()})
		if _, err := c.Stream(t.Context(), modeltest.Ask("go"), func(model.Event) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if got := s.Asked[0].URL.String(); got != want {
			t.Errorf("base %s: asked at %s, want %s", base, got, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	s := &streamtest.Server{Answers: []streamtest.Answer{{Status: 401, Body: `{"error":"unauthorized: secret-key-1 and secret-team-2"}`}}}
	o := ollama.Options{Key: "secret-key-1", Headers: map[string]string{"X-Team": "secret-team-2"}, Client: s.Client()}
	c := ollama.New(model.Descriptor{ID: "m", BaseURL: "https://h"}, o)
	_, err := c.Stream(t.Context(), modeltest.Ask("go"), func(model.Event) error { return nil })
	if got := s.Asked[0].Header.Get("Authorization") + " " + s.Asked[0].Header.Get("X-Team"); got != "Bearer secret-key-1 secret-team-2" {
		t.Errorf("headers = %q", got)
	}
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Auth || e.Status != 401 || strings.Contains(err.Error(), "secret-") {
		t.Errorf("error = %v (%+v), want one of authentication without a secret", err, e)
	}
}

// What goes wrong says what to do about it.
func TestFaults(t *testing.T) {
	const memory = "model requires more system memory (20.1 GiB) than is available (7.0 GiB)"
	tests := []struct {
		name   string
		status int
		body   string
		kind   model.Kind
		again  bool
		says   string
	}{
		{"no such model", 404, `{"error":"model 'm' not found"}`, model.NotFound, false, `ollama: not found: model 'm' not found; fetch it with "ollama pull m"`},
		{"no such model, as old servers say it", 404, `{"error":"model \"m\" not found, try pulling it first"}`, model.NotFound, false,
			`ollama: not found: model "m" not found; fetch it with "ollama pull m"`},
		{"no Ollama", 404, "404 page not found", model.NotFound, false, "ollama: not found: HTTP 404 Not Found; check that base_url is that of an Ollama server"},
		{"no tools", 400, `{"error":"registry.ollama.ai/library/m:latest does not support tools"}`, model.Invalid, false,
			`ollama: invalid request: registry.ollama.ai/library/m:latest does not support tools; set the option "tools" to off, or choose a model that calls tools`},
		{"no thinking", 400, `{"error":"\"m\" does not support thinking"}`, model.Invalid, false, `ollama: invalid request: "m" does not support thinking; set the option "thinking" to default`},
		{"no room for the model", 500, `{"error":"` + memory + `"}`, model.Unavailable, false,
			"ollama: model not available: " + memory + "; choose a smaller model, or a smaller window in models.toml"},
		{"busy", 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, model.Overloaded, true,
			"ollama: overloaded: server busy, please try again. maximum pending requests exceeded"},
		{"too long", 400, `{"error":"the input length exceeds the context length"}`, model.TokenLimit, false,
			"ollama: context overflow: the input length exceeds the context length; begin a new session, or set a larger window in models.toml if the machine has room for it"},
		{"too long, in the words of the program behind", 400,
			`{"error":"{\"error\":{\"code\":400,\"message\":\"request (351 tokens) exceeds the available context size (256 tokens), try increasing it\",\"type\":\"exceed_context_size_error\"}}"}`,
			model.TokenLimit, false,
			"ollama: context overflow: request (351 tokens) exceeds the available context size (256 tokens), try increasing it; begin a new session, or set a larger window in models.toml if the machine has room for it"},
		{"in the stream", 200, `{"error":"model 'm' not found"}`, model.NotFound, false, `ollama: not found: model 'm' not found; fetch it with "ollama pull m"`},
		{"broken off", 200, `{"error":"an error was encountered while running the model: unexpected EOF"}`, model.Overloaded, true,
			"ollama: overloaded: an error was encountered while running the model: unexpected EOF"},
		{"nothing", 200, "", model.Connection, true, "ollama: connection: the connection was lost in the middle of the answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &streamtest.Server{Answers: []streamtest.Answer{{Status: tt.status, Body: tt.body}}}
			c := ollama.New(model.Descriptor{ID: "m"}, ollama.Options{Client: s.Client()})
			_, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || e.Temporary() != tt.again || e.Partial {
				t.Fatalf("error = %v (%+v), want %s, again %v", err, e, tt.kind, tt.again)
			}
			if err.Error() != tt.says {
				t.Errorf("error = %s\nwant    %s", err, tt.says)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err = modeltest.Collect(t.Context(), ollama.New(model.Descriptor{ID: "m", BaseURL: base}, ollama.Options{}), modeltest.Ask("go"))
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Connection || !strings.HasSuffix(err.Error(), `; start Ollama ("ollama serve"), or set base_url to where it runs`) {
		t.Errorf("error = %v, want one of the connection that names a way out", err)
	}
}

func TestBrokenStreams(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		kind  model.Kind
	}{
		{"no last line", []string{says(`"content":"Hel"`)}, model.Connection},
		{"cut in a line", []string{says(`"content":"Hel"`), `{"message":{"content":"lo`}, model.Malformed},
		{"not JSON", []string{says(`"content":"Hel"`), "Internal Server Error"}, model.Malformed},
		{"error", []string{says(`"content":"Hel"`), `{"error":"llama runner process has terminated"}`}, model.Overloaded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := client(model.Descriptor{Provider: "p", ID: "m"}, append([]string{says(`"content":"","tool_calls":[{"function":{"name":"read","arguments":{}}}]`)}, tt.lines...)...)
			_, reply, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != tt.kind || !e.Partial || !e.Temporary() || e.Provider != "p" {
				t.Fatalf("error = %v (%+v), want a partial one of kind %s", err, e, tt.kind)
			}
			if len(reply.Parts) != 1 || reply.Parts[0] != (llms.TextContent{Text: "Hel"}) || reply.Usage.Known {
				t.Errorf("reply = %+v, want the text alone", reply)
			}
		})
	}
}

// silent is a server whose stream says something and then nothing.
type silent struct{ first string }

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	out, in := io.Pipe()
	go func() {
		fmt.Fprintln(in, s.first) // a reader that has gone wants nothing
		<-r.Context().Done()
		in.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: out}, nil
}

func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ollama.New(model.Descriptor{ID: "m"}, ollama.Options{Client: &http.Client{Transport: silent{says(`"content":"Hel"`)}}, Idle: 7 * time.Second})
		start := time.Now()
		_, _, err := modeltest.Collect(t.Context(), c, modeltest.Ask("go"))
		e, ok := errors.AsType[*model.Error](err)
		if got := time.Since(start); !ok || e.Kind != model.Idle || !e.Partial || !e.Temporary() || got != 7*time.Second {
			t.Errorf("error = %v (%+v) after %v, want an idle one after 7s", err, e, got)
		}
	})
}
