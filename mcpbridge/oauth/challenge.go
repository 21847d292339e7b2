package oauth

import (
	"slices"
	"strings"
)

// A Challenge is what the Bearer scheme of a WWW-Authenticate header says (RFC 9110
// 11.6.1, RFC 6750 3, RFC 9728 5.1).
type Challenge struct {
	Metadata    string   // URL of the metadata of the protected resource; "" is none
	Scopes      []string // that the request needs; nil is unsaid
	Error       string   // such as invalid_token or insufficient_scope
	Description string   // of the error, in words of the server
}

// ParseChallenge reads the first Bearer challenge of a WWW-Authenticate header that
// names its metadata, else the first. It reports whether there is one. Several
// headers may be joined by commas.
func ParseChallenge(header string) (Challenge, bool) {
	var first *challenge
	all := parseChallenges(header)
	for i := range all {
		c := &all[i]
		if !strings.EqualFold(c.scheme, "Bearer") {
			continue
		}
		if first == nil || first.param("resource_metadata") == "" && c.param("resource_metadata") != "" {
			first = c
		}
	}
	if first == nil {
		return Challenge{}, false
	}
	return Challenge{
		Metadata:    first.param("resource_metadata"),
		Scopes:      scopesOf(first.param("scope")),
		Error:       first.param("error"),
		Description: first.param("error_description"),
	}, true
}

// A challenge is one of the challenges of a header.
type challenge struct {
	scheme string
	params []param
}

type param struct{ name, value string }

// param returns the first parameter of a name, in any case.
func (c *challenge) param(name string) string {
	for _, p := range c.params {
		if strings.EqualFold(p.name, name) {
			return p.value
		}
	}
	return ""
}

// parseChallenges reads as much of a header as can be understood: what is no part of
// a challenge is passed over up to the next comma.
func parseChallenges(header string) []challenge {
	var all []challenge
	s := scanner{rest: header}
	for s.skip(" \t,"); s.rest != ""; s.skip(" \t,") {
		name := s.token()
		if name == "" {
			s.pass()
			continue
		}
		spaced := s.skip(" \t")
		if value, ok := s.value(); ok {
			if len(all) > 0 {
				last := &all[len(all)-1]
				last.params = append(last.params, param{name, value})
			}
			continue
		}
		all = append(all, challenge{scheme: name})
		if !spaced || s.rest == "" || s.rest[0] == ',' {
			continue
		}
		s.token68()
	}
	return all
}

// A scanner reads a header from left to right.
type scanner struct{ rest string }

// skip passes over the characters of set, and reports whether there were any.
func (s *scanner) skip(set string) bool {
	n := len(s.rest)
	s.rest = strings.TrimLeft(s.rest, set)
	return len(s.rest) < n
}

// pass passes over everything up to the next comma outside quotes.
func (s *scanner) pass() {
	for s.rest != "" && s.rest[0] != ',' {
		if s.rest[0] == '"' {
			s.quoted()
			continue
		}
		s.rest = s.rest[1:]
	}
}

func (s *scanner) take(n int) string {
	taken := s.rest[:n]
	s.rest = s.rest[n:]
	return taken
}

func (s *scanner) token() string {
	n := strings.IndexFunc(s.rest, func(c rune) bool { return !isTokenChar(c) })
	if n < 0 {
		n = len(s.rest)
	}
	return s.take(n)
}

func isTokenChar(c rune) bool {
	return c > ' ' && c < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, c)
}

// value reads = and the value of a parameter. Nothing is read where there is no =.
func (s *scanner) value() (string, bool) {
	if !strings.HasPrefix(s.rest, "=") {
		return "", false
	}
	s.take(1)
	s.skip(" \t")
	if strings.HasPrefix(s.rest, `"`) {
		return s.quoted(), true
	}
	// A value that should have been quoted, such as a URL, goes up to the comma.
	n := strings.IndexAny(s.rest, ", \t")
	if n < 0 {
		n = len(s.rest)
	}
	return s.take(n), true
}

// quoted reads a quoted string; one without an end goes up to that of the header.
func (s *scanner) quoted() string {
	var b strings.Builder
	i := 1
	for ; i < len(s.rest) && s.rest[i] != '"'; i++ {
		if s.rest[i] == '\\' && i+1 < len(s.rest) {
			i++
		}
		b.WriteByte(s.rest[i])
	}
	s.take(min(i+1, len(s.rest)))
	return b.String()
}

// token68 passes over credentials of a scheme without parameters, such as those of
// Negotiate. Nothing is read where a parameter follows.
func (s *scanner) token68() {
	n := 0
	for n < len(s.rest) && (isTokenChar(rune(s.rest[n])) || s.rest[n] == '/') {
		n++
	}
	end := n + len(s.rest[n:]) - len(strings.TrimLeft(s.rest[n:], "="))
	after := strings.TrimLeft(s.rest[end:], " \t")
	if n > 0 && (after == "" || after[0] == ',') {
		s.take(end)
	}
}

// scopesOf splits a list of scopes; each is there once and is one (RFC 6749 3.3).
func scopesOf(list string) []string { return mergeScopes(strings.Fields(list)) }

// Bounds of what others may ask for.
const (
	maxScopes = 100
	maxScope  = 256 // characters
)

// mergeScopes returns the scopes of lists in order, each once, without what is none.
func mergeScopes(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, s := range list {
			if isScope(s) && !slices.Contains(all, s) && len(all) < maxScopes {
				all = append(all, s)
			}
		}
	}
	return all
}

func isScope(s string) bool {
	return s != "" && len(s) <= maxScope && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || c == '"' || c == '\\'
	})
}
