package mcpbridge

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/lorimer-dev/lorimer/tools"
)

const (
	masked = "********"

	// A value that is shorter than these is not looked for in texts: it would be
	// found in words that have nothing to do with it.
	shortSecret = 4 // of something that is called a secret
	shortValue  = 8 // of anything else
)

// secrets are the texts that nobody may read in what is told of a server (R-MCP-19).
type secrets []string

// secretsOf returns what of s nobody may read, the longest first, so that no part of
// one is left over by another: its credentials, and what may be one.
func secretsOf(s Server) secrets {
	all := atLeast(shortSecret, s.Credentials()...)
	for _, v := range s.Env {
		all = append(all, atLeast(shortValue, v)...)
	}
	if u, err := url.Parse(s.URL); err == nil {
		for _, values := range u.Query() {
			for _, v := range values {
				all = append(all, atLeast(shortValue, v, url.QueryEscape(v))...)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// atLeast returns the values that are long enough to be looked for in texts.
func atLeast(n int, values ...string) []string {
	var all []string
	for _, v := range values {
		if v = strings.TrimSpace(v); len(v) >= n {
			all = append(all, v)
		}
	}
	return all
}

// Credentials returns the values in s that are secret by where they stand or by their
// names, in no order and at any length: they are to be shown, kept and sent to nobody
// but the server (R-MCP-19).
func (s Server) Credentials() []string {
	all := slices.Clone(s.Secrets)
	for name, v := range s.Headers {
		switch strings.ToLower(name) {
		case "accept", "accept-language", "content-type", "user-agent", "cache-control":
			continue
		}
		all = append(all, v)
		if _, token, ok := strings.Cut(v, " "); ok { // Bearer …
			all = append(all, token)
		}
	}
	for name, v := range s.Env {
		if SoundsSecret(name) {
			all = append(all, v)
		}
	}
	if s.OAuth.ClientSecret != "" {
		all = append(all, s.OAuth.ClientSecret)
	}
	for _, address := range slices.Concat([]string{s.URL}, s.Args, slices.Collect(maps.Values(s.Env))) {
		all = append(all, inAddress(address)...)
	}
	for i, a := range s.Args {
		switch name, value, assigned := strings.Cut(a, "="); {
		case !SoundsSecret(name):
		case assigned:
			all = append(all, value)
		case strings.HasPrefix(a, "-") && i+1 < len(s.Args):
			all = append(all, s.Args[i+1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inAddress returns what is secret in an address, which may have the name of an argument
// before it.
func inAddress(text string) (all []string) {
	before, _, ok := strings.Cut(text, "://")
	if !ok {
		return nil
	}
	u, err := url.Parse(text[strings.LastIndexByte(before, '=')+1:])
	if err != nil {
		return nil
	}
	name := u.User.Username()
	switch password, ok := u.User.Password(); {
	case ok:
		all = append(all, password, url.QueryEscape(password))
	case strings.HasPrefix(u.Scheme, "http") && len(name) >= shortValue: // a token alone
		all = append(all, name, url.QueryEscape(name))
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if SoundsSecret(name) {
				all = append(all, v, url.QueryEscape(v))
			}
		}
	}
	return all
}

// hide returns text without the secrets.
func (s secrets) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, masked)
	}
	return text
}

// line returns what may be shown of text on one line of at most limit characters.
func (s secrets) line(text string, limit int) string {
	return tools.Line(strings.Join(strings.Fields(s.hide(text)), " "), limit)
}

// Address returns the command line or the URL of s, without what is secret or sounds so
// (R-MCP-20).
func (s Server) Address() string {
	hidden := secretsOf(s)
	if s.Kind != Stdio {
		return hidden.hide(hideURL(s.URL))
	}
	words := append([]string{s.Command}, hideArgs(s.Args)...)
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n\"'") {
			words[i] = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
	}
	return hidden.hide(strings.Join(words, " "))
}

// hideURL masks who logs in and the values of the query.
func hideURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return masked
	}
	if u.User != nil {
		u.User = url.User(masked)
	}
	if u.RawQuery != "" {
		pairs := strings.Split(u.RawQuery, "&")
		for i, p := range pairs {
			if name, _, ok := strings.Cut(p, "="); ok {
				pairs[i] = name + "=" + masked
			}
		}
		u.RawQuery = strings.Join(pairs, "&")
	}
	u.Fragment = ""
	return strings.ReplaceAll(u.String(), url.QueryEscape(masked), masked)
}

// hideArgs masks what follows an argument that sounds like a secret, and what is secret
// in addresses.
func hideArgs(args []string) []string {
	out := slices.Clone(args)
	for i, a := range args {
		name, value, assigned := strings.Cut(a, "=")
		switch {
		case SoundsSecret(name) && assigned:
			out[i] = name + "=" + masked
		case SoundsSecret(name) && strings.HasPrefix(a, "-") && i+1 < len(out):
			out[i+1] = masked
		case out[i] != a: // masked already
		case assigned && strings.Contains(value, "://"):
			out[i] = name + "=" + hideURL(value)
		case strings.Contains(a, "://"):
			out[i] = hideURL(a)
		}
	}
	return out
}

// SoundsSecret reports whether a value of that name is likely to be a secret.
func SoundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "pass", "pwd", "auth", "cookie", "credential"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}
