package served

import (
	"net/url"
	"slices"
	"strings"
)

// maxTokens is how many resources a text may attach by tokens.
const maxTokens = 16

// Tokens returns the addresses that a text attaches by tokens of the form @PREFIX:URI,
// each once, in their order. A token stands between spaces; what ends a sentence is no
// part of it. Prefix is one of prefixes, and the address has a scheme.
func Tokens(text string, prefixes []string) (uris []string) {
	for word := range strings.FieldsSeq(text) {
		token, ok := strings.CutPrefix(word, "@")
		prefix, uri, named := strings.Cut(token, ":")
		if !ok || !named || !slices.Contains(prefixes, prefix) {
			continue
		}
		uri = strings.TrimRight(uri, ".,;:!?)]}>'\"`")
		if u, err := url.Parse(uri); err != nil || u.Scheme == "" || slices.Contains(uris, uri) {
			continue
		}
		if uris = append(uris, uri); len(uris) == maxTokens {
			break
		}
	}
	return uris
}
