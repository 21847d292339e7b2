package stream

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// A fault is an error object of a provider, in whichever of its shapes.
type fault struct {
	message, kind, code string
	status              int // a numeric code, which then is an HTTP status
	wait                time.Duration
	spent               bool // a quota is used up for longer than anyone waits
}

// Fault is the error that a provider reports with status, header and body; the
// status is 200 for an error inside a stream. Its kind is [model.Unknown] if
// body holds no error and status tells of none.
func (p *Post) Fault(status int, h http.Header, body []byte) *model.Error {
	f := parseFault(body)
	if status < 400 && f.status >= 400 {
		status = f.status
	}
	e := &model.Error{
		Provider: p.Provider, Status: status, Code: p.clean(cmp.Or(f.code, f.kind)),
		RequestID:  p.clean(cmp.Or(h.Get("X-Request-Id"), h.Get("Request-Id"))),
		RetryAfter: cmp.Or(retryAfter(h), f.wait, waitIn(f.message)),
	}
	e.Kind = kindOf(status, f)
	if f.spent && e.RetryAfter < time.Hour {
		e.RetryAfter = 0 // the wait is that of another limit
	}
	e.Message = p.clean(f.message)
	if e.Message == "" && status >= 300 {
		e.Message = strings.TrimSpace(fmt.Sprintf("HTTP %d %s", status, http.StatusText(status)))
	}
	switch h.Get("X-Should-Retry") {
	case "false":
		e.Final = true
	case "true":
		if e.Kind == model.Unknown || e.Kind == model.Invalid {
			e.Kind = model.Overloaded
		}
	}
	return e
}

// kindOf sorts a fault. Words of the provider go before the status where the
// status is known to say too little.
func kindOf(status int, f fault) model.Kind {
	text := strings.ToLower(f.message)
	code := strings.ToLower(f.code + " " + f.kind)
	switch {
	case overflow(status, code, text):
		return model.TokenLimit
	case f.spent, status == http.StatusPaymentRequired,
		containsAny(code, "insufficient_quota", "exceeded_current_quota", "billing", "insufficient_balance", "credits_exhausted", "usage_limit", "usage_not_included"),
		containsAny(text, "credit balance", "insufficient balance", "out of credits", "available credits", "billing hard limit"):
		return model.Quota
	case containsAny(code, "content_filter", "content_policy", "moderation", "data_inspection_failed", "sensitive", "invalid_prompt", "bio_policy", "policy_violation"),
		containsAny(text, "content management policy", "content policy", "flagged by moderation", "requires moderation"):
		return model.Refused
	case status == http.StatusTooManyRequests, containsAny(code, "rate_limit", "resource_exhausted"):
		return model.RateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		containsAny(code, "authentication_error", "permission_error", "invalid_api_key"),
		containsAny(text, "api key not valid"):
		return model.Auth
	case status == http.StatusNotFound, containsAny(code, "model_not_found", "not_found_error"):
		return model.NotFound
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500,
		containsAny(code, "overloaded", "server_error", "api_error", "timeout", "unavailable", "internal", "slow_down"):
		return model.Overloaded
	case status >= 400, containsAny(code, "invalid_", "image_", "_image", "data_residency"):
		return model.Invalid
	}
	return model.Unknown
}

// overflow reports whether the prompt is larger than the window.
func overflow(status int, code, text string) bool {
	if status == http.StatusTooManyRequests || strings.Contains(code, "rate_limit") { // too much for a minute, unless it is too much for one request
		return strings.Contains(text, "request too large")
	}
	return status == http.StatusRequestEntityTooLarge ||
		containsAny(code, "context_length_exceeded", "exceed_context_size", "request_too_large", "context_window_exceeded") ||
		containsAny(text, windowWords()...)
}

