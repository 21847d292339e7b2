package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// A reply is how a call ended.
type reply struct {
	result string
	err    error
}

// ask makes a call whose result is a string.
func ask(ctx context.Context, c *wire.Conn) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		var r reply
		r.err = c.Call(ctx, "ask", map[string]int{"n": 1}, &r.result)
		done <- r
	}()
	return done
}

const asked = `{"jsonrpc":"2.0","id":1,"method":"ask","params":{"n":1}}`

func TestCall(t *testing.T) {
	tests := []struct {
		name   string
		in     string
		want   string
		failed *wire.Error
	}{
		{"result", `{"jsonrpc":"2.0","id":1,"result":"yes"}`, "yes", nil},
		{"null", `{"jsonrpc":"2.0","id":1,"result":null}`, "", nil},
		{"null beside an error that is null", `{"jsonrpc":"2.0","id":1,"result":"yes","error":null}`, "yes", nil},
		{"without a version", `{"id":1,"result":"yes"}`, "yes", nil},
		{"error", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}`, "",
			&wire.Error{Code: -32601, Message: "no"}},
		{"error with data", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no","data":{"a":2}}}`, "",
			&wire.Error{Code: 1, Message: "no", Data: json.RawMessage(`{"a":2}`)}},
		{"error that is none", `{"jsonrpc":"2.0","id":1,"error":"no"}`, "",
			&wire.Error{Code: -32603, Message: "the peer sent a malformed error"}},
		{"after an error for nobody", `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"usage_update"}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"result":"yes"}`, "yes", nil},
		{"after answers to other calls", `{"jsonrpc":"2.0","id":2,"result":"no"}` + "\n" +
			`{"jsonrpc":"2.0","id":"1","result":"no"}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"result":"yes"}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"result":"twice"}`, "yes", nil},
		{"too long", `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", 1000) + `"}`, "",
			&wire.Error{Code: -32603, Message: "the answer is too long"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, handler{}, wire.Options{MaxFrame: 500})
				done := ask(t.Context(), p.Conn)
				p.expect(asked)
				p.write(tt.in + "\n")
				got := <-done
				if failed, _ := errors.AsType[*wire.Error](got.err); cmp.Diff(tt.failed, failed) != "" || got.result != tt.want {
					t.Errorf("Call: %q, %v, want %q, %v", got.result, got.err, tt.want, tt.failed)
				}
				p.expect() // an answer is never answered
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

func TestCallWithAnswerOfAnotherShape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{}, wire.Options{})
		done := ask(t.Context(), p.Conn)
		p.expect(asked)
		p.write(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")
		if got := <-done; got.err == nil || !strings.HasPrefix(got.err.Error(), "decoding the answer to ask: ") {
			t.Errorf("Call: %v", got.err)
		}
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// C022: the wait ends with its context, and a late answer changes nothing.
func TestCallCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{}, wire.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		start := time.Now()
		done := ask(ctx, p.Conn)
		p.expect(asked)
		got := <-done
		if took := time.Since(start); !errors.Is(got.err, context.DeadlineExceeded) || took != 20*time.Second {
			t.Errorf("Call: %v after %v, want %v after 20s", got.err, took, context.DeadlineExceeded)
		}
		p.expect(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
		p.write(`{"jsonrpc":"2.0","id":1,"result":"late"}` + "\n" + echo)
		p.expect(echoed)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestCallCancelledWhileNothingIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, handler{}, wire.Options{QueueFrames: 1})
		for range 2 { // one is being written, one waits
			if err := p.Notify("n", nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := ask(ctx, p.Conn)
		synctest.Wait()
		cancel()
		if got := <-done; !errors.Is(got.err, context.Canceled) {
			t.Errorf("Call: %v, want %v", got.err, context.Canceled)
		}
		p.listen()
		n := `{"jsonrpc":"2.0","method":"n"}`
		p.expect(n, n) // a call that was never sent is not cancelled either
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestCallAtEndOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		var p *peer
		p = open(t, handler{serve: func(ctx context.Context, _ *wire.Request) (any, error) {
			first := <-ask(ctx, p.Conn)
			second := <-ask(ctx, p.Conn)
			return []bool{ended, errors.Is(first.err, wire.ErrEndOfInput), errors.Is(second.err, wire.ErrEndOfInput)}, nil
		}}, wire.Options{EndOfInput: func() { ended = true }})
		p.write(request(7, "m"))
		p.expect(asked)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		p.expect(`{"jsonrpc":"2.0","id":7,"result":[true,true,true]}`)
	})
}

func TestCallAtTheEndOfTheOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, handler{}, wire.Options{})
		done := ask(t.Context(), p.Conn)
		synctest.Wait()
		p.out.Close()
		if got := <-done; !errors.Is(got.err, wire.ErrClosed) {
			t.Errorf("Call: %v, want %v", got.err, wire.ErrClosed)
		}
		if err := <-p.served; !errors.Is(err, wire.ErrClosed) {
			t.Errorf("Serve: %v, want %v", err, wire.ErrClosed)
		}
		if got := <-ask(t.Context(), p.Conn); !errors.Is(got.err, wire.ErrClosed) {
			t.Errorf("Call after Serve: %v, want %v", got.err, wire.ErrClosed)
		}
	})
}
