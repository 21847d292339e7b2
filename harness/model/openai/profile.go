package openai

import (
	"net/url"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/gpt"
)

// A Profile says what a server of this protocol wants. The zero value is the
// least that every server understands.
type Profile struct {
	MaxTokens   string // field of the limit of the answer; "" is max_tokens
	System      string // role of the system prompt; "" is system
	Switch      bool   // thinking is switched on and off with an object of that name
	Effort      string // how the effort is told: "", reasoning_effort, reasoning (an object)
	Off         string // the value of the effort that means not to think; "" leaves the field out
	Echo        string // field in which reasoning goes back: "", reasoning_content, reasoning, reasoning_details
	StreamUsage bool   // asks for token counts with stream_options
	Temperature bool   // the model takes a temperature
	CacheKey    bool   // takes prompt_cache_key, which keeps a session on one machine
	Breakpoint  bool   // wants the end of the system prompt marked for the cache
	JSON        bool   // takes response_format json_object
	NoChoice    bool   // takes no tool_choice beside auto

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
	openAI  bool // serves OpenAI's models as OpenAI does
	// some: of the models that think, only some take an effort. It is told to those
	// whose efforts are known.
	some bool
}

const reasoningEffort = "reasoning_effort"

func rules() []rule {
	return []rule{
		{names: []string{"openai"}, hosts: []string{"api.openai.com"}, home: true, openAI: true,
			profile: Profile{MaxTokens: "max_completion_tokens", Effort: reasoningEffort, StreamUsage: true, Temperature: true, CacheKey: true, JSON: true}},
		{names: []string{"azure"}, hosts: []string{"openai.azure.com", "services.ai.azure.com"}, openAI: true,
			profile: Profile{MaxTokens: "max_completion_tokens", Effort: reasoningEffort, StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"openrouter"}, hosts: []string{"openrouter.ai"},
			profile: Profile{Effort: "reasoning", Off: "none", Echo: "reasoning_details", StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"deepseek"}, hosts: []string{"api.deepseek.com"},
			profile: Profile{Switch: true, Effort: reasoningEffort, Echo: "reasoning_content", StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"gemini", "google"}, hosts: []string{"generativelanguage.googleapis.com"},
			profile: Profile{Effort: reasoningEffort, StreamUsage: true, Temperature: true, JSON: true, Signatures: true}},
		{names: []string{"moonshot", "moonshotai", "kimi"}, hosts: []string{"api.moonshot.ai", "api.moonshot.cn"}, some: true,
			profile: Profile{MaxTokens: "max_completion_tokens", Switch: true, Effort: reasoningEffort, Echo: "reasoning_content", StreamUsage: true, CacheKey: true, JSON: true}},
		{names: []string{"zai", "zhipu"}, hosts: []string{"api.z.ai", "open.bigmodel.cn"}, some: true,
			profile: Profile{Switch: true, Effort: reasoningEffort, Echo: "reasoning_content", Temperature: true, JSON: true, NoChoice: true}},
		{names: []string{"groq"}, hosts: []string{"api.groq.com"}, some: true,
			profile: Profile{MaxTokens: "max_completion_tokens", Effort: reasoningEffort, StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"cerebras"}, hosts: []string{"api.cerebras.ai"}, some: true,
			profile: Profile{MaxTokens: "max_completion_tokens", Effort: reasoningEffort, StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"xai"}, hosts: []string{"api.x.ai"}, some: true,
			profile: Profile{MaxTokens: "max_completion_tokens", Effort: reasoningEffort, StreamUsage: true, Temperature: true, JSON: true}},
		{names: []string{"mistral"}, hosts: []string{"api.mistral.ai"}, some: true, // counts tokens without being asked, and refuses the question
			profile: Profile{Effort: reasoningEffort, Off: "none", Temperature: true, CacheKey: true, JSON: true}},
		{names: []string{"lmstudio", "lm-studio"}, profile: Profile{StreamUsage: true, Temperature: true}}, // JSON by schema alone
	}
}

// ProfileFor returns what is known of the server of d: by the name of the
// provider, else by the host of the base URL, else what Ollama, llama.cpp, vLLM,
// the gateways of companies and most others take.
func ProfileFor(d model.Descriptor) Profile {
	p := Profile{StreamUsage: true, Temperature: true, JSON: true}
	r, ok := find(d.Provider, hostOf(d.BaseURL))
	if ok {
		p = r.profile
	}
	if r.some && d.Efforts == nil {
		p.Effort = ""
	}
	m := gpt.Of(d.ID)
	if m.Strict() { // behind any server: the models themselves refuse the other fields
		p.Temperature, p.MaxTokens = false, "max_completion_tokens"
	}
	if r.openAI {
		p.fit(m, r.home)
	}
	if !ok && m.From(5, 4) && m.Off() == "none" { // a gateway passes on what OpenAI wants of the model, even where no effort is named
		p.Effort, p.Off, p.NoEffortWithTools = reasoningEffort, "none", true
	}
	return p
}

// fit adds what depends on the model of OpenAI.
func (p *Profile) fit(m gpt.Model, home bool) {
	if !m.Thinks() {
		p.Effort = ""
		return
	}
	p.System, p.Off = "developer", m.Off()
	p.NoEffortWithTools = m.From(5, 4) && p.Off == "none"
	p.Breakpoint = home && m.From(5, 6)
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
