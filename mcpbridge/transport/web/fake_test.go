package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// A fake is a server whose answers a test writes, on every host of a network of its own.
type fake struct {
	answer func(w http.ResponseWriter, r *http.Request, m message) // nil answers as good does

	mu    sync.Mutex // guards the fields below
	seen  []seen
	dials []string
	conns map[net.Conn]http.ConnState
}

// A message is what came in a body.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// A seen is a request of HTTP as it came.
type seen struct {
	Verb    string
	Host    string
	Path    string
	Header  http.Header
	Message message
	Body    string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s := seen{Verb: r.Method, Host: r.Host, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: string(body)}
	_ = json.Unmarshal(body, &s.Message) // some have none
	f.mu.Lock()
	f.seen = append(f.seen, s)
	f.mu.Unlock()
	if f.answer != nil {
		f.answer(w, r, s.Message)
		return
	}
	good(w, r, s.Message)
}

// good answers as a server of 2025-11-25 without a stream of its own.
func good(w http.ResponseWriter, r *http.Request, m message) {
	switch {
	case r.Method == http.MethodGet:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s-1")
		reply(w, result(m, `{"protocolVersion":"2025-11-25"}`))
	case m.ID == nil || m.Method == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		reply(w, result(m, `{"method":"`+m.Method+`"}`))
	}
}

// reply answers with a body of JSON.
func reply(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	io.WriteString(w, body)
}

// result is an answer to m.
func result(m message, value string) string {
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + value + `}`
}

// failure is an answer to m that is an error.
func failure(id string, code int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
}

// begin begins a stream.
func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
}

// say writes to a stream.
func say(w http.ResponseWriter, text string) {
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

// event writes an event without an id.
func event(w http.ResponseWriter, data string) { say(w, "data: "+data+"\n\n") }

// requests returns what came so far; verb "" is all of it.
func (f *fake) requests(verb string) (all []seen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.seen {
		if verb == "" || s.Verb == verb {
			all = append(all, s)
		}
	}
	return all
}

// methods returns those of the messages that came, and the verbs of what came without.
func (f *fake) methods() (all []string) {
	for _, s := range f.requests("") {
		switch {
		case s.Message.Method != "":
			all = append(all, s.Message.Method)
		case s.Body != "":
			all = append(all, "answer")
		default:
			all = append(all, s.Verb)
		}
	}
	return all
}

// last returns the last message of a method.
func (f *fake) last(t *testing.T, method string) seen {
	t.Helper()
	all := f.requests("")
	for _, s := range slices.Backward(all) {
		if s.Message.Method == method {
			return s
		}
	}
	t.Fatalf("no %s came", method)
	return seen{}
}

// A listener accepts what its dial dials.
type listener struct {
	conns chan net.Conn
	gone  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.gone:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.gone) })
	return nil
}

func (*listener) Addr() net.Addr { return &net.UnixAddr{Name: "fake"} }

// bubble runs a test in a bubble of time, with f on its network. Carrier makes
// connections there. What the test leaves behind keeps the bubble from ending.
func bubble(t *testing.T, f *fake, test func(t *testing.T, carrier *http.Transport)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &listener{conns: make(chan net.Conn), gone: make(chan struct{})}
		f.conns = make(map[net.Conn]http.ConnState)
		s := &http.Server{Handler: f, ConnState: func(c net.Conn, state http.ConnState) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.conns[c] = state
		}}
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		carrier := &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			f.mu.Lock()
			f.dials = append(f.dials, address)
			f.mu.Unlock()
			if strings.HasPrefix(address, "down") {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connection refused")}
			}
			theirs, ours := net.Pipe()
			select {
			case l.conns <- theirs:
				return ours, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		t.Cleanup(func() { // when the transports of the test have been closed
			carrier.CloseIdleConnections()
			s.Close()
			<-served
		})
		test(t, carrier)
	})
}

// A host hears what servers send of their own accord.
type host struct {
	ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

	mu    sync.Mutex // guards notes
	notes []string
}

func (h *host) Notify(method string, params json.RawMessage) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, method+string(params))
}

func (h *host) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if h.ask == nil {
		return nil, &transport.Error{Code: transport.CodeMethodNotFound, Message: "method not found"}
	}
	return h.ask(ctx, method, params)
}

// heard returns the notifications that came, once everything else waits.
func (h *host) heard() []string {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.notes)
}

// start starts a transport, which ends with the test.
func start(t *testing.T, carrier http.RoundTripper, h *host, o web.Options) *web.Transport {
	t.Helper()
	tr := open(carrier, o)
	if err := tr.Start(t.Context(), h); err != nil {
		t.Fatalf("Start() = %v", err)
	}
	t.Cleanup(func() { shut(t, tr) })
	return tr
}

func open(carrier http.RoundTripper, o web.Options) *web.Transport {
	if o.URL == "" {
		o.URL = "http://fake.test/mcp"
	}
	o.HTTP = carrier
	return web.New(o)
}

func shut(t *testing.T, tr *web.Transport) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if err := tr.Close(ctx); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

// shake begins a session of 2025-11-25.
func shake(t *testing.T, tr *web.Transport) {
	t.Helper()
	if _, err := call(t, tr, "initialize"); err != nil {
		t.Fatalf("initialize: %v", err)
	}
	tr.Negotiated("2025-11-25")
	if err := tr.Notify(t.Context(), "notifications/initialized", nil); err != nil {
		t.Fatalf("initialized: %v", err)
	}
}

// call sends a request without parameters.
func call(t *testing.T, tr *web.Transport, method string) (string, error) {
	t.Helper()
	raw, err := tr.Call(t.Context(), transport.Request{Method: method})
	return string(raw), err
}
