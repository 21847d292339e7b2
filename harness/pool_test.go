package harness

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
)

var (
	sigA = Sign(Inputs{Stable: "a"})
	sigB = Sign(Inputs{Stable: "b", Model: model.Descriptor{ID: "m"}})
)

// counter opens harnesses and counts them.
type counter struct {
	opens int
	err   error
	wait  time.Duration // the end of the context ends it
	stuck time.Duration // nothing does
}

func (c *counter) open(ctx context.Context) (*harness, error) {
	c.opens++
	time.Sleep(c.stuck)
	select {
	case <-time.After(c.wait):
		return &harness{}, c.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestPoolSharesABuild(t *testing.T) { // R-HARN-05
	synctest.Test(t, func(t *testing.T) {
		var p pool
		c := &counter{wait: time.Second}
		got := make(chan lease, 2)
		for range 2 {
			go func() {
				l, err := p.get(t.Context(), "a", sigA, c.open)
				if err != nil {
					t.Error(err)
				}
				got <- l
			}()
			synctest.Wait()
		}
		a, b := <-got, <-got
		if c.opens != 1 || a.harness != b.harness {
			t.Errorf("%d builds, one harness: %v", c.opens, a.harness == b.harness)
		}
		if hows := map[string]int{a.how: 1, b.how: 1}; !cmp.Equal(hows, map[string]int{built: 1, reused: 1}) {
			t.Errorf("how = %q and %q, want one built and one reused", a.how, b.how)
		}
	})
}

func TestPoolForgetsAFailedBuild(t *testing.T) { // R-HARN-05
	var p pool
	c := &counter{err: errors.New("no route")}
	if _, err := p.get(t.Context(), "a", sigA, c.open); !errors.Is(err, c.err) {
		t.Fatalf("error = %v, want %v", err, c.err)
	}
	c.err = nil
	l, err := p.get(t.Context(), "a", sigA, c.open)
	if err != nil || l.how != built {
		t.Errorf("next get = %q, %v, want built", l.how, err)
	}
}

func TestPoolRebuildsOnDrift(t *testing.T) { // R-HARN-04, R-HARN-11
	var p pool
	c := &counter{}
	var got []string
	var changed [][]string
	for _, sig := range []Signature{sigA, sigA, sigB, sigA} {
		l, err := p.get(t.Context(), "a", sig, c.open)
		if err != nil {
			t.Fatal(err)
		}
		got, changed = append(got, l.how), append(changed, l.changed)
	}
	if diff := cmp.Diff([]string{built, reused, rebuilt, rebuilt}, got); diff != "" {
		t.Errorf("what became of the harness (-want +got):\n%s", diff)
	}
	names := []string{"model", "stablePrompt"}
	if diff := cmp.Diff([][]string{nil, nil, names, names}, changed); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if len(p.builds) != 1 {
		t.Errorf("%d harnesses of one thread", len(p.builds))
	}
}

func TestPoolAbortsTheOldBuild(t *testing.T) { // R-HARN-07
	synctest.Test(t, func(t *testing.T) {
		var p pool
		slow := &counter{wait: time.Hour}
		first := make(chan error, 1)
		go func() {
			_, err := p.get(t.Context(), "a", sigA, slow.open)
			first <- err
		}()
		synctest.Wait()
		l, err := p.get(t.Context(), "a", sigB, (&counter{}).open)
		if err != nil || l.how != rebuilt {
			t.Errorf("new get = %q, %v, want rebuilt", l.how, err)
		}
		if err := <-first; !errors.Is(err, errAborted) {
			t.Errorf("old get = %v, want %v", err, errAborted)
		}
	})
}

func TestPoolDoesNotWaitForEverForTheOldBuild(t *testing.T) { // R-HARN-07, bounded
	synctest.Test(t, func(t *testing.T) {
		var p pool
		stuck := &counter{stuck: time.Hour}
		go func() {
			if _, err := p.get(t.Context(), "a", sigA, stuck.open); err == nil {
				t.Error("an aborted build was given out")
			}
		}()
		synctest.Wait()
		start := time.Now()
		if _, err := p.get(t.Context(), "a", sigB, (&counter{}).open); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != grace {
			t.Errorf("waited %v for the old build, want %v", got, grace)
		}
		time.Sleep(time.Hour) // lets the stuck build end
	})
}

func TestPoolAbortsABuildThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pool
		slow := &counter{wait: time.Hour}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.get(ctx, "a", sigA, slow.open); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the caller's", err)
		}
		l, err := p.get(t.Context(), "a", sigA, (&counter{}).open)
		if err != nil || l.how != built {
			t.Errorf("next get = %q, %v, want built", l.how, err)
		}
	})
}

func TestPoolKeepsABuildThatAnotherWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pool
		slow := &counter{wait: time.Minute}
		patient := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			_, err := p.get(t.Context(), "a", sigA, slow.open)
			patient <- err
		}()
		if _, err := p.get(ctx, "a", sigA, slow.open); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the caller's", err)
		}
		if err := <-patient; err != nil || slow.opens != 1 {
			t.Errorf("the other got %v after %d builds, want the one build", err, slow.opens)
		}
	})
}

