//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// deserted is the configuration of a machine without model servers, whatever
// runs on this one.
const deserted = `[providers.ollama]
base_url = "http://127.0.0.1:9/v1"
[providers.lmstudio]
base_url = "http://127.0.0.1:9/v1"
[providers.llamacpp]
base_url = "http://127.0.0.1:9/v1"
`

// current opens a session and returns it with the model that it begins with.
func (e *editor) current() (session, model string) {
	e.t.Helper()
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct {
		SessionID     string
		ConfigOptions []struct{ ID, CurrentValue string }
	}
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}}, &s)
	for _, o := range s.ConfigOptions {
		if o.ID == "model" {
			model = o.CurrentValue
		}
	}
	return s.SessionID, model
}

// told counts how often a session was told which model was found.
func (e *editor) told(session string) (n int) {
	e.t.Helper()
	for _, u := range e.updates(session) {
		n += strings.Count(string(u.Update.Content)+u.Update.Title, "Using the model ")
	}
	return n
}

// Row 231 (R-CMD-13): a key in the environment chooses its provider, and is sent
// to it.
func TestRow231Keys(t *testing.T) {
	t.Parallel()
	tests := []struct{ variable, provider string }{
		{"ANTHROPIC_API_KEY", "anthropic"},
		{"OPENAI_API_KEY", "openai"},
		{"GEMINI_API_KEY", "gemini"},
		{"GOOGLE_API_KEY", "gemini"},
		{"OPENROUTER_API_KEY", "openrouter"},
		{"DEEPSEEK_API_KEY", "deepseek"},
		{"MISTRAL_API_KEY", "mistral"},
		{"GROQ_API_KEY", "groq"},
		{"XAI_API_KEY", "xai"},
		{"CEREBRAS_API_KEY", "cerebras"},
		{"MOONSHOT_API_KEY", "moonshot"},
		{"ZAI_API_KEY", "zai"},
	}
	for _, tt := range tests {
		t.Run(tt.variable, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			address := m.OpenAI()
			switch tt.provider {
			case "anthropic":
				address = m.Anthropic()
			case "gemini":
				address = m.Gemini()
			}
			const key = "key-0123456789abcdef"
			e := newEditor(t)
			e.file(configFile, deserted+fmt.Sprintf("[providers.%s]\nbase_url = %q\n", tt.provider, address))
			e.env = []string{tt.variable + "=" + key}
			e.acp()
			s, model := e.current()
			if !strings.HasPrefix(model, tt.provider+"/") {
				t.Errorf("model = %s, want one of %s", model, tt.provider)
			}
			for range 2 {
				if stop := e.prompt(s, "hello"); stop != "end_turn" || !strings.HasSuffix(e.text(s), "fine") {
					t.Errorf("prompt: %s with %q, want end_turn with fine", stop, e.text(s))
				}
			}
			for _, r := range m.Requests() {
				if got := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key"); !strings.HasSuffix(got, key) {
					t.Errorf("a request came with the key %q", got)
				}
			}
			if len(m.Requests()) != 2 || len(m.Rejected()) > 0 {
				t.Errorf("%d requests, rejected %q, want 2", len(m.Requests()), m.Rejected())
			}
			if n := e.told(s); n != 1 {
				t.Errorf("the session was told %d times what was found, want once", n)
			}
			e.leave()
			if n := strings.Count(e.stderr.String(), tt.variable+" is set"); n != 1 || strings.Contains(e.stderr.String(), key) {
				t.Errorf("standard error, want the variable once and never the key:\n%s", e.stderr.String())
			}
		})
	}
}

// Row 231: with two keys the order of the providers decides; what the user chose
// comes before all of them, and is not commented on.
func TestRow231Order(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		env    []string
		config string
		flags  []string
		want   string
	}{
		{"two keys", []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k"}, "", nil, "anthropic/"},
		{"an empty key is none", []string{"OPENAI_API_KEY=k", "ANTHROPIC_API_KEY="}, "", nil, "openai/"},
		{"the file", []string{"OPENAI_API_KEY=k"}, "model = \"offline\"\n", nil, "offline"},
		{"the environment", []string{"OPENAI_API_KEY=k", "LORIMER_MODEL=deepseek/m"}, "model = \"offline\"\n", nil, "deepseek/m"},
		{"the flag", []string{"OPENAI_API_KEY=k", "LORIMER_MODEL=deepseek/m"}, "model = \"offline\"\n", []string{"--model", "groq/m"}, "groq/m"},
		{"C017 a model that nobody knows", nil, "model = \"openai/no-such-model\"\n", nil, "openai/no-such-model"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.file(configFile, tt.config+deserted)
			e.env = tt.env
			e.acp(tt.flags...)
			if _, model := e.current(); !strings.HasPrefix(model, tt.want) {
				t.Errorf("model = %s, want %s", model, tt.want)
			}
			e.leave()
			if found := strings.Contains(e.stderr.String(), "found a model"); found != strings.HasSuffix(tt.want, "/") {
				t.Errorf("standard error tells of a model that was found: %v", found)
			}
		})
	}
}

