// Package stream posts a request to a model and reads the answer event by event:
// server-sent events, or lines of JSON.
//
// It owns everything that the protocols share: cancellation, silence, size
// limits, redirects, secrets and the sorting of failures into [model.Error]. A
// protocol hands over bytes and gets the data of one event after the other, on
// its own goroutine.
package stream

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

// Limits of one answer, far above what a model writes.
const (
	maxEvent  = 64 << 20
	maxAnswer = 512 << 20
	maxFault  = 1 << 20
)

// Times for a stream whose answer is complete: for the token counts to follow,
// and for the server to close it, after which the connection can be used again.
const (
	tailWait  = 5 * time.Second
	closeWait = 100 * time.Millisecond
)

// A Post is one request.
type Post struct {
	Provider string       // named in errors
	URL      string       // where to
	Header   http.Header  // beside the content type
	Body     []byte       // JSON
	Client   *http.Client // nil is http.DefaultClient
	Secrets  []string     // kept out of every error
	Lines    bool         // the answer is lines of JSON, each an event, not server-sent events

	// First is how long the server may take to the first byte, and from one
	// event to the next when it only keeps the connection alive; default 300s.
	First time.Duration
	// Idle is how long it may say nothing at all once it has begun; default 120s.
	Idle time.Duration
}

// Progress is what an event means for the stream.
type Progress int

// The ways on.
const (
	More   Progress = iota // the answer goes on
	Alive                  // no part of the answer, just a sign of life
	Ending                 // the answer is whole; more may be said about it
	Done                   // nothing is to come
)

// An abort is an error of the caller's own, to be given back as it is.
type abort struct{ error }

// Abort marks err as the reader's own: [Post.Do] returns it unchanged.
func Abort(err error) error { return abort{err} }

// Do sends the request and calls event with the data of each event, which is
// valid during the call only. It returns nil after Done, or when the stream ends
// in whatever way after Ending. Any other end is a [*model.Error]; an error of
// event that is neither that nor from [Abort] says that its data is malformed.
//
// The header is that of the response, nil if there was none.
func (p *Post) Do(ctx context.Context, event func(data []byte) (Progress, error)) (http.Header, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(cmp.Or(p.First, 300*time.Second), cmp.Or(p.Idle, 120*time.Second), cancel)
	defer w.stop()

	res, err := p.send(ctx)
	if err != nil {
		return nil, p.broken(ctx, err, false)
	}
	defer res.Body.Close()
	if err := p.refused(ctx, res); err != nil {
		return res.Header, err
	}
	return res.Header, p.read(ctx, w, res.Body, event)
}

func (p *Post) send(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return nil, p.fail(model.Invalid, "the address of the model cannot be used; check base_url", err)
	}
	for k, v := range p.Header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", p.accept())
	req.Header.Set("Accept-Encoding", "identity") // a compressor may hold events back
	c := *cmp.Or(p.Client, http.DefaultClient)
	// A redirect would carry the key to another host, and a POST would become a GET.
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c.Do(req)
}

func (p *Post) accept() string {
	if p.Lines {
		return "application/x-ndjson"
	}
	return "text/event-stream"
}

// refused is the error of an answer that is no stream, or nil.
func (p *Post) refused(ctx context.Context, res *http.Response) error {
	kind, _, _ := strings.Cut(strings.ToLower(res.Header.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	readable := unpack(res)
	if res.StatusCode == http.StatusOK && readable && kind != "text/html" && kind != "application/json" {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFault))
	if err != nil && ctx.Err() != nil {
		return p.broken(ctx, err, false)
	}
	switch e := p.Fault(res.StatusCode, res.Header, body); {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		to := res.Header.Get("Location")
		if u, err := url.Parse(to); err == nil {
			to = u.Redacted()
		}
		e.Kind, e.Final = model.Invalid, true
		e.Message = p.clean(fmt.Sprintf("the address redirects to %s; set base_url to the final address", to))
		if to == "" {
			e.Message = fmt.Sprintf("the address redirects without saying where to (HTTP %d); check base_url", res.StatusCode)
		}
		return e
	case res.StatusCode >= 400:
		return e
	case !readable:
		e.Kind, e.Final = model.Malformed, true
		e.Message = p.clean(fmt.Sprintf("the answer is compressed (%s), which nobody asked for; whatever stands before the model must leave it as it is",
			res.Header.Get("Content-Encoding")))
		return e
	case e.Kind != model.Unknown, e.Message != "": // an error object under status 200
		return e
	case res.StatusCode != http.StatusOK:
		e.Kind, e.Final = model.Malformed, true
		e.Message = fmt.Sprintf("the server answered with HTTP %d %s, not with a stream of events; check base_url", res.StatusCode, http.StatusText(res.StatusCode))
		return e
	default:
		e.Kind, e.Final = model.Malformed, true
		e.Message = fmt.Sprintf("the server answered with %s, not with a stream of events; check base_url", kind)
		return e
	}
}

func (p *Post) read(ctx context.Context, w *watch, body io.Reader, event func([]byte) (Progress, error)) error {
	r := newReader(&watched{r: body, w: w})
	r.lines = p.Lines
	whole := false
	for {
		data, err := r.next()
		if err != nil {
			if whole && !ended(ctx) {
				return nil
			}
			return p.broken(ctx, err, true)
		}
		step, err := event(data)
		if err != nil {
			return p.judged(err, data)
		}
		switch step {
		case More:
			w.event()
		case Ending:
			whole = true
			w.shorten(tailWait)
		case Done:
			w.shorten(closeWait)
			for err == nil { // to the end, so that the connection can be used again
				_, err = r.next()
			}
			return nil
		}
	}
}

// ended reports whether the caller, not our own watch, ended ctx.
func ended(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errSilent)
}

// judged is the error of a reader of events.
func (p *Post) judged(err error, data []byte) error {
	var own abort
	if errors.As(err, &own) {
		return own.error
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	return p.fail(model.Malformed, fmt.Sprintf("the stream holds an event that cannot be read: %.80q", data), err)
}

// broken is the error of a connection that did not bring an answer to its end.
func (p *Post) broken(ctx context.Context, err error, begun bool) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errSilent):
		return p.fail(model.Idle, cause.Error(), errSilent)
	case ctx.Err() != nil:
		return p.fail(model.Canceled, "", cause)
	case errors.Is(err, errTooLong):
		e := p.fail(model.Malformed, err.Error(), err)
		e.Final = true
		return e
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // the address may hold a secret
	}
	if begun {
		return p.fail(model.Connection, "the connection was lost in the middle of the answer", err)
	}
	msg := "no answer from " + p.host() + ": " + err.Error()
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		msg += "; if that is right, name a file with its certificate as ca_file"
	}
	e := p.fail(model.Connection, msg, err)
	e.Final = Permanent(err)
	return e
}

func (p *Post) fail(k model.Kind, msg string, cause error) *model.Error {
	return &model.Error{Kind: k, Provider: p.Provider, Message: p.clean(msg), Err: cause}
}

func (p *Post) host() string {
	if u, err := url.Parse(p.URL); err == nil && u.Host != "" {
		return u.Host
	}
	return "the model"
}
