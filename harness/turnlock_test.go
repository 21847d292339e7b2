package harness_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/internal/process"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// begun starts a prompt and returns, when the turn waits for something, where its
// end will be.
func begun(t *testing.T, s *harness.Session, ctx context.Context, sink event.Sink) <-chan ending {
	t.Helper()
	ends := make(chan ending, 1)
	go func() {
		out, err := prompted(t, s, ctx, "go", sink)
		ends <- ending{out, err}
	}()
	synctest.Wait()
	return ends
}

type ending struct {
	out harness.Outcome
	err error
}

func TestOneTurnOfAThreadAtATime(t *testing.T) { // R-ACP-53
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", 5*time.Minute))
		f.script.steps = []step{wants(want{"w", "slow", "{}"}), says("first")}
		s := f.open(t)
		ends := begun(t, s, t.Context(), &recorder{})

		g := f.beside()
		g.script.steps = []step{says("second")}
		other := g.load(t, s.ID())
		for range 5 {
			_, err := prompted(t, other, t.Context(), "mine", &recorder{})
			locked, ok := errors.AsType[*harness.LockedError](err)
			if !ok || !errors.Is(err, harness.ErrBusy) || locked.Holder.Process != os.Getpid() {
				t.Errorf("prompt beside a turn = %v, want that it is busy", err)
			}
			if got := len(replayed(t, other)); got == 0 {
				t.Error("what is there could not be read beside a turn")
			}
			if err := g.engine.Delete(t.Context(), s.ID()); !errors.Is(err, harness.ErrBusy) {
				t.Errorf("Delete beside a turn = %v, want ErrBusy", err)
			}
			time.Sleep(59 * time.Second)
		}
		if end := <-ends; end.err != nil || end.out.Stop != harness.EndTurn {
			t.Errorf("the turn ended with %+v", end)
		}
		if out, rec := ask(t, other, "mine"); out.Stop != harness.EndTurn || rec.text() != "second" {
			t.Errorf("prompt after the turn: %+v, %q", out, rec.text())
		}
	})
}

func TestTwoSessionsOfAThread(t *testing.T) { // R-ACP-53, R-HARN-01
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{says("one"), says("two"), says("three")}
		s := f.open(t)
		other := f.load(t, s.ID(), func(sp *harness.Spec) { sp.FS = files{} })
		ask(t, s, "first")
		ask(t, other, "second")
		if got := f.traces[1].Harness; got != "reused" {
			t.Errorf("harness of the second session = %q, want that of the first", got)
		}

		open := f.settings.open
		f.settings.model.KeyDigest = "another"
		f.settings.open = func(ctx context.Context) (model.Streamer, error) {
			select {
			case <-time.After(time.Second):
				return open(ctx)
			case <-ctx.Done():
				return nil, &model.Error{Kind: model.Canceled, Provider: "p", Err: ctx.Err()}
			}
		}
		rec := &recorder{}
		ends := begun(t, s, t.Context(), rec)
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if end := <-ends; end.err != nil || rec.text() != "three" {
			t.Errorf("a turn whose harness was built while another session ended: %+v, %q", end, rec.text())
		}
		if got := len(f.script.requests()[2].Messages); got != 5 {
			t.Errorf("its request has %d messages, want 5", got)
		}
	})
}

func TestTurnReadsWhatOthersAnswered(t *testing.T) { // R-ACP-53, R-HARN-14
	f := newFixture(toolstest.Echo("look"))
	f.script.steps = []step{wants(want{"w", "look", "{}"}), says("one"), says("three")}
	s := f.open(t)
	ask(t, s, "first")
	g := f.beside(toolstest.Echo("look"))
	g.script.steps = []step{wants(want{"w", "look", "{}"}), says("two")}
	ask(t, g.load(t, s.ID()), "second")
	ask(t, s, "third")

	mine, others := f.script.requests(), g.script.requests()
	for i, pair := range [][2]*model.Request{{mine[1], others[0]}, {others[1], mine[2]}} {
		if got := reuse(t, pair[0], pair[1]); got != 1 {
			t.Errorf("after change %d of the process the request repeats %.3f of the last, want all", i+1, got)
		}
	}
	if got := f.traces[1].Harness; got != "reused" {
		t.Errorf("harness = %q, want it reused", got)
	}
	ids := map[string]bool{}
	for _, b := range f.entries(t, s) {
		a, _ := b.(thread.Assistant)
		for _, p := range a.Parts {
			id := p.ID
			if p.Call != nil {
				id = p.Call.ID
			}
			if ids[id] {
				t.Errorf("id %s was given twice", id)
			}
			ids[id] = true
		}
	}
}