func TestPoolDrop(t *testing.T) { // R-HARN-10
	synctest.Test(t, func(t *testing.T) {
		var p pool
		slow := &counter{wait: time.Hour}
		got := make(chan error, 1)
		go func() {
			_, err := p.get(t.Context(), "a", sigA, slow.open)
			got <- err
		}()
		synctest.Wait()
		if err := p.drop(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, errAborted) || len(p.builds) != 0 {
			t.Errorf("get = %v with %d builds left, want %v and none", err, len(p.builds), errAborted)
		}
		if _, err := p.get(t.Context(), "b", sigA, (&counter{}).open); err != nil {
			t.Fatal(err)
		}
		if err := p.drop(t.Context(), "b"); err != nil || len(p.builds) != 0 {
			t.Errorf("drop of a finished build: %v, %d left", err, len(p.builds))
		}
	})
}

func TestPoolDropsWhatIsIdle(t *testing.T) { // R-HARN-13
	synctest.Test(t, func(t *testing.T) {
		p := pool{idle: time.Minute}
		c := &counter{}
		take := func(how string, changed ...string) lease {
			t.Helper()
			l, err := p.get(t.Context(), "a", sigA, c.open)
			if err != nil || l.how != how || !cmp.Equal(changed, l.changed) {
				t.Errorf("get = %s %v, %v, want %s %v", l.how, l.changed, err, how, changed)
			}
			return l
		}
		a := take(built)
		time.Sleep(time.Hour) // it is in use
		b := take(reused)
		p.release(a)
		time.Sleep(time.Hour) // so is it still
		p.release(b)
		time.Sleep(time.Minute - 1)
		p.release(take(reused))
		time.Sleep(time.Minute - 1) // counts from the last use
		p.release(take(reused))
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(p.builds) != 0 {
			t.Error("an idle harness is kept")
		}
		p.release(take(rebuilt, changedIdle))
		p.release(take(reused))
		time.Sleep(time.Minute)
		synctest.Wait()
		l, err := p.get(t.Context(), "a", sigB, c.open)
		if names := []string{"model", "stablePrompt", changedIdle}; err != nil || !cmp.Equal(names, l.changed) {
			t.Errorf("changed = %v (%v), want %v", l.changed, err, names)
		}
		p.release(l)
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := p.drop(t.Context(), "a"); err != nil || len(p.gone) != 0 {
			t.Errorf("drop of an idle harness: %v, %d remains", err, len(p.gone))
		}
		take(built)
		if err := p.close(t.Context()); err != nil || len(p.builds)+len(p.gone) != 0 {
			t.Errorf("a closed pool keeps harnesses (%v)", err)
		}
	})
}

// A build that is no thread's any more still ends before the pool has closed.
func TestPoolWaitsForAPartedBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pool
		c := &counter{stuck: 3 * time.Second}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // ends with ctx
			if _, err := p.get(ctx, "a", sigA, c.open); !errors.Is(err, context.Canceled) {
				t.Errorf("get: %v, want %v", err, context.Canceled)
			}
		}()
		synctest.Wait()
		p.part("a")
		cancel()
		start := time.Now()
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := p.close(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close after a second: %v, want %v", err, context.DeadlineExceeded)
		}
		if err := p.close(t.Context()); err != nil || time.Since(start) != 3*time.Second || len(p.parted) != 0 {
			t.Errorf("closed after %v (%v), %d builds left; want the end of the build after 3s", time.Since(start), err, len(p.parted))
		}
	})
}

func TestPoolNeverDropsWithoutALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pool
		c := &counter{}
		for _, want := range []string{built, reused} {
			l, err := p.get(t.Context(), "a", sigA, c.open)
			if err != nil || l.how != want {
				t.Errorf("get = %s (%v), want %s", l.how, err, want)
			}
			p.release(l)
			time.Sleep(1000 * time.Hour)
		}
	})
}

func TestPoolForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pool{idle: time.Minute}
		c := &counter{}
		p.forget("a") // there is none
		a, err := p.get(t.Context(), "a", sigA, c.open)
		if err != nil {
			t.Fatal(err)
		}
		p.forget("a")
		b, err := p.get(t.Context(), "a", sigA, c.open)
		if err != nil || b.how != rebuilt || !cmp.Equal(b.changed, []string{changedStore}) || a.harness == b.harness {
			t.Errorf("get = %s %v, %v, want another harness for %s", b.how, b.changed, err, changedStore)
		}
		p.release(a) // of the harness that was forgotten: the other one is in use
		time.Sleep(time.Hour)
		if p.builds["a"] != b.from {
			t.Error("a harness in use was dropped")
		}
	})
}

func TestPoolSurvivesAPanic(t *testing.T) { // R-HARN-05
	var p pool
	_, err := p.get(t.Context(), "a", sigA, func(context.Context) (*harness, error) { panic("no such driver") })
	if err == nil || !strings.Contains(err.Error(), "no such driver") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %v, want one line with what happened", err)
	}
	l, err := p.get(t.Context(), "a", sigA, (&counter{}).open)
	if err != nil || l.how != built {
		t.Errorf("next get = %q, %v, want built", l.how, err)
	}
}
