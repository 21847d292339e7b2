package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// Bounds of one request.
const (
	requestLimit = 20 * time.Second
	maxBody      = 256 << 10 // bytes of an answer
	maxRedirects = 5
	maxText      = 200 // characters of what a server says that are shown
)

// A fetcher makes the requests of a login: to https, or to this machine where the
// server itself is here. What it fails with has no query and no body of a request.
type fetcher struct {
	http  *http.Client
	local bool // this machine may be asked
}

func newFetcher(o Options, server *url.URL) *fetcher {
	f := &fetcher{local: isLoopback(server)}
	if at, err := url.Parse(o.Settings.Metadata); err == nil && isLoopback(at) {
		f.local = true // the user says so
	}
	f.http = &http.Client{Transport: o.Client, CheckRedirect: f.redirect}
	return f
}

// redirect follows reading requests at their origin and no others.
func (f *fetcher) redirect(r *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case first.Method != http.MethodGet:
		return http.ErrUseLastResponse
	case len(via) > maxRedirects:
		return errors.New("too many redirects")
	case origin(r.URL) != origin(first.URL):
		return fmt.Errorf("it redirects to %s, which is not followed", origin(r.URL))
	}
	return nil
}

// allow returns the address, or why no request goes there.
func (f *fetcher) allow(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%q is no address that can be asked", tools.Line(address, maxText))
	}
	switch here := isLoopback(u); {
	case here && !f.local:
		return nil, fmt.Errorf("%s is on this machine, to which a server elsewhere may not lead", show(u))
	case u.Scheme == "https", u.Scheme == "http" && here:
		return u, nil
	}
	return nil, fmt.Errorf("%s is not an https address", show(u))
}

// An answer is what came of a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do sends a request within its own time. The answer has its body where whole is
// set, else only its head.
func (f *fetcher) do(ctx context.Context, r *http.Request, whole bool) (a answer, err error) {
	bounded, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	defer func() {
		if err != nil && bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s has not answered within %v", show(r.URL), requestLimit)
		}
	}()
	r.Header.Set("User-Agent", "lorimer")
	res, err := f.http.Do(r.WithContext(bounded))
	if err != nil {
		return answer{}, fmt.Errorf("asking %s: %w", show(r.URL), bare(err))
	}
	defer res.Body.Close() // what was wanted of it has been read
	a = answer{status: res.StatusCode, header: res.Header}
	if !whole {
		return a, nil
	}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err == nil && len(a.body) > maxBody {
		err = fmt.Errorf("the answer is larger than %d KiB", maxBody>>10)
	}
	if err != nil {
		return answer{}, fmt.Errorf("reading the answer of %s: %w", show(r.URL), err)
	}
	return a, nil
}

// bare returns the cause of an error of the client, which would name the whole
// address.
func bare(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// An absentError tells that an address has not what was looked for.
type absentError struct{ at, what string }

func (e *absentError) Error() string { return e.at + " has no metadata: it answers with " + e.what }

// get reads a JSON document into v. It fails with an [*absentError] where there is none,
// be it that another page is there: many servers have one for every address.
func (f *fetcher) get(ctx context.Context, address string, v any) error {
	u, err := f.allow(address)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return bare(err)
	}
	r.Header.Set("Accept", "application/json")
	a, err := f.do(ctx, r, true)
	if err != nil {
		return err
	}
	switch {
	case a.status >= 500, a.status == http.StatusTooManyRequests:
		return fmt.Errorf("%s answers with status %d; try it again later", show(u), a.status)
	case a.status != http.StatusOK:
		return &absentError{show(u), fmt.Sprint("status ", a.status)}
	case !bytes.HasPrefix(bytes.TrimLeft(a.body, " \t\r\n"), []byte("{")):
		return &absentError{show(u), "something else"}
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("%s is no metadata that can be read: %w", show(u), err)
	}
	return nil
}

// post sends a body of a content type and returns what comes, JSON or not. Secrets
// are taken out of errors that repeat them.
func (f *fetcher) post(ctx context.Context, address, contentType string, body []byte, prepare func(*http.Request)) (answer, error) {
	if _, err := f.allow(address); err != nil {
		return answer{}, err
	}
	r, err := http.NewRequest(http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, bare(err)
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/json")
	if prepare != nil {
		prepare(r)
	}
	return f.do(ctx, r, true)
}

// A refusal is an answer of an authorization server that is an error (RFC 6749 5.2,
// RFC 7591 3.2.2).
type refusal struct {
	at     string
	status int
	code   string // such as invalid_grant; "" is none that can be read
	text   string // one line
}

func (e *refusal) Error() string {
	text := fmt.Sprintf("%s refuses with status %d", e.at, e.status)
	if e.code != "" {
		text = e.at + " refuses: " + e.code
	}
	if e.text != "" {
		text += ": " + e.text
	}
	return text
}

// final reports whether asking again is of no use.
func (e *refusal) final() bool {
	switch e.code {
	case "", "server_error", "temporarily_unavailable", "slow_down":
		return false
	}
	return e.status < 500 && e.status != http.StatusTooManyRequests
}

// refused returns the refusal that an answer is, nil if it is none. What of secrets
// the server repeats does not get into it.
func refused(address string, a answer, secrets ...string) error {
	var said struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	ok := a.status >= 200 && a.status < 300 // some create a token
	if err := json.Unmarshal(a.body, &said); err != nil {
		said.Error, said.Description = "", ""
	}
	if ok && said.Error == "" {
		return nil
	}
	return &refusal{
		at:     shown(address),
		status: a.status,
		code:   tools.Line(without(said.Error, secrets), maxText),
		text:   tools.Line(without(said.Description, secrets), maxText),
	}
}

// without returns s without secrets.
func without(s string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, "…")
		}
	}
	return s
}
