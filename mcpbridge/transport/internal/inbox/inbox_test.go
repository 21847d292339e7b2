package inbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/inbox"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

const refused = 200

// A handler is functions; nil ones are not to be called.
type handler struct {
	notify  func(method string)
	request func(ctx context.Context, method string) (json.RawMessage, error)
}

func (h handler) Notify(method string, _ json.RawMessage) { h.notify(method) }

func (h handler) Request(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return h.request(ctx, method)
}

// bubble runs a test with an inbox in a bubble, whose answers go to reply.
func bubble(t *testing.T, h handler, reply func(message string), test func(t *testing.T, in *inbox.Inbox, life *lifetime.Lifetime)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		life := lifetime.New(t.Context())
		in := inbox.New(inbox.Options{
			Handler: h, Life: life, Refused: refused, Log: zerolog.Nop(),
			Reply: func(_ context.Context, message []byte) { reply(string(message)) },
		})
		test(t, in, life)
		life.End(nil)
		<-life.Left()
	})
}

func note(method string) rpc.Frame { return rpc.Frame{Method: method} }

func request(id, method string) rpc.Frame {
	return rpc.Frame{ID: json.RawMessage(id), Method: method}
}

func cancels(id string) rpc.Frame {
	return rpc.Frame{Method: "notifications/cancelled", Params: json.RawMessage(`{"requestId":` + id + `}`)}
}

