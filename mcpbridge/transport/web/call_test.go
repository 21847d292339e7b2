package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/web"
)

// Whatever form an answer has, its result is found or the error says what there was in its
// place. The id of the request is 1.
func TestAnswers(t *testing.T) {
	const big = 1 << 20
	stream := func(text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { begin(w); say(w, text) }
	}
	body := func(kind, text string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.Header().Set("Content-Type", kind); io.WriteString(w, text) }
	}
	tests := []struct {
		name   string
		answer func(http.ResponseWriter)
		want   string // result
		err    string // that contains
		notes  []string
	}{
		{"a body", body("application/json", `{"jsonrpc":"2.0","id":1,"result":{"big":9223372036854775807}}`), `{"big":9223372036854775807}`, "", nil},
		{"a body of no kind", body("", `{"jsonrpc":"2.0","id":1,"result":7}`), `7`, "", nil},
		{"an array", body("application/json", `[{"method":"n"},{"id":1,"result":7}]`), `7`, "", []string{"n"}},
		{"an id that is a text", body("application/json", `{"id":"1","result":7}`), `7`, "", nil},
		{"an id with a fraction", body("application/json", `{"id":1.0,"result":7}`), `7`, "", nil},
		{"a result and no error", body("application/json", `{"id":1,"result":7,"error":null}`), `7`, "", nil},
		{"a stream", stream("event: message\r\ndata: {\"id\":1,\r\ndata: \"result\":7}\r\n\r\n"), `7`, "", nil},
		{"a stream with more", stream("data: {\"method\":\"a\",\"params\":{\"x\":1}}\n\n: ping\n\nevent: other\ndata: {\"id\":1,\"result\":8}\n\ndata: {\"method\":\"b\"}\n\ndata: {\"id\":1,\"result\":7}\n\n"),
			`7`, "", []string{`a{"x":1}`, "b"}},
		{"a stream that goes on", stream("data: {\"id\":1,\"result\":7}\n\ndata: {\"method\":\"late\"}\n\n"), `7`, "", []string{"late"}},
		{"a stream that lacks its last line end", stream("data: {\"id\":1,\"result\":7}"), `7`, "", nil},
		{"an answer to something else before", stream("data: {\"id\":2,\"result\":8}\n\ndata: {\"id\":1,\"result\":7}\n\n"), `7`, "", nil},
		{"a message in between that is none", stream("data: hello\n\ndata: {}\n\ndata: {\"id\":1,\"result\":7}\n\n"), `7`, "", nil},

		{"an error", body("application/json", failure("1", -32602, " no such tool ")), "", "no such tool (-32602)", nil},
		{"an error without an id", body("application/json", failure("null", -32603, "oops")), "", "oops (-32603)", nil},
		{"an error that is a text", body("application/json", `{"id":1,"error":"oops"}`), "", "oops (-32603)", nil},
		{"neither", body("application/json", `{"id":1,"result":null,"error":null}`), "null", "", nil},
		{"another id", body("application/json", `{"id":2,"result":7}`), "", "answered another request", nil},
		{"another id in a stream", stream("data: {\"id\":2,\"result\":7}\n\n"), "", "answered another request", nil},
		{"notifications alone", body("application/json", `[{"method":"n"}]`), "", "sent no answer", []string{"n"}},
		{"nothing", func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) }, "", "took the request and gave no answer (HTTP 202)", nil},
		{"a page", body("text/html", "<html>hi</html>"), "", "not that of an MCP server", nil},
		{"another text", body("text/plain", "hello\n there"), "", "no message of MCP (HTTP 200): hello there", nil},
		{"half of a body", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"id":1,`)
		}, "", "before the answer", nil},
		{"a stream that ends", stream(": ping\n\n"), "", "ended before the answer to the request, which may have been run", nil},
		{"a stream that ends in the answer", stream("data: {\"id\":1,\"res"), "", "ended before the answer", nil},
		{"a stream that breaks", func(w http.ResponseWriter) { begin(w); panic(http.ErrAbortHandler) }, "", "unexpected EOF", nil},
		{"a body without an end", body("application/json", `{"id":1,"result":"`+strings.Repeat("x", big)+`"}`), "", "too long", nil},
		{"an event without an end", stream("data: {\"id\":1,\"result\":\"" + strings.Repeat("x", big)), "", "too long", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{answer: func(w http.ResponseWriter, _ *http.Request, _ message) { tt.answer(w) }}
			bubble(t, f, func(t *testing.T, carrier *http.Transport) {
				var h host
				tr := start(t, carrier, &h, web.Options{MaxMessage: big})
				got, err := call(t, tr, "tools/call")
				if got != tt.want {
					t.Errorf("Call() = %.100s, want %s", got, tt.want)
				}
				switch {
				case tt.err == "" && err != nil, tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				if errors.Is(err, transport.ErrUnsent) {
					t.Errorf("%v is one of something that was not sent", err)
				}
				if diff := cmp.Diff(tt.notes, h.heard()); diff != "" {
					t.Errorf("notifications (-want +got):\n%s", diff)
				}
				select {
				case <-tr.Done():
					t.Errorf("one call ends the transport: %v", tr.Err())
				default:
				}
			})
		})
	}
}

// Notifications on the stream of a request go to who made it, if that one wants them.
func TestNotificationsOfARequest(t *testing.T) {
	f := &fake{answer: func(w http.ResponseWriter, _ *http.Request, m message) {
		begin(w)
		event(w, `{"method":"a"}`)
		event(w, `{"method":"b","params":{}}`)
		event(w, result(m, `1`))
	}}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		var h host
		tr := start(t, carrier, &h, web.Options{})
		var got []string
		_, err := tr.Call(t.Context(), transport.Request{Method: "m", Notify: func(method string, params json.RawMessage) {
			got = append(got, method+string(params))
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a", "b{}"}, got); diff != "" {
			t.Errorf("of the request (-want +got):\n%s", diff)
		}
		if got := h.heard(); got != nil {
			t.Errorf("the handler has heard %q", got)
		}
	})
}

// A server can ask in the stream of a request, and cancel that. The answer goes in a
// message of its own, in the session.
func TestServerAsks(t *testing.T) {
	answers := make(chan string, 4)
	f := &fake{}
	f.answer = func(w http.ResponseWriter, r *http.Request, m message) {
		switch {
		case m.Method == "" && m.ID != nil:
			w.WriteHeader(http.StatusAccepted)
			answers <- string(m.ID) + string(m.Result) + string(m.Error)
		case m.Method == "tools/call":
			begin(w)
			event(w, `{"id":"q-1","method":"roots/list"}`)
			event(w, `{"id":2,"method":"sampling/createMessage"}`)
			event(w, `{"id":3,"method":"ping"}`)
			event(w, `{"id":4,"method":"slow"}`)
			event(w, `{"method":"notifications/cancelled","params":{"requestId":4}}`)
			all, err := json.Marshal([]string{<-answers, <-answers, <-answers})
			if err != nil {
				panic(err)
			}
			event(w, result(m, string(all)))
		default:
			good(w, r, m)
		}
	}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		cancelled := make(chan struct{})
		tr := start(t, carrier, &host{ask: func(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
			switch method {
			case "roots/list":
				return json.RawMessage(`{"roots":[]}`), nil
			case "slow":
				<-ctx.Done()
				close(cancelled)
				return nil, ctx.Err()
			}
			return nil, &transport.Error{Code: -1, Message: "no", Data: json.RawMessage(`{"x":1}`)}
		}}, web.Options{Headers: map[string]string{"X-Key": "k"}})
		shake(t, tr)
		raw, err := call(t, tr, "tools/call")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		want := []string{`"q-1"{"roots":[]}`, `2{"code":-1,"message":"no","data":{"x":1}}`, `3{}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		<-cancelled
		synctest.Wait()
		for _, s := range f.requests(http.MethodPost) {
			if s.Message.Method == "" && (s.Header.Get("Mcp-Session-Id") != "s-1" || s.Header.Get("X-Key") != "k" || s.Header.Get("Mcp-Protocol-Version") != "2025-11-25") {
				t.Errorf("headers of an answer = %v", s.Header)
			}
		}
	})
}

