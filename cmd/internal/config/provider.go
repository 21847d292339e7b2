package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
)

// An Endpoint is a provider ready for use: what is built in, with the file and
// the environment over it.
type Endpoint struct {
	Name    string
	Title   string   // for people
	Kind    string   // the protocol, openai where [Endpoint.Protocol] decides
	BaseURL string   // without a slash at the end; "" for a kind of langchaingo is its own
	Model   string   // the model that the name alone means; "" has none
	KeyEnv  []string // variables that may hold the key, in order
	Local   bool     // runs on this machine
	Keyless bool     // can do without a key, as what runs on this machine can
	Hosted  bool     // a known service, even where something on this machine stands in front of it
	Headers map[string]string
	Options map[string]string // of a kind of langchaingo
	CAFiles []string          // absolute paths of certificates that are trusted beside the system's
}

// builtin lists the known providers in the order in which a key in the
// environment chooses one (R-CMD-13).
func builtin() []Endpoint {
	env := func(names ...string) []string { return names }
	return []Endpoint{
		{Name: "anthropic", Title: "Anthropic", Kind: kindAnthropic, BaseURL: "https://api.anthropic.com", Model: "claude-sonnet-5", KeyEnv: env("ANTHROPIC_API_KEY")},
		{Name: "openai", Title: "OpenAI", Kind: kindOpenAI, BaseURL: "https://api.openai.com/v1", Model: "gpt-6-sol", KeyEnv: env("OPENAI_API_KEY")},
		{Name: "gemini", Title: "Google Gemini", Kind: kindGemini, BaseURL: "https://generativelanguage.googleapis.com/v1beta", Model: "gemini-3.8-flash", KeyEnv: env("GEMINI_API_KEY", "GOOGLE_API_KEY")},
		{Name: "openrouter", Title: "OpenRouter", Kind: kindOpenAI, BaseURL: "https://openrouter.ai/api/v1", Model: "anthropic/claude-sonnet-5", KeyEnv: env("OPENROUTER_API_KEY")},
		{Name: "deepseek", Title: "DeepSeek", Kind: kindOpenAI, BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-v4-pro", KeyEnv: env("DEEPSEEK_API_KEY")},
		{Name: "mistral", Title: "Mistral", Kind: kindOpenAI, BaseURL: "https://api.mistral.ai/v1", Model: "mistral-large-latest", KeyEnv: env("MISTRAL_API_KEY")},
		{Name: "groq", Title: "Groq", Kind: kindOpenAI, BaseURL: "https://api.groq.com/openai/v1", Model: "moonshotai/kimi-k2-instruct-0905", KeyEnv: env("GROQ_API_KEY")},
		{Name: "xai", Title: "xAI", Kind: kindOpenAI, BaseURL: "https://api.x.ai/v1", Model: "grok-4.7", KeyEnv: env("XAI_API_KEY")},
		{Name: "cerebras", Title: "Cerebras", Kind: kindOpenAI, BaseURL: "https://api.cerebras.ai/v1", Model: "gpt-oss-120b", KeyEnv: env("CEREBRAS_API_KEY")},
		{Name: "moonshot", Title: "Moonshot", Kind: kindOpenAI, BaseURL: "https://api.moonshot.ai/v1", Model: "kimi-k3", KeyEnv: env("MOONSHOT_API_KEY")},
		{Name: "zai", Title: "Z.ai", Kind: kindOpenAI, BaseURL: "https://api.z.ai/api/paas/v4", Model: "glm-5.3", KeyEnv: env("ZAI_API_KEY")},
		{Name: "ollama", Title: "Ollama", Kind: kindOllama, BaseURL: "http://127.0.0.1:11434", Local: true},
		{Name: "lmstudio", Title: "LM Studio", Kind: kindOpenAI, BaseURL: "http://127.0.0.1:1234/v1", Local: true},
		{Name: "llamacpp", Title: "llama.cpp", Kind: kindOpenAI, BaseURL: "http://127.0.0.1:8080/v1", Local: true},
		{Name: "vllm", Title: "vLLM", Kind: kindOpenAI, BaseURL: "http://127.0.0.1:8000/v1", Local: true},
	}
}

// Provider returns the provider of that name.
func (c *Config) Provider(name string) (Endpoint, bool) {
	for _, e := range c.Endpoints() {
		if e.Name == name {
			return e, true
		}
	}
	return Endpoint{}, false
}

// Endpoints lists all providers: the built-in ones in their order, then those
// of the file by name.
func (c *Config) Endpoints() []Endpoint {
	all := builtin()
	for i := range all {
		all[i].Hosted, all[i].Keyless = !all[i].Local, all[i].Local
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		if !slices.ContainsFunc(all, func(e Endpoint) bool { return e.Name == name }) {
			all = append(all, Endpoint{Name: name, Title: name, Kind: kindOpenAI})
		}
	}
	for i := range all {
		p := c.Providers[all[i].Name]
		all[i] = all[i].with(p).linked(p, c.env)
		if all[i].CAFiles = c.Certificates(); p.CAFile != "" {
			all[i].CAFiles = append(all[i].CAFiles, c.beside(p.CAFile))
		}
	}
	return all
}

// Certificates returns the paths of the certificates that are trusted for every
// provider.
func (c *Config) Certificates() []string {
	if c.CAFile == "" {
		return nil
	}
	return []string{c.beside(c.CAFile)}
}

// with returns e with what p says over it. A base URL on this machine makes it
// local.
func (e Endpoint) with(p Provider) Endpoint {
	e.Kind, e.BaseURL = e.spoken(p)
	e.Model = cmp.Or(p.Model, e.Model)
	e.Headers, e.Options = p.Headers, p.Options
	if p.APIKeyEnv != "" {
		e.KeyEnv = []string{p.APIKeyEnv}
	}
	if p.BaseURL != "" {
		e.Local = loopback(p.BaseURL)
	}
	e.Keyless = e.Keyless || e.Local || e.Kind == kindOllama || len(secretsIn(p.Headers)) > 0 // as api-key may be one of them
	return e
}

// loopback reports whether an address is on this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || ip != nil && ip.IsLoopback()
}

