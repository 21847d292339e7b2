package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// A keyring is an authorizer whose tokens follow each other: each that is refused gives
// way to the next.
type keyring struct {
	tokens []string
	fail   error // of Refused

	mu    sync.Mutex // guards the fields below
	at    int
	heard []string // calls of Refused
}

func (k *keyring) Token(context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tokens[k.at], nil
}

func (k *keyring) Refused(_ context.Context, token string, status int, challenge string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.heard = append(k.heard, fmt.Sprintf("%s %d %s", token, status, challenge))
	if k.at+1 < len(k.tokens) && k.fail == nil {
		k.at++
		return true, nil
	}
	return false, k.fail
}

// stubborn says again and again that there is another token, and has none.
type stubborn struct{ asked int }

func (s *stubborn) Token(context.Context) (string, error) { return "Bearer same", nil }

func (s *stubborn) Refused(context.Context, string, int, string) (bool, error) {
	s.asked++
	return true, nil
}

// locked lets in who has the key; others are refused with a challenge.
func locked(key string, status int) *fake {
	return &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
		if r.Header.Get("Authorization") == key {
			good(w, r, m)
			return
		}
		w.Header().Add("WWW-Authenticate", "Basic")
		w.Header().Add("WWW-Authenticate", `Bearer error="x"`)
		w.WriteHeader(status)
	}}
}

func TestAuthorizer(t *testing.T) {
	const challenge = `Basic, Bearer error="x"`
	login := errors.New("log in")
	tests := []struct {
		name    string
		server  *fake
		keys    *keyring
		headers map[string]string
		url     string
		sent    []string // Authorization of each request
		heard   []string // by the authorizer
		want    error    // *transport.StatusError
	}{
		{"a token", locked("Bearer 1", 401), &keyring{tokens: []string{"Bearer 1"}}, nil, "", []string{"Bearer 1"}, nil, nil},
		{"another one", locked("Bearer 2", 401), &keyring{tokens: []string{"Bearer 1", "Bearer 2"}}, nil, "",
			[]string{"Bearer 1", "Bearer 2"}, []string{"Bearer 1 401 " + challenge}, nil},
		{"the first one", locked("Bearer 2", 401), &keyring{tokens: []string{"", "Bearer 2"}}, nil, "",
			[]string{"", "Bearer 2"}, []string{" 401 " + challenge}, nil},
		{"more rights", locked("Bearer 2", 403), &keyring{tokens: []string{"Bearer 1", "Bearer 2"}}, nil, "",
			[]string{"Bearer 1", "Bearer 2"}, []string{"Bearer 1 403 " + challenge}, nil},
		{"none", locked("Bearer 2", 401), &keyring{tokens: []string{""}}, nil, "",
			[]string{""}, []string{" 401 " + challenge}, &transport.StatusError{Status: 401, Challenge: challenge}},
		{"a wrong one", locked("Bearer 2", 401), &keyring{tokens: []string{"Bearer 1"}}, nil, "",
			[]string{"Bearer 1"}, []string{"Bearer 1 401 " + challenge}, &transport.StatusError{Status: 401, Challenge: challenge, Rejected: true}},
		{"too many", locked("Bearer 9", 401), &keyring{tokens: []string{"Bearer 1", "Bearer 2", "Bearer 3", "Bearer 4"}}, nil, "",
			[]string{"Bearer 1", "Bearer 2", "Bearer 3"}, []string{"Bearer 1 401 " + challenge, "Bearer 2 401 " + challenge, "Bearer 3 401 " + challenge},
			&transport.StatusError{Status: 401, Challenge: challenge, Rejected: true}},
		{"an error", locked("Bearer 2", 403), &keyring{tokens: []string{"Bearer 1"}, fail: login}, nil, "",
			[]string{"Bearer 1"}, []string{"Bearer 1 403 " + challenge}, &transport.StatusError{Status: 403, Challenge: challenge}},
		{"a token before a header", locked("Bearer 1", 401), &keyring{tokens: []string{"Bearer 1"}}, map[string]string{"authorization": "Bearer 0"}, "",
			[]string{"Bearer 1"}, nil, nil},

		{"nobody", locked("Bearer 1", 401), nil, nil, "", []string{""}, nil, &transport.StatusError{Status: 401, Challenge: challenge}},
		{"nobody, and forbidden", locked("Bearer 1", 403), nil, nil, "", []string{""}, nil, &transport.StatusError{Status: 403, Challenge: challenge}},
		{"a header", locked("Bearer 1", 401), nil, map[string]string{"authorization": "Bearer 1"}, "", []string{"Bearer 1"}, nil, nil},
		{"a wrong header", locked("Bearer 1", 401), nil, map[string]string{"authorization": "Bearer 0"}, "",
			[]string{"Bearer 0"}, nil, &transport.StatusError{Status: 401, Challenge: challenge, Rejected: true}},
		{"a wrong header of another name", locked("Bearer 1", 401), nil, map[string]string{"X-Api-Key": "k"}, "",
			[]string{""}, nil, &transport.StatusError{Status: 401, Challenge: challenge, Rejected: true}},
		{"a header that is about something else", locked("Bearer 1", 401), nil, map[string]string{"X-Team": "t"}, "",
			[]string{""}, nil, &transport.StatusError{Status: 401, Challenge: challenge}},
		{"a password", locked("Basic dTpw", 401), nil, nil, "http://u:p@fake.test/mcp", []string{"Basic dTpw"}, nil, nil},
		{"a wrong password", locked("Basic dTpw", 401), nil, nil, "http://u:q@fake.test/mcp",
			[]string{"Basic dTpx"}, nil, &transport.StatusError{Status: 401, Challenge: challenge, Rejected: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.server, func(t *testing.T, carrier *http.Transport) {
				o := web.Options{URL: tt.url, Headers: tt.headers}
				if tt.keys != nil {
					o.Auth = tt.keys
				}
				tr := start(t, carrier, &host{}, o)
				_, err := call(t, tr, "tools/list")
				status, _ := errors.AsType[*transport.StatusError](err)
				if tt.want == nil && err != nil || tt.want != nil && !cmp.Equal(tt.want, error(status)) {
					t.Errorf("error = %#v, want %#v", err, tt.want)
				}
				if tt.keys != nil && tt.keys.fail != nil && !errors.Is(err, tt.keys.fail) {
					t.Errorf("error = %v, which is not that of the authorizer", err)
				}
				var sent []string
				for _, s := range tt.server.requests("") {
					sent = append(sent, s.Header.Get("Authorization"))
				}
				if diff := cmp.Diff(tt.sent, sent); diff != "" {
					t.Errorf("credentials (-want +got):\n%s", diff)
				}
				if tt.keys != nil {
					if diff := cmp.Diff(tt.heard, tt.keys.heard); diff != "" {
						t.Errorf("the authorizer has heard (-want +got):\n%s", diff)
					}
				}
			})
		})
	}
}

