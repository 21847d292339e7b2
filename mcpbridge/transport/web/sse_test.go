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

// An old server has one stream, to which lines are written, and an address for messages.
// It answers tools/call when it is told to, and other requests at once.
type old struct {
	fake
	lines chan string // of the stream; one that is "" breaks it
}

func newOld() *old {
	o := &old{}
	o.answer = func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/message":
			w.WriteHeader(http.StatusAccepted)
			if m.ID != nil && m.Method != "" && m.Method != "tools/call" {
				go func() { o.lines <- "event: message\ndata: " + result(m, `{"method":"`+m.Method+`"}`) + "\n\n" }()
			}
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			begin(w)
			say(w, ": hello\n\nevent: endpoint\ndata: /message?session=1\n\n")
			for {
				select {
				case line := <-o.lines:
					if line == "" {
						panic(http.ErrAbortHandler)
					}
					say(w, line)
				case <-r.Context().Done():
					return
				}
			}
		}
	}
	return o
}

func oldBubble(t *testing.T, test func(t *testing.T, o *old, carrier *http.Transport)) {
	t.Helper()
	o := newOld()
	bubble(t, &o.fake, func(t *testing.T, carrier *http.Transport) {
		o.lines = make(chan string)
		test(t, o, carrier)
	})
}

func TestOldServer(t *testing.T) {
	oldBubble(t, func(t *testing.T, o *old, carrier *http.Transport) {
		h := &host{ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) { return nil, nil }}
		tr := start(t, carrier, h, web.Options{URL: "http://fake.test/sse", SSE: true, Headers: map[string]string{"X-Key": "k"}})
		shake(t, tr)
		if got, err := call(t, tr, "tools/list"); err != nil || got != `{"method":"tools/list"}` {
			t.Errorf("Call() = %s, %v", got, err)
		}
		o.lines <- `data: {"method":"changed"}` + "\n\n"
		o.lines <- `data: {"id":77,"result":{}}` + "\n\n" // which nobody has asked for
		o.lines <- `data: {"id":"q","method":"roots/list"}` + "\n\n"
		if diff := cmp.Diff([]string{"changed"}, h.heard()); diff != "" {
			t.Errorf("notifications (-want +got):\n%s", diff)
		}
		want := []string{"GET", "initialize", "notifications/initialized", "tools/list", "answer"}
		if diff := cmp.Diff(want, o.methods()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		for i, s := range o.requests("") {
			if s.Header.Get("X-Key") != "k" || i > 0 && s.Path != "/message?session=1" {
				t.Errorf("%s %s with %v", s.Verb, s.Path, s.Header)
			}
		}
		shut(t, tr)
		if n := len(o.requests("")); n != len(want) {
			t.Errorf("Close has sent something: %q", o.methods())
		}
	})
}

// With its stream everything ends: calls at once, the transport, and what would begin.
func TestOldStreamEnds(t *testing.T) {
	oldBubble(t, func(t *testing.T, o *old, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{URL: "http://fake.test/sse", SSE: true})
		failed := make(chan error, 2)
		for range 2 {
			go func() { _, err := tr.Call(t.Context(), transport.Request{Method: "tools/call"}); failed <- err }()
		}
		synctest.Wait()
		begun := time.Now()
		o.lines <- `data: {"id":1,"result":` // half of an answer
		o.lines <- ""
		for range 2 {
			if err := <-failed; !errors.Is(err, transport.ErrGone) || errors.Is(err, transport.ErrUnsent) || !strings.Contains(err.Error(), "its event stream has broken") {
				t.Errorf("error = %v", err)
			}
		}
		<-tr.Done()
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %v", took)
		}
		if !errors.Is(tr.Err(), transport.ErrGone) {
			t.Errorf("Err() = %v", tr.Err())
		}
		if _, err := call(t, tr, "tools/list"); !errors.Is(err, transport.ErrGone) || !errors.Is(err, transport.ErrUnsent) {
			t.Errorf("error after = %v", err)
		}
	})
}

