package kinds_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/langchain/kinds"
)

// A request is what came to a fake provider.
type request struct {
	Path, Query string
	Auth        string // whatever header the provider has for it
	Header      http.Header
	Body        map[string]any
}

// A fake is a provider on a loopback port that answers every request in one way.
type fake struct {
	URL    string
	server *httptest.Server
	answer http.HandlerFunc

	mu   sync.Mutex // guards the fields below
	seen []request
}

// newFake starts a provider.
func newFake(t *testing.T, answer http.HandlerFunc) *fake {
	t.Helper()
	f := &fake{answer: answer}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	f.URL = f.server.URL
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req := request{Path: r.URL.Path, Query: r.URL.RawQuery, Auth: r.Header.Get("Authorization"), Header: r.Header}
	if len(body) > 0 && body[0] == '{' {
		if err := json.Unmarshal(body, &req.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	f.mu.Lock()
	f.seen = append(f.seen, req)
	f.mu.Unlock()
	if r.URL.Path == "/identity/token" {
		io.WriteString(w, `{"access_token":"token of k-secret","expiration":4102444800}`)
		return
	}
	f.answer(w, r)
}

// last returns the last request.
func (f *fake) last(t *testing.T) request {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) == 0 {
		t.Fatal("no request came")
	}
	return f.seen[len(f.seen)-1]
}

// events answers with server-sent events.
func events(data ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, d := range data {
			fmt.Fprintf(w, "data: %s\n\n", d)
		}
	}
}

// object answers with JSON.
func object(text string) http.HandlerFunc { return status(http.StatusOK, text) }

func status(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Request-Id", "req_7")
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

// open opens a kind at the fake. A kind without a client of ours finds it through
// the transport of the process.
func open(t *testing.T, name string, d model.Descriptor, settings map[string]string, f *fake) model.Streamer {
	t.Helper()
	d.Provider = "house"
	if d.ID == "" {
		d.ID = "m1"
	}
	if d.BaseURL == "" {
		d.BaseURL = f.URL
	}
	m, err := kinds.Open(name, d, kinds.Options{Key: "k-secret", Settings: settings, Headers: map[string]string{"X-Team": "blue"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// to is a transport that sends everything to one address.
type to struct {
	host string
	next http.RoundTripper
}

func (r to) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host = "http", r.host
	return r.next.RoundTrip(req)
}

// divert sends the requests of libraries that take no client to f.
func divert(t *testing.T, f *fake) {
	t.Helper()
	before := http.DefaultTransport
	http.DefaultTransport = to{strings.TrimPrefix(f.URL, "http://"), before}
	t.Cleanup(func() { http.DefaultTransport = before })
}
