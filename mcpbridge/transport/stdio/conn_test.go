package stdio

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A program is the other side of a conn: what it reads, and what it writes.
type program struct {
	t   *testing.T
	in  *bufio.Reader
	out net.Conn
}

// connect returns a conn in a bubble, and its other side. The program ends when it is
// killed or has closed its output.
func connect(t *testing.T, o Options, h transport.Handler) (*conn, *program) {
	theirIn, in := net.Pipe()
	out, theirOut := net.Pipe()
	var mu sync.Mutex
	var first error
	kill := func(cause error) {
		mu.Lock()
		defer mu.Unlock()
		first = cmp.Or(first, cause)
		theirIn.Close()
		theirOut.Close()
	}
	o = New(o).o
	c := newConn(t.Context(), o, in, h, kill)
	tended := make(chan struct{})
	go func() {
		defer close(tended)
		c.read(out)
		mu.Lock()
		defer mu.Unlock()
		c.end(&transport.GoneError{State: "exit status 0", Cause: first})
	}()
	t.Cleanup(func() {
		kill(nil)
		<-tended
		<-c.life.Left()
	})
	return c, &program{t, bufio.NewReader(theirIn), theirOut}
}

// read returns the next message, as a line.
func (p *program) read() string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Errorf("reading: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// write writes lines.
func (p *program) write(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Errorf("writing: %v", err)
	}
}

// A handler is functions; nil ones are not called.
type handler struct {
	notify  func(method string, params json.RawMessage)
	request func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

func (h handler) Notify(method string, params json.RawMessage) {
	if h.notify != nil {
		h.notify(method, params)
	}
}

func (h handler) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if h.request == nil {
		return nil, &transport.Error{Code: transport.CodeMethodNotFound, Message: "method not found"}
	}
	return h.request(ctx, method, params)
}

// A reply is what a call returned.
type reply struct {
	result string
	err    error
}

// start begins a call and returns where its reply comes.
func start(ctx context.Context, c *conn, method, params string) <-chan reply {
	got := make(chan reply, 1)
	var raw json.RawMessage
	if params != "" {
		raw = json.RawMessage(params)
	}
	go func() {
		result, err := c.call(ctx, method, raw)
		got <- reply{string(result), err}
	}()
	return got
}

func TestCall(t *testing.T) {
	tests := []struct {
		name   string
		answer []string
		want   string
		err    string
	}{
		{"a result", []string{`{"jsonrpc":"2.0","id":1,"result":{"a":1}}`}, `{"a":1}`, ""},
		{"an error", []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`}, "", "no (-32602)"},
		{"the id as a text", []string{`{"jsonrpc":"2.0","id":"1","result":{}}`}, `{}`, ""},
		{"an error without an id, and no other call", []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal"}}`}, "", "internal (-32603)"},
		{"an answer to something else before", []string{`{"jsonrpc":"2.0","id":77,"result":[]}`, `{"jsonrpc":"2.0","id":1,"result":{}}`}, `{}`, ""},
		{"an answer twice", []string{`{"jsonrpc":"2.0","id":1,"result":1}`, `{"jsonrpc":"2.0","id":1,"result":2}`}, `1`, ""},
		{"the request first, repeated", []string{`read: {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":"b"}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`}, `{}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, Options{}, handler{request: func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
					t.Error("the handler is asked")
					return nil, nil
				}})
				got := start(t.Context(), c, "tools/list", "{\n\"a\": \"b\"}")
				if got, want := p.read(), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"a":"b"}}`; got != want {
					t.Errorf("sent %s, want %s", got, want)
				}
				p.write(tt.answer...)
				r := <-got
				text := ""
				if r.err != nil {
					text = r.err.Error()
				}
				if r.result != tt.want || text != tt.err {
					t.Errorf("result = %q, error = %q, want %q, %q", r.result, text, tt.want, tt.err)
				}
			})
		})
	}
}

// Without an id it cannot be told which of several calls an error is about.
func TestErrorWithoutAnIDAmongSeveralCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{}, handler{})
		a, b := start(t.Context(), c, "a", ""), start(t.Context(), c, "b", "")
		p.read()
		p.read()
		p.write(`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"which"}}`)
		synctest.Wait()
		p.write(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		for _, got := range []<-chan reply{a, b} {
			if r := <-got; r.err != nil {
				t.Errorf("a call got the error %v", r.err)
			}
		}
	})
}

