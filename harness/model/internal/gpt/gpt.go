// Package gpt tells OpenAI's models apart by their names, for the two protocols
// that reach them. What it says holds at OpenAI and behind every proxy.
package gpt

import (
	"net/url"
	"strings"
)

// A Model is a model of OpenAI. The zero value is any other.
type Model struct {
	name         string
	major, minor int  // of gpt-MAJOR.MINOR
	o            bool // o1, o3, o4
	codex        bool // codex-mini; those of a gpt count as gpt
}

// Of returns the model that id names; a maker before a slash does not count, nor
// that it was tuned.
func Of(id string) Model {
	id = strings.TrimPrefix(strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]), "ft:")
	m := Model{name: id, codex: strings.HasPrefix(id, "codex-")}
	m.o = len(id) > 1 && id[0] == 'o' && id[1] >= '1' && id[1] <= '9' && (len(id) == 2 || id[2] == '-')
	if rest, ok := strings.CutPrefix(id, "gpt-"); ok {
		m.major, rest = digits(rest)
		if len(rest) > 1 && rest[0] == '.' {
			m.minor, _ = digits(rest[1:])
		}
	}
	return m
}

// digits reads a number of at most three digits at the start of s.
func digits(s string) (n int, rest string) {
	for len(s) > 0 && s[0] >= '0' && s[0] <= '9' && n < 100 {
		n, s = n*10+int(s[0]-'0'), s[1:]
	}
	return n, s
}

// From reports whether m is gpt-MAJOR.MINOR or later.
func (m Model) From(major, minor int) bool {
	return m.major > major || m.major == major && m.minor >= minor
}

// Strict reports whether m is of the generation that takes no temperature and
// calls the limit of the answer max_completion_tokens.
func (m Model) Strict() bool { return m.From(5, 0) || m.o || m.codex }

// Thinks reports whether m is known to think before it answers. Those for chatting
// are named like their siblings, but do not.
func (m Model) Thinks() bool { return m.Strict() && !strings.Contains(m.name, "-chat") }

// Off returns the effort that comes closest to not thinking; "" leaves the field
// out, since m takes no low one.
func (m Model) Off() string {
	switch {
	case strings.Contains(m.name, "-pro"):
		return ""
	case m.o, m.codex, strings.Contains(m.name, "codex"):
		return "low"
	case m.From(5, 1):
		return "none"
	case m.From(5, 0):
		return "minimal"
	}
	return ""
}

// Home reports whether base, an address or "" for the usual one, is OpenAI's own.
func Home(base string) bool {
	if base == "" {
		return true
	}
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com")
}
