package config_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

func TestChoose(t *testing.T) {
	m := newMachine(t, "[providers.acme]\nbase_url = \"http://127.0.0.1:9/v1/\"\n")
	c := m.load(t)
	tests := []struct{ ref, provider, id, script, err string }{
		{ref: "openai/gpt-5.2", provider: "openai", id: "gpt-5.2"},
		{ref: "openrouter/anthropic/claude-sonnet-5", provider: "openrouter", id: "anthropic/claude-sonnet-5"},
		{ref: "anthropic", provider: "anthropic", id: "claude-sonnet-5"},
		{ref: "openai/no-such-model", provider: "openai", id: "no-such-model"}, // C017
		{ref: "acme/a", provider: "acme", id: "a"},
		{ref: "acme", err: `write acme/MODEL, since acme has no usual model; "lorimer models acme --ask" lists`},
		{ref: "script:~/s.jsonl", script: filepath.Join(m.home, "s.jsonl")},
		{ref: "script:", err: "names no file"},
		{ref: "gpt-5.2", err: `there is no provider "gpt-5.2"; write PROVIDER/MODEL with one of anthropic, openai,`},
		{ref: "qwen3:8b", err: "or add [providers.NAME] to "}, // what would have to be quoted is no name
		{ref: "house/m", err: "or add [providers.house] to "},
		{ref: "", err: "PROVIDER/MODEL"},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			got, err := c.Choose(tt.ref)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error = %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || got.Endpoint.Name != tt.provider || got.ID != tt.id || got.Script != tt.script || got.Offline {
				t.Errorf("Choose = %+v (%v), want %s %s %s", got, err, tt.provider, tt.id, tt.script)
			}
		})
	}
	if got, err := c.Choose("offline"); err != nil || !got.Offline {
		t.Errorf("offline = %+v (%v)", got, err)
	}
}