func TestCancel(t *testing.T) {
	tests := []struct {
		method string
		told   bool
	}{
		{"tools/call", true},
		{"tools/list", true},
		{"initialize", false},
		{"server/discover", false},
	}
	for _, tt := range tests {
		t.Run(tt.method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, Options{}, handler{})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				got := start(ctx, c, tt.method, "")
				p.read()
				begin := time.Now()
				r := <-got
				if !errors.Is(r.err, context.DeadlineExceeded) || errors.Is(r.err, transport.ErrUnsent) || time.Since(begin) != time.Second {
					t.Errorf("error = %v after %v, want that of the context after 1s", r.err, time.Since(begin))
				}
				want := `{"jsonrpc":"2.0","method":"next"}`
				if tt.told {
					want = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"nobody waits for it"}}`
				} else {
					go c.notify(t.Context(), "next", nil)
				}
				if got := p.read(); got != want {
					t.Errorf("sent %s, want %s", got, want)
				}
				p.write(`{"jsonrpc":"2.0","id":1,"result":{}}`) // too late
				synctest.Wait()
			})
		})
	}
}

// A program that reads nothing for a while loses the message, and not its life.
func TestUnreadInput(t *testing.T) {
	tests := []struct {
		name  string
		limit time.Duration // of the caller; 0 is none
		took  time.Duration
		err   error
	}{
		{"until the caller gives up", time.Second, time.Second, context.DeadlineExceeded},
		{"for as long as a message may take", 0, 10 * time.Second, errUnread},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := connect(t, Options{}, handler{})
				ctx := t.Context()
				if tt.limit > 0 {
					limited, cancel := context.WithTimeout(ctx, tt.limit)
					defer cancel()
					ctx = limited
				}
				begin := time.Now()
				second := start(t.Context(), c, "waits", "") // either may be the first
				r := <-start(ctx, c, "first", "")
				if tt.limit > 0 && (!errors.Is(r.err, tt.err) || time.Since(begin) != tt.took) {
					t.Errorf("error = %v after %v, want %v after %v", r.err, time.Since(begin), tt.err, tt.took)
				}
				if !errors.Is(r.err, transport.ErrUnsent) {
					t.Errorf("error = %v, want one that says that nothing was sent", r.err)
				}
				if tt.limit == 0 {
					if r := <-second; !errors.Is(r.err, errUnread) || !errors.Is(r.err, transport.ErrUnsent) {
						t.Errorf("error of the other = %v", r.err)
					}
					second = start(t.Context(), c, "waits", "")
				}
				if got := p.read(); !strings.Contains(got, `"waits"`) {
					t.Errorf("then read %s, want the call that waits, whole", got)
				}
				p.write(`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, `{"jsonrpc":"2.0","id":3,"result":{}}`)
				if r := <-second; r.err != nil {
					t.Errorf("the next call: %v", r.err)
				}
			})
		})
	}
}

// Half a message makes nonsense of all that would come behind it.
func TestHalfAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{}, handler{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got := start(ctx, c, "tools/call", `{"text":"`+strings.Repeat("a", 1<<20)+`"}`)
		if _, err := io.ReadFull(p.in, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		r := <-got
		if took := time.Since(begin); took != time.Second || r.err == nil || errors.Is(r.err, transport.ErrUnsent) {
			t.Errorf("error = %v after %v, want one after 1s that does not say that nothing was sent", r.err, took)
		}
		<-c.done
		r = <-start(t.Context(), c, "tools/list", "")
		if !errors.Is(r.err, errHalf) || !errors.Is(r.err, transport.ErrGone) || !errors.Is(r.err, transport.ErrUnsent) {
			t.Errorf("the next call: %v, want that the program is gone, why, and that nothing was sent", r.err)
		}
	})
}

// A big message may take its time as long as it goes on.
func TestSlowInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{}, handler{})
		got := start(t.Context(), c, "tools/call", `{"text":"`+strings.Repeat("a", 10*chunk)+`"}`)
		part := make([]byte, chunk)
		for range 10 {
			time.Sleep(9 * time.Second)
			if _, err := io.ReadFull(p.in, part); err != nil {
				t.Fatal(err)
			}
		}
		p.read()
		p.write(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if r := <-got; r.err != nil {
			t.Errorf("error = %v", r.err)
		}
	})
}

