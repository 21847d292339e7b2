package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// What a server answers where it does not know a session any more, and what is like it
// and means something else (C089).
func TestSessionExpires(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		lost   bool
	}{
		{"404", 404, "", true},
		{"404 with words", 404, "Invalid session ID\n", true},
		{"404 of the protocol", 404, failure("null", -32001, "Session not found"), true},
		{"404 of the protocol in other words", 404, failure("null", -32000, "who?"), true},
		{"400 in words", 400, "Invalid session ID", true},
		{"400 as in many examples", 400, failure("null", -32000, "Bad Request: No valid session ID provided"), true},
		{"410", 410, "session is over", true},
		{"200", 200, failure("2", -32001, "Session not found"), true},
		{"404 of a method", 404, failure("2", -32601, "method not found"), false},
		{"404 of a resource", 404, failure("2", -32602, "resource not found"), false},
		{"400 of the parameters", 400, failure("2", -32602, "no session is called that"), false},
		{"400", 400, "Bad Request", false},
		{"200 of a request that took too long", 200, failure("2", -32001, "Request timed out"), false},
		{"200 of a tool", 200, failure("2", -32000, "the browser session has ended"), false},
		{"403", 403, "no session for you", false},
		{"500", 500, "session store is down", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
				if m.Method != "tools/call" {
					good(w, r, m)
					return
				}
				w.WriteHeader(tt.status)
				w.Write([]byte(tt.body))
			}}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				tr := start(t, carrier, &host{}, web.Options{})
				shake(t, tr)
				_, err := call(t, tr, "tools/call")
				if err == nil || errors.Is(err, transport.ErrSession) != tt.lost {
					t.Fatalf("error = %v, want that the session has expired: %t", err, tt.lost)
				}
				if !tt.lost {
					if tr.Err() != nil {
						t.Errorf("Err() = %v", tr.Err())
					}
					return
				}
				<-tr.Done()
				if !errors.Is(tr.Err(), transport.ErrSession) {
					t.Errorf("Err() = %v", tr.Err())
				}
				if _, err := call(t, tr, "tools/list"); !errors.Is(err, transport.ErrSession) || !errors.Is(err, transport.ErrUnsent) {
					t.Errorf("error of the next call = %v", err)
				}
				shut(t, tr)
				if n := len(f.requests(http.MethodDelete)); n != 0 {
					t.Errorf("%d attempts to end a session that has expired", n)
				}
			})
		})
	}
}

// Without a session none can expire.
func TestNoSession(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, r *http.Request, _ message) {
		http.Error(w, "session not found", http.StatusNotFound)
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		tr.Negotiated("2026-07-28")
		_, err := call(t, tr, "tools/call")
		status, ok := errors.AsType[*transport.StatusError](err)
		if !ok || status.Status != 404 || errors.Is(err, transport.ErrSession) {
			t.Errorf("error = %v", err)
		}
		shut(t, tr)
		if diff := cmp.Diff([]string{"tools/call"}, f.methods()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// A session is ended with the headers that it was made with, and Close waits for that no
// longer than it may.
func TestSessionEnds(t *testing.T) {
	tests := []struct {
		name   string
		limit  time.Duration // of Close
		answer func(w http.ResponseWriter, r *http.Request)
		want   time.Duration
	}{
		{"at once", time.Minute, func(http.ResponseWriter, *http.Request) {}, 0},
		{"refused", time.Minute, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }, 0},
		{"never", time.Minute, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 2 * time.Second},
		{"never, in a hurry", time.Second, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
				if r.Method == http.MethodDelete {
					tt.answer(w, r)
					return
				}
				good(w, r, m)
			}}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				tr := start(t, carrier, &host{}, web.Options{Headers: map[string]string{"Authorization": "Bearer k"}})
				shake(t, tr)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
				defer cancel()
				begun := time.Now()
				if err := tr.Close(ctx); err != nil {
					t.Errorf("Close() = %v", err)
				}
				if took := time.Since(begun); took != tt.want {
					t.Errorf("Close took %v, want %v", took, tt.want)
				}
				all := f.requests(http.MethodDelete)
				if len(all) != 1 || all[0].Header.Get("Authorization") != "Bearer k" || all[0].Header.Get("Mcp-Session-Id") != "s-1" {
					t.Errorf("ends of the session: %+v", all)
				}
				shut(t, tr) // once more
			})
		})
	}
}

// Close ends whatever runs; nothing begins after.
func TestCloseEndsCalls(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
		if r.Method == http.MethodGet || m.Method == "tools/call" {
			begin(w)
			if m.Method == "tools/call" {
				event(w, `{"id":"q","method":"ask"}`)
			}
			<-r.Context().Done()
			return
		}
		good(w, r, m)
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		asked := make(chan struct{})
		tr := start(t, carrier, &host{ask: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			close(asked)
			<-ctx.Done()
			return nil, ctx.Err()
		}}, web.Options{})
		shake(t, tr)
		failed := make(chan error, 1)
		go func() { _, err := tr.Call(t.Context(), transport.Request{Method: "tools/call"}); failed <- err }()
		<-asked
		shut(t, tr)
		if err := <-failed; !errors.Is(err, transport.ErrGone) || !strings.Contains(err.Error(), "was closed") {
			t.Errorf("error of a call that Close ends = %v", err)
		}
		if _, err := call(t, tr, "tools/list"); !errors.Is(err, transport.ErrGone) || !errors.Is(err, transport.ErrUnsent) {
			t.Errorf("error after Close = %v", err)
		}
		if !errors.Is(tr.Err(), transport.ErrGone) {
			t.Errorf("Err() = %v", tr.Err())
		}
		carrier.CloseIdleConnections()
		synctest.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, state := range f.conns {
			if state != http.StateClosed {
				t.Errorf("a connection is left: %v", state)
			}
		}
	})
}
