package wire_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// A handler answers what its fields say. The zero value puts every request into
// no queue and answers with its parameters.
type handler struct {
	admit  func(*wire.Request) string
	serve  func(context.Context, *wire.Request) (any, error)
	notify func(method string, params json.RawMessage)
}

func (h handler) Admit(r *wire.Request) string {
	if h.admit == nil {
		return ""
	}
	return h.admit(r)
}

func (h handler) Serve(ctx context.Context, r *wire.Request) (any, error) {
	if h.serve == nil || r.Method == "echo" {
		return r.Params, nil
	}
	return h.serve(ctx, r)
}

func (h handler) Notify(method string, params json.RawMessage) {
	if h.notify != nil {
		h.notify(method, params)
	}
}

// A peer is the other side of a connection, within a synctest bubble.
type peer struct {
	*wire.Conn
	t      *testing.T
	in     *io.PipeWriter
	out    *io.PipeReader
	cancel context.CancelCauseFunc
	served chan error // the result of Serve
	log    *bytes.Buffer

	mu    sync.Mutex // guards lines
	lines []string
}

// connect starts a connection whose output the peer does not read yet.
func connect(t *testing.T, h wire.Handler, o wire.Options) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, in: inW, out: outR, served: make(chan error, 1), log: new(bytes.Buffer)}
	o.Log = zerolog.New(zerolog.SyncWriter(p.log))
	p.Conn = wire.New(inR, outW, h, o)
	ctx, cancel := context.WithCancelCause(t.Context())
	p.cancel = cancel
	go func() { p.served <- p.Serve(ctx) }()
	return p
}

// open is connect for a peer that reads.
func open(t *testing.T, h wire.Handler, o wire.Options) *peer {
	t.Helper()
	p := connect(t, h, o)
	p.listen()
	return p
}

// listen reads the output until its end. The bubble waits for it.
func (p *peer) listen() {
	go func() {
		r := bufio.NewReader(p.out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.mu.Lock()
			p.lines = append(p.lines, strings.TrimSuffix(line, "\n"))
			p.mu.Unlock()
		}
	}()
}

// write sends text as it is.
func (p *peer) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, text); err != nil {
		p.t.Fatal(err)
	}
}

// received returns what has come since the last call, once nothing more comes.
func (p *peer) received() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	got := p.lines
	p.lines = nil
	return got
}

// expect checks what has come since the last time.
func (p *peer) expect(want ...string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.received()); diff != "" {
		p.t.Errorf("output (-want +got):\n%s", diff)
	}
}

// hangUp closes both sides and returns what Serve returned.
func (p *peer) hangUp() error {
	p.t.Helper()
	p.in.Close()
	err := <-p.served
	p.out.Close()
	return err
}

