package web_test

import (
	"context"
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

// A step is how a server answers one request for a stream.
type step func(w http.ResponseWriter, r *http.Request)

func status(code int, header ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// says writes a stream and ends it.
func says(text string) step {
	return func(w http.ResponseWriter, _ *http.Request) { begin(w); say(w, text) }
}

// breaks writes a stream and breaks it off.
func breaks(text string) step {
	return func(w http.ResponseWriter, _ *http.Request) { begin(w); say(w, text); panic(http.ErrAbortHandler) }
}

// holds writes a stream, and does not end it for d.
func holds(text string, d time.Duration) step {
	return func(w http.ResponseWriter, r *http.Request) {
		begin(w)
		say(w, text)
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}
}

// streaming answers GET by the steps in turn, the last again and again.
func streaming(steps ...step) *fake {
	n := 0
	return &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
		if r.Method != http.MethodGet {
			good(w, r, m)
			return
		}
		step := steps[min(n, len(steps)-1)]
		n++
		step(w, r)
	}}
}

const forever = 1000 * time.Hour

// The server's own stream is opened when the handshake has ended, and again whenever it
// has: after the pause that the server wants, and longer ones while it gets nothing.
func TestOwnStream(t *testing.T) {
	changed := "data: {\"method\":\"changed\"}\n\n"
	tests := []struct {
		name  string
		steps []step
		asked int // requests within an hour, at least
		most  int
		notes []string
		last  string // Last-Event-ID of the last one
	}{
		{"held", []step{holds(changed, forever)}, 1, 1, []string{"changed"}, ""},
		{"none", []step{status(405)}, 1, 1, nil, ""},
		{"not known", []step{status(404)}, 1, 1, nil, ""},
		{"something else", []step{func(w http.ResponseWriter, _ *http.Request) { reply(w, `{}`) }}, 1, 1, nil, ""},
		{"down for a while", []step{status(503), status(502), status(429), holds(changed, forever)}, 4, 4, []string{"changed"}, ""},
		{"taken", []step{status(409), holds(changed, forever)}, 2, 2, []string{"changed"}, ""},
		{"broken", []step{breaks(changed), holds(changed, forever)}, 2, 2, []string{"changed", "changed"}, ""},
		{"with ids", []step{says("id: 7\n" + changed), holds("id: 8\n\n", forever)}, 2, 2, []string{"changed"}, "7"},
		{"cut off", []step{breaks("id: 7\n" + changed + "id: 8\ndata: {\"meth"), holds("", forever)}, 2, 2, []string{"changed"}, "7"},
		{"of a minute", []step{holds("", time.Minute)}, 59, 60, nil, ""},
		{"empty", []step{says("")}, 120, 300, nil, ""},
		{"down", []step{status(503)}, 120, 300, nil, ""},
		{"down, and says how long", []step{status(503, "Retry-After", "60")}, 60, 61, nil, ""},
		{"down, and says for ages", []step{status(503, "Retry-After", "999999")}, 12, 13, nil, ""},
		{"in a hurry", []step{says("retry: 0\n\n")}, 100, 300, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := streaming(tt.steps...)
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				var h host
				tr := start(t, carrier, &h, web.Options{})
				if tr.Negotiated("2025-11-25"); len(f.requests("")) != 0 {
					t.Error("a stream is asked for before the handshake has ended")
				}
				shake(t, tr)
				time.Sleep(time.Hour)
				got := h.heard()
				if diff := cmp.Diff(tt.notes, got); diff != "" {
					t.Errorf("notifications (-want +got):\n%s", diff)
				}
				all := f.requests(http.MethodGet)
				if len(all) < tt.asked || len(all) > tt.most {
					t.Errorf("%d requests, want %d to %d", len(all), tt.asked, tt.most)
				}
				if last := all[len(all)-1].Header.Get("Last-Event-Id"); last != tt.last {
					t.Errorf("Last-Event-ID = %q, want %q", last, tt.last)
				}
				if tr.Err() != nil {
					t.Errorf("Err() = %v", tr.Err())
				}
			})
		})
	}
}

func TestOwnStreamPauses(t *testing.T) {
	f := streaming(says("retry: 3000\n"+`data: {"method":"m"}`+"\n\n"), status(503), holds("", forever))
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		shake(t, start(t, carrier, &host{}, web.Options{}))
		for _, tt := range []struct {
			after time.Duration
			want  int
		}{{2999 * time.Millisecond, 1}, {time.Millisecond, 2}, {2900 * time.Millisecond, 2}, {3100 * time.Millisecond, 3}} {
			time.Sleep(tt.after)
			synctest.Wait()
			if got := len(f.requests(http.MethodGet)); got != tt.want {
				t.Errorf("%d requests, want %d", got, tt.want)
			}
		}
	})
}

// A stream that was there, and a session that is not any more: the transport has ended.
func TestOwnStreamFindsSessionGone(t *testing.T) {
	f := streaming(says(""), status(404))
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		shake(t, tr)
		<-tr.Done()
		if !errors.Is(tr.Err(), transport.ErrSession) {
			t.Errorf("Err() = %v", tr.Err())
		}
	})
}