// Whoever stops waiting gets the error of its context at once, and the server hears of
// it: by a message where there are sessions, and by the end of the stream where not.
func TestCancel(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			var f fake
			ended := make(chan time.Time, 1)
			f.answer = func(w http.ResponseWriter, r *http.Request, m message) {
				if m.Method != "tools/call" {
					good(w, r, m)
					return
				}
				begin(w)
				<-r.Context().Done()
				ended <- time.Now()
			}
			bubble(t, &f, func(t *testing.T, carrier *http.Transport) {
				tr := start(t, carrier, &host{}, web.Options{})
				tr.Negotiated(revision)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begun := time.Now()
				_, err := tr.Call(ctx, transport.Request{Method: "tools/call"})
				if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
					t.Errorf("error = %v after %v", err, time.Since(begun))
				}
				if after := (<-ended).Sub(begun); after != time.Second {
					t.Errorf("the stream ended after %v", after)
				}
				synctest.Wait()
				got := f.methods()
				want := []string{"tools/call"}
				if revision == "2025-11-25" {
					want = append(want, "notifications/cancelled")
					if body := f.last(t, "notifications/cancelled").Body; !strings.Contains(body, `"requestId":1,`) {
						t.Errorf("cancelled: %s", body)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("messages (-want +got):\n%s", diff)
				}
				if _, err := tr.Call(ctx, transport.Request{Method: "tools/call"}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error of a context that has ended = %v", err)
				}
			})
		})
	}
}

