package app

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model"
)

// get asks address by c and reports whether a connection was used again.
func get(t *testing.T, c *http.Client, address string) (reused bool, err error) {
	t.Helper()
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Do(r)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return reused, err
}

// Sends share connections, of providers as well, unless they trust other
// certificates.
func TestConnectionsAreUsedAgain(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	a := &App{}
	c := &config.Config{}
	for i, want := range []bool{false, true, true} {
		client, err := a.client(c, config.Endpoint{BaseURL: s.URL + "/v1"})
		if err != nil {
			t.Fatal(err)
		}
		if reused, err := get(t, client, s.URL+"/v1/x"); err != nil || reused != want {
			t.Errorf("request %d: the connection was used before: %v (%v), want %v", i, reused, err, want)
		}
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	certificate(t, file, httptest.NewTLSServer(nil))
	client, err := a.client(c, config.Endpoint{BaseURL: s.URL, CAFiles: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	if reused, err := get(t, client, s.URL); err != nil || reused {
		t.Errorf("a connection was shared with who trusts less: %v (%v)", reused, err)
	}
	a.transports.close()
	if client, err = a.client(c, config.Endpoint{BaseURL: s.URL}); err != nil {
		t.Fatal(err)
	}
	if reused, err := get(t, client, s.URL); err != nil || reused {
		t.Errorf("a closed program uses its connections: %v (%v)", reused, err)
	}
}

// certificate writes the certificate of s to a file, and closes s.
func certificate(t *testing.T, file string, s *httptest.Server) {
	t.Helper()
	defer s.Close()
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A ca_file adds to what is trusted, over HTTP/2 as well; one that is written anew
// counts at the next send.
func TestCAFile(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			http.Error(w, "not over HTTP/2", http.StatusHTTPVersionNotSupported)
		}
	}))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused handshake is wanted
	s.StartTLS()
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	a := &App{}
	try := func(files ...string) error {
		client, err := a.client(&config.Config{}, config.Endpoint{BaseURL: s.URL, CAFiles: files})
		if err != nil {
			return err
		}
		res, err := client.Get(s.URL)
		if err != nil {
			return err
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return errors.New(res.Status)
		}
		return nil
	}
	if err := try(); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the file: %v, want that nobody knows the certificate", err)
	}
	if err := try(file); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("a missing file: %v, want its name", err)
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := try(file); err == nil || !strings.Contains(err.Error(), file+" holds no certificate in PEM") {
		t.Errorf("a file of something else: %v, want its name", err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := try(file); err != nil {
		t.Errorf("with the file: %v", err)
	}
}

// That a certificate is missing is told by the model that needs it, and the session
// opens all the same.
func TestCAFileIsToldWhenTheModelIsSetUp(t *testing.T) {
	m := newMachine(t, Apart, "ca_file = \"none.pem\"\n[providers.acme]\nbase_url = \"https://acme.example.org\"\napi_key_command = \"echo key\"\n")
	snap, err := (&settings{m.App}).Freeze(t.Context(), at(m), choiceFor("acme/claude-sonnet-5"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = snap.Open(t.Context())
	if fail, ok := errors.AsType[*model.Error](err); !ok || fail.Kind != model.Unavailable || !strings.Contains(err.Error(), filepath.Join(m.home, ".config/lorimer/none.pem")) {
		t.Errorf("error = %v, want one with the file", err)
	}
}

// Nothing is written to another origin than that of the provider, by no redirect
// either.
func TestKeyStaysAtItsOrigin(t *testing.T) {
	var heard []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard = append(heard, r.URL.Path) }))
	t.Cleanup(other.Close)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL+"/redirected", http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(own.Close)
	a := &App{}
	client, err := a.client(&config.Config{}, config.Endpoint{BaseURL: own.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(own.URL, "http://"), ":")
	tests := []struct {
		address string
		refused bool
	}{
		{own.URL + "/v1/models", false},
		{own.URL, false},
		{strings.Replace(own.URL, "http://127", "HTTP://127", 1), false},
		{other.URL, true},
		{own.URL + "/away", true},
		{"https://127.0.0.1:" + port, true},
		{"http://localhost:" + port, true},
		{"http://127.0.0.1.example.org:" + port, true},
	}
	for _, tt := range tests {
		_, err := get(t, client, tt.address)
		if got := errors.Is(err, errOrigin); got != tt.refused || err != nil && !tt.refused {
			t.Errorf("%s: %v, want to be refused: %v", tt.address, err, tt.refused)
		}
	}
	if len(heard) > 0 {
		t.Errorf("another server was asked for %q", heard)
	}
}

// Ports that are those of the scheme are the same origin, and a request for another
// host at the address is none.
func TestGuard(t *testing.T) {
	served := 0
	next := roundTripper(func(*http.Request) (*http.Response, error) { served++; return nil, context.Canceled })
	g := guard("https://api.example.org/v1", next)
	body := &closed{}
	for address, host := range map[string]string{
		"https://api.example.org:443/x": "", "https://API.example.org/x": "", "https://api.example.org/y": "other.example.org", "http://api.example.org/x": "",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, body)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		if _, err := g.RoundTrip(r); !errors.Is(err, errOrigin) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if served != 2 || body.times != 2 {
		t.Errorf("%d requests went through, %d bodies were closed, want 2 and 2", served, body.times)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A closed body counts how often it was closed.
type closed struct{ times int }

func (c *closed) Read([]byte) (int, error) { return 0, io.EOF }
func (c *closed) Close() error             { c.times++; return nil }
