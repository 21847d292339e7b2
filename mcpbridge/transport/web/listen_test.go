package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// A tool may ask something as soon as it is called, on the server's own stream. That gets
// a moment to open first, and nothing but the calls of tools waits for it.
func TestCallsWaitForOwnStream(t *testing.T) {
	tests := []struct {
		name  string
		opens time.Duration // that the server takes to answer the request for its stream
		code  int
		want  string // what the first call comes to
		took  time.Duration
	}{
		{"opens", 100 * time.Millisecond, http.StatusOK, `"yes"`, 100 * time.Millisecond},
		{"is refused", 100 * time.Millisecond, http.StatusMethodNotAllowed, `"nobody to ask"`, 100 * time.Millisecond},
		{"is down", 100 * time.Millisecond, http.StatusServiceUnavailable, `"nobody to ask"`, 100 * time.Millisecond},
		{"opens too late", time.Minute, http.StatusOK, `"nobody to ask"`, 250 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var listens atomic.Bool
			var questions, answers chan string
			f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
				switch {
				case r.Method == http.MethodGet:
					select {
					case <-time.After(tt.opens):
					case <-r.Context().Done():
						return
					}
					if tt.code != http.StatusOK {
						w.WriteHeader(tt.code)
						return
					}
					listens.Store(true)
					begin(w)
					for {
						select {
						case q := <-questions:
							event(w, q)
						case <-r.Context().Done():
							return
						}
					}
				case m.Method == "" && m.ID != nil:
					w.WriteHeader(http.StatusAccepted)
					answers <- string(m.Result)
				case m.Method == "tools/call":
					if !listens.Load() {
						reply(w, result(m, `"nobody to ask"`))
						return
					}
					questions <- `{"id":"q","method":"elicitation/create"}`
					reply(w, result(m, <-answers))
				default:
					good(w, r, m)
				}
			}}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				questions, answers = make(chan string), make(chan string)
				tr := start(t, carrier, &host{ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
					return json.RawMessage(`"yes"`), nil
				}}, web.Options{})
				shake(t, tr)
				type step struct {
					Method, Result string
					Took           time.Duration
				}
				want := []step{
					{"tools/list", `{"method":"tools/list"}`, 0},
					{"tools/call", tt.want, tt.took},
					{"tools/call", tt.want, 0},
				}
				var got []step
				for _, s := range want {
					begun := time.Now()
					raw, err := call(t, tr, s.Method)
					if err != nil {
						t.Fatalf("%s: %v", s.Method, err)
					}
					got = append(got, step{s.Method, raw, time.Since(begun)})
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}
