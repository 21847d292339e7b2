package discover

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// soundsSecret reports whether what has that name is to be shown nowhere.
func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "password", "passwd", "auth", "cookie", "credential"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// Secrets returns the values of s that are to be shown nowhere.
func Secrets(s mcpbridge.Server) []string {
	all := slices.Clone(s.Secrets)
	for name, value := range s.Headers {
		switch strings.ToLower(name) {
		case "accept", "accept-language", "content-type", "user-agent", "cache-control":
			continue
		}
		all = append(all, value)
		if _, word, ok := strings.Cut(value, " "); ok { // of "Bearer TOKEN"
			all = append(all, word)
		}
	}
	for name, value := range s.Env {
		if soundsSecret(name) {
			all = append(all, value)
		}
	}
	if s.OAuth.ClientSecret != "" {
		all = append(all, s.OAuth.ClientSecret)
	}
	if u, err := url.Parse(s.URL); err == nil {
		if password, ok := u.User.Password(); ok {
			all = append(all, password)
		}
		for name, values := range u.Query() {
			if soundsSecret(name) {
				all = append(all, values...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Literal lists the fields of e that hold a secret as it is, which everybody who has
// the file can read.
func (e Entry) Literal() (names []string) {
	look := func(field, name, value string) {
		if soundsSecret(name) && value != "" && !strings.Contains(value, "${") {
			names = append(names, field)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		look("env."+name, name, e.Env[name])
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		look("headers."+name, name, e.Headers[name])
	}
	look("oauth.clientSecret", "secret", e.OAuth.ClientSecret)
	for i, a := range e.Args {
		name, value, assigned := strings.Cut(a, "=")
		if !assigned && strings.HasPrefix(a, "-") && i+1 < len(e.Args) {
			value = e.Args[i+1]
		}
		look("args", name, value)
	}
	return names
}
