//go:build unix

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A pair is a certificate with its key, which vouches for itself.
type pair struct {
	tls.Certificate
	pem string // the certificate alone
}

// newPair returns one for the names of hosts, or addresses.
func newPair(t *testing.T, hosts ...string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
}

// A proxy is asked for addresses of the internet and answers itself, by a handler. What
// goes through a tunnel it cannot read, but for the handler at its end.
type proxy struct {
	URL    string
	inside *httptest.Server // the end of each tunnel

	mu   sync.Mutex // guards the fields below
	log  []string   // CONNECT HOST:PORT, and the addresses of requests
	seen []byte     // what came outside of tunnels
}

// newProxy starts one on this machine. The certificate is that of every host.
func newProxy(t *testing.T, h http.Handler, c pair) *proxy {
	t.Helper()
	p := &proxy{}
	p.inside = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.note("https://"+r.Host+r.URL.Path, nil)
		h.ServeHTTP(w, r)
	}))
	p.inside.TLS = &tls.Config{Certificates: []tls.Certificate{c.Certificate}, MinVersion: tls.VersionTLS12}
	p.inside.Config.ErrorLog = quiet()
	p.inside.StartTLS()
	t.Cleanup(p.inside.Close)
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dump, err := httputil.DumpRequest(r, false)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodConnect {
			p.note("CONNECT "+r.Host, dump)
			p.tunnel(w)
			return
		}
		p.note(r.URL.Scheme+"://"+r.URL.Host+r.URL.Path, dump)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(outside.Close)
	p.URL = outside.URL
	return p
}

// tunnel joins the client to the inside until both have gone.
func (p *proxy) tunnel(w http.ResponseWriter) {
	in, err := net.Dial("tcp", p.inside.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer in.Close()
	out, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return // the client shows what is wrong
	}
	defer out.Close()
	if _, err := fmt.Fprint(out, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		io.Copy(in, buffered)
		in.Close()
	})
	io.Copy(out, in)
	out.Close()
	wg.Wait()
}

func (p *proxy) note(line string, dump []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, line)
	p.seen = append(p.seen, dump...)
}

// heard returns what the proxy was asked for.
func (p *proxy) heard() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// secrets returns those of the words that the proxy could read.
func (p *proxy) secrets(words ...string) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range words {
		if bytes.Contains(p.seen, []byte(w)) {
			all = append(all, w)
		}
	}
	return all
}

// quiet is the log of a server that others turn away.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// Row 231 and row 187: the variables of proxies are honoured for addresses that are not
// of this machine, in every protocol, and for questions about models too. The key and
// the password of the proxy show nowhere.
func TestRow231Proxy(t *testing.T) {
	t.Parallel()
	const key, password = "key-0123456789abcdef", "proxy-0123456789abcdef"
	for i, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			way := newProxy(t, m, newPair(t, "none"))
			e := newEditor(t)
			e.file(".config/lorimer/key", key+"\n")
			address := beyond(p.URL(m))
			e.file(configFile, fmt.Sprintf("model = \"house/new\"\n[providers.house]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\n", p.Name, address))
			variable := []string{"HTTP_PROXY", "http_proxy"}[i%2]
			e.env = []string{variable + "=" + strings.Replace(way.URL, "://", "://me:"+password+"@", 1), "HTTPS_PROXY=http://127.0.0.1:9"}
			e.acp("--log-level", "trace")
			s := e.open(nil)
			if stop := e.prompt(s, "hello"); stop != "end_turn" || !strings.HasSuffix(e.text(s), "fine") {
				t.Errorf("prompt: %s with %q", stop, e.text(s))
			}
			heard := way.heard()
			if n := len(m.Requests()); n != 1 || len(heard) != 2 || !strings.HasPrefix(heard[0], address) || !strings.HasPrefix(heard[1], address) {
				t.Errorf("%d answers, and the proxy heard %q, want a question about the model and a message, both for %s", n, heard, address)
			}
			if got := way.secrets("Proxy-Authorization: Basic "); len(got) != 1 {
				t.Error("the proxy was not given its password")
			}
			e.leave()
			e.hides([]string{key, password}, "models house --ask", "doctor", "config show")
			e.nowhere(key, password)
		})
	}
}

// beyond writes an address of this machine so that it does not look like one. The
// system reaches this machine by it all the same.
func beyond(address string) string { return strings.Replace(address, "127.0.0.1", "0.0.0.0", 1) }