func TestLockOfAnotherHolder(t *testing.T) { // R-ACP-53: a lock left by a dead process expires
	self := process.Self()
	if self.Place == "" || self.Started == "" {
		t.Skip("the system does not tell processes apart")
	}
	holder := func(change func(*thread.Holder)) thread.Holder {
		h := thread.Holder{Token: "other", Host: self.Host, Place: self.Place, Process: self.ID, Started: self.Started}
		change(&h)
		return h
	}
	tests := []struct {
		name   string
		holder thread.Holder
		wait   time.Duration // until the thread can be had
	}{
		{"one that runs", holder(func(*thread.Holder) {}), 30 * time.Second},
		{"one whose id is used again", holder(func(h *thread.Holder) { h.Started = "1" }), 0},
		{"one of another machine", holder(func(h *thread.Holder) { h.Host, h.Started = "other", "1" }), 30 * time.Second},
		{"one of another boot", holder(func(h *thread.Holder) { h.Place, h.Started = "other", "1" }), 30 * time.Second},
		{"one of which little is known", thread.Holder{Token: "other", Process: self.ID, Started: "1"}, 30 * time.Second},
	}
	prompt := func(t *testing.T, _ *fixture, s *harness.Session) error {
		_, err := prompted(t, s, t.Context(), "go", &recorder{})
		return err
	}
	remove := func(t *testing.T, f *fixture, s *harness.Session) error { return f.engine.Delete(t.Context(), s.ID()) }
	for _, tt := range tests {
		for name, do := range map[string]func(*testing.T, *fixture, *harness.Session) error{"prompt": prompt, "delete": remove} {
			t.Run(name+" beside "+tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFixture()
					f.script.steps = []step{says("x")}
					s := f.open(t)
					if err := f.threads.Lock(t.Context(), s.ID(), tt.holder, 30*time.Second); err != nil {
						t.Fatal(err)
					}
					start := time.Now()
					err := do(t, f, s)
					for ; errors.Is(err, harness.ErrBusy); err = do(t, f, s) {
						time.Sleep(time.Second)
					}
					if got := time.Since(start); err != nil || got != tt.wait {
						t.Errorf("the thread could be had after %v (%v), want %v", got, err, tt.wait)
					}
				})
			})
		}
	}
}

func TestLockThatCannotBeRenewed(t *testing.T) { // R-ACP-53
	for _, tt := range []struct {
		name string
		away time.Duration
		want error
		ends time.Duration
	}{
		{"for a moment", 20 * time.Second, nil, 5 * time.Minute},
		{"for too long", time.Hour, harness.ErrLost, 40 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(toolstest.Slow("slow", 5*time.Minute))
				f.script.steps = []step{wants(want{"w", "slow", "{}"}), says("end")}
				store := &flaky{Threads: f.threads}
				f.threads = store
				s := f.open(t)
				start := time.Now()
				rec := &recorder{}
				ends := begun(t, s, t.Context(), rec)
				time.Sleep(15 * time.Second)
				store.away.Store(true)
				time.AfterFunc(tt.away, func() { store.away.Store(false) })
				end := <-ends
				if got := time.Since(start); !errors.Is(end.err, tt.want) || got != tt.ends {
					t.Errorf("the turn ended after %v with %v, want %v after %v", got, end.err, tt.want, tt.ends)
				}
				if err := errors.Join(rec.closed(), paired(f.entries(t, s))); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Hour)
				f.script.steps = []step{says("back")}
				if out, rec := ask(t, s, "again"); out.Stop != harness.EndTurn || rec.text() != "back" {
					t.Errorf("next turn: %+v, %q", out, rec.text())
				}
			})
		})
	}
}

