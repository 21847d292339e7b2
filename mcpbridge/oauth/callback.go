package oauth

import (
	"bufio"
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
	pageNone    = "Nothing is here."
	pageDone    = "Lorimer goes on with the login. You can close this page."
	pageFailed  = "The login has failed. Lorimer says why."
	pageForeign = "This is not the answer to the login that Lorimer waits for. Start it again."
)

// Bounds of the requests of a browser.
const (
	maxVisits  = 16 // at a time: browsers open connections that they may never use
	visitLimit = 5 * time.Second
	maxVisit   = 64 << 10 // bytes of a request
)

// A callback takes the answer of the browser on this machine, once (RFC 8252 7.3). It
// speaks as much HTTP as that takes: the server of net/http would make the program half
// a megabyte larger.
type callback struct {
	state  string
	issuer *issuer // that must have answered

	listener net.Listener
	visits   chan struct{} // holds one for each connection
	wg       sync.WaitGroup
	once     sync.Once
	answers  chan outcome  // the one
	strays   chan struct{} // has one when an answer to another login has come

	mu     sync.Mutex // guards the fields below
	closed bool
	conns  map[net.Conn]struct{}
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
	return &callback{
		listener: l,
		visits:   make(chan struct{}, maxVisits),
		answers:  make(chan outcome, 1),
		strays:   make(chan struct{}, 1),
		conns:    make(map[net.Conn]struct{}),
	}, nil
}

// redirect returns the address that the browser is to be sent to.
func (c *callback) redirect() string { return "http://" + c.listener.Addr().String() + callbackPath }

// serve begins to take answers.
func (c *callback) serve() {
	c.wg.Go(func() {
		for {
			c.visits <- struct{}{}
			conn, err := c.listener.Accept()
			if err != nil {
				c.answer(outcome{err: fmt.Errorf("waiting for the browser: %w", err)})
				return
			}
			c.wg.Go(func() {
				defer func() { <-c.visits }()
				c.visit(conn)
			})
		}
	})
}

// close gives the port back, after the browser has its page.
func (c *callback) close() {
	c.listener.Close() // nothing was written
	c.mu.Lock()
	c.closed = true
	for conn := range c.conns {
		conn.SetReadDeadline(time.Unix(1, 0)) // what is asked from now on is not answered
	}
	c.mu.Unlock()
	c.wg.Wait()
}

// enter notes a connection, and reports whether it may be served.
func (c *callback) enter(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || conn.SetDeadline(time.Now().Add(visitLimit)) != nil {
		return false
	}
	c.conns[conn] = struct{}{}
	return true
}

func (c *callback) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
}

// visit answers the one request of a connection.
func (c *callback) visit(conn net.Conn) {
	defer conn.Close() // a browser that is gone needs no answer
	if !c.enter(conn) {
		return
	}
	defer c.leave(conn)
	r, err := http.ReadRequest(bufio.NewReader(io.LimitReader(conn, maxVisit)))
	if err != nil {
		return // it is no browser
	}
	status, text := c.reply(r)
	body := ""
	if r.Method != http.MethodHead {
		body = "<!doctype html><title>Lorimer</title><p>" + text + "</p>\n"
	}
	fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n"+
		"Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\n"+
		"X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n%s", status, http.StatusText(status), len(body), body)
}

// answer hands over the one outcome, and reports whether it was the first.
func (c *callback) answer(o outcome) (first bool) {
	c.once.Do(func() { c.answers <- o; first = true })
	return first
}

// reply takes an answer of the browser, and returns the page for it. What is none, such
// as the request of another page or of a page elsewhere under a name for this machine,
// changes nothing.
func (c *callback) reply(r *http.Request) (status int, text string) {
	host, port, err := net.SplitHostPort(r.Host)
	_, own, _ := net.SplitHostPort(c.listener.Addr().String()) // it has a port
	switch {
	case err != nil || port != own || host != "127.0.0.1" && host != "localhost" || r.URL.Path != callbackPath:
		return http.StatusNotFound, pageNone
	case r.Method != http.MethodGet:
		return http.StatusMethodNotAllowed, pageNone
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || subtle.ConstantTimeCompare([]byte(values.Get("state")), []byte(c.state)) == 0 {
		select {
		case c.strays <- struct{}{}:
		default: // one is told of already
		}
		return http.StatusBadRequest, pageForeign
	}
	o := c.read(values)
	switch {
	case !c.answer(o):
		return http.StatusGone, pageForeign
	case o.err != nil:
		return http.StatusBadRequest, pageFailed
	}
	return http.StatusOK, pageDone
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
