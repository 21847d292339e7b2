package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// A stopped turn: how it is brought to a point where it waits, and what must
// hold when it is cancelled there.
type stopped struct {
	name    string
	tools   []tools.Tool
	steps   []step
	spoil   func(*fixture)
	spec    func(*harness.Spec)
	partial string // text of the stored partial answer, "" is no entry
	results int    // in the thread
}

func stoppedTurns() []stopped {
	return []stopped{
		{
			name: "build",
			spoil: func(f *fixture) {
				f.settings.open = func(ctx context.Context) (model.Streamer, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
			},
		},
		{name: "before the first event", steps: []step{hangs()}},
		{name: "in the middle of the text", steps: []step{hangs(model.Think("hm"), model.Text("half "), model.Text("an"))}, partial: "half an"},
		{
			name:    "in the middle of a call",
			steps:   []step{hangs(model.Text("so"), model.ToolStart{ID: "w", Name: "look"}, model.ToolArgs{Fragment: `{"a`})},
			partial: "so", results: 1,
		},
		{
			name:  "retry wait",
			steps: []step{fails(&model.Error{Kind: model.RateLimit, Provider: "p", RetryAfter: time.Minute})},
		},
		{
			name: "tool run with others waiting", // C030
			tools: []tools.Tool{
				mutating(toolstest.Block("block")), toolstest.Echo("look"), mutating(toolstest.Echo("write")),
			},
			steps:   []step{wants(want{"a", "block", "{}"}, want{"b", "look", "{}"}, want{"c", "write", "{}"})},
			results: 3,
		},
		{
			name:  "permission wait", // C022
			tools: []tools.Tool{mutating(toolstest.Echo("write"))},
			steps: []step{wants(want{"a", "write", "{}"})},
			spec: func(sp *harness.Spec) {
				sp.Choice = &harness.Choice{Model: "p/m", Mode: approve.Ask}
				sp.Approver = approver(func(ctx context.Context, _ approve.Question) (approve.Answer, error) {
					<-ctx.Done()
					return approve.AllowOnce, nil // a late yes is none
				})
			},
			results: 1,
		},
	}
}

// open opens the session of a stopped turn.
func (st stopped) open(t *testing.T) (*fixture, *harness.Session) {
	f := newFixture(st.tools...)
	f.script.steps = append(st.steps, says("next"))
	if st.spoil != nil {
		st.spoil(f)
	}
	return f, f.open(t, func(sp *harness.Spec) {
		if st.spec != nil {
			st.spec(sp)
		}
	})
}

func TestCancel(t *testing.T) { // R-HARN-27, R-ACP-23, R-ACP-26
	for _, st := range stoppedTurns() {
		t.Run(st.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := st.open(t)
				ctx, cancel := context.WithCancel(t.Context())
				rec := &recorder{}
				start := time.Now()
				go func() {
					synctest.Wait() // the turn waits where it should
					time.Sleep(time.Second)
					cancel()
				}()
				out, err := prompted(t, s, ctx, "go", rec)
				if err != nil || out.Stop != harness.Cancelled {
					t.Fatalf("outcome = %+v, %v, want cancelled", out, err)
				}
				if got := time.Since(start); got != time.Second {
					t.Errorf("the turn ended after %v, want with the cancel", got)
				}
				if err := rec.closed(); err != nil {
					t.Error(err)
				}
				st.checkThread(t, f.entries(t, s))
				ran := 0
				for _, tool := range st.tools {
					if tool.Info().Name == "write" {
						ran += len(tool.(*toolstest.Tool).Calls())
					}
				}
				if ran != 0 {
					t.Error("a call ran after the cancel")
				}

				f.settings.open = func(context.Context) (model.Streamer, error) { return model.Func(f.script.stream), nil }
				f.script.steps = []step{says("next")}
				if out, rec := ask(t, s, "and now"); out.Stop != harness.EndTurn || rec.text() != "next" {
					t.Errorf("next prompt: %q, %q", out.Stop, rec.text())
				}
				if err := paired(f.entries(t, s)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func (st stopped) checkThread(t *testing.T, bodies []thread.Body) {
	t.Helper()
	if err := paired(bodies); err != nil {
		t.Error(err)
	}
	text, cut := "", false
	for _, b := range bodies {
		a, ok := b.(thread.Assistant)
		if !ok {
			continue
		}
		cut = a.Partial
		for _, p := range a.Parts {
			text += p.Text
		}
	}
	if text != st.partial || cut != (st.partial != "") {
		t.Errorf("stored answer = %q, partial: %v, want %q", text, cut, st.partial)
	}
	if got := len(results(bodies)); got != st.results {
		t.Errorf("%d results in the thread, want %d", got, st.results)
	}
}

func TestCloseCancels(t *testing.T) { // R-HARN-10, C031
	for _, st := range stoppedTurns() {
		t.Run(st.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := st.open(t)
				rec := &recorder{}
				done := make(chan harness.Outcome, 1)
				go func() {
					out, err := prompted(t, s, t.Context(), "go", rec)
					if err != nil {
						t.Error(err)
					}
					done <- out
				}()
				synctest.Wait()
				if err := f.engine.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				select {
				case out := <-done:
					if out.Stop != harness.Cancelled {
						t.Errorf("outcome = %+v, want cancelled", out)
					}
				case <-time.After(time.Second):
					t.Error("Close returned before the turn")
				}
				if _, err := s.Enter(); !errors.Is(err, harness.ErrClosed) {
					t.Errorf("Enter after Close: %v, want ErrClosed", err)
				}
				if err := rec.closed(); err != nil {
					t.Error(err)
				}
				st.checkThread(t, f.entries(t, s))
			})
		})
	}
}

func TestCancelBeforePromptBegins(t *testing.T) { // C028
	f := newFixture()
	f.script.steps = []step{says("x")}
	s := f.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rec := &recorder{}
	out, err := prompted(t, s, ctx, "go", rec)
	if err != nil || out.Stop != harness.Cancelled {
		t.Errorf("outcome = %+v, %v, want cancelled", out, err)
	}
	if len(rec.all()) != 0 || len(f.entries(t, s)) != 0 || len(f.script.requests()) != 0 {
		t.Error("a prompt that never began left something")
	}
	if out, _ := ask(t, s, "again"); out.Stop != harness.EndTurn {
		t.Errorf("next prompt: %q", out.Stop)
	}
}

func TestCancelledToolReadsAsCancelled(t *testing.T) { // C030
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(mutating(toolstest.Block("block")))
		f.script.steps = []step{wants(want{"a", "block", "{}"}), says("x")}
		s := f.open(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := prompted(t, s, ctx, "go", &recorder{}); err != nil {
			t.Fatal(err)
		}
		r := f.entries(t, s)[2].(thread.Result)
		if !r.IsError || r.Shown.Status != event.Failed {
			t.Errorf("result = %+v, want a failed one", r)
		}
		ask(t, s, "again")
		last := f.script.requests()[1].Messages
		var roles []llms.ChatMessageType
		for _, m := range last {
			roles = append(roles, m.Role)
		}
		want := []llms.ChatMessageType{"human", "ai", "tool", "human"}
		if diff := cmp.Diff(want, roles); diff != "" {
			t.Errorf("roles of the next request (-want +got):\n%s", diff)
		}
	})
}

func TestGoneWatcherEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("pipe is closed")
		f := newFixture(toolstest.Block("block"))
		f.script.steps = []step{wants(want{"a", "block", "{}"}), says("x")}
		s := f.open(t)
		calls := 0
		rec := &recorder{hook: func(e event.Event) error {
			calls++
			if c, ok := e.(event.ToolCall); ok && c.Status == event.InProgress {
				return gone
			}
			return nil
		}}
		out, err := prompted(t, s, t.Context(), "go", rec)
		if !errors.Is(err, gone) || out.Stop != harness.Cancelled {
			t.Errorf("outcome = %+v, %v, want the sink's error", out, err)
		}
		if n := len(rec.all()); n != calls {
			t.Errorf("%d events for %d calls", n, calls)
		}
		if _, ok := rec.all()[calls-1].(event.ToolCall); !ok {
			t.Error("the sink was called after it had failed")
		}
		if err := paired(f.entries(t, s)); err != nil {
			t.Error(err)
		}
	})
}