func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan error, 1)
		c, p := connect(t, Options{}, handler{request: func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			<-ctx.Done()
			asked <- ctx.Err()
			return nil, ctx.Err()
		}})
		a, b := start(t.Context(), c, "a", ""), start(t.Context(), c, "b", "")
		of := p.read() // the request a
		if other := p.read(); strings.Contains(of, `"b"`) {
			of = other
		}
		id := "1"
		if strings.Contains(of, `"id":2`) { // the two are numbered in one order and may come in another
			id = "2"
		}
		p.write(`{"jsonrpc":"2.0","id":"s","method":"roots/list"}`, `{"jsonrpc":"2.0","id":`+id+`,"result":"last words"}`, `{"jsonrpc":"2.0","id":`)
		p.out.Close()
		if r := <-a; r.result != `"last words"` {
			t.Errorf("the call that was answered: %q, %v", r.result, r.err)
		}
		r := <-b
		if gone, ok := errors.AsType[*transport.GoneError](r.err); !ok || gone.State != "exit status 0" || errors.Is(r.err, transport.ErrUnsent) {
			t.Errorf("the call that was not: %v", r.err)
		}
		if err := <-asked; err == nil {
			t.Error("the handler's context has not ended")
		}
		if err := c.notify(t.Context(), "x", nil); !errors.Is(err, transport.ErrGone) || !errors.Is(err, transport.ErrUnsent) {
			t.Errorf("a notification then: %v", err)
		}
	})
}

func TestLineWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{MaxLine: 1 << 20}, handler{})
		got := start(t.Context(), c, "tools/list", "")
		p.read()
		go func() {
			for {
				if _, err := p.out.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}()
		if r := <-got; !errors.Is(r.err, errLine) || !errors.Is(r.err, transport.ErrGone) {
			t.Errorf("error = %v, want %v", r.err, errLine)
		}
	})
}

func TestNotifications(t *testing.T) {
	t.Run("in order, and a call from inside", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var c *conn
			var heard []string
			ready := make(chan struct{})
			h := handler{notify: func(method string, params json.RawMessage) {
				<-ready
				heard = append(heard, method+string(params))
				if method == "call" {
					result, err := c.call(t.Context(), "tools/list", nil)
					heard = append(heard, string(result), fmt.Sprint(err))
				}
			}}
			c, p := connect(t, Options{}, h)
			close(ready)
			p.write(`{"jsonrpc":"2.0","method":"a","params":{"n":1}}`, `{"jsonrpc":"2.0","method":"call","id":null}`, `{"jsonrpc":"2.0","method":"b"}`)
			p.read()
			p.write(`{"jsonrpc":"2.0","id":1,"result":"list"}`)
			synctest.Wait()
			if diff := gocmp.Diff([]string{`a{"n":1}`, "call", `"list"`, "<nil>", "b"}, heard); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
		})
	})
}

func TestRequestsOfTheServer(t *testing.T) {
	h := handler{request: func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		switch method {
		case "roots/list":
			return json.RawMessage("{\n\"roots\": []\n}"), nil
		case "nothing":
			return nil, nil
		case "broken":
			return nil, errors.New("it broke")
		case "no json":
			return json.RawMessage("{"), nil
		case "bad data":
			return nil, fmt.Errorf("wrapped: %w", &transport.Error{Code: 5, Message: "five", Data: json.RawMessage("{")})
		case "wait":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, &transport.Error{Code: transport.CodeMethodNotFound, Message: "method not found: " + method}
	}}
	tests := []struct{ name, in, want string }{
		{"a result", `{"jsonrpc":"2.0","id":"a\"b","method":"roots/list"}`, `{"jsonrpc":"2.0","id":"a\"b","result":{"roots":[]}}`},
		{"ping", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`},
		{"no result", `{"jsonrpc":"2.0","id":0,"method":"nothing"}`, `{"jsonrpc":"2.0","id":0,"result":{}}`},
		{"unknown", `{"jsonrpc":"2.0","id":1,"method":"x/y"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: x/y"}}`},
		{"an error", `{"jsonrpc":"2.0","id":1,"method":"broken"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"it broke"}}`},
		{"a result that is none", `{"jsonrpc":"2.0","id":1,"method":"no json"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"unexpected end of JSON input"}}`},
		{"data that are none", `{"jsonrpc":"2.0","id":1,"method":"bad data"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"five"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, p := connect(t, Options{}, h)
				p.write(tt.in)
				if got := p.read(); got != tt.want {
					t.Errorf("answer = %s, want %s", got, tt.want)
				}
			})
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, p := connect(t, Options{}, h)
			p.write(`{"jsonrpc":"2.0","id":"w","method":"wait"}`)
			synctest.Wait()
			p.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
			synctest.Wait()
			go c.notify(t.Context(), "next", nil)
			if got := p.read(); !strings.Contains(got, "next") {
				t.Errorf("a cancelled request was answered: %s", got)
			}
		})
	})
}

// A call that was given up at the moment when its message was written leaves no
// deadline to the next one.
func TestDeadlineIsNotInherited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{}, handler{})
		for i := range 50 {
			ctx, cancel := context.WithCancel(t.Context())
			got := start(ctx, c, "initialize", "")
			go cancel()
			go c.notify(t.Context(), fmt.Sprint("note ", i), nil)
			for {
				if line := p.read(); strings.Contains(line, "note") {
					break
				}
			}
			<-got
		}
	})
}
