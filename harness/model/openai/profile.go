package openai

import (
	"net/url"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A Profile says what a server of this protocol wants. The zero value is the
// least that every server understands.
type Profile struct {
	MaxTokens   string // field of the limit of the answer; "" is max_tokens
	System      string // role of the system prompt; "" is system
	Effort      string // how the effort is told: "", reasoning_effort, reasoning (an object), thinking (on or off)
	Off         string // the value of the effort that means not to think; "" leaves the field out
	Echo        string // field in which reasoning goes back: "", reasoning_content, reasoning, reasoning_details
	StreamUsage bool   // asks for token counts with stream_options
	Temperature bool   // the model takes a temperature
	CacheKey    bool   // takes prompt_cache_key, which keeps a session on one machine
	JSON        bool   // takes response_format json_object

	// NoEffortWithTools has the effort off where tools are declared: the server
	// rejects functions together with reasoning.
	NoEffortWithTools bool
	// Signatures has Google's thought signature go along with each step of calls,
	// a stand-in for steps that another model took.
	Signatures bool
}

// A rule ties a profile to servers, by the name of the provider or the end of
// the host name.
type rule struct {
	names   []string
	hosts   []string
	profile Profile
	home    bool // holds at these hosts only: behind the name stands any proxy
}

func rules() []rule {
	return []rule{
		{names: []string{"openai"}, hosts: []string{"api.openai.com"}, profile: Profile{MaxTokens: "max_completion_tokens", Effort: "reasoning_effort",
			Off: "none", StreamUsage: true, Temperature: true, CacheKey: true, JSON: true}, home: true},
		{names: []string{"openrouter"}, hosts: []string{"openrouter.ai"}, profile: Profile{Effort: "reasoning", Off: "none", Echo: "reasoning_details",
			StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"deepseek"}, hosts: []string{"api.deepseek.com"}, profile: Profile{Effort: "thinking", Off: "disabled", Echo: "reasoning_content",
			StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"gemini", "google"}, hosts: []string{"generativelanguage.googleapis.com"}, profile: Profile{Effort: "reasoning_effort",
			StreamUsage: true, Temperature: true, JSON: true, Signatures: true}},
		{names: []string{"moonshot", "kimi"}, hosts: []string{"api.moonshot.ai", "api.moonshot.cn"}, profile: Profile{Effort: "thinking", Off: "disabled",
			Echo: "reasoning_content", StreamUsage: true, JSON: true}},
		{names: []string{"groq"}, hosts: []string{"api.groq.com"}, profile: Profile{MaxTokens: "max_completion_tokens", StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"xai"}, hosts: []string{"api.x.ai"}, profile: Profile{MaxTokens: "max_completion_tokens", StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"mistral"}, hosts: []string{"api.mistral.ai"}, profile: Profile{Temperature: true, JSON: true}},
	}
}

// ProfileFor returns what is known of the server of d: by the name of the
// provider, else by the host of the base URL, else what Ollama, LM Studio,
// llama.cpp, vLLM and most others take.
func ProfileFor(d model.Descriptor) Profile {
	host := hostOf(d.BaseURL)
	p := Profile{StreamUsage: true, Temperature: true, JSON: true}
	if r, ok := find(d.Provider, host); ok {
		p = r.profile
	}
	return p.fit(d.ID)
}

func find(provider, host string) (rule, bool) {
	provider = strings.ToLower(provider)
	all := rules()
	for _, r := range all { // the address says more than a name that people choose
		for _, h := range r.hosts {
			if host == h || strings.HasSuffix(host, "."+h) {
				return r, true
			}
		}
	}
	for _, r := range all {
		for _, n := range r.names {
			if provider == n && (!r.home || host == "") {
				return r, true
			}
		}
	}
	return rule{}, false
}

func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// fit adds what depends on the model. The names of OpenAI's reasoning models are
// recognised behind any server, since they refuse a temperature everywhere.
func (p Profile) fit(id string) Profile {
	id = strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
	major, minor, gpt := gptVersion(id)
	oSeries := len(id) > 1 && id[0] == 'o' && id[1] >= '1' && id[1] <= '9' && (len(id) == 2 || id[2] == '-')
	switch {
	case gpt && major >= 5, oSeries:
		p.Temperature, p.MaxTokens = false, "max_completion_tokens"
		if p.CacheKey { // OpenAI itself
			p.System = "developer"
			p.NoEffortWithTools = gpt && (major > 5 || minor >= 4)
			if oSeries || major == 5 && minor == 0 {
				p.Off = "" // these always think
			}
		}
	case p.CacheKey:
		p.Effort = ""
	}
	return p
}

// gptVersion reads the version of gpt-5.4-mini and the like.
func gptVersion(id string) (major, minor int, ok bool) {
	rest, ok := strings.CutPrefix(id, "gpt-")
	if !ok {
		return 0, 0, false
	}
	major, rest = digits(rest)
	if len(rest) > 1 && rest[0] == '.' {
		minor, _ = digits(rest[1:])
	}
	return major, minor, major > 0
}

// digits reads a number of at most three digits at the start of s.
func digits(s string) (n int, rest string) {
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && n < 100 {
		n, s = n*10+int(s[0]-'0'), s[1:]
	}
	return n, s
}
