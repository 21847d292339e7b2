package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// A chunk is a piece of the text of a message, as an adapter would send it.
type chunk struct {
	message string
	text    []byte
}

func (c *chunk) Append(dst []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","method":"session/update","params":{"messageId":"`...)
	dst = append(dst, c.message...)
	dst = append(dst, `","text":"`...)
	dst = append(dst, c.text...)
	return append(dst, `"}}`...)
}

func (c *chunk) Merge(next wire.Frame) bool {
	n, ok := next.(*chunk)
	if !ok || n.message != c.message {
		return false
	}
	c.text = append(c.text, n.text...)
	return true
}

func (c *chunk) String() string { return string(c.Append(nil)) }

func text(message, text string) *chunk { return &chunk{message, []byte(text)} }

func TestLoneFrameIsNotDelayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{}, wire.Options{})
		for _, s := range []string{"a", "b"} {
			if err := p.Send(text("m", s)); err != nil {
				t.Fatal(err)
			}
			p.expect(text("m", s).String()) // without any time passing
		}
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestWaitingFramesMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, handler{}, wire.Options{})
		send := func(message, s string) {
			t.Helper()
			if err := p.Send(text(message, s)); err != nil {
				t.Fatal(err)
			}
		}
		send("m", "1")
		synctest.Wait() // it is being written, so the others wait
		send("m", "2")
		send("m", "3")
		send("n", "4")
		send("m", "5")
		if err := p.Notify("other", nil); err != nil {
			t.Fatal(err)
		}
		send("m", "6")
		send("m", "7")
		send("m", "8")
		p.listen()
		p.expect(
			text("m", "1").String(), text("m", "23").String(), text("n", "4").String(), text("m", "5").String(),
			`{"jsonrpc":"2.0","method":"other"}`, text("m", "678").String(),
		)
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestFrameOfTwoLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, handler{}, wire.Options{})
		if err := p.Send(text("m", "a\nb")); err == nil {
			t.Error("Send of a frame with a line feed: no error")
		}
		p.expect()
		if err := p.hangUp(); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
}

// Frames of many senders, small ones and such as are written alone, come out
// whole and each sender's in order (R-ACP-01).
func TestFramesAreNotInterleaved(t *testing.T) {
	const senders, each = 8, 40
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := wire.New(inR, outW, handler{}, wire.Options{QueueFrames: 16})
	served := make(chan error, 1)
	go func() { served <- c.Serve(t.Context()) }()
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				pad := strings.Repeat("x", (i%3)*50_000)
				if err := c.Notify("n", []any{s, i, pad}); err != nil {
					t.Errorf("Notify: %v", err)
					return
				}
			}
		})
	}
	next := make([]int, senders)
	lines := bufio.NewReader(outR)
	for range senders * each {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Params []json.RawMessage }
		if err := json.Unmarshal(line, &got); err != nil || len(got.Params) != 3 {
			t.Fatalf("line of %d bytes: %v", len(line), err)
		}
		var s, i int
		if err := errors.Join(json.Unmarshal(got.Params[0], &s), json.Unmarshal(got.Params[1], &i)); err != nil {
			t.Fatal(err)
		}
		if i != next[s] {
			t.Fatalf("sender %d: frame %d came when %d was due", s, i, next[s])
		}
		next[s]++
	}
	wg.Wait()
	inW.Close()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// R-ACP-08: a peer that stops reading stops the turn, not the reader, and what