// The first requests are not cancelled by a message: there are servers that end then.
func TestCancelOfTheBeginning(t *testing.T) {
	f := &fake{answer: func(_ http.ResponseWriter, r *http.Request, _ message) { <-r.Context().Done() }}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		tr := start(t, carrier, &host{}, web.Options{})
		for _, method := range []string{"initialize", "server/discover"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := tr.Call(ctx, transport.Request{Method: method}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", method, err)
			}
			cancel()
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"initialize", "server/discover"}, f.methods()); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

// A server that is not there has been sent nothing; one that breaks off may have.
func TestUnsent(t *testing.T) {
	f := &fake{answer: func(http.ResponseWriter, *http.Request, message) { panic(http.ErrAbortHandler) }}
	bubble(t, f, func(t *testing.T, carrier *http.Transport) {
		down := start(t, carrier, &host{}, web.Options{URL: "http://down.test/mcp?key=hidden-value"})
		_, err := call(t, down, "tools/call")
		if !errors.Is(err, transport.ErrUnsent) || strings.Contains(err.Error(), "hidden") || !strings.Contains(err.Error(), "http://down.test") {
			t.Errorf("error = %v, want one that tells where to and not the rest", err)
		}
		if err := down.Notify(t.Context(), "n", nil); !errors.Is(err, transport.ErrUnsent) {
			t.Errorf("error of a notification = %v", err)
		}
		up := start(t, carrier, &host{}, web.Options{})
		if _, err := call(t, up, "tools/call"); err == nil || errors.Is(err, transport.ErrUnsent) {
			t.Errorf("error = %v, want one of something that was sent", err)
		}
	})
}

// A connection that has died while it waited is no reason to fail for what the server may
// be given twice, and one for what it may not.
func TestDeadConnection(t *testing.T) {
	for _, tt := range []struct {
		method string
		fails  bool
	}{{"tools/list", false}, {"tools/call", true}} {
		var f fake
		n := 0
		f.answer = func(w http.ResponseWriter, r *http.Request, m message) {
			if n++; n == 2 {
				panic(http.ErrAbortHandler)
			}
			good(w, r, m)
		}
		bubble(t, &f, func(t *testing.T, carrier *http.Transport) {
			tr := start(t, carrier, &host{}, web.Options{})
			for i, wrong := range []bool{false, tt.fails} {
				if _, err := call(t, tr, tt.method); (err != nil) != wrong {
					t.Errorf("%s %d: %v", tt.method, i, err)
				}
				synctest.Wait()
			}
		})
	}
}

func TestStartRefuses(t *testing.T) {
	tests := []struct {
		o    web.Options
		want string
	}{
		{web.Options{URL: "fake.test/mcp"}, `an address begins with https:// or http://, and not with ""`},
		{web.Options{URL: "ws://fake.test"}, `an address begins with https:// or http://, and not with "ws"`},
		{web.Options{URL: "http:///mcp"}, "the address has no host; it looks like https://host/path"},
		{web.Options{URL: "http://fake.test/%zz?key=secret"}, "the address is no URL; it looks like https://host/path"},
		{web.Options{URL: "http://fake.test", Headers: map[string]string{"X Y": "secret"}}, `"X Y" is no name of a header`},
		{web.Options{URL: "http://fake.test", Headers: map[string]string{"X-Y": "secret\n"}}, `the value of the header "X-Y" holds a line break or another character that cannot be sent`},
	}
	for _, tt := range tests {
		tr := web.New(tt.o)
		if err := tr.Start(t.Context(), &host{}); err == nil || err.Error() != tt.want {
			t.Errorf("Start() = %v, want %s", err, tt.want)
		}
		if _, err := tr.Call(t.Context(), transport.Request{Method: "m"}); !errors.Is(err, transport.ErrUnsent) {
			t.Errorf("Call() = %v", err)
		}
		if err := tr.Close(t.Context()); err != nil {
			t.Errorf("Close() = %v", err)
		}
	}
}