// windowWords are words of sentences that say so.
func windowWords() []string {
	return []string{
		"maximum context length", "context window", "context length exceeded", "exceeds the context", "exceed context limit", // of many
		"reduce the length of the messages", "prompt is too long", "input is too long", "maximum prompt length", "too many tokens",
		"input token count",                                                                              // Google
		"too large for model",                                                                            // Mistral
		"model token limit",                                                                              // Moonshot
		"prompt exceeds max",                                                                             // Z.ai
		"range of input length",                                                                          // Alibaba
		"longer than the maximum model length", "too long to fit into the model", "maximum input length", // vLLM
		"longer than the model's context length", "exceeds the maximum allowed length", // SGLang
		"available context size", "context size has been exceeded", // llama.cpp
		"when context the overflows", "greater than the context length", "reached context length", // LM Studio
	}
}

// Permanent reports whether a connection fails for a reason that waiting does
// not remove.
func Permanent(err error) bool {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		dns     *net.DNSError
		address *net.AddrError // such as one with a port beyond all
		own     interface{ Permanent() bool }
	)
	if errors.As(err, &dns) {
		return dns.IsNotFound && !dns.IsTemporary
	}
	if errors.As(err, &own) {
		return own.Permanent()
	}
	return errors.As(err, &address) || errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) ||
		strings.Contains(err.Error(), "unsupported protocol scheme")
}

// parseFault reads an error object: {"error":{…}}, the same in an array,
// {"error":"…"}, {"message":…}, {"detail":"…"}. What it cannot read is empty.
func parseFault(body []byte) fault {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return fault{}
	}
	if a, ok := v.([]any); ok && len(a) > 0 {
		v = a[0]
	}
	o, _ := v.(map[string]any)
	switch inner := o["error"].(type) {
	case string:
		return fault{message: inner, code: word(o["code"]), kind: word(o["type"])}
	case map[string]any:
		o = inner
	}
	f := fault{
		message: cmp.Or(word(o["message"]), word(o["detail"])),
		kind:    cmp.Or(word(o["type"]), word(o["status"])),
		code:    word(o["code"]),
	}
	if n, ok := o["code"].(float64); ok {
		f.status, f.code = int(n), ""
	} else if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n < 600 {
		f.status, f.code = n, ""
	}
	if f.kind == "error" {
		f.kind = "" // of the event, not of the error
	}
	f.google(o["details"])
	return f
}

// google reads the details of an error of Google: the wait, and which quotas are
// used up. One for a day, or of nothing at all, does not come back soon, whatever
// the wait beside it says.
func (f *fault) google(details any) {
	list, _ := details.([]any)
	for _, d := range list {
		m, _ := d.(map[string]any)
		if w, err := time.ParseDuration(word(m["retryDelay"])); err == nil {
			f.wait = w
		}
		quotas, _ := m["violations"].([]any)
		for _, q := range quotas {
			v, _ := q.(map[string]any)
			f.spent = f.spent || strings.Contains(word(v["quotaId"]), "PerDay") || word(v["quotaValue"]) == "0"
		}
	}
}

func word(v any) string { s, _ := v.(string); return s }

// retryAfter is the wait that a header names; 0 without one. A date in it is by the
// clock of the server, which tells its time in Date and may differ from ours.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return span(ms, time.Millisecond)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return span(s, time.Second)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now))
}

// span returns n units, or the longest span where they are more.
func span(n float64, unit time.Duration) time.Duration {
	if n >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64
	}
	return time.Duration(n * float64(unit))
}

// waitIn is the wait in a sentence such as "Please try again in 1m26.4s."
func waitIn(text string) time.Duration {
	for _, lead := range []string{"try again in ", "retry in "} {
		_, rest, ok := strings.Cut(text, lead)
		if !ok {
			continue
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
		if end >= 0 {
			rest = rest[:end]
		}
		if d, err := time.ParseDuration(strings.TrimRight(rest, ".")); err == nil && d > 0 {
			return d
		}
	}
	return 0
}

func containsAny(s string, subs ...string) bool {
	for _, sub := range subs {
		if strings.Contains(s, sub) {
			return true
		}
	}
	return false
}
