package app

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
)

const (
	maxIdlePerHost = 16               // connections that wait for the next request
	pingAfter      = 15 * time.Second // of silence, on a connection that may have died unheard
)

// transports are the ways to providers. Each way has one transport, so that a send
// uses the connections of those before it. The zero value is ready.
type transports struct {
	mu   sync.Mutex // guards the field below
	open map[way]*http.Transport
}

// A way is what two requests must have in common to share connections.
type way struct {
	proxy config.Proxy
	trust string // files of certificates as they are at this moment
}

// get returns the transport to a provider that trusts the certificates in files
// beside those of the system. The error names the file.
func (t *transports) get(proxy config.Proxy, files []string) (*http.Transport, error) {
	w := way{proxy, trust(files)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if have, ok := t.open[w]; ok {
		return have, nil
	}
	roots, err := certificates(files)
	if err != nil {
		return nil, err
	}
	made := http.DefaultTransport.(*http.Transport).Clone()
	made.Proxy = proxy.Func()
	made.MaxIdleConnsPerHost = maxIdlePerHost
	made.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter}
	if roots != nil {
		made.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	if t.open == nil {
		t.open = make(map[way]*http.Transport)
	}
	t.open[w] = made
	return made, nil
}

// close gives up the connections that wait. Those in use end with their requests.
func (t *transports) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, made := range t.open {
		made.CloseIdleConnections()
	}
	t.open = nil
}

// trust says which files are trusted and as what they stand on the disk, so that one
// that was written anew counts.
func trust(files []string) string {
	var b strings.Builder
	for i, s := range stampsOf(files) {
		fmt.Fprintf(&b, "%s\x00%d\x00%d\x00", files[i], s.size, s.time.UnixNano())
	}
	return b.String()
}

// certificates returns those of the system with those in files; nil are those of
// the system alone.
func certificates(files []string) (*x509.CertPool, error) {
	if len(files) == 0 {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // the user's own are all there is
	}
	for _, file := range files {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading ca_file: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file %s holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----", file)
		}
	}
	return roots, nil
}

// A guarded transport lets nothing out to another origin than that of the
// provider, since the provider's key is in each request.
type guarded struct {
	origin string
	next   http.RoundTripper
}

// guard returns next for requests to the origin of address alone.
func guard(address string, next http.RoundTripper) http.RoundTripper {
	u, err := url.Parse(address)
	if err != nil {
		u = &url.URL{} // to which nothing goes
	}
	return &guarded{originOf(u), next}
}

// errOrigin says that a request would have gone to another origin.
var errOrigin = errors.New("a provider's key goes to the address of base_url and nowhere else")

// RoundTrip sends r, or refuses it before anything of it is written.
func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if to := originOf(r.URL); to != g.origin || r.Host != "" && r.Host != r.URL.Host {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, fmt.Errorf("%w: not to %s", errOrigin, to)
	}
	return g.next.RoundTrip(r)
}

// originOf returns scheme, host and port.
func originOf(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[scheme])
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}