// Row 231: what NO_PROXY names is reached directly, and this machine always is.
func TestRow231NoProxy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, address string
		env           []string
		direct        bool
	}{
		{"another machine", "0.0.0.0", nil, false},
		{"one that is named", "0.0.0.0", []string{"NO_PROXY=example.org,0.0.0.0"}, true},
		{"all are", "0.0.0.0", []string{"no_proxy=*"}, true},
		{"others are", "0.0.0.0", []string{"NO_PROXY=example.org"}, false},
		{"this machine", "127.0.0.1", nil, true},
		{"this machine by name", "localhost", nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			way := newProxy(t, m, newPair(t, "none"))
			e := newEditor(t)
			e.file(".config/lorimer/key", "key-of-the-house-1\n")
			e.file(configFile, house{Model: "house/m", Usual: "m", BaseURL: strings.Replace(m.OpenAI(), "127.0.0.1", tt.address, 1), KeyFile: "key"}.toml())
			e.env = append(tt.env, "HTTP_PROXY="+way.URL)
			e.acp()
			s := e.open(nil)
			if stop := e.prompt(s, "hello"); stop != "end_turn" || len(m.Requests()) != 1 {
				t.Errorf("prompt: %s after %d requests", stop, len(m.Requests()))
			}
			if got := way.heard(); len(got) == 0 != tt.direct {
				t.Errorf("the proxy heard %q, want to be left out: %v", got, tt.direct)
			}
		})
	}
}

// Row 231: a certificate that the system does not know is trusted when the user names
// its file, for all or for the one provider, in every protocol. Without it the first
// request fails at once, and says what to do.
func TestRow231CAFile(t *testing.T) {
	t.Parallel()
	const key = "key-0123456789abcdef"
	own, other := newPair(t, "127.0.0.1"), newPair(t, "127.0.0.1")
	for _, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			s := httptest.NewUnstartedServer(m)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{own.Certificate}, MinVersion: tls.VersionTLS12}
			s.Config.ErrorLog = quiet()
			s.EnableHTTP2 = true
			s.StartTLS()
			t.Cleanup(s.Close)
			e := newEditor(t)
			e.file(".config/lorimer/key", key+"\n")
			e.file(".config/lorimer/own.pem", own.pem)
			e.file(".config/lorimer/other.pem", other.pem)
			address := s.URL + strings.TrimPrefix(p.URL(m), m.URL)
			config := func(all, one string) {
				e.file(configFile, fmt.Sprintf("%s\nmodel = \"house/%s\"\n[providers.house]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\n%s\n", all, p.ID, p.Name, address, one))
			}
			config("", "")
			e.acp()
			session := e.open(nil)
			const unknown = "signed by unknown authority"
			for _, tt := range []struct{ all, one, fails string }{
				{"", "", unknown},
				{"ca_file = \"other.pem\"", "", unknown},
				{"ca_file = \"own.pem\"", "", ""},
				{"", "ca_file = \"own.pem\"", ""},
				{"ca_file = \"other.pem\"", "ca_file = \"own.pem\"", ""},
				{"", "ca_file = \"gone.pem\"", e.home + "/.config/lorimer/gone.pem: no such file"},
				{"", "ca_file = \"key\"", "key holds no certificate in PEM"},
			} {
				config(tt.all, tt.one)
				before := len(m.Requests())
				f := e.wait(e.send("session/prompt", say(session, "hello")))
				if got := len(m.Requests()) - before; tt.fails == "" && (f.Error != nil || got != 1) || tt.fails != "" && (f.Error == nil || got != 0) {
					t.Errorf("with %q and %q: %d requests, %s", tt.all, tt.one, got, f.Raw)
					continue
				}
				if tt.fails == "" {
					continue
				}
				if !strings.Contains(f.Raw, tt.fails) || !strings.Contains(f.Raw, "ca_file") {
					t.Errorf("with %q and %q: %s, want it to say %q, and ca_file", tt.all, tt.one, f.Raw, tt.fails)
				}
			}
			if got := e.notices(session); strings.Contains(strings.Join(got, ""), "asking again") {
				t.Errorf("a certificate that is not known was tried again: %q", got)
			}
			e.leave()
			e.nowhere(key)
		})
	}
}

// Row 187: a server that sends elsewhere is not followed, neither with a message nor
// with a question about models, and nobody else gets the key or a header.
func TestRow187Redirect(t *testing.T) {
	t.Parallel()
	const key, header = "key-0123456789abcdef", "team-0123456789abcdef"
	for i, p := range modeltest.Protocols() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"stolen"}, Repeat: -1})
			var met sync.Map
			elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				met.Store(r.URL.Path, true)
				m.ServeHTTP(w, r)
			}))
			t.Cleanup(elsewhere.Close)
			status := []int{301, 302, 303, 307, 308}[i]
			here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, elsewhere.URL+r.URL.Path, status)
			}))
			t.Cleanup(here.Close)
			e := newEditor(t)
			e.file(".config/lorimer/key", key+"\n")
			e.file(configFile, fmt.Sprintf("model = \"house/new\"\n[providers.house]\nkind = %q\nbase_url = %q\napi_key_file = \"key\"\nheaders = { X-Team-Secret = %q }\n",
				p.Name, here.URL+strings.TrimPrefix(p.URL(m), m.URL), header))
			e.acp("--log-level", "debug")
			s := e.open(nil)
			f := e.wait(e.send("session/prompt", say(s, "hello")))
			if f.Error == nil || !strings.Contains(f.Raw, "base_url") {
				t.Errorf("answer = %s, want an error that names base_url", f.Raw)
			}
			e.leave()
			e.hides([]string{key, header}, "models house --ask", "models show house --ask")
			met.Range(func(path, _ any) bool { t.Errorf("the other server was asked for %s", path); return true })
			e.nowhere(key, header)
		})
	}
}
