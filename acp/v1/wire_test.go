package v1_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/lorimer-dev/lorimer/acp/v1"
	"github.com/lorimer-dev/lorimer/acp/wire"
	"github.com/lorimer-dev/lorimer/harness/event"
)

// nobody handles nothing.
type nobody struct{}

func (nobody) Admit(*wire.Request) string                        { return "" }
func (nobody) Serve(context.Context, *wire.Request) (any, error) { return nil, nil }
func (nobody) Notify(string, json.RawMessage)                    {}

// connect returns a connection that runs until the test has ended.
func connect(tb testing.TB, out io.Writer) *wire.Conn {
	in, end := io.Pipe()
	c := wire.New(in, out, nobody{}, wire.Options{})
	done := make(chan error, 1)
	go func() { done <- c.Serve(context.WithoutCancel(tb.Context())) }()
	tb.Cleanup(func() {
		end.Close()
		if err := <-done; err != nil {
			tb.Errorf("Serve = %v", err)
		}
	})
	return c
}

// R-ACP-08: at most two allocations for a chunk, from the event to the bytes,
// the writer's goroutine included.
func TestChunkAllocationsOnTheWire(t *testing.T) {
	turn := v1.New(connect(t, io.Discard), v1.Options{Session: "s"}).Turn()
	got := testing.AllocsPerRun(2000, func() {
		if err := turn.Emit(event.Text{MessageID: "m1", Text: "some words of an answer"}); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 {
		t.Errorf("a chunk costs %v allocations, want at most 2", got)
	}
}

func BenchmarkChunkOnTheWire(b *testing.B) {
	turn := v1.New(connect(b, io.Discard), v1.Options{Session: "0123456789abcdef"}).Turn()
	b.ReportAllocs()
	for b.Loop() {
		if err := turn.Emit(event.Text{MessageID: "m1-1", Text: "a piece of <code> && \"text\"\n"}); err != nil {
			b.Fatal(err)
		}
	}
}