func TestOldCancel(t *testing.T) {
	oldBubble(t, func(t *testing.T, o *old, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{URL: "http://fake.test/sse", SSE: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tr.Call(ctx, transport.Request{Method: "tools/call"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v", err)
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"GET", "tools/call", "notifications/cancelled"}, o.methods()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
		o.lines <- `data: {"id":1,"result":{}}` + "\n\n" // it comes too late, and is no harm
		if got, err := call(t, tr, "tools/list"); err != nil {
			t.Errorf("Call() = %s, %v", got, err)
		}
	})
}

// An error without an id is about the only call there is.
func TestOldErrorWithoutID(t *testing.T) {
	oldBubble(t, func(t *testing.T, o *old, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{URL: "http://fake.test/sse", SSE: true})
		failed := make(chan error, 1)
		go func() { _, err := tr.Call(t.Context(), transport.Request{Method: "tools/call"}); failed <- err }()
		synctest.Wait()
		o.lines <- "data: " + failure("null", -32603, "oops") + "\n\n"
		if fail, ok := errors.AsType[*transport.Error](<-failed); !ok || fail.Message != "oops" {
			t.Errorf("error = %v", fail)
		}
	})
}

func TestOldSessionExpires(t *testing.T) {
	o := newOld()
	answer := o.answer
	o.answer = func(w http.ResponseWriter, r *http.Request, m message) {
		if r.Method == http.MethodPost {
			http.Error(w, "Could not find session", http.StatusNotFound)
			return
		}
		answer(w, r, m)
	}
	bubble(t, &o.fake, func(t *testing.T, carrier *http.Transport) {
		o.lines = make(chan string)
		tr := start(t, carrier, &host{}, web.Options{URL: "http://fake.test/sse", SSE: true})
		if _, err := call(t, tr, "tools/call"); !errors.Is(err, transport.ErrSession) {
			t.Errorf("error = %v", err)
		}
		<-tr.Done()
	})
}

// What can be wrong with the stream of an old server. None of it takes forever.
func TestOldServerRefuses(t *testing.T) {
	tests := []struct {
		name string
		step step
		want string
		took time.Duration
	}{
		{"a page", says(""), "the event stream ended before it said where messages go", 0},
		{"broken", breaks(""), "the event stream broke before it said where messages go: unexpected EOF", 0},
		{"silent", holds(": hello\n\ndata: hello\n\n", forever), "the event stream did not say in time where messages go", 30 * time.Second},
		{"deaf", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "the event stream did not say in time where messages go", 30 * time.Second},
		{"no stream", func(w http.ResponseWriter, _ *http.Request) { reply(w, "{}") }, "the server answered with something else than an event stream", 0},
		{"refused", status(http.StatusServiceUnavailable), "HTTP status 503", 0},
		{"locked", status(http.StatusUnauthorized), "needs authorization (HTTP 401)", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := streaming(tt.step)
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				tr := open(carrier, web.Options{SSE: true})
				defer shut(t, tr)
				begun := time.Now()
				if err := tr.Start(t.Context(), &host{}); err == nil || err.Error() != tt.want {
					t.Errorf("Start() = %v, want %s", err, tt.want)
				}
				if took := time.Since(begun); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
			})
		})
	}
	t.Run("in a hurry", func(t *testing.T) {
		bubble(t, streaming(holds("", forever)), func(t *testing.T, carrier *http.Transport) {
			tr := open(carrier, web.Options{SSE: true})
			defer shut(t, tr)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := tr.Start(ctx, &host{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Start() = %v", err)
			}
		})
	})
}

// A server that refuses the handshake as one that does not know streamable HTTP is asked
// in the older way; one that refuses it in any other way is not.
func TestFallback(t *testing.T) {
	tests := []struct {
		name   string
		method string
		status int
		body   string
		falls  bool
	}{
		{"400", "initialize", 400, "", true},
		{"404", "initialize", 404, "404 page not found", true},
		{"405", "initialize", 405, "", true},
		{"another request", "server/discover", 405, "", false},
		{"in the words of the protocol", "initialize", 400, failure("1", -32022, "no"), false},
		{"401", "initialize", 401, "", false},
		{"403", "initialize", 403, "", false},
		{"429", "initialize", 429, "", false},
		{"500", "initialize", 500, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := newOld()
			answer := o.answer
			o.answer = func(w http.ResponseWriter, r *http.Request, m message) {
				if r.Method == http.MethodPost && r.URL.Path == "/mcp" {
					w.WriteHeader(tt.status)
					w.Write([]byte(tt.body))
					return
				}
				answer(w, r, m)
			}
			bubble(t, &o.fake, func(t *testing.T, carrier *http.Transport) {
				o.lines = make(chan string)
				tr := start(t, carrier, &host{}, web.Options{})
				got, err := call(t, tr, tt.method)
				if tt.falls && (err != nil || got != `{"method":"initialize"}`) {
					t.Errorf("Call() = %s, %v", got, err)
				}
				if n := len(o.requests(http.MethodGet)); !tt.falls && (err == nil || n != 0) {
					t.Errorf("Call() = %s, %v, and %d streams", got, err, n)
				}
				if !tt.falls {
					return
				}
				shakeOff(t, tr)
				if got, err := call(t, tr, "tools/list"); err != nil {
					t.Errorf("Call() = %s, %v", got, err)
				}
				want := []string{"initialize", "GET", "initialize", "notifications/initialized", "tools/list"}
				if diff := cmp.Diff(want, o.methods()); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// shakeOff ends a handshake that has begun.
func shakeOff(t *testing.T, tr *web.Transport) {
	t.Helper()
	tr.Negotiated("2024-11-05")
	if err := tr.Notify(t.Context(), "notifications/initialized", nil); err != nil {
		t.Fatal(err)
	}
}

// Where there is no older way either, the first refusal is what counts. A server that has
// taken a message before is not asked.
func TestNoFallback(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
		if m.Method == "server/discover" {
			reply(w, failure(string(m.ID), -32601, "method not found"))
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		_, err := call(t, tr, "initialize")
		if status, ok := errors.AsType[*transport.StatusError](err); !ok || status.Status != 404 ||
			err.Error() != "HTTP status 404; nor is it an event stream of MCP 2024-11-05: HTTP status 404" {
			t.Errorf("error = %v", err)
		}
		if _, err := call(t, tr, "server/discover"); err == nil {
			t.Error("no error")
		}
		if _, err := call(t, tr, "initialize"); err == nil {
			t.Error("no error")
		}
		if diff := cmp.Diff([]string{"initialize", "GET", "server/discover", "initialize"}, f.methods()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}