// A Choice is a model that the user named: one of a provider, a script, or the
// offline model.
type Choice struct {
	Endpoint Endpoint // with an empty name for the other two
	ID       string   // the model's id at the provider
	Script   string   // path of a script (R-CMD-03)
	Offline  bool     // the built-in model (R-CMD-14)
}

// Choose reads a reference to a model: PROVIDER/MODEL, PROVIDER, script:FILE or
// offline. Whether the provider has the model is not looked at. The error names
// the providers there are.
func (c *Config) Choose(ref string) (Choice, error) {
	if ref == "offline" {
		return Choice{Offline: true}, nil
	}
	if file, ok := strings.CutPrefix(ref, "script:"); ok {
		if file == "" {
			return Choice{}, fmt.Errorf("model %q names no file; write script:FILE", ref)
		}
		return Choice{Script: c.expand(file)}, nil
	}
	name, id, _ := strings.Cut(ref, "/")
	e, ok := c.Provider(name)
	if !ok {
		var names []string
		for _, e := range c.Endpoints() {
			names = append(names, e.Name)
		}
		return Choice{}, fmt.Errorf("model %q: there is no provider %q; write PROVIDER/MODEL with one of %s, or add [providers.%s] to %s",
			ref, name, strings.Join(names, ", "), headOf(name), c.Paths.Config)
	}
	if id = cmp.Or(id, e.Model); id == "" {
		way := ""
		if !strings.HasPrefix(e.Kind, langchain) {
			way = fmt.Sprintf("; \"lorimer models %s --ask\" lists those it has", name)
		}
		return Choice{}, fmt.Errorf("model %q: write %s/MODEL, since %s has no usual model%s", ref, name, e.Title, way)
	}
	return Choice{Endpoint: e, ID: id}, nil
}

// headOf returns name as it stands in the head of a table, or NAME where it would
// have to be quoted: it is that of a model then, as a rule.
func headOf(name string) string {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return "NAME"
	}
	return name
}

// Keyed returns the first provider that has a usual model and whose key is in
// the environment, and the variable (R-CMD-13).
func (c *Config) Keyed() (e Endpoint, variable string, ok bool) {
	for _, e := range c.Endpoints() {
		if e.Model == "" {
			continue
		}
		for _, name := range e.KeyEnv {
			if c.keyFromEnv([]string{name}) != "" {
				return e, name, true
			}
		}
	}
	return Endpoint{}, "", false
}