// A turn whose place another has taken stores nothing more, says so, and what it
// knew of the thread is read anew. It may notice only when the other has come and
// gone.
func TestLostThread(t *testing.T) { // R-ACP-53
	for _, tt := range []struct {
		name string
		slow time.Duration
		ends time.Duration
	}{
		{"with the next renewal", time.Minute, 10 * time.Second},
		{"with the next entry", 8 * time.Second, 8 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(toolstest.Slow("slow", tt.slow))
				f.script.steps = []step{wants(want{"w", "slow", "{}"}), says("first")}
				s := f.open(t)
				rec := &recorder{}
				start := time.Now()
				ends := begun(t, s, t.Context(), rec)
				f.steal(t, s.ID())

				g := f.beside()
				g.script.steps = []step{says("second")}
				ask(t, g.load(t, s.ID()), "mine")
				stored := len(f.log(t, s.ID()))
				end := <-ends
				if !errors.Is(end.err, harness.ErrLost) || !strings.Contains(end.err.Error(), "open it again") {
					t.Errorf("the turn ended with %+v, want that it lost the session", end)
				}
				if got := time.Since(start); got != tt.ends {
					t.Errorf("the turn ended after %v, want %v", got, tt.ends)
				}
				if err := rec.closed(); err != nil {
					t.Error(err)
				}
				if got := f.log(t, s.ID()); len(got) != stored {
					t.Errorf("the turn stored %v after another had taken its place", got[stored:])
				}
				f.script.steps = []step{says("third")}
				ask(t, s, "once more")
				requests := f.script.requests()
				last := requests[len(requests)-1]
				if got := resultsOf(last); len(got) != 1 || !strings.HasPrefix(got[0], "Interrupted") {
					t.Errorf("results in the next request = %q, want that the call was interrupted", got)
				}
				if got := len(last.Messages); got != 6 {
					t.Errorf("the next request has %d messages, want what both have asked and answered", got)
				}
			})
		})
	}
}

// A turn that has lost its thread, and has not noticed it yet, shares no conversation
// with the one that has taken its place in the same process.
func TestLostThreadSharesNoHarness(t *testing.T) { // R-HARN-01, R-ACP-53
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", 5*time.Second))
		f.script.steps = []step{wants(want{"w", "slow", "{}"}), says("second")}
		s := f.open(t)
		other := f.load(t, s.ID())
		ends := begun(t, s, t.Context(), &recorder{})
		f.steal(t, s.ID())
		if _, rec := ask(t, other, "mine"); rec.text() != "second" {
			t.Errorf("answer = %q", rec.text())
		}
		if got := f.traces[1].Harness; got != "rebuilt" {
			t.Errorf("harness of the second turn = %q, want rebuilt, since the first still has it", got)
		}
		if end := <-ends; !errors.Is(end.err, harness.ErrLost) {
			t.Errorf("the first turn ended with %+v, want that it lost the session", end)
		}
	})
}

// Nor does it share a build that is under way, or end the one of the other turn.
func TestLostThreadSharesNoBuild(t *testing.T) { // R-HARN-01, R-ACP-53
	for name, key := range map[string]string{"the same signature": "", "another signature": "another"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.script.steps = []step{says("second")}
				open, opened := f.settings.open, 0
				f.settings.open = func(ctx context.Context) (model.Streamer, error) {
					opened++
					select {
					case <-time.After(5 * time.Second):
						return open(ctx)
					case <-ctx.Done():
						return nil, &model.Error{Kind: model.Canceled, Provider: "p", Err: ctx.Err()}
					}
				}
				s := f.open(t)
				other := f.load(t, s.ID())
				ends := begun(t, s, t.Context(), &recorder{})
				f.steal(t, s.ID())
				f.settings.model.KeyDigest = cmp.Or(key, f.settings.model.KeyDigest)
				start := time.Now()
				if _, rec := ask(t, other, "mine"); rec.text() != "second" {
					t.Errorf("answer = %q", rec.text())
				}
				if took := time.Since(start); opened != 2 || took != 5*time.Second {
					t.Errorf("%d models were set up until the answer after %v, want one for each turn and 5s", opened, took)
				}
				if end := <-ends; !errors.Is(end.err, harness.ErrLost) {
					t.Errorf("the first turn ended with %+v, want that it lost the session", end)
				}
			})
		})
	}
}

