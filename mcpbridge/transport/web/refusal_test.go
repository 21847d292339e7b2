package web_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// What a status that is none of success becomes, for a request with the id 1.
func TestRefusals(t *testing.T) {
	failure1 := func(code int, text string) string { return failure("1", code, text) }
	tests := []struct {
		name   string
		status int
		kind   string
		body   string
		after  string
		want   error
	}{
		{"busy", 429, "", "slow down", "7", &transport.StatusError{Status: 429, Text: "slow down", RetryAfter: 7 * time.Second}},
		{"busy, of the protocol", 429, "", failure1(-32000, "slow down"), "", &transport.StatusError{Status: 429, Text: "slow down"}},
		{"down until then", 503, "", "", "Sat, 01 Jan 2000 00:01:00 GMT", &transport.StatusError{Status: 503, RetryAfter: time.Minute}},
		{"down until lately", 503, "", "", "Fri, 31 Dec 1999 00:01:00 GMT", &transport.StatusError{Status: 503}},
		{"down for ages", 503, "", "", "99999999", &transport.StatusError{Status: 503, RetryAfter: 24 * time.Hour}},
		{"down for nonsense", 503, "", "", "soon", &transport.StatusError{Status: 503}},
		{"a page", 502, "text/html; charset=utf-8", "<html><h1>Bad gateway", "", &transport.StatusError{Status: 502}},
		{"lines", 500, "text/plain", "a\r\n\tb\x1b[31m", "", &transport.StatusError{Status: 500, Text: `a b\x1b[31m`}},
		{"a long text", 500, "text/plain", strings.Repeat("x", 1<<20), "", &transport.StatusError{Status: 500, Text: strings.Repeat("x", 497) + "..."}},
		{"secrets", 500, "text/plain", "key hidden-key-1 and Bearer token-1 and token-1 and other-secret", "",
			&transport.StatusError{Status: 500, Text: "key [secret] and [secret] and [secret] and [secret]"}},
		{"the revision", 400, "application/json", `{"id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`, "",
			&transport.Error{Code: -32022, Message: "no", Data: []byte(`{"supported":["2026-07-28"]}`)}},
		{"an unknown method", 404, "application/json", failure1(-32601, "method not found"), "", &transport.Error{Code: -32601, Message: "method not found"}},
		{"without an id", 400, "application/json", failure("null", -32600, "bad"), "", &transport.Error{Code: -32600, Message: "bad"}},
		{"secrets of the protocol", 400, "application/json", failure("null", -32600, "bad hidden-key-1"), "", &transport.Error{Code: -32600, Message: "bad [secret]"}},
		{"an error inside", 500, "application/json", failure1(-32603, "oops"), "", &transport.Error{Code: -32603, Message: "oops"}},
		{"an error before", 500, "application/json", failure("null", -32603, "oops"), "", &transport.StatusError{Status: 500, Text: "oops"}},
		{"forbidden", 403, "application/json", failure("null", -32000, "bad host"), "", &transport.StatusError{Status: 403, Text: "bad host"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{answer: func(w http.ResponseWriter, _ *http.Request, _ message) {
				w.Header().Set("Content-Type", tt.kind)
				if tt.after != "" {
					w.Header().Set("Retry-After", tt.after)
				}
				w.WriteHeader(tt.status)
				w.Write([]byte(tt.body))
			}}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				tr := start(t, carrier, &host{}, web.Options{
					Headers: map[string]string{"X-Key": "hidden-key-1"}, Secrets: []string{"other-secret"},
					Auth: &keyring{tokens: []string{"Bearer token-1"}},
				})
				_, err := call(t, tr, "tools/list")
				if diff := cmp.Diff(tt.want, err); diff != "" {
					t.Errorf("error (-want +got):\n%s", diff)
				}
				if fail := tr.Notify(t.Context(), "n", nil); fail == nil {
					t.Error("a notification that is refused is no error")
				}
				if errors.Is(err, transport.ErrGone) || tr.Err() != nil {
					t.Errorf("a refusal ends the transport: %v", tr.Err())
				}
			})
		})
	}
}
