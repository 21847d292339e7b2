package normalise

import "strings"

// Vendor returns who makes the model of a ref, in lower case: the provider, or the
// maker that a reseller names in MAKER/MODEL. It decides whose history a model
// reads as its own (R-TASK-41). An empty ref has none.
func Vendor(ref string) string {
	if strings.HasPrefix(ref, "script:") {
		return "script"
	}
	provider, id, _ := strings.Cut(strings.ToLower(ref), "/")
	maker, _, resold := strings.Cut(id, "/")
	maker = strings.TrimLeft(maker, "~@")
	if !resold || maker == "" || isFolder(maker) {
		return alias(provider)
	}
	return alias(maker)
}

// isFolder reports whether the first word of an id says where the model lies, not
// who made it.
func isFolder(word string) bool {
	switch word {
	case "models", "tunedmodels", "accounts", "projects", "publishers", "deployments", "library", "hf.co", "huggingface.co":
		return true
	}
	return false
}

// alias returns the name of the provider for makers that resellers call otherwise.
func alias(maker string) string {
	switch maker {
	case "google", "vertex", "googleai":
		return "gemini"
	case "x-ai":
		return "xai"
	case "mistralai":
		return "mistral"
	case "deepseek-ai":
		return "deepseek"
	case "moonshotai":
		return "moonshot"
	case "z-ai", "zai-org":
		return "zai"
	case "meta-llama":
		return "meta"
	}
	return maker
}
