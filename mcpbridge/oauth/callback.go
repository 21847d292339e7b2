package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

const callbackPath = "/callback"

// What a callback shows in the browser.
const (
	pageDone    = "Lorimer goes on with the login. You can close this page."
	pageFailed  = "The login has failed. Lorimer says why."
	pageForeign = "This is not the answer to the login that Lorimer waits for. Start it again."
)

// A callback takes the answer of the browser on this machine, once (RFC 8252 7.3).
type callback struct {
	state  string
	issuer *issuer // that must have answered

	listener net.Listener
	server   *http.Server
	wg       sync.WaitGroup
	once     sync.Once
	answers  chan outcome  // the one
	strays   chan struct{} // has one when an answer to another login has come
}

// An outcome is what the answer of the browser says.
type outcome struct {
	code string
	err  error
}

// listen takes a port, any if it is 0. Nothing is answered before serve.
func listen(port int) (*callback, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("waiting for the browser: %w; choose another port", err)
	}
	return &callback{listener: l, answers: make(chan outcome, 1), strays: make(chan struct{}, 1)}, nil
}

// redirect returns the address that the browser is to be sent to.
func (c *callback) redirect() string { return "http://" + c.listener.Addr().String() + callbackPath }

// serve begins to take answers.
func (c *callback) serve() {
	c.server = &http.Server{
		Handler:           c,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		WriteTimeout:      5 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	c.wg.Go(func() {
		if err := c.server.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
			c.answer(outcome{err: fmt.Errorf("waiting for the browser: %w", err)})
		}
	})
}

// close gives the port back, after the browser has its page.
func (c *callback) close(ctx context.Context) {
	if c.server == nil {
		c.listener.Close() // nobody has connected
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		c.server.Close() // a browser that does not read its page does not matter
	}
	c.wg.Wait()
}

// answer hands over the one outcome, and reports whether it was the first.
func (c *callback) answer(o outcome) (first bool) {
	c.once.Do(func() { c.answers <- o; first = true })
	return first
}

// ServeHTTP takes an answer of the browser. What is none, such as the request of
// another page or of a page elsewhere under a name for this machine, changes nothing.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	host, port, err := net.SplitHostPort(r.Host)
	_, own, _ := net.SplitHostPort(c.listener.Addr().String()) // it has a port
	switch {
	case err != nil || port != own || host != "127.0.0.1" && host != "localhost" || r.URL.Path != callbackPath:
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet:
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || subtle.ConstantTimeCompare([]byte(values.Get("state")), []byte(c.state)) == 0 {
		select {
		case c.strays <- struct{}{}:
		default: // one is told of already
		}
		page(w, http.StatusBadRequest, pageForeign)
		return
	}
	o := c.read(values)
	switch {
	case !c.answer(o):
		page(w, http.StatusGone, pageForeign)
	case o.err != nil:
		page(w, http.StatusBadRequest, pageFailed)
	default:
		page(w, http.StatusOK, pageDone)
	}
}

func page(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, "<!doctype html><title>Lorimer</title><p>"+text+"</p>\n") // a browser that is gone needs no page
}

// read returns the outcome that an answer is. Who has answered is checked before
// anything else that it says is looked at (RFC 9207 2.4).
func (c *callback) read(v url.Values) outcome {
	for name, all := range v {
		if len(all) > 1 {
			return outcome{err: fmt.Errorf("the answer of the browser has %q twice; start the login again", tools.Line(name, maxText))}
		}
	}
	switch iss, sent := v["iss"]; {
	case sent && iss[0] != c.issuer.Issuer:
		return outcome{err: errors.New("the answer of the browser is from another authorization server than the one that was asked; nothing of it was used")}
	case !sent && c.issuer.SendsIssuer:
		return outcome{err: errors.New("the answer of the browser does not say which authorization server it is from, as that server always does; nothing of it was used")}
	}
	if code := v.Get("error"); code != "" {
		return outcome{err: &refusal{at: "the authorization server", status: http.StatusOK, code: tools.Line(code, maxText), text: tools.Line(v.Get("error_description"), maxText)}}
	}
	if v.Get("code") == "" {
		return outcome{err: errors.New("the answer of the browser has no code; start the login again")}
	}
	return outcome{code: v.Get("code")}
}
