package normalise

import (
	"net/url"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/normalise/internal/schema"
)

// A reader is the model that requests are made fit for, with what its server is
// known to reject.
type reader struct {
	model.Descriptor
	ref, vendor string
	dialect     schema.Dialect

	google     bool // Google reads the requests, in its own protocol or in that of others
	mistral    bool // Mistral serves it
	strict     bool // the ids of calls are checked, and the server makes none that it would refuse
	between    bool // a message of the user may not follow the results of calls
	alternates bool // two messages of one role may not follow each other, and the user begins
	together   bool // nothing may stand between a call and its result
	apart      bool // pictures of a result have to be the user's
}

func newReader(d model.Descriptor) *reader {
	host := hostOf(d)
	r := &reader{Descriptor: d, ref: d.Ref()}
	r.vendor = Vendor(r.ref)
	r.google = d.Kind == "gemini" || r.vendor == "gemini" || strings.HasSuffix(host, ".googleapis.com")
	r.mistral = strings.EqualFold(d.Provider, "mistral") || host == "api.mistral.ai"
	r.strict = host == "api.openai.com" || host == "api.anthropic.com"
	r.between = r.mistral || ofMistral(d.ID)
	r.alternates = r.google || r.between || d.Kind == "anthropic" || d.Kind == "ollama" || hasTemplate(d.Provider)
	r.together = d.Kind == "openai-responses"
	r.apart = r.between || r.alternates && isChat(d)
	r.dialect = dialect(r, host)
	return r
}

// ofMistral reports whether a model is one of Mistral's, wherever it runs: its chat
// template rejects a message of the user that follows the results of calls.
func ofMistral(id string) bool {
	id = strings.ToLower(id)
	for _, name := range []string{"mistral", "ministral", "devstral", "codestral", "magistral", "pixtral", "mixtral"} {
		if strings.Contains(id, name) {
			return true
		}
	}
	return false
}

// hasTemplate reports whether the models of a provider read a conversation through a
// chat template, many of which want roles to alternate.
func hasTemplate(provider string) bool {
	switch strings.ToLower(provider) {
	case "ollama", "lmstudio", "llamacpp", "llama.cpp", "vllm", "perplexity":
		return true
	}
	return false
}

// isChat reports whether d speaks OpenAI's chat completions, where pictures of a
// result would follow it as a message of the user.
func isChat(d model.Descriptor) bool { return d.Kind == "openai-chat" }

// hostOf is that of the server, without its port; "" if it is not known.
func hostOf(d model.Descriptor) string {
	u, err := url.Parse(d.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// dialect is what a model reads of JSON Schema.
func dialect(r *reader, host string) schema.Dialect {
	switch {
	case r.google:
		return schema.Google
	case r.vendor == "anthropic", r.Kind == "anthropic", r.Kind == "langchain/bedrock":
		return schema.Anthropic
	case r.vendor == "openai", host == "api.openai.com", strings.HasSuffix(host, ".openai.azure.com"):
		return schema.OpenAI
	}
	return schema.Compatible
}
