package config_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model/catalog"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
)

// Which protocol a model is asked in, and where (MODELS.md 0).
func TestKinds(t *testing.T) {
	tests := []struct{ name, file, ref, kind, address string }{
		{"a model of OpenAI that reasons", "", "openai/gpt-5.2", "openai-responses", "https://api.openai.com/v1"},
		{"a later one", "", "openai/gpt-12-mini", "openai-responses", "https://api.openai.com/v1"},
		{"one of the o series", "", "openai/o4-mini", "openai-responses", "https://api.openai.com/v1"},
		{"one that was tuned", "", "openai/ft:o4-mini-2025-04-16:acme::1", "openai-responses", "https://api.openai.com/v1"},
		{"one for programming", "", "openai/codex-mini-latest", "openai-responses", "https://api.openai.com/v1"},
		{"one that does not", "", "openai/gpt-4.1-mini", "openai-chat", "https://api.openai.com/v1"},
		{"one without a version", "", "openai/gpt-oss-120b", "openai-chat", "https://api.openai.com/v1"},
		{"one that begins like the o series", "", "openai/omni", "openai-chat", "https://api.openai.com/v1"},
		{"a region of OpenAI", "[providers.openai]\nbase_url = \"https://eu.api.openai.com/v1/\"", "openai/gpt-5", "openai-responses", "https://eu.api.openai.com/v1"},
		{"a gateway", "[providers.openai]\nbase_url = \"https://gate.example.org/v1\"", "openai/gpt-5.2", "openai-chat", "https://gate.example.org/v1"},
		{"a gateway that knows Responses", "[providers.gate]\nkind = \"openai-responses\"\nbase_url = \"https://gate.example.org/v1\"", "gate/m", "openai-responses", "https://gate.example.org/v1"},
		{"chat completions wanted", "[providers.openai]\nkind = \"openai-chat\"", "openai/gpt-5.2", "openai-chat", "https://api.openai.com/v1"},
		{"a host that only ends alike", "[providers.openai]\nbase_url = \"https://notapi.openai.com.example.org/v1\"", "openai/gpt-5.2", "openai-chat", "https://notapi.openai.com.example.org/v1"},
		{"another provider", "", "deepseek/deepseek-v4-pro", "openai-chat", "https://api.deepseek.com/v1"},
		{"no kind is that of OpenAI", "[providers.own]\nbase_url = \"https://own.example.org/v1\"", "own/gpt-5", "openai-chat", "https://own.example.org/v1"},
		{"Anthropic", "", "anthropic/m", "anthropic", "https://api.anthropic.com"},

		{"Gemini", "", "gemini/m", "gemini", "https://generativelanguage.googleapis.com/v1beta"},
		{"Gemini like OpenAI by its address", "[providers.gemini]\nbase_url = \"https://g.example.org/v1beta/openai/\"", "gemini/m", "openai-chat", "https://g.example.org/v1beta/openai"},
		{"Gemini like OpenAI by its kind", "[providers.gemini]\nkind = \"openai\"", "gemini/m", "openai-chat", "https://generativelanguage.googleapis.com/v1beta/openai"},
		{"Gemini elsewhere", "[providers.gemini]\nbase_url = \"https://g.example.org/v1beta\"", "gemini/m", "gemini", "https://g.example.org/v1beta"},

		{"Ollama", "", "ollama/m", "ollama", "http://127.0.0.1:11434"},
		{"Ollama like OpenAI by its address", "[providers.ollama]\nbase_url = \"http://box:11434/v1\"", "ollama/m", "openai-chat", "http://box:11434/v1"},
		{"Ollama like OpenAI by its kind", "[providers.ollama]\nkind = \"openai-chat\"", "ollama/m", "openai-chat", "http://127.0.0.1:11434/v1"},
		{"Ollama with an address of the other", "[providers.ollama]\nkind = \"ollama\"\nbase_url = \"http://box:11434/v1\"", "ollama/m", "ollama", "http://box:11434"},
		{"a second Ollama", "[providers.box]\nkind = \"ollama\"\nbase_url = \"http://box:11434\"", "box/m", "ollama", "http://box:11434"},

		{"langchaingo", "[providers.ibm]\nkind = \"langchain/watsonx\"", "ibm/m", "langchain/watsonx", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			choice, err := newMachine(t, tt.file).load(t).Choose(tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			e := choice.Endpoint
			if kind := e.Protocol(choice.ID); kind != tt.kind || e.BaseURL != tt.address {
				t.Errorf("%s is asked by %s at %q, want %s at %q", tt.ref, kind, e.BaseURL, tt.kind, tt.address)
			}
		})
	}
}

// The environment's address of Ollama means what the kind of the file does.
func TestOllamaHostLikeOpenAI(t *testing.T) {
	m := newMachine(t, "[providers.ollama]\nkind = \"openai\"\n")
	m.env["OLLAMA_HOST"] = "box"
	if e, _ := m.load(t).Provider("ollama"); e.BaseURL != "http://box:11434/v1" || e.Protocol("m") != "openai-chat" {
		t.Errorf("asked by %s at %s", e.Protocol("m"), e.BaseURL)
	}
}

