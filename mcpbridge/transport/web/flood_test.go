package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// A flood of notifications waits for a handler that is busy up to a bound, and does not
// push out those that say more than how far something is.
func TestFloodOfNotifications(t *testing.T) {
	f := streaming(func(w http.ResponseWriter, r *http.Request) {
		begin(w)
		for range 5000 {
			event(w, `{"method":"notifications/message"}`)
		}
		event(w, `{"method":"changed"}`)
		<-r.Context().Done()
	})
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		h := &busy{gate: make(chan struct{})}
		tr := web.New(web.Options{URL: "http://fake.test/", HTTP: carrier})
		if err := tr.Start(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		defer shut(t, tr)
		shake(t, tr)
		synctest.Wait()
		close(h.gate)
		got := h.heard()
		if !slices.Contains(got, "changed") || len(got) < 1000 || len(got) > 3000 {
			t.Errorf("%d notifications came through", len(got))
		}
	})
}

// busy takes no notification before its gate is open.
type busy struct {
	host
	gate chan struct{}
}

func (h *busy) Notify(method string, params json.RawMessage) {
	<-h.gate
	h.host.Notify(method, params)
}

// A server can ask so many things at a time; what is more is refused, and the calls go on.
func TestFloodOfRequests(t *testing.T) {
	const asked = 2000
	var refused, answered atomic.Int32
	f := &fake{}
	f.answer = func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case r.Method == http.MethodGet:
			begin(w)
			for i := range asked {
				event(w, fmt.Sprintf(`{"id":"q-%d","method":"roots/list"}`, i))
			}
			<-r.Context().Done()
		case m.Method == "":
			if strings.Contains(string(m.Error), "too many requests at a time") {
				refused.Add(1)
			} else {
				answered.Add(1)
			}
			w.WriteHeader(http.StatusAccepted)
		default:
			good(w, r, m)
		}
	}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		gate := make(chan struct{})
		var most, now atomic.Int32
		tr := start(t, carrier, &host{ask: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-gate
			return nil, nil
		}}, web.Options{})
		shake(t, tr)
		synctest.Wait()
		if _, err := call(t, tr, "tools/list"); err != nil {
			t.Error(err)
		}
		close(gate)
		synctest.Wait()
		if got := most.Load(); got > 128 {
			t.Errorf("%d requests at a time", got)
		}
		if a, r := answered.Load(), refused.Load(); a < 128 || r == 0 || a+r > asked {
			t.Errorf("%d answered and %d refused of %d", a, r, asked)
		}
	})
}