// waits stays within its bound.
func TestPeerThatStopsReading(t *testing.T) {
	tests := []struct {
		name  string
		o     wire.Options
		frame int // bytes of text
		most  int // frames that may wait or be under way
	}{
		{"bound of frames", wire.Options{QueueFrames: 10}, 1, 10 + 10},
		{"bound of bytes", wire.Options{QueueBytes: 10_000}, 900, 10 + 10},
		{"frames over the bound", wire.Options{QueueBytes: 100}, 900, 1 + 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var p *peer
				sent := 0
				p = connect(t, handler{serve: func(ctx context.Context, _ *wire.Request) (any, error) {
					for ctx.Err() == nil {
						if err := p.Send(text(fmt.Sprint(sent), strings.Repeat("x", tt.frame))); err != nil {
							return nil, err
						}
						sent++
					}
					return "cancelled", nil
				}}, tt.o)
				p.write(request(1, "m"))
				synctest.Wait()
				if sent == 0 || sent > tt.most {
					t.Errorf("%d frames were taken, want at most %d", sent, tt.most)
				}
				p.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}` + "\n")
				synctest.Wait()
				p.listen()
				got := p.received()
				if want := `{"jsonrpc":"2.0","id":1,"result":"cancelled"}`; len(got) != sent+1 || got[len(got)-1] != want {
					t.Errorf("%d lines after %d frames, want one more, and at the end %s", len(got), sent, want)
				}
				if err := p.hangUp(); err != nil {
					t.Errorf("Serve: %v", err)
				}
			})
		})
	}
}

// Refusals have room of their own, but not without end.
func TestRefusalsWhileNothingIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, handler{}, wire.Options{QueueFrames: 4})
		written := make(chan int, 1)
		go func() {
			n := 0
			for ; n < 100; n++ {
				if _, err := io.WriteString(p.in, "garbage\n"); err != nil {
					break
				}
			}
			written <- n
		}()
		synctest.Wait()
		p.cancel(nil)
		if err := <-p.served; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v, want %v", err, context.Canceled)
		}
		p.in.Close()
		// Eight answers are being written, eight wait, one waits for room, and
		// one more line may have been read ahead.
		if got := <-written; got > 18 {
			t.Errorf("%d lines were read, want no more than 18", got)
		}
	})
}

func TestClosedOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p *peer
		var failed atomic.Int32
		p = connect(t, handler{serve: func(context.Context, *wire.Request) (any, error) {
			for {
				if err := p.Notify("n", nil); err != nil {
					failed.Add(1)
					return nil, err
				}
			}
		}}, wire.Options{})
		for id := range 20 {
			p.write(request(id, "m"))
		}
		synctest.Wait()
		p.out.CloseWithError(io.ErrUnexpectedEOF)
		err := <-p.served
		if !errors.Is(err, wire.ErrClosed) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("Serve: %v, want %v and %v", err, wire.ErrClosed, io.ErrUnexpectedEOF)
		}
		if got := failed.Load(); got != 20 {
			t.Errorf("%d of 20 turns have ended", got)
		}
		if err := p.Send(text("m", "x")); !errors.Is(err, wire.ErrClosed) {
			t.Errorf("Send: %v, want %v", err, wire.ErrClosed)
		}
		if got := strings.Count(p.log.String(), "\n"); got > 1 {
			t.Errorf("%d lines in the log, want one at most:\n%s", got, p.log)
		}
	})
}

// blank is an output that takes everything.
type blank struct{}

func (blank) Write(p []byte) (int, error) { return len(p), nil }

// begin starts a connection for measuring, and returns what ends it.
func begin(tb testing.TB, out io.Writer) (*wire.Conn, func()) {
	inR, inW := io.Pipe()
	c := wire.New(inR, out, handler{}, wire.Options{})
	served := make(chan error, 1)
	go func() { served <- c.Serve(tb.Context()) }()
	return c, func() {
		inW.Close()
		if err := <-served; err != nil {
			tb.Errorf("Serve: %v", err)
		}
	}
}

// R-ACP-08: at most two allocations for a chunk, the caller's frame included.
// A solid frame merges with no other, and so costs nothing by itself.
type solid struct{ text []byte }

func (s *solid) Append(dst []byte) []byte { return append(dst, s.text...) }
func (s *solid) Merge(wire.Frame) bool    { return false }

func TestSendAllocates(t *testing.T) { // R-ACP-08
	c, end := begin(t, blank{})
	defer end()
	piece := []byte(`{"text":"some words of an answer, "}`)
	got := testing.AllocsPerRun(2000, func() {
		if err := c.Send(&solid{piece}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 {
		t.Errorf("Send allocates %v times, want at most 2", got)
	}
}

func BenchmarkSend(b *testing.B) {
	c, end := begin(b, blank{})
	defer end()
	piece := []byte("some words of an answer, ")
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Send(&chunk{message: "m", text: piece[:len(piece):len(piece)]}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNotify(b *testing.B) {
	c, end := begin(b, blank{})
	defer end()
	params := map[string]string{"messageId": "m", "text": "some words of an answer, "}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Notify("session/update", params); err != nil {
			b.Fatal(err)
		}
	}
}