// steal takes the lock of a thread away from the turn that has it.
func (f *fixture) steal(t *testing.T, id string) {
	t.Helper()
	err := f.threads.Lock(t.Context(), id, thread.Holder{Token: "thief"}, time.Second)
	locked, ok := errors.AsType[*harness.LockedError](err)
	if !ok {
		t.Fatalf("Lock = %v, want that another has it", err)
	}
	if err := f.threads.Unlock(t.Context(), id, locked.Holder.Token); err != nil {
		t.Fatal(err)
	}
}

func TestLockIsGivenUp(t *testing.T) {
	for _, st := range stoppedTurns() {
		t.Run(st.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := st.open(t)
				ctx, cancel := context.WithCancel(t.Context())
				ends := begun(t, s, ctx, &recorder{})
				cancel()
				if end := <-ends; end.err != nil || end.out.Stop != harness.Cancelled {
					t.Errorf("the turn ended with %+v, want cancelled", end)
				}
				if err := f.threads.Lock(t.Context(), s.ID(), thread.Holder{Token: "next"}, time.Second); err != nil {
					t.Errorf("after a cancelled turn: %v", err)
				}
			})
		})
	}
	t.Run("a send that fails before it begins", func(t *testing.T) {
		f := newFixture()
		f.settings.err = errors.New("no such model")
		s := f.open(t)
		if _, err := prompted(t, s, t.Context(), "go", &recorder{}); err == nil {
			t.Error("the prompt worked")
		}
		if err := f.threads.Lock(t.Context(), s.ID(), thread.Holder{Token: "next"}, time.Second); err != nil {
			t.Errorf("after a failed send: %v", err)
		}
	})
	t.Run("a turn that panics", func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
			panic("oops")
		}}
		s := f.open(t)
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, _ = prompted(t, s, t.Context(), "go", &recorder{}) // it panics
		}()
		if err := f.threads.Lock(t.Context(), s.ID(), thread.Holder{Token: "next"}, time.Second); err != nil {
			t.Errorf("after a panic: %v", err)
		}
	})
}

// A cancelled turn has its thread until its last tool has ended, which may take its
// time.
func TestCancelledTurnKeepsItsLock(t *testing.T) { // R-HARN-27, R-ACP-53
	synctest.Test(t, func(t *testing.T) {
		stubborn := &toolstest.Tool{Describe: tools.Info{Name: "stubborn"}, OnRun: func(context.Context, tools.Call) (tools.Result, error) {
			time.Sleep(time.Minute)
			return tools.Result{Text: "done"}, nil
		}}
		f := newFixture(stubborn)
		f.script.steps = []step{wants(want{"w", "stubborn", "{}"}), says("x")}
		s := f.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		ends := begun(t, s, ctx, &recorder{})
		cancel()
		time.Sleep(50 * time.Second)
		if err := f.threads.Lock(t.Context(), s.ID(), thread.Holder{Token: "other"}, time.Second); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("Lock while a tool of a cancelled turn runs = %v, want ErrBusy", err)
		}
		if end := <-ends; end.err != nil || end.out.Stop != harness.Cancelled {
			t.Errorf("the turn ended with %+v", end)
		}
		if err := paired(f.entries(t, s)); err != nil {
			t.Error(err)
		}
	})
}

// late is a store whose lock is taken although its answer comes too late.
type late struct{ *flaky }

func (l late) Lock(ctx context.Context, id string, h thread.Holder, ttl time.Duration) error {
	err := l.flaky.Lock(ctx, id, h, ttl)
	if l.locks.Load() == 1 && err == nil {
		return context.DeadlineExceeded
	}
	return err
}