func TestStoreThatFails(t *testing.T) { // an open call is closed although nothing can be stored
	for _, after := range []int{1, 2, 3} {
		f := newFixture(toolstest.Echo("look"))
		full := &fullDisk{Threads: f.threads, left: after}
		f.threads = full
		f.script.steps = []step{wants(want{"a", "look", "{}"}), says("x")}
		s := f.open(t)
		rec := &recorder{}
		_, err := prompted(t, s, t.Context(), "go", rec)
		if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "storing") {
			t.Errorf("after %d appends: error = %v, want %v", after, err, errFull)
		}
		if err := rec.closed(); err != nil {
			t.Errorf("after %d appends: %v", after, err)
		}
	}
}

func TestNothingRunsThatCannotBeStored(t *testing.T) {
	write := mutating(toolstest.Echo("write"))
	f := newFixture(toolstest.Echo("look"), write)
	f.threads = &fullDisk{Threads: f.threads, left: 2} // message, answer
	f.script.steps = []step{wants(want{"a", "look", "{}"}, want{"b", "write", "{}"}), says("x")}
	s := f.open(t)
	rec := &recorder{}
	if _, err := prompted(t, s, t.Context(), "go", rec); !errors.Is(err, errFull) {
		t.Errorf("error = %v, want %v", err, errFull)
	}
	if got := len(write.Calls()); got != 0 {
		t.Errorf("%d calls ran after a result was lost, want none", got)
	}
	if err := rec.closed(); err != nil {
		t.Error(err)
	}
}

func TestLostEndOfACancelledTurnIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := newFixture()
		f.options.Log = zerolog.New(&log)
		f.threads = &fullDisk{Threads: f.threads, left: 1} // message
		f.script.steps = []step{hangs(model.Text("half"))}
		s := f.open(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out, err := prompted(t, s, ctx, "go", &recorder{})
		if err != nil || out.Stop != harness.Cancelled {
			t.Errorf("outcome = %+v, %v, want cancelled", out, err)
		}
		if !strings.Contains(log.String(), errFull.Error()) {
			t.Errorf("log = %q, want it to hold %q", log.String(), errFull)
		}
	})
}

var errFull = errors.New("disk is full")

// fullDisk is a store that takes a number of appends.
type fullDisk struct {
	harness.Threads
	left int
}

func (d *fullDisk) Append(ctx context.Context, id, turn string, b ...thread.Body) ([]thread.Entry, error) {
	if d.left--; d.left < 0 {
		return nil, errFull
	}
	return d.Threads.Append(ctx, id, turn, b...)
}