func request(id int, method string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`+"\n", id, method)
}

// failure is an error response as a line.
func failure(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

const (
	echo       = `{"jsonrpc":"2.0","id":"e","method":"echo","params":{}}` + "\n"
	echoed     = `{"jsonrpc":"2.0","id":"e","result":{}}`
	hiddenText = "internal error; the agent's log has the details"
)

func TestFraming(t *testing.T) {
	two := echo + strings.ReplaceAll(echo, `"e"`, `"f"`)
	want := []string{echoed, strings.ReplaceAll(echoed, `"e"`, `"f"`)}
	tests := []struct{ name, in string }{
		{"two frames in one write", two},
		{"carriage returns", strings.ReplaceAll(two, "\n", "\r\n")},
		{"blank lines", "\n \r\n" + strings.ReplaceAll(two, "\n", "\n\n\t\n")},
		{"byte order mark", "\ufeff" + two},
		{"no line feed at the end", strings.TrimSuffix(two, "\n")},
		{"unknown members", strings.ReplaceAll(two, `"params"`, `"_meta":{"id":9},"x":[1],"params"`)},
	}
	inOrder := handler{admit: func(*wire.Request) string { return "q" }}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, inOrder, wire.Options{})
				p.write(tt.in)
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
				p.expect(want...)
			})
			synctest.Test(t, func(t *testing.T) {
				p := open(t, inOrder, wire.Options{})
				for i := range len(tt.in) {
					p.write(tt.in[i : i+1])
				}
				if err := p.hangUp(); err != nil {
					t.Errorf("byte by byte: Serve: %v", err)
				}
				p.expect(want...)
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	const (
		noJSON   = "parse error: the line is not valid JSON"
		noObject = "invalid request: a line must hold one object; batches are not supported"
		version  = `invalid request: member "jsonrpc" must be "2.0"`
		method   = `invalid request: member "method" must be a string`
		id       = `invalid request: member "id" must be a string or a number`
	)
	tests := []struct{ name, in, want string }{
		{"text", "bash: warning", failure("null", -32700, noJSON)},
		{"half a frame", `{"jsonrpc":"2.0","id":1,`, failure("null", -32700, noJSON)},
		{"two frames on a line", strings.TrimSpace(echo) + echo, failure("null", -32700, noJSON)},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", failure("null", -32700, "parse error: the line is not valid UTF-8")},
		{"a zero byte", "{\"jsonrpc\":\"2.0\",\"id\":1,\x00\"method\":\"m\"}", failure("null", -32700, noJSON)},
		{"a batch", `[` + strings.TrimSpace(echo) + `]`, failure("null", -32600, noObject)},
		{"a string", `"hello"`, failure("null", -32600, noObject)},
		{"neither id nor method", `{"jsonrpc":"2.0"}`, failure("null", -32600, method)},
		{"no method", `{"jsonrpc":"2.0","id":"x"}`, failure(`"x"`, -32600, method)},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":1}`, failure("1", -32600, method)},
		{"no version", `{"id":1,"method":"m"}`, failure("1", -32600, version)},
		{"version is a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, failure("1", -32600, version)},
		{"version of a notification", `{"jsonrpc":"1.0","method":"m"}`, failure("null", -32600, version)},
		{"id is null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, failure("null", -32600, id)},
		{"id is an object", `{"jsonrpc":"2.0","id":{},"method":"m"}`, failure("null", -32600, id)},
		{"params is a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}`, failure("1", -32602, "params must be an object")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, handler{}, wire.Options{})
				p.write(tt.in + "\n")
				p.expect(tt.want)
				p.write(echo)
				p.expect(echoed)
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

func TestHalfFrameAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{}, wire.Options{})
		p.write(echo + `{"jsonrpc":"2.0","id":2,"meth`)
		p.expect(echoed)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		p.expect(failure("null", -32700, "parse error: the line is not valid JSON"))
	})
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{}, wire.Options{})
		for _, id := range []string{`0`, `-7`, `1.50`, `9007199254740993`, `1e3`, `""`, `"a\u0062\/"`, `"é"`} {
			p.write(`{"jsonrpc":"2.0","method":"m","params":[],"id":` + id + "}\n")
			p.expect(`{"jsonrpc":"2.0","id":` + id + `,"result":[]}`)
		}
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestIDInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{serve: untilCancelled}, wire.Options{})
		p.write(`{"jsonrpc":"2.0","id":"a","method":"m"}` + "\n")
		p.write(`{"jsonrpc":"2.0","id":"\u0061","method":"m"}` + "\n")
		p.expect(failure("null", -32600, `invalid request: id "\u0061" is in use by another request`))
		p.write(`{"jsonrpc":"2.0","id":"a","method":1}` + "\n")
		p.expect(failure("null", -32600, `invalid request: member "method" must be a string`))
		p.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}` + "\n")
		p.expect(failure(`"a"`, -32800, "request cancelled"))
		p.write(`{"jsonrpc":"2.0","id":"a","method":"echo","params":{}}` + "\n")
		p.expect(`{"jsonrpc":"2.0","id":"a","result":{}}`)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{serve: untilCancelled}, wire.Options{MaxRequests: 1})
		p.write(request(1, "m") + request(2, "m"))
		p.expect(failure("2", -32603, "too many requests are open; wait for answers"))
		p.cancel(nil)
		if err := <-p.served; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
		p.out.Close()
	})
}

func TestFortyMegabytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{serve: func(_ context.Context, r *wire.Request) (any, error) {
			return len(r.Params), nil
		}}, wire.Options{})
		data := `{"data":"` + strings.Repeat("A", 40<<20) + `"}`
		p.write(`{"jsonrpc":"2.0","id":1,"method":"m","params":` + data + "}\n")
		p.expect(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%d}`, len(data)))
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestTooLong(t *testing.T) {
	const message = "invalid request: the line is longer than 64 bytes"
	long := strings.Repeat("x", 5000)
	tests := []struct{ name, in, want string }{
		{"id before what is long", `{"jsonrpc":"2.0","id":7,"method":"m","params":["` + long + `"]}`, failure("7", -32600, message)},
		{"id behind what is long", `{"jsonrpc":"2.0","method":"m","params":["` + long + `"],"id":7}`, failure("null", -32600, message)},
		{"no JSON", long, failure("null", -32600, message)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, handler{}, wire.Options{MaxFrame: 64})
				p.write(tt.in + "\n" + echo)
				p.expect(tt.want, echoed)
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

func TestErrorsOfHandlers(t *testing.T) {
	data := map[string]string{"code": "SESSION_BUSY"}
	tests := []struct {
		name  string
		serve func(context.Context, *wire.Request) (any, error)
		want  string
	}{
		{"an error of ours, wrapped", func(context.Context, *wire.Request) (any, error) {
			return nil, fmt.Errorf("/home/jo: %w", &wire.Error{Code: -32002, Message: "no <such> session", Data: data})
		}, `{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no <such> session","data":{"code":"SESSION_BUSY"}}}`},
		{"unknown method", func(_ context.Context, r *wire.Request) (any, error) {
			return nil, wire.MethodNotFound(r.Method)
		}, failure("1", -32601, "method not found: m")},
		{"any other error", func(context.Context, *wire.Request) (any, error) {
			return nil, errors.New("open /home/jo/key: denied")
		}, failure("1", -32603, hiddenText)},
		{"cancelled, but not by the peer", func(context.Context, *wire.Request) (any, error) {
			return nil, context.Canceled
		}, failure("1", -32603, hiddenText)},
		{"panic", func(context.Context, *wire.Request) (any, error) {
			panic("index out of range")
		}, failure("1", -32603, hiddenText)},
		{"panic while encoding", func(context.Context, *wire.Request) (any, error) {
			return marshaler(func() ([]byte, error) { panic("nil map") }), nil
		}, failure("1", -32603, hiddenText)},
		{"result without JSON", func(context.Context, *wire.Request) (any, error) {
			return make(chan int), nil
		}, failure("1", -32603, hiddenText)},
		{"data without JSON", func(context.Context, *wire.Request) (any, error) {
			return nil, &wire.Error{Code: -32002, Message: "no session", Data: make(chan int)}
		}, failure("1", -32002, "no session")},
		{"no result", func(context.Context, *wire.Request) (any, error) {
			return nil, nil
		}, `{"jsonrpc":"2.0","id":1,"result":null}`},
		{"several lines in a result", func(context.Context, *wire.Request) (any, error) {
			return json.RawMessage("{\n\"a\": \"<&>\"\n}"), nil
		}, `{"jsonrpc":"2.0","id":1,"result":{"a":"<&>"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := open(t, handler{serve: tt.serve}, wire.Options{})
				p.write(request(1, "m"))
				p.expect(tt.want)
				p.write(echo)
				p.expect(echoed)
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

type marshaler func() ([]byte, error)

func (m marshaler) MarshalJSON() ([]byte, error) { return m() }

func TestPanicsOutsideOfServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{
			admit: func(r *wire.Request) string {
				if r.Method == "bad" {
					panic("admit")
				}
				return "q"
			},
			notify: func(string, json.RawMessage) { panic("notify") },
		}, wire.Options{EndOfInput: func() { panic("end") }})
		p.write(request(1, "bad") + `{"jsonrpc":"2.0","method":"n"}` + "\n" + echo)
		if got, want := p.received(), []string{failure("1", -32603, hiddenText), echoed}; !sameSet(got, want) {
			t.Errorf("output %q, want %q in any order", got, want)
		}
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		for _, want := range []string{`"panic":"admit"`, `"panic":"notify"`, `"panic":"end"`, "conn_test.go"} {
			if !strings.Contains(p.log.String(), want) {
				t.Errorf("log has no %s:\n%s", want, p.log)
			}
		}
	})
}

func TestLogHoldsNoContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "hunter2"
		p := open(t, handler{}, wire.Options{MaxFrame: 200})
		for _, line := range []string{
			secret,
			`{"jsonrpc":"2.0","id":"` + secret + `"}`,
			`{"jsonrpc":"2.0","id":1,"method":"m","params":"` + secret + `"}`,
			`{"jsonrpc":"2.0","id":1,"method":"m","params":["` + secret + strings.Repeat(" ", 200) + `"]}`,
			`{"jsonrpc":"2.0","id":99,"result":"` + secret + `"}`,
			`{"jsonrpc":"2.0","method":"$/cancel_request","params":"` + secret + `"}`,
		} {
			p.write(line + "\n")
		}
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
		if strings.Contains(p.log.String(), secret) {
			t.Errorf("log holds what was sent:\n%s", p.log)
		}
	})
}

// untilCancelled is a Serve that ends only when it is cancelled.
func untilCancelled(ctx context.Context, _ *wire.Request) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// sameSet reports whether a and b hold the same lines in any order.
func sameSet(a, b []string) bool {
	count := make(map[string]int)
	for _, s := range a {
		count[s]++
	}
	for _, s := range b {
		count[s]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