func TestLockThatMayBeTakenIsGivenUp(t *testing.T) {
	f := newFixture()
	f.script.steps = []step{says("x")}
	f.threads = late{&flaky{Threads: f.threads}}
	s := f.open(t)
	if _, err := prompted(t, s, t.Context(), "go", &recorder{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v, want that of the lock", err)
	}
	ask(t, s, "go")
}

// A lock that a turn could not give up, because the database was away when it
// ended, stands in the way of others until it expires, but not of this engine.
func TestLockThatWasNotGivenUp(t *testing.T) { // R-ACP-53
	prompt := func(t *testing.T, f *fixture, id string) error {
		_, err := prompted(t, f.load(t, id), t.Context(), "go", &recorder{})
		return err
	}
	remove := func(t *testing.T, f *fixture, id string) error { return f.engine.Delete(t.Context(), id) }
	for name, do := range map[string]func(*testing.T, *fixture, string) error{"prompt": prompt, "delete": remove} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				store := &flaky{Threads: f.threads}
				f.threads = store
				f.script.steps = []step{func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
					store.away.Store(true)
					return says("one")(ctx, req, sink)
				}, says("two")}
				s := f.open(t)
				ask(t, s, "first")
				store.away.Store(false)

				g := f.beside()
				g.script.steps = []step{says("other")}
				if err := prompt(t, g, s.ID()); !errors.Is(err, harness.ErrBusy) {
					t.Errorf("prompt of another engine = %v, want ErrBusy", err)
				}
				if err := do(t, f, s.ID()); err != nil {
					t.Errorf("the engine whose turn it was: %v", err)
				}
			})
		})
	}
}

func TestTwoSessionsTakeTurns(t *testing.T) { // R-ACP-53
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Slow("slow", time.Minute))
		f.script.steps = []step{wants(want{"w", "slow", "{}"}), says("first")}
		s := f.open(t)
		ends := begun(t, s, t.Context(), &recorder{})
		if _, err := prompted(t, f.load(t, s.ID()), t.Context(), "mine", &recorder{}); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("prompt of another session beside a turn = %v, want ErrBusy", err)
		}
		if end := <-ends; end.err != nil || end.out.Stop != harness.EndTurn {
			t.Errorf("the turn ended with %+v", end)
		}
	})
}

func TestAppendThatFails(t *testing.T) { // R-ACP-50, R-ACP-52
	full := &flaky{}
	f := newFixture(&toolstest.Tool{Describe: tools.Info{Name: "fill"}, OnRun: func(context.Context, tools.Call) (tools.Result, error) {
		full.full.Store(true)
		return tools.Result{Text: "done"}, nil
	}})
	full.Threads = f.threads
	f.threads = full
	f.script.steps = []step{wants(want{"w", "fill", "{}"}), says("back")}
	s := f.open(t)
	rec := &recorder{}
	if _, err := prompted(t, s, t.Context(), "go", rec); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("error = %v, want that of the store", err)
	}
	if err := rec.closed(); err != nil {
		t.Error(err)
	}
	full.full.Store(false)
	if out, rec := ask(t, s, "again"); out.Stop != harness.EndTurn || rec.text() != "back" {
		t.Errorf("next turn: %+v, %q", out, rec.text())
	}
	if got := f.traces[1]; got.Harness == "reused" {
		t.Errorf("harness after a failed append = %+v, want another one", got)
	}
	last := f.script.requests()[1]
	if got := resultsOf(last); len(got) != 1 || !strings.HasPrefix(got[0], "Interrupted") {
		t.Errorf("results in the next request = %q, want that the call was interrupted", got)
	}
}

// A database that does not answer holds up no cancel.
func TestCancelWhileTheLockIsWaitedFor(t *testing.T) { // R-ACP-26
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.threads = silent{f.threads}
		s := f.open(t)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start := time.Now()
		out, err := prompted(t, s, ctx, "go", &recorder{})
		if took := time.Since(start); err != nil || out.Stop != harness.Cancelled || took > 3*time.Second {
			t.Errorf("%+v, %v after %v; want it cancelled a second after the cancel at the latest", out, err, took)
		}
	})
}

// silent is a store whose locks never answer.
type silent struct{ harness.Threads }

func (silent) Lock(ctx context.Context, _ string, _ thread.Holder, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silent) Unlock(ctx context.Context, _, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}
