package web_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// A redirect is followed within the origin of the server, with everything that the
// request has. To another one nothing goes, and the error says where it would have.
func TestRedirects(t *testing.T) {
	const (
		here = "the server redirects to "
		mine = ", and headers and credentials do not leave http://fake.test; declare the new address if it is right"
	)
	tests := []struct {
		name   string
		status int
		to     string
		err    string // "" follows to /new
	}{
		{"307", 307, "/new", ""},
		{"308, all of it", 308, "http://fake.test/new", ""},
		{"301, which keeps the message", 301, "new", ""},
		{"302, with the usual port", 302, "HTTP://FAKE.test:80/new", ""},
		{"303", 303, "/new", "the server redirects to a page (HTTP 303); the address is not that of an MCP server"},
		{"another host", 307, "http://other.test/new", here + "http://other.test (HTTP 307)" + mine},
		{"a host below", 308, "http://sub.fake.test/new", here + "http://sub.fake.test (HTTP 308)" + mine},
		{"another port", 302, "http://fake.test:8080/new", here + "http://fake.test:8080 (HTTP 302)" + mine},
		{"another scheme", 301, "https://fake.test/new?key=1", here + "https://fake.test (HTTP 301)" + mine},
		{"no scheme", 307, "//other.test/new", here + "http://other.test (HTTP 307)" + mine},
		{"in a circle", 307, "/mcp", "the server redirects more than 5 times"},
		{"nowhere", 307, "", "HTTP status 307"},
		{"no address", 307, "http://%zz", "the server redirects to what is no address (HTTP 307)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
				if r.URL.Path == "/new" {
					good(w, r, m)
					return
				}
				if tt.to != "" {
					w.Header().Set("Location", tt.to)
				}
				w.WriteHeader(tt.status)
			}}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				tr := start(t, carrier, &host{}, web.Options{
					Headers: map[string]string{"X-Key": "k"}, Auth: &keyring{tokens: []string{"Bearer t"}},
				})
				got, err := call(t, tr, "tools/call")
				if tt.err == "" && (err != nil || got != `{"method":"tools/call"}`) {
					t.Errorf("Call() = %s, %v", got, err)
				}
				if tt.err != "" && (err == nil || err.Error() != tt.err) {
					t.Errorf("error = %v, want %s", err, tt.err)
				}
				for _, s := range f.requests("") {
					if s.Host != "fake.test" || s.Verb != http.MethodPost || s.Message.Method != "tools/call" ||
						s.Header.Get("X-Key") != "k" || s.Header.Get("Authorization") != "Bearer t" {
						t.Errorf("a request went to %s %s%s with %v", s.Verb, s.Host, s.Path, s.Header)
					}
				}
				if diff := cmp.Diff([]string{"fake.test:80"}, f.dials); diff != "" {
					t.Errorf("connections (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// An event stream that names another host is not believed.
func TestEndpointElsewhere(t *testing.T) {
	for _, tt := range []struct{ to, want string }{
		{"http://other.test/message", "the event stream says to send messages to http://other.test, and headers and credentials do not leave http://fake.test"},
		{"//other.test/message", "the event stream says to send messages to http://other.test, and headers and credentials do not leave http://fake.test"},
		{"https://fake.test/message", "the event stream says to send messages to https://fake.test, and headers and credentials do not leave http://fake.test"},
		{"http://%zz", "the event stream says to send messages to what is no address"},
	} {
		f := streaming(holds("event: endpoint\ndata: "+tt.to+"\n\n", forever))
		bubble(t, f, func(t *testing.T, carrier *http.Transport) {
			tr := open(carrier, web.Options{SSE: true, Headers: map[string]string{"X-Key": "k"}})
			defer shut(t, tr)
			if err := tr.Start(t.Context(), &host{}); err == nil || err.Error() != tt.want {
				t.Errorf("%s: error = %v", tt.to, err)
			}
			synctest.Wait()
			if n := len(f.requests(http.MethodPost)); n != 0 || len(f.dials) != 1 {
				t.Errorf("%s: %d messages, connections to %q", tt.to, n, f.dials)
			}
		})
	}
}