// Row 231: nothing at all leaves the built-in model, and it is said once.
func TestRow231Nothing(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, deserted)
	e.acp()
	s, model := e.current()
	if model != "offline" {
		t.Fatalf("model = %s, want offline", model)
	}
	for range 2 {
		if stop := e.prompt(s, "help"); stop != "end_turn" || !strings.Contains(e.text(s), "no language model") {
			t.Errorf("prompt: %s with %q, want to read what answers", stop, e.text(s))
		}
	}
	if n := e.told(s); n != 1 {
		t.Errorf("the session was told %d times, want once", n)
	}
	e.session()
	e.leave()
	if n := strings.Count(e.stderr.String(), "found a model"); n != 1 {
		t.Errorf("standard error tells it %d times, want once:\n%s", n, e.stderr.String())
	}
}

// Row 231: whoever has switched the model before the first turn is not told that
// another one is in use.
func TestRow231SwitchedBefore(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.env = []string{"ANTHROPIC_API_KEY=sk-test-0123456789"}
	e.acp()
	s := e.open(nil)
	e.call("session/set_config_option", object{"sessionId": s, "configId": "model", "value": "offline"}, nil)
	e.prompt(s, "stream 3 words")
	for _, u := range e.updates(s) {
		if strings.Contains(string(u.Update.Content), "anthropic") {
			t.Errorf("the offline model answers, and the user is told: %s", u.Update.Content)
		}
	}
}

// Row 231: a server of this machine counts when it answers as its product does.
// It has 150 ms to answer, which a busy machine may miss, so each gets some tries
// and none runs beside another test.
func TestRow231LocalServers(t *testing.T) {
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	serve := func(routes map[string]string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := routes[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	none := func(provider string) string {
		before, after, _ := strings.Cut(deserted, "[providers."+provider+"]\nbase_url = \"http://127.0.0.1:9/v1\"\n")
		return before + after
	}
	at := func(provider, address string) string {
		return none(provider) + fmt.Sprintf("[providers.%s]\nbase_url = \"%s/v1\"\n", provider, address)
	}
	host := strings.TrimPrefix(m.URL, "http://")
	tests := []struct {
		name   string
		config string
		env    []string
		want   string
	}{
		{"Ollama", none("ollama"), []string{"OLLAMA_HOST=" + host}, "ollama/" + modeltest.ModelID},
		{"Ollama by URL", none("ollama"), []string{"OLLAMA_HOST=" + m.URL + "/"}, "ollama/" + modeltest.ModelID},
		{"LM Studio", at("lmstudio", serve(map[string]string{
			"/api/v0/models": `{"data": [{"id": "tiny", "type": "llm", "state": "loaded", "capabilities": ["tool_use"]}]}`})), nil, "lmstudio/tiny"},
		{"llama.cpp", at("llamacpp", serve(map[string]string{
			"/props": `{"default_generation_settings": {"n_ctx": 4096}, "model_path": "/models/small.gguf"}`})), nil, "llamacpp/small.gguf"},
		{"another product", at("llamacpp", serve(map[string]string{"/props": `{"status": "ok"}`, "/": "hello"})), nil, "offline"},
		{"Ollama without a model", at("ollama", serve(map[string]string{"/api/tags": `{"models": []}`})), nil, "offline"},
		{"another machine", none("ollama"), []string{"OLLAMA_HOST=192.0.2.1:11434"}, "offline"},
		{"a key comes first", none("ollama"), []string{"OLLAMA_HOST=" + host, "OPENAI_API_KEY=k"}, "openai/gpt-6-sol"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e *editor
			var s, model string
			for try := 0; try < 10 && model != tt.want; try++ {
				e = newEditor(t)
				e.file(configFile, tt.config)
				e.env = tt.env
				e.acp()
				s, model = e.current()
			}
			if model != tt.want {
				t.Fatalf("model = %s, want %s", model, tt.want)
			}
			if !strings.HasPrefix(tt.want, "ollama/") {
				return
			}
			if stop := e.prompt(s, "hello"); stop != "end_turn" || e.text(s) != "fine" || e.told(s) != 1 {
				t.Errorf("prompt: %s with %q, told %d times, want end_turn with fine and once", stop, e.text(s), e.told(s))
			}
		})
	}
}

// Row 231: whatever is wrong with the configuration, initialize is answered; the
// session says what it is, with a file, and a line where there is one.
func TestRow231BrokenConfiguration(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, config, want string }{
		{"malformed", "model = \"offline\"\n\n[context\n", "config.toml:3:"},
		{"no text", "model = \"\xff\xfe\"\n", "config.toml:1:"},
		{"a value that there is not", "# mine\nmode = \"wild\"\n", "config.toml:2: mode: \"wild\" is not one of"},
		{"a value of another kind", "model = 5\n", "config.toml:1:"},
		{"a provider without an address", "[providers.mine]\nmodel = \"m\"\n", "providers.mine"},
		{"a directory", "", "config.toml: is a directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			if tt.config == "" {
				if err := os.MkdirAll(filepath.Join(e.home, configFile), 0o700); err != nil {
					t.Fatal(err)
				}
			} else {
				e.file(configFile, tt.config)
			}
			e.acp()
			e.call("initialize", object{"protocolVersion": 1}, nil)
			f := e.wait(e.send("session/new", object{"cwd": e.cwd, "mcpServers": []any{}}))
			if f.Error == nil || !strings.Contains(f.Error.Message, tt.want) {
				t.Errorf("session/new: %s, want an error with %q", f.Raw, tt.want)
			}
			var data struct{ Code string }
			if f.Error != nil && (json.Unmarshal(f.Error.Data, &data) != nil || data.Code != "CONFIG_INVALID") {
				t.Errorf("data = %s, want the code CONFIG_INVALID", f.Error.Data)
			}
			if code := e.leave(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
		})
	}
}
