package mcpbridge

import (
	"cmp"
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

// secretsOf returns what of s is secret, the longest first, so that no part of one is
// left over by another.
func secretsOf(s Server) secrets {
	var all secrets
	add := func(least int, values ...string) {
		for _, v := range values {
			if v = strings.TrimSpace(v); len(v) >= least {
				all = append(all, v)
			}
		}
	}
	for _, v := range s.Headers {
		add(shortSecret, v)
		if _, token, ok := strings.Cut(v, " "); ok { // Bearer …
			add(shortSecret, token)
		}
	}
	for k, v := range s.Env {
		add(least(k), v)
	}
	add(shortSecret, s.Secrets...)
	add(shortSecret, s.OAuth.ClientSecret)
	if u, err := url.Parse(s.URL); err == nil {
		if password, ok := u.User.Password(); ok {
			add(shortSecret, password, url.QueryEscape(password))
		}
		if u.User != nil { // a token may stand alone
			add(shortValue, u.User.Username(), url.QueryEscape(u.User.Username()))
		}
		for name, values := range u.Query() {
			for _, v := range values {
				add(least(name), v, url.QueryEscape(v))
			}
		}
	}
	for i, a := range s.Args {
		switch name, value, assigned := strings.Cut(a, "="); {
		case !soundsSecret(name):
		case assigned:
			add(shortSecret, value)
		case strings.HasPrefix(a, "-") && i+1 < len(s.Args):
			add(shortSecret, s.Args[i+1])
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

func least(name string) int {
	if soundsSecret(name) {
		return shortSecret
	}
	return shortValue
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
		case soundsSecret(name) && assigned:
			out[i] = name + "=" + masked
		case soundsSecret(name) && strings.HasPrefix(a, "-") && i+1 < len(out):
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

// soundsSecret reports whether a value of that name is likely to be a secret.
func soundsSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "pass", "pwd", "auth", "cookie", "credential"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}
