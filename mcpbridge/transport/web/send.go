package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

const (
	maxRedirects = 5       // of one request
	maxTokens    = 3       // with which one request is tried
	maxIgnored   = 4 << 10 // bytes that are read of a body whose connection may be used again
)

// A request is one of HTTP.
type request struct {
	method string
	url    *url.URL
	header http.Header // of the protocol
	body   []byte
	// safe tells that the server may be given it twice, where a connection turns out
	// to have died before anything came back.
	safe bool
}

// send sends r with the headers of the server and its credential, and returns the answer
// if its status is one of success. Otherwise the error is a [*refusal], or says why no
// answer came. Each credential is tried once. Whoever has an answer closes its body.
func (t *Transport) send(ctx context.Context, r request) (*http.Response, error) {
	var tried []string
	var refused *refusal
	for {
		token, err := t.token(ctx)
		switch {
		case err != nil && refused == nil:
			return nil, transport.Unsent(fmt.Errorf("getting the credential: %w", err))
		case err != nil, slices.Contains(tried, token):
			return nil, refused
		}
		res, err := t.follow(ctx, r, token)
		if err != nil {
			return nil, err
		}
		if res.StatusCode >= 200 && res.StatusCode < 300 {
			return res, nil
		}
		refused = t.refuse(res, token)
		if !refused.denied() || t.o.Auth == nil {
			return nil, refused
		}
		tried = append(tried, token)
		again, err := t.o.Auth.Refused(ctx, token, refused.status.Status, refused.status.Challenge)
		if refused.auth = err; err != nil || !again || len(tried) == maxTokens {
			return nil, refused
		}
	}
}

func (t *Transport) token(ctx context.Context) (string, error) {
	if t.o.Auth == nil {
		return "", nil
	}
	return t.o.Auth.Token(ctx)
}

// follow sends r, and again to where the server redirects it.
func (t *Transport) follow(ctx context.Context, r request, token string) (*http.Response, error) {
	for range maxRedirects {
		res, err := t.once(ctx, r, token)
		if err != nil {
			return nil, err
		}
		to, err := redirected(r.url, r.method, res)
		if to == nil && err == nil {
			return res, nil
		}
		ignore(res)
		if err != nil {
			return nil, transport.Unsent(err)
		}
		r.url = to
	}
	return nil, transport.Unsent(fmt.Errorf("the server redirects more than %d times", maxRedirects))
}

// once sends r as it is.
func (t *Transport) once(ctx context.Context, r request, token string) (*http.Response, error) {
	var asked, got atomic.Bool // for a connection, and one
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { got.Store(true) },
	})
	req, err := t.build(ctx, r, token)
	if err != nil {
		return nil, transport.Unsent(err)
	}
	res, err := t.o.HTTP.RoundTrip(req)
	if err == nil {
		return res, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	err = fmt.Errorf("no answer from %s: %w", originOf(r.url), err)
	if asked.Load() && !got.Load() || undialed(err) {
		return nil, transport.Unsent(err)
	}
	return nil, err
}

// undialed reports whether err is that of a connection which did not come about.
func undialed(err error) bool {
	fail, ok := errors.AsType[*net.OpError](err)
	return ok && fail.Op == "dial"
}

// build returns r with the headers of the server, as far as they are not the protocol's.
func (t *Transport) build(ctx context.Context, r request, token string) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), body)
	if err != nil {
		return nil, errors.New("the address cannot be used") // the error repeats it
	}
	for name, value := range t.o.Headers {
		if isProtocol(name) {
			continue
		}
		req.Header.Set(name, value)
		if strings.EqualFold(name, "Host") {
			req.Host = value
		}
	}
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	if u := r.url.User; u != nil && req.Header.Get("Authorization") == "" {
		password, _ := u.Password()
		req.SetBasicAuth(u.Username(), password)
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.safe {
		req.Header["Idempotency-Key"] = nil // is not sent, and read by net/http
	}
	return req, nil
}

// isProtocol reports whether a header is one that the protocol gives its value.
func isProtocol(name string) bool {
	return slices.Contains([]string{
		mcp.HeaderProtocolVersion, mcp.HeaderSessionID, mcp.HeaderMethod, mcp.HeaderName, "Last-Event-Id",
	}, http.CanonicalHeaderKey(name))
}

// ignore ends an answer whose body is of no interest. What is short is read, so that the
// connection can be used again.
func ignore(res *http.Response) {
	defer res.Body.Close()
	if isEvents(res.Header.Get("Content-Type")) {
		return
	}
	late := time.AfterFunc(lingering, func() { res.Body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, res.Body, maxIgnored)
}
