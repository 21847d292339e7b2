package config

import (
	"cmp"
	"maps"
	"strings"

	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
)

// langchain is what the kinds of langchaingo begin with.
const langchain = "langchain/"

// Langchain returns the name that the kind of e has in langchaingo, if it is one of
// those.
func (e Endpoint) Langchain() (name string, ok bool) { return strings.CutPrefix(e.Kind, langchain) }

// Address returns where e is, also where a kind of langchaingo knows it by itself.
func (e Endpoint) Address() string {
	name, _ := e.Langchain()
	return cmp.Or(e.BaseURL, kinds.BaseURL(name, e.Options))
}

// usualKeys lists the variables in which the makers of a kind of langchaingo look for
// its key, in order.
func usualKeys(name string) []string {
	switch name {
	case "bedrock":
		return []string{awsBearer, awsSecret}
	case "cloudflare":
		return []string{"CLOUDFLARE_API_TOKEN"}
	case "cohere":
		return []string{"COHERE_API_KEY", "CO_API_KEY"}
	case "ernie":
		return []string{"ERNIE_ACCESS_TOKEN"}
	case "huggingface":
		return []string{"HF_TOKEN", "HUGGINGFACEHUB_API_TOKEN"}
	case "maritaca":
		return []string{"MARITACA_KEY"}
	case "mistral":
		return []string{"MISTRAL_API_KEY"}
	case "watsonx":
		return []string{"WATSONX_API_KEY"}
	}
	return nil
}

// The variables of Amazon's own programs.
const (
	awsBearer  = "AWS_BEARER_TOKEN_BEDROCK"
	awsSecret  = "AWS_SECRET_ACCESS_KEY"
	awsID      = "AWS_ACCESS_KEY_ID"
	awsSession = "AWS_SESSION_TOKEN"
)

// linked returns e, of a kind of langchaingo, with what the environment says of it
// where the file p does not.
func (e Endpoint) linked(p Provider, env func(string) string) Endpoint {
	name, ok := e.Langchain()
	if !ok {
		return e
	}
	if p.APIKeyEnv == "" {
		e.KeyEnv = usualKeys(name)
	}
	if keyless(name) {
		e.Keyless = true
		e.Local = e.Local || e.BaseURL == "" // such a one runs on this machine, unless it is said to be elsewhere
	}
	if name == "bedrock" {
		e.Options = amazon(p, env)
	}
	return e
}

// amazon returns the options of Bedrock with what the variables of Amazon's programs
// add. The id of a key comes along only where its secret does.
func amazon(p Provider, env func(string) string) map[string]string {
	out := maps.Clone(p.Options)
	if out == nil {
		out = make(map[string]string)
	}
	add := func(name string, variables ...string) {
		for _, v := range variables {
			out[name] = cmp.Or(out[name], env(v))
		}
		if out[name] == "" {
			delete(out, name)
		}
	}
	add("region", "AWS_REGION", "AWS_DEFAULT_REGION")
	own := p.APIKeyEnv != "" && p.APIKeyEnv != awsSecret || p.APIKeyFile != "" || p.APIKeyCommand != ""
	if !own && (p.APIKeyEnv != "" || env(awsBearer) == "") && env(awsSecret) != "" && out["access_key"] == "" {
		add("access_key", awsID)
		add("session_token", awsSession)
	}
	return out
}

// keyless reports whether a kind of langchaingo takes no key.
func keyless(name string) bool {
	info, ok := kinds.Lookup(name)
	return ok && info.Key == ""
}
