package stream

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

const (
	maxMessage = 500 // runes of a provider's sentence
	minSecret  = 6   // bytes; shorter words are no secrets
	masked     = "[secret]"
)

// clean makes s fit to be shown: one line, bounded, without secrets.
func (p *Post) clean(s string) string {
	for _, secret := range p.secrets() {
		words := strings.Fields(secret) // "Bearer KEY" is quoted without its first word
		if len(words) == 0 || len(secret) < minSecret {
			continue
		}
		s = strings.ReplaceAll(s, secret, masked)
		if last := words[len(words)-1]; len(last) >= minSecret {
			s = strings.ReplaceAll(s, last, masked)
		}
	}
	s = maskKeys(s)
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > maxMessage {
		s = string(r[:maxMessage]) + "…"
	}
	return s
}

// secrets returns the secrets of the request, with those that its address holds.
func (p *Post) secrets() []string {
	all := slices.Clone(p.Secrets)
	u, err := url.Parse(p.URL)
	if err != nil {
		return all
	}
	if word, ok := u.User.Password(); ok {
		sent := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + word)) // in a header
		all = append(all, word, sent)
	}
	for name, values := range u.Query() {
		if containsAny(strings.ToLower(name), "key", "token", "secret", "sig") {
			all = append(all, values...)
		}
	}
	return all
}

// maskKeys hides what looks like an API key: providers quote the one that they
// refuse, whole or in part.
func maskKeys(s string) string {
	const lead = "sk-"
	var b strings.Builder
	for {
		i := strings.Index(s, lead)
		if i < 0 {
			break
		}
		n := len(lead)
		for n < len(s)-i && keyByte(s[i+n]) {
			n++
		}
		b.WriteString(s[:i])
		if word := i > 0 && keyByte(s[i-1]); word || n < len(lead)+minSecret {
			b.WriteString(s[i : i+n])
		} else {
			b.WriteString(masked)
		}
		s = s[i+n:]
	}
	b.WriteString(s)
	return b.String()
}

func keyByte(c byte) bool {
	return c == '-' || c == '_' || c == '*' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