// Notifications come in order, those that wait at the end too, unless nobody wants any.
func TestNotifications(t *testing.T) {
	for _, dropped := range []bool{false, true} {
		t.Run(fmt.Sprint("dropped ", dropped), func(t *testing.T) {
			var heard []string
			var gate chan struct{}
			bubble(t, handler{notify: func(method string) { <-gate; heard = append(heard, method) }}, nil, func(t *testing.T, in *inbox.Inbox, life *lifetime.Lifetime) {
				gate = make(chan struct{})
				for _, m := range []string{"a", "b", "c"} {
					in.Put(note(m))
					synctest.Wait() // the first is with the handler
				}
				want := []string{"a", "b", "c"}
				if dropped {
					in.Drop()
					in.Put(note("d"))
					want = want[:1]
				}
				life.End(nil)
				close(gate)
				<-life.Left()
				if diff := cmp.Diff(want, heard); diff != "" {
					t.Errorf("heard (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A flood waits up to a bound, and does not push out what says more.
func TestFloodOfNotifications(t *testing.T) {
	tests := []struct {
		name   string
		params int // bytes
		want   int // that wait, beside the one that is with the handler
	}{
		{"many", 0, inbox.MaxNotes},
		{"big ones", 1 << 20, inbox.MaxBytes>>20 - 1},
		{"huge ones", 2 * inbox.MaxBytes, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			counts := make(map[string]int)
			var gate chan struct{}
			bubble(t, handler{notify: func(method string) { <-gate; counts[method]++ }}, nil, func(t *testing.T, in *inbox.Inbox, _ *lifetime.Lifetime) {
				gate = make(chan struct{})
				f := note("notifications/message")
				f.Params = make(json.RawMessage, tt.params)
				in.Put(f)
				synctest.Wait()
				for range 3 * inbox.MaxNotes {
					in.Put(f)
				}
				if tt.params < inbox.MaxBytes {
					in.Put(note("notifications/tools/list_changed"))
					tt.want++
				}
				close(gate)
				synctest.Wait()
				if got := counts["notifications/message"] + counts["notifications/tools/list_changed"]; got != tt.want+1 {
					t.Errorf("heard %v, want %d", counts, tt.want+1)
				}
				if tt.params < inbox.MaxBytes && counts["notifications/tools/list_changed"] != 1 {
					t.Errorf("the change was heard %d times", counts["notifications/tools/list_changed"])
				}
				in.Put(note("then")) // there is room again
				synctest.Wait()
				if counts["then"] != 1 {
					t.Error("nothing is heard after the flood")
				}
			})
		})
	}
}

func TestRequests(t *testing.T) {
	h := handler{request: func(ctx context.Context, method string) (json.RawMessage, error) {
		switch method {
		case "roots/list":
			return json.RawMessage("{\n\"roots\": []\n}"), nil
		case "no json":
			return json.RawMessage("{"), nil
		case "broken":
			return nil, errors.New("it broke")
		}
		return nil, nil
	}}
	tests := []struct{ id, method, want string }{
		{`"a\"b"`, "roots/list", `{"jsonrpc":"2.0","id":"a\"b","result":{"roots":[]}}`},
		{"1", "ping", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"0", "nothing", `{"jsonrpc":"2.0","id":0,"result":{}}`},
		{"2", "broken", `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"it broke"}}`},
		{"3", "no json", `{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"unexpected end of JSON input"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.method, func(t *testing.T) {
			var got []string
			bubble(t, h, func(m string) { got = append(got, m) }, func(t *testing.T, in *inbox.Inbox, _ *lifetime.Lifetime) {
				in.Put(request(tt.id, tt.method))
				synctest.Wait()
				if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A request can be cancelled right behind it, and is not answered then. One of the same id
// that comes later is another.
func TestCancelled(t *testing.T) {
	var causes, answers atomic.Int32
	h := handler{request: func(ctx context.Context, method string) (json.RawMessage, error) {
		if method == "wait" {
			<-ctx.Done()
			if strings.Contains(fmt.Sprint(context.Cause(ctx)), "cancelled its request") {
				causes.Add(1)
			}
		}
		return nil, ctx.Err()
	}}
	bubble(t, h, func(string) { answers.Add(1) }, func(t *testing.T, in *inbox.Inbox, _ *lifetime.Lifetime) {
		const many = 2 * inbox.MaxAsked // there is room for them one after the other
		for i := range many {
			in.Put(request(`"x"`, "wait"))
			in.Put(cancels(`"x"`))
			if i%2 == 0 {
				synctest.Wait()
			}
		}
		in.Put(cancels(`"nobody"`))
		synctest.Wait()
		if got := causes.Load(); got != many || answers.Load() != 0 {
			t.Errorf("%d were cancelled and %d answered, want %d and none", got, answers.Load(), many)
		}
		in.Put(request(`"x"`, "quick"))
		synctest.Wait()
		if answers.Load() != 1 {
			t.Error("the next request is not answered")
		}
	})
}

// So many requests are answered at a time and so many refused; what is more is dropped.
func TestFloodOfRequests(t *testing.T) {
	const asked = 3000
	var gate, sent chan struct{}
	var got chan string
	h := handler{request: func(context.Context, string) (json.RawMessage, error) { <-gate; return nil, nil }}
	reply := func(m string) { <-sent; got <- m }
	bubble(t, h, reply, func(t *testing.T, in *inbox.Inbox, _ *lifetime.Lifetime) {
		gate, sent, got = make(chan struct{}), make(chan struct{}), make(chan string, asked)
		for i := range asked {
			in.Put(request(fmt.Sprint(i), "wait"))
		}
		close(sent)
		synctest.Wait()
		var all []string
		for len(got) > 0 {
			all = append(all, <-got)
		}
		if len(all) != refused || slices.ContainsFunc(all, func(m string) bool { return !strings.Contains(m, "too many requests at a time") }) {
			t.Errorf("%d answers, want %d that refuse", len(all), refused)
		}
		close(gate)
		synctest.Wait()
		if len(got) != inbox.MaxAsked {
			t.Errorf("%d were answered, want %d", len(got), inbox.MaxAsked)
		}
		in.Put(request("1", "ping")) // there is room again
		synctest.Wait()
		if len(got) != inbox.MaxAsked+1 {
			t.Error("nothing is answered after the flood")
		}
	})
}

// What comes after the end is not answered, and nor is what it has interrupted.
func TestEnd(t *testing.T) {
	h := handler{
		notify:  func(method string) { t.Errorf("%s was heard", method) },
		request: func(ctx context.Context, _ string) (json.RawMessage, error) { <-ctx.Done(); return nil, ctx.Err() },
	}
	bubble(t, h, func(m string) { t.Errorf("answered %s", m) }, func(t *testing.T, in *inbox.Inbox, life *lifetime.Lifetime) {
		in.Put(request("1", "wait"))
		synctest.Wait()
		life.End(nil)
		<-life.Left()
		in.Put(request("2", "wait"))
		in.Put(note("late"))
		synctest.Wait()
	})
}
