package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxBody is how many bytes of a message are read.
const maxBody = 64 << 20

// A webOptions are the flags of a server with an address.
type webOptions struct {
	http, sse string // addresses to listen on
	token     string
	count     int
	redirect  string
}

func (o *webOptions) flags(fs *flag.FlagSet) {
	fs.StringVar(&o.http, "http", "", "address, such as 127.0.0.1:0, to serve streamable HTTP on instead of standard input")
	fs.StringVar(&o.sse, "sse", "", "address to serve HTTP with server-sent events of 2024-11-05 on instead")
	fs.StringVar(&o.token, "token", "secret-token", "credential that mode http-401 wants")
	fs.IntVar(&o.count, "count", 1, "how often modes of HTTP misbehave that do it so many times, or when they begin")
	fs.StringVar(&o.redirect, "redirect", "", "address that mode http-redirect sends to")
}

func (o webOptions) check(m modes) error {
	switch {
	case o.http != "" && o.sse != "":
		return errors.New("-http and -sse exclude each other")
	case o.http == "" && o.sse == "" && m.hasWeb():
		return errors.New("the modes of HTTP need -http or -sse")
	case o.redirect == "" && m.has("http-redirect"):
		return errors.New("http-redirect needs -redirect")
	}
	return nil
}

func (m modes) hasWeb() bool {
	for _, name := range m.on {
		if strings.HasPrefix(name, "http-") {
			return true
		}
	}
	return false
}

// A site is the server at an address.
type site struct {
	p *program
	s *server
	o webOptions

	mu       sync.Mutex // guards the fields below
	sessions map[string]*client
	last     int // number of a session
	asked    int // requests of HTTP
	called   int // calls of tools
}

// listen serves clients at the address of the flags, and tells it on out, a line of JSON.
func (p *program) listen(out io.Writer) error {
	l, err := net.Listen("tcp", cmp.Or(p.o.web.http, p.o.web.sse))
	if err != nil {
		return err
	}
	w := p.newSite()
	at := url.URL{Scheme: "http", Host: l.Addr().String(), Path: w.path()}
	if err := json.NewEncoder(out).Encode(map[string]string{"url": at.String()}); err != nil {
		return err
	}
	time.AfterFunc(ages, func() { p.exit(0, "nobody has ended it") })
	return http.Serve(l, w.handler())
}

// path is where clients go first.
func (w *site) path() string {
	if w.o.sse != "" {
		return "/sse"
	}
	return "/mcp"
}

func (w *site) handler() http.Handler {
	mux := http.NewServeMux()
	if w.o.sse != "" {
		mux.HandleFunc(w.path(), w.events)
		mux.HandleFunc("POST /message", w.message)
	} else {
		mux.HandleFunc(w.path(), w.streamable)
	}
	return w.gate(mux)
}

func (p *program) newSite() *site {
	return &site{p: p, s: p.server, o: p.o.web, sessions: make(map[string]*client)}
}

// gate notes each request, and does what goes wrong before it is looked at.
func (w *site) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.p.journal.write("http", map[string]any{"method": r.Method, "path": r.URL.Path, "header": r.Header})
		w.mu.Lock()
		w.asked++
		n := w.asked
		w.mu.Unlock()
		m := w.p.o.modes
		switch {
		case m.has("http-401") && r.Header.Get("Authorization") != "Bearer "+w.o.token:
			rw.Header().Set("WWW-Authenticate", `Bearer realm="mcpstub"`)
			http.Error(rw, "who are you?", http.StatusUnauthorized)
		case m.has("http-403"):
			http.Error(rw, "not for you", http.StatusForbidden)
		case m.has("http-429") && n <= w.o.count:
			rw.Header().Set("Retry-After", strconv.Itoa(max(1, int(w.p.pause(time.Second).Seconds()))))
			http.Error(rw, "too many requests", http.StatusTooManyRequests)
		case m.has("http-503") && n <= w.o.count:
			http.Error(rw, "in maintenance", http.StatusServiceUnavailable)
		case m.has("http-redirect"):
			http.Redirect(rw, r, w.o.redirect, http.StatusTemporaryRedirect)
		case m.has("http-no-get") && r.Method == http.MethodGet && w.o.sse == "":
			http.Error(rw, "no stream here", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(rw, r)
		}
	})
}

// A client is one who has a session, and may have its stream open.
type client struct {
	c    *session
	told chan []byte // what belongs to no request

	mu    sync.Mutex // guards the fields below
	calls int
}

// admit opens a session and returns its id.
func (w *site) admit() (string, *client) {
	k := &client{told: make(chan []byte, 1000)}
	k.c = w.s.open(func(message []byte) {
		select {
		case k.told <- message:
		default: // it has as much to read as it can take
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	id := fmt.Sprintf("session-%d-%d", os.Getpid(), w.last)
	w.sessions[id] = k
	return id, k
}

func (w *site) known(id string) *client {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[id]
}

// dismiss ends a session, and reports whether there was one.
func (w *site) dismiss(id string) bool {
	w.mu.Lock()
	k := w.sessions[id]
	delete(w.sessions, id)
	w.mu.Unlock()
	if k == nil {
		return false
	}
	k.c.leave()
	k.c.close()
	return true
}

// An eventWriter writes events. It is safe for concurrent use.
type eventWriter struct {
	rw http.ResponseWriter
	mu sync.Mutex // held while one is written
}

func newEventWriter(rw http.ResponseWriter) *eventWriter {
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-cache")
	rw.WriteHeader(http.StatusOK)
	w := &eventWriter{rw: rw}
	w.flush()
	return w
}

// event writes an event; kind "" is a message. Who is gone is told nothing.
func (w *eventWriter) event(kind string, data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kind != "" {
		fmt.Fprintf(w.rw, "event: %s\n", kind)
	}
	fmt.Fprintf(w.rw, "data: %s\n\n", data)
	w.flush()
}

func (w *eventWriter) flush() {
	if f, ok := w.rw.(http.Flusher); ok {
		f.Flush()
	}
}

// hold writes what belongs to no request until the client or the session is gone.
func (k *client) hold(rw http.ResponseWriter, r *http.Request, first func(*eventWriter)) {
	w := newEventWriter(rw)
	if first != nil {
		first(w)
	}
	for {
		select {
		case message := <-k.told:
			w.event("", message)
		case <-k.c.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// readBody reads a message, or answers that there is none.
func readBody(rw http.ResponseWriter, r *http.Request) (body []byte, m message, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return nil, m, false
	}
	_ = json.Unmarshal(body, &m) // handle answers what it is not
	return body, m, true
}

// refuse answers with an error of the protocol.
func refuse(rw http.ResponseWriter, status int, id json.RawMessage, code int, format string, args ...any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	rw.Write(encode(id, nil, faultf(code, format, args...)))
}
