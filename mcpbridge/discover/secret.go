package discover

import (
	"maps"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// Literal lists the fields of e that hold a secret as it is, which everybody who has
// the file can read.
func (e Entry) Literal() (names []string) {
	look := func(field, name, value string) {
		if mcpbridge.SoundsSecret(name) && value != "" && !strings.Contains(value, "${") {
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
