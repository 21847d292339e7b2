package kinds

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/stream"
)

// maxFault is how much is read of an answer that is an error.
const maxFault = 1 << 20

// A witness is the HTTP transport of one request. It sends to the configured
// address only, whatever the library thinks, and remembers how the answer ended.
type witness struct {
	next    http.RoundTripper
	from    string // the address that the library would use
	to      string // where it is to go
	path    string // the last element of the path, if it is another than the library's
	headers map[string]string
	post    stream.Post // sorts the refusals

	mu    sync.Mutex // guards the fields below
	fault error      // why the answer is none
	ended bool       // the mark of the end has been seen
	tail  []byte     // what may be the begin of the mark
	end   []byte     // the mark, nil without one
}

func newWitness(p *opener) *witness {
	w := &witness{
		next: http.DefaultTransport, from: cmp.Or(p.kind.fixed, p.model.BaseURL), headers: p.options.Headers,
		post: stream.Post{Secrets: p.kind.secrets(p.options)},
		end:  []byte(p.kind.end),
	}
	if c := p.options.Client; c != nil && c.Transport != nil {
		w.next = c.Transport
	}
	w.to = strings.TrimRight(p.model.BaseURL, "/")
	if p.kind.path != nil {
		w.path = p.kind.path(p.model.ID)
	}
	return w
}

// client returns the client of the request. It has no timeout of its own: the
// adapter watches over the answer.
func (w *witness) client() *http.Client { return &http.Client{Transport: w} }

// RoundTrip sends req. An answer that is no answer is an error, so that a library
// that does not look at the status cannot take it for one; a redirect is not
// followed, since it would carry the key elsewhere.
func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	out, err := w.address(req)
	if err != nil {
		closeBody(req)
		return nil, w.fail(err)
	}
	for k, v := range w.headers {
		out.Header.Set(k, v)
	}
	res, err := w.next.RoundTrip(out)
	if err != nil {
		return nil, w.fail(&model.Error{Kind: model.Connection, Message: "no answer from " + out.URL.Host + ": " + err.Error(), Final: stream.Permanent(err), Err: err})
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		res.Body = &watched{ReadCloser: res.Body, witness: w}
		return res, nil
	}
	defer res.Body.Close()
	return nil, w.fail(w.refused(res))
}

// address returns req with the address that it is to go to.
func (w *witness) address(req *http.Request) (*http.Request, error) {
	rest, ok := strings.CutPrefix(req.URL.String(), w.from)
	ok = ok && (rest == "" || strings.ContainsRune("/?", rune(rest[0])))
	if !ok {
		return nil, &model.Error{Kind: model.Invalid, Final: true,
			Message: fmt.Sprintf("the library wants to send to %s, which is not the address of this provider; the request was not sent", req.URL.Host)}
	}
	u, err := url.Parse(w.to + rest)
	if err != nil {
		return nil, err
	}
	if w.path != "" {
		u.Path = path.Join(path.Dir(u.Path), w.path)
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = u, u.Host
	return out, nil
}

// refused is the error that a response stands for.
func (w *witness) refused(res *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFault))
	if err != nil {
		body = nil // the status says enough
	}
	e := w.post.Fault(res.StatusCode, res.Header, body)
	if res.StatusCode < 400 {
		e.Kind, e.Final = model.Invalid, true
		e.Message = "the address redirects elsewhere; set base_url to the final address"
	}
	return e
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// fail remembers err, the first one, and returns it.
func (w *witness) fail(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fault == nil {
		w.fault = err
	}
	return err
}

// see looks at a piece of the answer.
func (w *witness) see(p []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended || len(w.end) == 0 {
		return
	}
	w.tail = append(w.tail, p...)
	w.ended = bytes.Contains(w.tail, w.end)
	if n := len(w.tail) - len(w.end) + 1; n > 0 {
		w.tail = append(w.tail[:0], w.tail[n:]...)
	}
}

// over reports whether the mark of the end has been seen.
func (w *witness) over() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// judge is the error of the request whose library returned err after an answer
// that was streamed or not.
func (w *witness) judge(ctx context.Context, err error, streamed bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case w.fault != nil:
		return w.fault
	case err == nil && streamed && len(w.end) > 0 && !w.ended:
		return &model.Error{Kind: model.Connection, Message: "the answer ends before its end", Err: io.ErrUnexpectedEOF}
	}
	return err
}

// A watched is the body of an answer.
type watched struct {
	io.ReadCloser
	witness *witness
}

func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.witness.see(p[:n])
	if err != nil && !errors.Is(err, io.EOF) && !b.witness.over() {
		err = b.witness.fail(&model.Error{Kind: model.Connection, Message: "the connection was lost in the middle of the answer", Err: err})
	}
	return n, err
}
