package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// lasts is a Serve that answers after d, or with the cause of its cancellation.
func lasts(d time.Duration) func(context.Context, *wire.Request) (any, error) {
	return func(ctx context.Context, _ *wire.Request) (any, error) {
		select {
		case <-time.After(d):
			return "finished", nil
		case <-ctx.Done():
			return context.Cause(ctx).Error(), nil
		}
	}
}

// R-ACP-05, R-ACP-07.
func TestEndOfInput(t *testing.T) {
	tests := []struct {
		name  string
		o     wire.Options
		lasts time.Duration
		want  string // the answer
		took  time.Duration
	}{
		{"requests finish", wire.Options{}, 9 * time.Minute, "finished", 9 * time.Minute},
		{"after ten minutes they are cancelled", wire.Options{}, time.Hour, "input has ended", 10 * time.Minute},
		{"or after the drain time", wire.Options{Drain: time.Minute}, time.Hour, "input has ended", time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var told time.Duration = -1
				tt.o.EndOfInput = func() { told = time.Since(start) }
				p := open(t, handler{serve: lasts(tt.lasts)}, tt.o)
				p.write(request(1, "m"))
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
				if told != 0 {
					t.Errorf("EndOfInput was called after %v, want at once", told)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("Serve took %v, want %v", took, tt.took)
				}
				p.expect(`{"jsonrpc":"2.0","id":1,"result":"` + tt.want + `"}`)
			})
		})
	}
}

var errSignal = errors.New("terminated")

func TestEndOfContext(t *testing.T) {
	for _, inputEnds := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			p := open(t, handler{serve: lasts(time.Hour)}, wire.Options{})
			p.write(request(1, "m"))
			if inputEnds {
				p.in.Close()
			}
			synctest.Wait()
			p.cancel(errSignal)
			if err := <-p.served; !errors.Is(err, errSignal) || errors.Is(err, wire.ErrUnfinished) {
				t.Errorf("Serve: %v, want %v alone", err, errSignal)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("Serve took %v, want no time", took)
			}
			p.expect(`{"jsonrpc":"2.0","id":1,"result":"terminated"}`)
			p.out.Close()
		})
	}
}

func TestRequestThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		release := make(chan struct{})
		p := open(t, handler{serve: func(context.Context, *wire.Request) (any, error) {
			<-release
			return nil, nil
		}}, wire.Options{})
		p.write(request(1, "m") + request(2, "echo"))
		synctest.Wait()
		p.cancel(errSignal)
		if err := <-p.served; !errors.Is(err, errSignal) || !errors.Is(err, wire.ErrUnfinished) {
			t.Errorf("Serve: %v, want %v and %v", err, errSignal, wire.ErrUnfinished)
		}
		if took := time.Since(start).Round(time.Second); took != 5*time.Second {
			t.Errorf("Serve took %v, want 5s", took)
		}
		close(release)
		p.out.Close()
	})
}

// A peer that neither reads nor leaves does not keep the process.
func TestPeerThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		p := connect(t, handler{}, wire.Options{QueueFrames: 1})
		p.write(request(1, "m") + request(2, "m") + request(3, "m"))
		synctest.Wait()
		p.cancel(errSignal)
		if err := <-p.served; !errors.Is(err, errSignal) || errors.Is(err, wire.ErrUnfinished) {
			t.Errorf("Serve: %v, want %v alone", err, errSignal)
		}
		if took := time.Since(start); took != 5*time.Second {
			t.Errorf("Serve took %v, want 5s", took)
		}
	})
}

func TestRequestsAfterTheEndAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{serve: lasts(time.Hour)}, wire.Options{})
		p.write(request(1, "m"))
		synctest.Wait()
		p.cancel(errSignal)
		<-p.served
		if _, err := io.WriteString(p.in, echo); err == nil {
			t.Error("input is still read")
		}
		p.expect(`{"jsonrpc":"2.0","id":1,"result":"terminated"}`)
		if err := p.Notify("n", nil); !errors.Is(err, wire.ErrClosed) {
			t.Errorf("Notify: %v, want %v", err, wire.ErrClosed)
		}
		p.out.Close()
	})
}

func TestBrokenInput(t *testing.T) {
	broken := errors.New("broken")
	var out strings.Builder
	c := wire.New(io.MultiReader(strings.NewReader(echo), iotest.ErrReader(broken)), &out, handler{}, wire.Options{})
	if err := c.Serve(t.Context()); !errors.Is(err, broken) {
		t.Errorf("Serve: %v, want %v", err, broken)
	}
	if got := out.String(); got != echoed+"\n" {
		t.Errorf("output %q", got)
	}
}

func TestSentBeforeServe(t *testing.T) {
	var out strings.Builder
	c := wire.New(strings.NewReader(echo), &out, handler{}, wire.Options{})
	if err := c.Notify("hello", json.RawMessage(`{ "a": 1 }`)); err != nil {
		t.Fatal(err)
	}
	if err := c.Serve(t.Context()); err != nil {
		t.Errorf("Serve: %v", err)
	}
	want := `{"jsonrpc":"2.0","method":"hello","params":{"a":1}}` + "\n" + echoed + "\n"
	if got := out.String(); got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}

// While requests are waited for after the end of the input, an output whose
// reader has left is noticed although nothing is written to it.
func TestReaderOfTheOutputLeaves(t *testing.T) {
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer outW.Close()
	cause := make(chan error, 1)
	h := handler{serve: func(ctx context.Context, _ *wire.Request) (any, error) {
		outR.Close()
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return nil, ctx.Err()
	}}
	c := wire.New(strings.NewReader(request(1, "m")), outW, h, wire.Options{})
	if err := c.Serve(t.Context()); !errors.Is(err, wire.ErrClosed) {
		t.Errorf("Serve: %v, want %v", err, wire.ErrClosed)
	}
	if err := <-cause; !errors.Is(err, wire.ErrClosed) {
		t.Errorf("cause of the request's end: %v, want %v", err, wire.ErrClosed)
	}
}