// A server that tells where to log in may want that instead of the key it was given.
func TestLoginBesideHeaders(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, _ *http.Request, _ message) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://fake.test/x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{Headers: map[string]string{"X-Api-Key": "k"}})
		_, err := call(t, tr, "initialize")
		if status, ok := errors.AsType[*transport.StatusError](err); !ok || status.Rejected {
			t.Errorf("error = %#v", err)
		}
	})
}

// Each credential is tried once, even if the authorizer says otherwise.
func TestStubbornAuthorizer(t *testing.T) {
	f := locked("Bearer other", 401)
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		var auth stubborn
		tr := start(t, carrier, &host{}, web.Options{Auth: &auth})
		_, err := call(t, tr, "tools/call")
		if status, ok := errors.AsType[*transport.StatusError](err); !ok || !status.Rejected {
			t.Errorf("error = %v", err)
		}
		if n := len(f.requests("")); n != 1 || auth.asked != 1 {
			t.Errorf("%d requests, and %d questions", n, auth.asked)
		}
	})
}

// locksmith cannot get a token.
type locksmith struct{ web.Authorizer }

func (locksmith) Token(context.Context) (string, error) { return "", errors.New("the issuer is down") }

func TestNoToken(t *testing.T) {
	var f fake
	bubble(t, &f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{Auth: locksmith{}})
		_, err := call(t, tr, "tools/call")
		if !errors.Is(err, transport.ErrUnsent) || !strings.HasPrefix(err.Error(), "getting the credential: the issuer is down") {
			t.Errorf("error = %v", err)
		}
		if n := len(f.requests("")); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// Everything that is sent has the credential of that moment: notifications, the server's
// own stream, the answers to its questions, and the end of the session (C096).
func TestCredentialEverywhere(t *testing.T) {
	f := &fake{}
	f.answer = func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case r.Header.Get("Authorization") != "Bearer 2":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodGet:
			holds(`data: {"id":"q","method":"ping"}`+"\n\n", forever)(w, r)
		default:
			good(w, r, m)
		}
	}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{Auth: &keyring{tokens: []string{"", "Bearer 2"}}})
		shake(t, tr)
		synctest.Wait()
		shut(t, tr)
		want := []string{"initialize", "initialize", "notifications/initialized", "GET", "answer", "DELETE"}
		if diff := cmp.Diff(want, f.methods()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		if body := f.requests("")[1].Message; string(body.ID) != "1" {
			t.Errorf("the second initialize has the id %s", body.ID)
		}
	})
}