// The newest revision has no such stream.
func TestNoOwnStream(t *testing.T) {
	f := streaming(holds("", forever))
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		tr.Negotiated("2026-07-28")
		if err := tr.Notify(t.Context(), "notifications/initialized", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if n := len(f.requests(http.MethodGet)); n != 0 {
			t.Errorf("%d streams were asked for", n)
		}
	})
}

// A stream that ends before the answer is taken up again behind its last event, where
// there are sessions and the server gives ids.
func TestResume(t *testing.T) {
	const answer = "data: {\"id\":1,\"result\":7}\n\n"
	note := func(id, method string) string { return "id: " + id + "\ndata: {\"method\":\"" + method + "\"}\n\n" }
	tests := []struct {
		name  string
		post  step
		gets  []step
		want  string
		err   string
		notes []string
		lasts []string // Last-Event-ID of each attempt
		took  time.Duration
	}{
		{"at once", breaks("id: 1\n\n"), []step{says(answer)}, "7", "", nil, []string{"1"}, time.Second},
		{"as the server wants", says("id: 1\nretry: 500\ndata:\n\n"), []step{says(answer)}, "7", "", nil, []string{"1"}, 500 * time.Millisecond},
		{"no sooner than that", says("id: 1\nretry: 0\n\n"), []step{says(answer)}, "7", "", nil, []string{"1"}, 100 * time.Millisecond},
		{"behind notifications", breaks(note("1", "a") + note("2", "b") + "id: 3\ndata: {\"id\":1,"), []step{says("id: 3\n" + answer)}, "7", "", []string{"a", "b"}, []string{"2"}, time.Second},
		{"again", says(note("1", "a")), []step{says(note("2", "b")), breaks(""), says(answer)}, "7", "", []string{"a", "b"}, []string{"1", "2", "2"}, 3 * time.Second},
		{"in vain", says("id: 1\n\n"), []step{status(405)}, "", "does not take it up again: HTTP status 405", nil, []string{"1"}, time.Second},
		{"of a server without streams", says("id: 1\n\n"), []step{func(w http.ResponseWriter, _ *http.Request) { reply(w, `{}`) }}, "", "something else than an event stream", nil, []string{"1"}, time.Second},
		{"without ids", breaks(": ping\n\n"), nil, "", "may have been run: unexpected EOF", nil, nil, 0},
		{"of a session that is gone", says("id: 1\n\n"), []step{status(404)}, "", "may have been run", nil, []string{"1"}, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			f := &fake{answer: func(w http.ResponseWriter, r *http.Request, m message) {
				if r.Method == http.MethodPost {
					tt.post(w, r)
					return
				}
				n++
				tt.gets[min(n, len(tt.gets))-1](w, r)
			}}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				var h host
				tr := start(t, carrier, &h, web.Options{})
				tr.Negotiated("2025-11-25")
				begun := time.Now()
				got, err := call(t, tr, "tools/call")
				if got != tt.want || (tt.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Call() = %s, %v, want %s, %s", got, err, tt.want, tt.err)
				}
				if errors.Is(err, transport.ErrSession) {
					t.Errorf("%v says that the request was not run", err)
				}
				if took := time.Since(begun); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if diff := cmp.Diff(tt.notes, h.heard()); diff != "" {
					t.Errorf("notifications (-want +got):\n%s", diff)
				}
				var lasts []string
				for _, s := range f.requests(http.MethodGet) {
					lasts = append(lasts, s.Header.Get("Last-Event-Id"))
				}
				if diff := cmp.Diff(tt.lasts, lasts); diff != "" {
					t.Errorf("Last-Event-ID (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A server that is down is given a while, and then up.
func TestResumeGivesUp(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, r *http.Request, _ message) {
		if r.Method == http.MethodPost {
			says("id: 1\n\n")(w, r)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		tr.Negotiated("2025-06-18")
		begun := time.Now()
		if _, err := call(t, tr, "tools/call"); err == nil || !strings.Contains(err.Error(), "cannot be taken up again: HTTP status 503") {
			t.Errorf("error = %v", err)
		}
		if n, took := len(f.requests(http.MethodGet)), time.Since(begun); n != 5 || took < 8*time.Second || took > 31*time.Second {
			t.Errorf("%d attempts in %v", n, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := tr.Call(ctx, transport.Request{Method: "tools/call"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want that of the context", err)
		}
	})
}

// Where there are no sessions nothing is taken up again, whatever the server gives.
func TestNoResume(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, r *http.Request, _ message) { breaks("id: 1\n\n")(w, r) }}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		tr.Negotiated("2026-07-28")
		if _, err := call(t, tr, "tools/call"); err == nil || !strings.Contains(err.Error(), "before the answer") {
			t.Errorf("error = %v", err)
		}
		if n := len(f.requests("")); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}
