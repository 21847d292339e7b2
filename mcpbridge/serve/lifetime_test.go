package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/serve"
)

// What was asked before the end of the input is answered, what runs and what waits.
func TestNothingIsLostAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		p := start(t, d, serve.Options{Running: 3})
		p.hello("2025-11-25")
		for i := range 20 {
			p.send(call(fmt.Sprint(i), "sleep", `{"ms":500}`))
		}
		begun := time.Now()
		rest, err := p.finish()
		if err != nil || len(rest) != 20 {
			t.Errorf("%d answers, %v, want 20", len(rest), err)
		}
		for _, line := range rest {
			if !strings.Contains(line, `"text":"slept"`) {
				t.Errorf("answer %s", line)
			}
		}
		if took, most := time.Since(begun), d.most; took != 7*500*time.Millisecond || most != 3 {
			t.Errorf("took %v with %d at once, want 3.5s with 3", took, most)
		}
	})
}

// One line piped in is answered, whether it has a line feed or not.
func TestOneShot(t *testing.T) {
	for _, end := range []string{"", "\n", "\r\n"} {
		var out bytes.Buffer
		in := request(`"h"`, "initialize", `{"protocolVersion":"2025-11-25"}`) + "\n" + call("1", "echo", "{}") + end
		if err := serve.New(&desk{}, serve.Options{}).Serve(t.Context(), strings.NewReader(in), &out); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 2 || !strings.Contains(out.String(), `"id":1,"result"`) {
			t.Errorf("end %q: output %q", end, out.String())
		}
	}
}

// stubborn is a tool that heeds no cancel until it is released.
func stubborn(d *desk) (release func()) {
	free := make(chan struct{})
	d.add("stubborn", func(context.Context, serve.Call) (serve.Result, error) {
		<-free
		return text("at last"), nil
	})
	return func() { close(free) }
}

// The end is bounded, whatever a tool does.
func TestEndIsBounded(t *testing.T) {
	tests := []struct {
		name string
		end  func(p *peer)
		want time.Duration
	}{
		{"end of input", func(p *peer) { p.in.Close() }, time.Minute + 2*time.Second + 100*time.Millisecond},
		{"end of the program", func(p *peer) { p.end() }, 2*time.Second + 100*time.Millisecond},
		{"nobody reads", func(p *peer) {
			p.pipe.Close()
			p.send(request("9", "ping", "{}"))
		}, 2*time.Second + 100*time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &desk{}
				release := stubborn(d)
				defer release()
				p := start(t, d, serve.Options{Drain: time.Minute, Grace: 2 * time.Second})
				p.hello("2025-11-25")
				p.send(call("1", "stubborn", "{}"))
				synctest.Wait()
				begun := time.Now()
				tt.end(p)
				if err := <-p.ended; !errors.Is(err, serve.ErrUnfinished) {
					t.Errorf("Serve = %v, want ErrUnfinished", err)
				}
				if took := time.Since(begun); took != tt.want {
					t.Errorf("took %v, want %v", took, tt.want)
				}
			})
		})
	}
}

// A tool that heeds its cancel ends with the program, and its caller is told.
func TestEndOfTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{})
		p.hello("2025-11-25")
		p.send(call("1", "sleep", `{"ms":60000}`))
		synctest.Wait()
		p.end()
		rest, err := p.finish()
		if err != nil || len(rest) != 1 || !strings.Contains(rest[0], `The call was cancelled before it finished."}],"isError":true`) {
			t.Errorf("%q, %v, want one cancelled result", rest, err)
		}
	})
}

// Calls whose answers nobody can read any more are not waited for.
func TestNobodyReadsAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{Gone: func() bool { return true }})
		p.hello("2025-11-25")
		p.send(call("1", "sleep", `{"ms":60000}`))
		begun := time.Now()
		if rest, err := p.finish(); len(rest) > 0 || err != nil || time.Since(begun) != 250*time.Millisecond {
			t.Errorf("%q, %v after %v, want nothing after 250ms", rest, err, time.Since(begun))
		}
	})
}

