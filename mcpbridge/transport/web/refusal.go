package web

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
	"github.com/lorimer-dev/lorimer/tools"
)

const (
	maxError = 64 << 10 // bytes of an error of the protocol
	maxPage  = 4 << 10  // bytes of anything else
	maxText  = 500      // characters of what is shown of it

	minSecret = 6 // bytes of a value that is looked for; shorter ones stand in many a text
	hidden    = "[secret]"
)

// Codes of errors that servers tell of a session in; none of them is only for that.
const (
	codeServer  = -32000
	codeSession = -32001
)

// A refusal is an answer whose status is not one of success.
type refusal struct {
	status *transport.StatusError
	said   *transport.Error // the error of the protocol in its body; nil is none
	id     uint64           // of the request that said is about; 0 is not told
	auth   error            // of the authorizer
}

func (r *refusal) Error() string { return r.status.Error() }

// denied reports whether r is about who asks.
func (r *refusal) denied() bool {
	return r.status.Status == http.StatusUnauthorized || r.status.Status == http.StatusForbidden
}

// unknown reports whether r is as of a server that has never heard of streamable HTTP.
func (r *refusal) unknown() bool {
	return r.said == nil && slices.Contains([]int{
		http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed,
	}, r.status.Status)
}

// expired reports whether r tells, where a request was of a session, that there is no
// such session. Status 404 is what the protocol wants for it; others have words.
func (r *refusal) expired() bool {
	status := r.status.Status
	switch {
	case status == http.StatusNotFound:
		return r.said == nil || r.said.Code == codeServer || r.said.Code == codeSession || r.said.Code == transport.CodeInvalidRequest
	case status != http.StatusBadRequest && status != http.StatusGone:
		return false
	case r.said == nil:
		return tellsOfSession(r.status.Text)
	}
	return tellsOfSession(r.said.Message) &&
		(r.said.Code == codeServer || r.said.Code == codeSession || r.said.Code == transport.CodeInvalidRequest)
}

func tellsOfSession(text string) bool { return strings.Contains(strings.ToLower(text), "session") }

// asError returns r as an error of package transport. The request had the id, 0 where it
// was none of the protocol.
func (r *refusal) asError(id uint64) error {
	status := r.status.Status
	switch {
	case r.auth != nil:
		return fmt.Errorf("%w: %w", r.status, r.auth)
	case r.denied(), status == http.StatusTooManyRequests, r.said == nil:
		return r.status
	case status >= 500 && (r.id == 0 || r.id != id): // of something that stands before the server
		return r.status
	}
	return r.said
}

// refuse reads and ends an answer to a request with token.
func (t *Transport) refuse(res *http.Response, token string) *refusal {
	defer res.Body.Close()
	r := &refusal{status: &transport.StatusError{
		Status:     res.StatusCode,
		Challenge:  strings.Join(res.Header.Values("WWW-Authenticate"), ", "),
		RetryAfter: retryAfter(res.Header.Get("Retry-After"), time.Now()),
	}}
	r.status.Rejected = res.StatusCode == http.StatusUnauthorized && t.hasCredential(token, r.status.Challenge)
	if !r.denied() {
		r.status.Challenge = ""
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // as much as came
	for _, f := range parse(body) {
		if f.IsAnswer() && f.Failed() {
			r.said, r.id = rpc.Fault(f.Error), f.Number()
			r.said.Message = t.clean(r.said.Message, token)
			r.status.Text = r.said.Message
			return r
		}
	}
	if mediaType(res.Header.Get("Content-Type")) != "text/html" {
		r.status.Text = t.clean(string(body[:min(len(body), maxPage)]), token)
	}
	return r
}

// hasCredential reports whether a request with token had a credential, which was not
// taken then. A server that tells where to log in may want another than it was given.
func (t *Transport) hasCredential(token, challenge string) bool {
	if token != "" || t.url.User != nil {
		return true
	}
	for name := range t.o.Headers {
		name = strings.ToLower(name)
		if name == "authorization" || !strings.Contains(challenge, "resource_metadata") && soundsSecret(name) {
			return true
		}
	}
	return false
}

func soundsSecret(name string) bool {
	return slices.ContainsFunc([]string{"key", "token", "auth", "secret", "cookie"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// clean returns what a server says on one line, without what it must not tell on.
func (t *Transport) clean(text string, token string) string {
	for _, secret := range t.secrets(token) {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return tools.Line(strings.Join(strings.Fields(text), " "), maxText)
}

// secrets returns the values that are not to be repeated, the longest first.
func (t *Transport) secrets(token string) []string {
	values := append([]string{token}, t.o.Secrets...)
	for _, v := range t.o.Headers {
		values = append(values, v)
	}
	var all []string
	for _, v := range values {
		all = append(all, v)
		if _, word, ok := strings.Cut(v, " "); ok { // Bearer …
			all = append(all, word)
		}
	}
	all = slices.DeleteFunc(all, func(v string) bool { return len(v) < minSecret })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return all
}

// retryAfter returns how long after now the server wants to be left alone; 0 is not said.
func retryAfter(text string, now time.Time) time.Duration {
	const most = 24 * time.Hour
	if s, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31); err == nil {
		return min(time.Duration(s)*time.Second, most)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), most))
	}
	return 0
}
