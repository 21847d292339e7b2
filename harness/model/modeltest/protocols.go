package modeltest

import "slices"

// A Protocol is a way to talk to a [Server].
type Protocol struct {
	Name string               // kind of a model.Descriptor
	URL  func(*Server) string // the base URL
	ID   string               // of a model that does all that the protocol can
	Lack []Lack               // what the protocol cannot say
}

// Protocols returns what a server speaks.
func Protocols() []Protocol {
	return []Protocol{
		{Name: "openai-chat", URL: (*Server).OpenAI, ID: ModelID},
		{Name: "openai-responses", URL: (*Server).OpenAI, ID: "gpt-5.6"},
		{Name: "anthropic", URL: (*Server).Anthropic, ID: "claude-opus-4-7"},
		{Name: "gemini", URL: (*Server).Gemini, ID: "gemini-3.5-flash", Lack: []Lack{NoCacheWrite}},
		{Name: "ollama", URL: (*Server).Ollama, ID: ModelID, Lack: []Lack{NoRefusal, NoCacheRead, NoCacheWrite, NoReasoningUsage}},
	}
}

// A Lack is something that a protocol has no word for, so that no client can be
// asked for it.
type Lack string

// What protocols lack.
const (
	NoRefusal        Lack = "no stop reason for a refusal"
	NoCacheRead      Lack = "no count of cached tokens that were read"
	NoCacheWrite     Lack = "no count of cached tokens that were written"
	NoReasoningUsage Lack = "no count of tokens of thoughts"
	NoThink          Lack = "no thoughts"
	NoIDs            Lack = "no ids of calls"
)

type lacks []Lack

func (l lacks) has(x Lack) bool { return slices.Contains(l, x) }