// A cancelled request is not answered, whether it runs or waits, and its id is free.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{Running: 1})
		p.hello("2025-11-25")
		begun := time.Now()
		p.send(
			call("1", "sleep", `{"ms":60000}`), call("2", "sleep", `{"ms":60000}`), call(`"3"`, "echo", `{}`),
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"x"}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}`,
			call("1", "echo", `{"again":true}`),
		)
		rest, err := p.finish()
		if err != nil || len(rest) != 2 || time.Since(begun) != 0 {
			t.Fatalf("%q, %v after %v, want two answers at once", rest, err, time.Since(begun))
		}
		if all := strings.Join(rest, ""); !strings.Contains(all, `"id":"3"`) || !strings.Contains(all, `again`) {
			t.Errorf("answers %q", rest)
		}
	})
}

// An id is taken while its request is open.
func TestTakenID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{})
		p.hello("2025-11-25")
		p.send(call("1", "sleep", `{"ms":10}`))
		if got := p.ask(`{"jsonrpc":"1.0","id":1,"method":"ping"}`); !strings.Contains(got, `"id":null,"error":{"code":-32600`) {
			t.Errorf("a broken request with its id answers %s", got)
		}
		if got := p.ask(call("1", "echo", `{}`)); !strings.Contains(got, `"id":null,"error":{"code":-32600,"message":"id 1 is that of an open request"`) {
			t.Errorf("second request answers %s", got)
		}
		if rest, err := p.finish(); err != nil || len(rest) != 1 || !strings.Contains(rest[0], `"id":1,"result"`) {
			t.Errorf("at the end: %q, %v", rest, err)
		}
	})
}

// However many calls run and wait, a ping is answered at once, and more are refused.
func TestFullQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{Running: 4, Open: 50})
		p.hello("2025-11-25")
		for i := range 50 {
			p.send(call(fmt.Sprint(i), "sleep", `{"ms":1000}`))
		}
		begun := time.Now()
		if got := p.ask(request(`"p"`, "ping", "{}")); !strings.Contains(got, `"id":"p","result":{}`) {
			t.Errorf("ping answers %s", got)
		}
		if got := p.ask(call(`"more"`, "echo", "{}")); !strings.Contains(got, `"id":"more","error":{"code":-32603,"message":"50 requests are open`) {
			t.Errorf("one more answers %s", got)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("took %v, want nothing", took)
		}
		for i := range 50 {
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		}
		if rest, err := p.finish(); len(rest) > 0 || err != nil || time.Since(begun) != 0 {
			t.Errorf("%q, %v after %v, want nothing at once", rest, err, time.Since(begun))
		}
	})
}

// Many calls at once are all answered.
func TestManyCalls(t *testing.T) {
	p := start(t, &desk{}, serve.Options{})
	p.hello("2025-11-25")
	const n = 500
	go func() {
		for i := range n {
			fmt.Fprintln(p.in, call(fmt.Sprint(i), "echo", fmt.Sprintf(`{"n":%d}`, i)))
		}
	}()
	seen := map[string]bool{}
	for range n {
		line := p.next()
		seen[line] = true
		var id int
		fmt.Sscanf(line, `{"jsonrpc":"2.0","id":%d,`, &id)
		if want := fmt.Sprintf(`{\"n\":%d}`, id); !strings.Contains(line, want) {
			t.Errorf("answer %s, want %s", line, want)
		}
	}
	if len(seen) != n {
		t.Errorf("%d answers, want %d", len(seen), n)
	}
	p.finish()
}

// One server has several clients, who share nothing but the desk.
func TestSeveralClients(t *testing.T) {
	d := &desk{}
	s := serve.New(d, serve.Options{Name: "test", Version: "1"})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var out bytes.Buffer
			in := strings.NewReader(request(`"h"`, "initialize", "{}") + "\n" + call("1", "echo", fmt.Sprintf(`{"n":%d}`, i)))
			err := s.Serve(t.Context(), in, &out)
			if n := strings.Count(out.String(), "\n"); err != nil || n != 2 || !strings.Contains(out.String(), fmt.Sprintf(`{\"n\":%d}`, i)) {
				t.Errorf("client %d: %q, %v", i, out.String(), err)
			}
		})
	}
	wg.Wait()
}

// A client that does not read holds its own calls up, and no more of their results
// than fit.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &desk{}
		d.add("big", func(context.Context, serve.Call) (serve.Result, error) { return text(strings.Repeat("x", 10_000)), nil })
		p := start(t, d, serve.Options{Output: 100_000, Running: 8})
		p.hello("2025-11-25")
		for i := range 200 {
			p.send(call(fmt.Sprint(i), "big", "{}"))
		}
		synctest.Wait()
		d.mu.Lock()
		d.calls = nil
		d.mu.Unlock()
		rest, err := p.finish()
		made := 0
		for _, line := range rest {
			if strings.Contains(line, "xxxx") {
				made++
			}
		}
		// What waits, what is being written, and what those have made who wait for room.
		if err != nil || len(rest) != 200 || made > 10+11+8 {
			t.Errorf("%d answers, %d of them made while nobody read, %v; want 200 with at most 29", len(rest), made, err)
		}
	})
}

// A writer that blocks does not keep the server from leaving.
func TestBlockedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, &desk{}, serve.Options{Grace: 2 * time.Second})
		p.send(request("1", "ping", "{}"))
		synctest.Wait()
		begun := time.Now()
		p.end()
		if err := <-p.ended; !errors.Is(err, serve.ErrUnfinished) || time.Since(begun) > 3*time.Second {
			t.Errorf("Serve = %v after %v", err, time.Since(begun))
		}
	})
}

// An input that breaks is an error, after what came before has been answered.
func TestBrokenInput(t *testing.T) {
	var out bytes.Buffer
	broken := errors.New("cable")
	in := io.MultiReader(strings.NewReader(request("1", "ping", "{}")+"\n"), errReader{broken})
	if err := serve.New(&desk{}, serve.Options{}).Serve(t.Context(), in, &out); !errors.Is(err, broken) {
		t.Errorf("Serve = %v, want %v", err, broken)
	}
	if !strings.Contains(out.String(), `"id":1,"result":{}`) {
		t.Errorf("output %q", out.String())
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