func TestEndpoints(t *testing.T) {
	m := newMachine(t, `
[providers.openai]
base_url = "http://127.0.0.1:4000/v1/"
model = "mine"
[providers.zeta]
base_url = "https://zeta.example.org"
kind = "anthropic"
api_key_env = "ZETA_KEY"
headers = { A = "b" }
`)
	c := m.load(t)
	got, _ := c.Provider("openai")
	want := config.Endpoint{Name: "openai", Title: "OpenAI", Kind: "openai", BaseURL: "http://127.0.0.1:4000/v1", Model: "mine", KeyEnv: []string{"OPENAI_API_KEY"}, Local: true, Keyless: true, Hosted: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("openai (-want +got):\n%s", diff)
	}
	got, _ = c.Provider("zeta")
	want = config.Endpoint{Name: "zeta", Title: "zeta", Kind: "anthropic", BaseURL: "https://zeta.example.org", KeyEnv: []string{"ZETA_KEY"}, Headers: map[string]string{"A": "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("zeta (-want +got):\n%s", diff)
	}
	if _, ok := c.Provider("nobody"); ok {
		t.Error("a provider that is nowhere is known")
	}
}

func TestAddressesOfTheEnvironment(t *testing.T) {
	tests := []struct{ variable, value, provider, want string }{
		{"OPENAI_BASE_URL", "http://localhost:1/v1/", "openai", "http://localhost:1/v1"},
		{"ANTHROPIC_BASE_URL", "https://proxy.example.org", "anthropic", "https://proxy.example.org"},
		{"OLLAMA_HOST", "0.0.0.0", "ollama", "http://127.0.0.1:11434"},
		{"OLLAMA_HOST", ":5000", "ollama", "http://127.0.0.1:5000"},
		{"OLLAMA_HOST", "box:5000", "ollama", "http://box:5000"},
		{"OLLAMA_HOST", "https://box.example.org", "ollama", "https://box.example.org:443"},
		{"OLLAMA_HOST", "[::1]:5000", "ollama", "http://[::1]:5000"},
		{"OLLAMA_HOST", "::1", "ollama", "http://[::1]:11434"},
		{"OLLAMA_HOST", "http://box:1/", "ollama", "http://box:1"},
	}
	for _, tt := range tests {
		t.Run(tt.variable+"="+tt.value, func(t *testing.T) {
			m := newMachine(t, "[providers."+tt.provider+"]\nbase_url = \"http://file.example.org\"\n")
			m.env[tt.variable] = tt.value
			c := m.load(t)
			if got, _ := c.Provider(tt.provider); got.BaseURL != tt.want {
				t.Errorf("address = %q, want %q", got.BaseURL, tt.want)
			}
			if got := m.shown(c)["providers."+tt.provider+".base_url"]; !strings.HasSuffix(got, " <- env "+tt.variable) {
				t.Errorf("shown as %s", got)
			}
		})
	}
}

func TestKeyed(t *testing.T) {
	tests := []struct {
		env  map[string]string
		want string
	}{
		{nil, ""},
		{map[string]string{"OPENAI_API_KEY": "k"}, "openai OPENAI_API_KEY"},
		{map[string]string{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, "anthropic ANTHROPIC_API_KEY"},
		{map[string]string{"GOOGLE_API_KEY": "k"}, "gemini GOOGLE_API_KEY"},
		{map[string]string{"XAI_API_KEY": "k"}, "xai XAI_API_KEY"},
	}
	for _, tt := range tests {
		m := newMachine(t, "")
		for k, v := range tt.env {
			m.env[k] = v
		}
		e, variable, ok := m.load(t).Keyed()
		if got := strings.TrimSpace(e.Name + " " + variable); got != tt.want || ok != (tt.want != "") {
			t.Errorf("%v chooses %q, want %q", tt.env, got, tt.want)
		}
	}
}

func TestKey(t *testing.T) {
	const head = "[providers.acme]\nbase_url = \"https://acme.example.org\"\n"
	tests := []struct {
		name, file, provider, want, err string
		env                             map[string]string
	}{
		{name: "usual variable", provider: "openai", env: map[string]string{"OPENAI_API_KEY": " sk-1\n"}, want: "sk-1"},
		{name: "second usual variable", provider: "gemini", env: map[string]string{"GOOGLE_API_KEY": "g"}, want: "g"},
		{name: "named variable", file: head + `api_key_env = "ACME"`, provider: "acme", env: map[string]string{"ACME": "a"}, want: "a"},
		{name: "a named variable replaces the usual one", file: "[providers.openai]\napi_key_env = \"MINE\"", provider: "openai", env: map[string]string{"OPENAI_API_KEY": "k"}, err: "set MINE"},
		{name: "file beside the configuration", file: head + `api_key_file = "key"`, provider: "acme", want: "from-file"},
		{name: "file in the home directory", file: head + `api_key_file = "~/.config/lorimer/key"`, provider: "acme", want: "from-file"},
		{name: "command", file: head + `api_key_command = "echo '  from-command'; echo noise >&2"`, provider: "acme", want: "from-command"},
		{name: "command that fails", file: head + `api_key_command = "exit 3"`, provider: "acme", err: "exit status 3"},
		{name: "command that says nothing", file: head + `api_key_command = "true"`, provider: "acme", err: "no API key in the command"},
		{name: "command that says too much", file: head + `api_key_command = "echo a b"`, provider: "acme", err: "must be one word"},
		{name: "missing file", file: head + `api_key_file = "none"`, provider: "acme", err: "none: no such file"},
		{name: "no key", provider: "openai", err: "no API key for OpenAI; set OPENAI_API_KEY, or api_key_file under [providers.openai] in "},
		{name: "no way to a key", file: head, provider: "acme", err: "name a variable with api_key_env under [providers.acme]"},
		{name: "local servers need none", provider: "ollama", want: ""},
		{name: "unknown provider", provider: "nobody", err: `no provider "nobody"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, tt.file)
			write(t, filepath.Join(filepath.Dir(m.file), "key"), "from-file\n", 0o600)
			for k, v := range tt.env {
				m.env[k] = v
			}
			got, err := m.load(t).Key(t.Context(), tt.provider)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error = %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("key = %q (%v), want %q", got, err, tt.want)
			}
		})
	}
	if _, err := newMachine(t, "").load(t).Key(t.Context(), "openai"); !errors.Is(err, config.ErrNoKey) {
		t.Errorf("error = %v, want ErrNoKey", err)
	}
}

func TestKeyCommandRunsOnceWithSuccess(t *testing.T) {
	m := newMachine(t, "")
	count := filepath.Join(m.home, "count")
	write(t, m.file, "[providers.acme]\nbase_url = \"https://a.example.org\"\napi_key_command = \"echo x >> '"+count+"'; echo the-secret-key\"\n", 0o600)
	c := m.load(t)
	if _, err := os.Stat(count); err == nil {
		t.Fatal("the command ran before its key was needed")
	}
	for range 3 {
		if key, err := c.Key(t.Context(), "acme"); err != nil || key != "the-secret-key" {
			t.Fatalf("key = %q (%v)", key, err)
		}
	}
	if data, err := os.ReadFile(count); err != nil || string(data) != "x\n" {
		t.Errorf("the command ran %d times (%v), want once", strings.Count(string(data), "x"), err)
	}
	if !slices.Contains(c.Secrets(), "the-secret-key") {
		t.Error("the key is not among the secrets")
	}
}

// What a command printed is for one provider and one address, and outlives the
// configuration; it is asked again when the provider refuses its key.
func TestKeyCommandIsBound(t *testing.T) {
	m := newMachine(t, "")
	count := filepath.Join(m.home, "count")
	configure := func(name, address string) {
		write(t, m.file, "[providers."+name+"]\nbase_url = \""+address+"\"\napi_key_command = \"echo x >> '"+count+"'; wc -l < '"+count+"'\"\n", 0o600)
	}
	sources := m.sources()
	sources.Keys = &config.Keys{}
	load := func() *config.Config {
		c, _, err := config.Load(sources)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	key := func(name, want string) {
		t.Helper()
		if key, err := load().Key(t.Context(), name); err != nil || key != want {
			t.Errorf("key = %q (%v), want %q", key, err, want)
		}
	}
	configure("acme", "https://a.example.org")
	key("acme", "1")
	key("acme", "1")
	configure("acme", "https://b.example.org")
	key("acme", "2")
	configure("other", "https://b.example.org")
	key("other", "3")
	configure("acme", "https://a.example.org")
	key("acme", "1")
	load().Forget("acme", "not this one")
	key("acme", "1")
	load().Forget("acme", "1")
	key("acme", "4")
}

// Those who need a key at the same time have its command run once.
func TestKeyCommandRunsOnceForAll(t *testing.T) {
	m := newMachine(t, "")
	count := filepath.Join(m.home, "count")
	write(t, m.file, "[providers.acme]\nbase_url = \"https://a.example.org\"\napi_key_command = \"echo x >> '"+count+"'; sleep 0.1; wc -l < '"+count+"'\"\n", 0o600)
	c := m.load(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if key, err := c.Key(t.Context(), "acme"); err != nil || key != "1" {
				t.Errorf("key = %q (%v), want the first", key, err)
			}
		})
	}
	wg.Wait()
}

func TestKeyCommandEndsWithItsContext(t *testing.T) {
	c := newMachine(t, "[providers.acme]\nbase_url = \"https://a.example.org\"\napi_key_command = \"sleep 100; echo x\"\n").load(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := c.Key(ctx, "acme"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 8*time.Second {
		t.Errorf("after %v: %v, want the end of the context", time.Since(start), err)
	}
}

func TestKeyFileThatOthersMayRead(t *testing.T) {
	m := newMachine(t, "[providers.openai]\napi_key_file = \"key\"\n")
	key := filepath.Join(filepath.Dir(m.file), "key")
	write(t, key, "k", 0o600)
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	_, warnings, err := config.Load(m.sources())
	if err != nil || len(warnings) != 1 || warnings[0].File != key || !strings.Contains(warnings[0].Text, "chmod 600") {
		t.Errorf("warnings = %v (%v), want one about the key file", warnings, err)
	}
}

func TestSecrets(t *testing.T) {
	m := newMachine(t, `
[providers.openai]
api_key_file = "key"
headers = { Authorization = "Bearer header-secret", Accept = "text/plain" }
[providers.acme]
base_url = "https://me:url-secret@acme.example.org/v1?api_key=query-secret&version=2"
[providers.water]
kind = "langchain/bedrock"
options = { session_token = "option-secret", region = "eu" }
[mcp.a]
command = "a"
env = { A_TOKEN = "env-secret", LEVEL = "debugging" }
[mcp.b]
url = "https://h/?key=server-secret"
oauth = { client_secret = "client-secret", metadata_url = "https://m/?key=metadata-secret" }
`)
	write(t, filepath.Join(filepath.Dir(m.file), "key"), "file-secret", 0o600)
	m.env["GROQ_API_KEY"] = "groq-secret"
	m.env["ACME_KEY"] = "not-configured"
	m.env["HTTPS_PROXY"] = "me:proxy-secret@proxy.example.org:1"
	c := m.load(t)
	want := []string{"Bearer header-secret", "client-secret", "env-secret", "file-secret", "groq-secret", "header-secret", "metadata-secret", "option-secret", "proxy-secret", "query-secret", "server-secret", "url-secret"}
	if diff := cmp.Diff(want, c.Secrets()); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	for _, v := range c.Values() {
		if strings.Contains(v.Value, "secret") {
			t.Errorf("%s shows %s", v.Key, v.Value)
		}
	}
	if env := c.SecretEnv(); !slices.Contains(env, "ANTHROPIC_API_KEY") || slices.Contains(env, "ACME_KEY") ||
		!slices.Contains(env, "AWS_SECRET_ACCESS_KEY") || !slices.Contains(env, "AWS_SESSION_TOKEN") || slices.Contains(newMachine(t, "").load(t).SecretEnv(), "AWS_SECRET_ACCESS_KEY") {
		t.Errorf("variables = %q", env)
	}
}

func TestProxy(t *testing.T) {
	m := newMachine(t, "")
	m.env["HTTPS_PROXY"] = "http://me:pass@proxy.example.org:3128"
	m.env["no_proxy"] = "inside.example.org"
	c := m.load(t)
	for address, want := range map[string]string{
		"https://api.example.org":    "http://me:pass@proxy.example.org:3128",
		"https://inside.example.org": "",
		"http://api.example.org":     "",
		"https://127.0.0.1:1":        "",
		"https://localhost":          "",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		u, err := c.Proxy.Func()(req)
		got := ""
		if u != nil {
			got = u.String()
		}
		if err != nil || got != want {
			t.Errorf("%s goes through %q (%v), want %q", address, got, err, want)
		}
	}
	if got := m.shown(c)["proxy.https"]; got != `"http://me:********@proxy.example.org:3128" <- env HTTPS_PROXY` {
		t.Errorf("shown as %s", got)
	}
}

// The name of this machine is written in any case.
func TestLocalhostInCapitals(t *testing.T) {
	c := newMachine(t, "[providers.acme]\nbase_url = \"http://LocalHost:9/v1\"\n").load(t)
	if e, ok := c.Provider("acme"); !ok || !e.Local || !e.Keyless {
		t.Errorf("endpoint = %+v, want one on this machine", e)
	}
}

// A proxy that cannot be used is not left out: what would go through it goes nowhere,
// and what goes directly still does.
func TestProxyThatIsNone(t *testing.T) {
	for _, address := range []string{"gopher://me:hunter2@proxy:1", "http://me:hunter2@:0x", "://", "http://%zz"} {
		p := config.Proxy{HTTPS: address, No: "inside.example.org"}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "env HTTPS_PROXY is not the address of a proxy") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error = %v, want one without the address", address, err)
		}
		for to, fails := range map[string]bool{
			"https://api.example.org": true, "https://inside.example.org": false, "https://127.0.0.1": false, "http://api.example.org": false,
		} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
			if err != nil {
				t.Fatal(err)
			}
			u, err := p.Func()(req)
			if u != nil || (err != nil) != fails {
				t.Errorf("%s through %s: %v (%v), want an error: %v", to, address, u, err, fails)
			}
			var permanent interface{ Permanent() bool }
			if fails && (!errors.As(err, &permanent) || !permanent.Permanent()) {
				t.Errorf("%s through %s: %v is not said to be for good", to, address, err)
			}
		}
	}
	for _, address := range []string{"proxy:3128", "http://proxy", "https://me:pw@proxy:1/", "socks5://proxy:1"} {
		if err := (config.Proxy{HTTP: address, HTTPS: address}).Check(); err != nil {
			t.Errorf("%s: %v, want none", address, err)
		}
	}
}