// fromProviderEnv takes the addresses that the environment gives (R-CMD-15).
func (c *Config) fromProviderEnv() error {
	for _, v := range []struct{ variable, provider string }{
		{"OPENAI_BASE_URL", "openai"}, {"ANTHROPIC_BASE_URL", "anthropic"}, {"OLLAMA_HOST", "ollama"},
	} {
		address := c.env(v.variable)
		if address == "" {
			continue
		}
		if v.provider == "ollama" {
			host, err := ollamaURL(address)
			if err != nil {
				return fmt.Errorf("env OLLAMA_HOST: %w", err)
			}
			address = host
			if likeOpenAI(c.Providers["ollama"].Kind) {
				address += compatible(kindOllama)
			}
		}
		if err := checkURL(address); err != nil {
			return fmt.Errorf("env %s: %w", v.variable, err)
		}
		if c.Providers == nil {
			c.Providers = make(map[string]Provider)
		}
		p := c.Providers[v.provider]
		p.BaseURL = address
		c.Providers[v.provider] = p
		c.origin.set("providers."+v.provider+".base_url", "env "+v.variable)
	}
	return nil
}

// ollamaURL turns the forms of OLLAMA_HOST into an address: a host, a port, or
// a whole URL. The address to listen on, 0.0.0.0, is this machine.
func ollamaURL(text string) (string, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "http", text
	}
	rest, _, _ = strings.Cut(rest, "/")
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = strings.Trim(rest, "[]"), "11434"
		if ok {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	address := scheme + "://" + net.JoinHostPort(host, cmp.Or(port, "11434"))
	return address, checkURL(address)
}

// checkURL returns an error unless text is a URL of HTTP with a host.
func checkURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an address like https://host/path", HideURL(text))
	}
	return nil
}

// checkProviders looks at what the file says of providers.
func (c *Config) checkProviders() error {
	for _, e := range c.Endpoints() {
		key := "providers." + e.Name
		if err := checkKind(e.Kind); err != nil {
			return fmt.Errorf("%s: %s.kind: %w", c.near(key+".kind"), key, err)
		}
		if name := c.Providers[e.Name].APIKeyEnv; name != "" && !variable(name) {
			return fmt.Errorf("%s: %s.api_key_env: is not the name of a variable; a key itself goes into a file, which api_key_file names",
				c.near(key+".api_key_env"), key) // it may be the key
		}
		_, ofLangchain := e.Langchain()
		if len(e.Options) > 0 && !ofLangchain {
			return fmt.Errorf("%s: %s.options: means nothing to the kind %s; leave it out", c.near(key+".options"), key, e.Kind)
		}
		if e.BaseURL == "" && ofLangchain {
			continue // it knows where to go
		}
		if e.BaseURL == "" {
			return fmt.Errorf("%s: %s: base_url is needed", c.near(key), key)
		}
		if err := checkURL(e.BaseURL); err != nil {
			return fmt.Errorf("%s: %s.base_url: %w", c.near(key+".base_url"), key, err)
		}
	}
	return nil
}

// variable reports whether name is one that a shell could set.
func variable(name string) bool {
	return digits(name) == 0 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// keyFileWarnings tells of files with keys or passwords that others may read.
func (c *Config) keyFileWarnings() []Warning {
	var warnings []Warning
	if IsURL(c.Database) && len(passwords(c.Database)) > 0 {
		if info, err := os.Stat(c.Paths.Config); err == nil && loose(info.Mode()) {
			warnings = append(warnings, Warning{c.Paths.Config, c.line("database"), fmt.Sprintf("others may read this password (mode %04o); run chmod 600", info.Mode().Perm())})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		file := c.Providers[name].APIKeyFile
		if file == "" {
			continue
		}
		path := c.beside(file)
		if info, err := os.Stat(path); err == nil && loose(info.Mode()) {
			warnings = append(warnings, Warning{File: path, Text: fmt.Sprintf("others may read this key (mode %04o); run chmod 600", info.Mode().Perm())})
		}
	}
	return warnings
}