// A kind of langchaingo knows where to go, which may depend on its options.
func TestAddress(t *testing.T) {
	for file, want := range map[string]string{
		"kind = \"langchain/watsonx\"":                                          "https://us-south.ml.cloud.ibm.com",
		"kind = \"langchain/watsonx\"\noptions = { region = \"eu-de\" }":        "https://eu-de.ml.cloud.ibm.com",
		"kind = \"langchain/watsonx\"\nbase_url = \"https://w.example.org\"":    "https://w.example.org",
		"kind = \"langchain/bedrock\"\noptions = { region = \"eu-central-1\" }": "https://bedrock-runtime.eu-central-1.amazonaws.com",
		"kind = \"openai\"\nbase_url = \"https://own.example.org/v1\"":          "https://own.example.org/v1",
	} {
		e, _ := newMachine(t, "[providers.own]\n"+file+"\n").load(t).Provider("own")
		if got := e.Address(); got != want {
			t.Errorf("with %s it is at %s, want %s", file, got, want)
		}
	}
}

// What the variables of Amazon's programs say holds where the file says nothing.
func TestAmazon(t *testing.T) {
	tests := []struct {
		name, file string
		env        map[string]string
		key        string // "" is none
		options    map[string]string
	}{
		{"nothing", "", nil, "", map[string]string{}},
		{"a key of Bedrock", "", map[string]string{"AWS_BEARER_TOKEN_BEDROCK": "bearer", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ACCESS_KEY_ID": "id", "AWS_REGION": "eu-west-1"},
			"bearer", map[string]string{"region": "eu-west-1"}},
		{"a pair", "", map[string]string{"AWS_SECRET_ACCESS_KEY": "s", "AWS_ACCESS_KEY_ID": "id", "AWS_SESSION_TOKEN": "t", "AWS_DEFAULT_REGION": "eu-west-2"},
			"s", map[string]string{"access_key": "id", "session_token": "t", "region": "eu-west-2"}},
		{"the file", "options = { region = \"us-west-2\", access_key = \"mine\" }", map[string]string{"AWS_SECRET_ACCESS_KEY": "s", "AWS_ACCESS_KEY_ID": "id", "AWS_REGION": "eu-west-1"},
			"s", map[string]string{"access_key": "mine", "region": "us-west-2"}},
		{"a key of the file's", "api_key_env = \"MINE\"", map[string]string{"MINE": "m", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ACCESS_KEY_ID": "id"}, "m", map[string]string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t, "[providers.aws]\nkind = \"langchain/bedrock\"\n"+tt.file+"\n")
			for k, v := range tt.env {
				m.env[k] = v
			}
			c := m.load(t)
			if key, err := c.Key(t.Context(), "aws"); key != tt.key {
				t.Errorf("key = %q (%v), want %q", key, err, tt.key)
			}
			e, _ := c.Provider("aws")
			if diff := cmp.Diff(tt.options, e.Options); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

// A kind that takes no key is asked without one.
func TestKeyless(t *testing.T) {
	c := newMachine(t, `
[providers.file]
kind = "langchain/llamafile"
[providers.ollama]
base_url = "http://box:1"
[providers.cf]
kind = "langchain/cloudflare"
[providers.azure]
base_url = "https://a.example.org/openai/v1"
headers = { api-key = "the-key" }
`).load(t)
	for _, name := range []string{"file", "ollama", "lmstudio", "azure"} {
		if key, err := c.Key(t.Context(), name); key != "" || err != nil {
			t.Errorf("%s: key %q (%v), want none and no error", name, key, err)
		}
	}
	if _, err := c.Key(t.Context(), "cf"); !errors.Is(err, config.ErrNoKey) || !strings.Contains(err.Error(), "set CLOUDFLARE_API_TOKEN") {
		t.Errorf("error = %v, want that the usual variable is missing", err)
	}
}

// The guide and the help name every provider, its usual model and every kind, and the
// catalog knows the usual models.
func TestGuideIsComplete(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	help, err := os.ReadFile("../cli/help/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	c := newMachine(t, "").load(t)
	for _, e := range c.Endpoints() {
		if !strings.Contains(string(guide), "`"+e.Name+"`") || !strings.Contains(string(help), e.Name) {
			t.Errorf("%s is not named", e.Name)
		}
		if e.Model == "" {
			continue
		}
		row := "| `" + e.Name + "` | `" + strings.Join(e.KeyEnv, "`, `") + "` | `" + e.Model + "` |"
		if !strings.Contains(string(guide), row) {
			t.Errorf("the guide has no row %s", row)
		}
		if m, ok := catalog.Find(e.Name, e.Model); !ok || m.NoTools || m.Price == nil {
			t.Errorf("%s/%s is the usual model, and known as %+v", e.Name, e.Model, m)
		}
	}
	for _, name := range kinds.Names() {
		if !strings.Contains(string(guide), "`langchain/"+name+"`") || !strings.Contains(string(help), name) {
			t.Errorf("langchain/%s is not named", name)
		}
		info, _ := kinds.Lookup(name)
		for _, s := range info.Settings {
			if !strings.Contains(string(guide), "`"+s.Name+"`") {
				t.Errorf("the guide does not name the option %s of langchain/%s", s.Name, name)
			}
		}
	}
}
