//go:build unix

package main

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 231 (R-CMD-13): with a key in the environment and nothing else the usual model of
// its provider answers, at the provider's own address, in its own protocol, with tools.
// A proxy stands in for the internet.
func TestRow231WithoutConfiguration(t *testing.T) {
	t.Parallel()
	const chat = "/v1/chat/completions"
	tests := []struct{ variable, model, host, path string }{
		{"ANTHROPIC_API_KEY", "anthropic/claude-sonnet-5", "api.anthropic.com", "/v1/messages"},
		{"OPENAI_API_KEY", "openai/gpt-6-sol", "api.openai.com", "/v1/responses"},
		{"GEMINI_API_KEY", "gemini/gemini-3.8-flash", "generativelanguage.googleapis.com", "/v1beta/models/gemini-3.8-flash:streamGenerateContent"},
		{"GOOGLE_API_KEY", "gemini/gemini-3.8-flash", "generativelanguage.googleapis.com", "/v1beta/models/gemini-3.8-flash:streamGenerateContent"},
		{"OPENROUTER_API_KEY", "openrouter/anthropic/claude-sonnet-5", "openrouter.ai", "/api" + chat},
		{"DEEPSEEK_API_KEY", "deepseek/deepseek-v4-pro", "api.deepseek.com", chat},
		{"MISTRAL_API_KEY", "mistral/mistral-large-latest", "api.mistral.ai", chat},
		{"GROQ_API_KEY", "groq/moonshotai/kimi-k2-instruct-0905", "api.groq.com", "/openai" + chat},
		{"XAI_API_KEY", "xai/grok-4.7", "api.x.ai", chat},
		{"CEREBRAS_API_KEY", "cerebras/gpt-oss-120b", "api.cerebras.ai", chat},
		{"MOONSHOT_API_KEY", "moonshot/kimi-k3", "api.moonshot.ai", chat},
		{"ZAI_API_KEY", "zai/glm-5.3", "api.z.ai", "/api/paas/v4/chat/completions"},
	}
	var hosts []string
	for _, tt := range tests {
		hosts = append(hosts, tt.host)
	}
	pair := newPair(t, hosts...)
	for _, tt := range tests {
		t.Run(tt.variable, func(t *testing.T) {
			t.Parallel()
			const key = "key-0123456789abcdef"
			m := modeltest.New(t,
				modeltest.Reply{Text: []string{"look"}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"})}},
				modeltest.Reply{Text: []string{"fine"}},
			)
			p := newProxy(t, m, pair)
			e := newEditor(t)
			e.seed("a.txt", "the walrus\n")
			e.file(".config/lorimer/ca.pem", pair.pem)
			e.file(configFile, "ca_file = \"ca.pem\"\n")
			e.env = []string{tt.variable + "=" + key, "HTTPS_PROXY=" + p.URL}
			e.acp()
			s, model := e.current()
			if model != tt.model {
				t.Errorf("model = %s, want %s", model, tt.model)
			}
			if stop := e.prompt(s, "what is in a.txt?"); stop != "end_turn" || !strings.HasSuffix(e.text(s), "fine") || e.told(s) != 1 {
				t.Errorf("prompt: %s with %q, told %d times what was found", stop, e.text(s), e.told(s))
			}
			want := "https://" + tt.host + tt.path
			if got := p.heard(); !slices.Equal(got, []string{"CONNECT " + tt.host + ":443", want, want}) {
				t.Errorf("the proxy heard %q, want two requests for %s and no other", got, want)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
			for _, r := range m.Requests() {
				name, value := "Authorization", "Bearer "+key
				switch {
				case strings.HasPrefix(tt.model, "anthropic/"):
					name, value = "X-Api-Key", key
				case strings.HasPrefix(tt.model, "gemini/"):
					name, value = "X-Goog-Api-Key", key
				}
				for header, all := range r.Header {
					if got := strings.Join(all, ","); (header == name) != (got == value) || header != name && strings.Contains(got, key) {
						t.Errorf("the header %s is %q, want the key in %s alone", header, got, name)
					}
				}
			}
			if got := p.secrets(key); len(got) > 0 {
				t.Errorf("the proxy was shown the key: %q", got)
			}
		})
	}
}

// Row 231: keys that are blank are none.
func TestRow231BlankKeys(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{"", " ", "\t\n"} {
		e := newEditor(t)
		e.file(configFile, deserted)
		e.env = []string{"ANTHROPIC_API_KEY=" + blank, "GROQ_API_KEY=" + blank, "XAI_API_KEY=key-0123456789abcdef"}
		e.acp()
		if _, model := e.current(); model != "xai/grok-4.7" {
			t.Errorf("model = %s with the blank keys %q, want that of the one key", model, blank)
		}
	}
}

// Row 231: servers on the usual ports of this machine, in the shape of their products,
// without a word of configuration. It wants those ports, and so does a server that
// runs here: then there is nothing to try. None runs beside another test.
func TestRow231UsualPorts(t *testing.T) {
	products := []struct {
		product     modeltest.Product
		port        string
		model, path string
	}{
		{modeltest.Ollama, "11434", "ollama/calls:7b", "/api/chat"},
		{modeltest.LMStudio, "1234", "lmstudio/calls:7b", "/v1/chat/completions"},
		{modeltest.LlamaCPP, "8080", "llamacpp/calls:7b", "/v1/chat/completions"},
	}
	for _, p := range products {
		t.Run(string(p.product), func(t *testing.T) {
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			m.Product = p.product
			m.Listed = []modeltest.ModelInfo{{ID: "talks:7b", Window: 16_000, NoTools: true}, {ID: "calls:7b", Window: 24_000, Thinks: true}}
			if p.product == modeltest.LlamaCPP {
				m.Listed = m.Listed[1:] // it has one
			}
			onPort(t, p.port, m)
			var e *editor
			var s, model string
			for try := 0; try < 10 && model != p.model; try++ { // 150 ms are short on a busy machine
				e = newEditor(t)
				e.acp()
				s, model = e.current()
			}
			if model != p.model {
				t.Fatalf("model = %s, want %s, which calls tools", model, p.model)
			}
			if stop := e.prompt(s, "hello"); stop != "end_turn" || e.text(s) != "fine" || e.told(s) != 1 {
				t.Errorf("prompt: %s with %q, told %d times what was found", stop, e.text(s), e.told(s))
			}
			r := m.Requests()
			if len(r) != 1 || r[0].Path != p.path || len(m.Rejected()) > 0 {
				t.Fatalf("requests = %d, rejected %q; want one for %s", len(r), m.Rejected(), p.path)
			}
			for _, header := range []string{"Authorization", "X-Api-Key"} {
				if got := r[0].Header.Get(header); got != "" {
					t.Errorf("%s = %q, want no empty key nor any other", header, got)
				}
			}
			if has := strings.Contains(string(r[0].Body), `"num_ctx":24000`); has != (p.product == modeltest.Ollama) {
				t.Errorf("the window is set in the request: %v: %s", has, r[0].Body)
			}
			if got := e.usages(s); !strings.Contains(got, `"size":24000`) {
				t.Errorf("usage = %s, want the window of the server", got)
			}
		})
	}
}

// onPort has the handler serve a port of this machine, if nobody does.
func onPort(t *testing.T, port string, h http.Handler) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if errors.Is(err, syscall.EADDRINUSE) {
		t.Skipf("port %s is taken", port)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l) // ends when it is closed
	}()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
}

// Row 231: a server that takes the connection and says nothing is not waited for.
func TestRow231SilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	e := newEditor(t)
	e.file(configFile, strings.Replace(deserted, "[providers.ollama]\nbase_url = \"http://127.0.0.1:9/v1\"\n", "", 1))
	e.env = []string{"OLLAMA_HOST=" + l.Addr().String()}
	e.acp()
	s, model := e.current()
	if stop := e.prompt(s, "help"); model != "offline" || stop != "end_turn" || e.told(s) != 1 {
		t.Errorf("model = %s, which ends with %s, told %d times; want offline, told once", model, stop, e.told(s))
	}
}
