package config

import (
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
	"github.com/lorimer-dev/lorimer/harness/model/responses"
)

// The kinds of a provider that mean a protocol, or leave it to the model. Those of
// langchaingo have its prefix before the name.
const (
	kindOpenAI    = "openai" // the protocol of OpenAI that the model is best asked in
	kindChat      = "openai-chat"
	kindResponses = "openai-responses"
	kindAnthropic = "anthropic"
	kindGemini    = "gemini"
	kindOllama    = "ollama"
)

// checkKind refuses a kind that there is not.
func checkKind(kind string) error {
	all := []string{kindOpenAI, kindChat, kindResponses, kindAnthropic, kindGemini, kindOllama}
	if slices.Contains(all, kind) {
		return nil
	}
	for _, name := range kinds.Names() {
		all = append(all, langchain+name)
	}
	return oneOf(kind, all...)
}

// compatible is the end of the address under which a server with a protocol of its
// own speaks that of OpenAI as well; "" where there is none.
func compatible(kind string) string {
	switch kind {
	case kindGemini:
		return "/openai"
	case kindOllama:
		return "/v1"
	}
	return ""
}

// likeOpenAI reports whether kind is one of the protocols of OpenAI.
func likeOpenAI(kind string) bool {
	return kind == kindOpenAI || kind == kindChat || kind == kindResponses
}

// spoken returns the kind and the address of e as p has them. An address that ends
// like that of the protocol of OpenAI means it, unless the kind is named; then the
// address is made to fit.
func (e Endpoint) spoken(p Provider) (kind, address string) {
	address = e.BaseURL
	if p.BaseURL != "" {
		address = strings.TrimRight(p.BaseURL, "/")
	}
	end := compatible(e.Kind)
	switch {
	case p.Kind == "" && end != "" && strings.HasSuffix(address, end):
		return kindOpenAI, address
	case p.Kind == "":
		return e.Kind, address
	case likeOpenAI(p.Kind) && p.BaseURL == "":
		return p.Kind, address + end
	}
	if end := compatible(p.Kind); end != "" {
		address = strings.TrimSuffix(address, end)
	}
	return p.Kind, address
}

// Protocol returns the kind in which e is asked for the model id: the kind of e,
// unless that leaves it to the model.
func (e Endpoint) Protocol(id string) string {
	switch {
	case e.Kind != kindOpenAI:
		return e.Kind
	case responses.Preferred(e.BaseURL, id):
		return kindResponses
	}
	return kindChat
}
