package stream

import (
	"net/http"
	"strings"
)

// Endpoint returns the address of path under base, which may be it already and
// may carry a query, as Azure's does.
func Endpoint(base, path string) string {
	base, query, found := strings.Cut(base, "?")
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), path) + path
	if found {
		return base + "?" + query
	}
	return base
}

// Authorize sends key, "" being none, as prefix and key in the header name, and
// then more, which wins. No error repeats a value of these.
func (p *Post) Authorize(name, prefix, key string, more map[string]string) {
	if p.Header == nil {
		p.Header = http.Header{}
	}
	if key != "" {
		p.Header.Set(name, prefix+key)
		p.Secrets = append(p.Secrets, key)
	}
	for k, v := range more {
		p.Header.Set(k, v)
		p.Secrets = append(p.Secrets, v)
	}
}
