package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A lock of no time has run out as soon as it is taken, so that no test waits.
const over = 0

func testLocks(t *testing.T, open func(*testing.T) harness.Threads) {
	one := thread.Holder{Token: "one", Host: "h\x00\u00e4", Process: 1 << 31, Place: "p", Started: "s"}
	two := thread.Holder{Token: "two", Host: "h", Process: 2}
	fresh := func(t *testing.T) harness.Threads {
		s := open(t)
		create(t, s, "a", thread.Created{})
		return s
	}
	t.Run("a turn is had by one", func(t *testing.T) {
		s := fresh(t)
		lock(t, s, "a", two, time.Hour)
		err := s.Lock(t.Context(), "a", one, time.Hour)
		held, ok := errors.AsType[*harness.LockedError](err)
		if !ok || !errors.Is(err, harness.ErrBusy) {
			t.Fatalf("error = %v, want a LockedError", err)
		}
		if diff := cmp.Diff(two, held.Holder); diff != "" {
			t.Errorf("holder (-want +got):\n%s", diff)
		}
		create(t, s, "b", thread.Created{})
		lock(t, s, "b", one, time.Hour) // another thread
	})
	t.Run("a turn is renewed by its holder", func(t *testing.T) {
		s := fresh(t)
		lock(t, s, "a", one, over)
		lock(t, s, "a", one, time.Hour)
		if err := s.Lock(t.Context(), "a", two, time.Hour); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("error = %v, want ErrBusy", err)
		}
	})
	t.Run("a turn whose time is over is anybody's", func(t *testing.T) {
		s := fresh(t)
		lock(t, s, "a", one, over)
		lock(t, s, "a", two, time.Hour)
		if err := s.Lock(t.Context(), "a", one, time.Hour); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("taken back: error = %v, want ErrBusy", err)
		}
	})
	t.Run("a turn that was given up is anybody's", func(t *testing.T) {
		s := fresh(t)
		lock(t, s, "a", one, time.Hour)
		unlock(t, s, "a", "another")
		if err := s.Lock(t.Context(), "a", two, time.Hour); !errors.Is(err, harness.ErrBusy) {
			t.Errorf("given up by another: error = %v, want ErrBusy", err)
		}
		unlock(t, s, "a", "one")
		unlock(t, s, "a", "one")
		unlock(t, s, "nope", "one")
		lock(t, s, "a", two, time.Hour)
	})
	t.Run("only the holder's turn writes", func(t *testing.T) { testFence(t, fresh(t)) })
	t.Run("a turn is of a thread", func(t *testing.T) {
		if err := open(t).Lock(t.Context(), "nope", one, time.Hour); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("error = %v, want ErrNotFound", err)
		}
	})
	t.Run("a thread with a turn is not deleted", func(t *testing.T) {
		s := fresh(t)
		lock(t, s, "a", two, time.Hour)
		err := s.Delete(t.Context(), "a")
		if held, ok := errors.AsType[*harness.LockedError](err); !ok || held.Holder != two {
			t.Errorf("error = %v, want a LockedError of %v", err, two)
		}
		lock(t, s, "a", two, over)
		if err := s.Delete(t.Context(), "a"); err != nil {
			t.Errorf("after its time: %v", err)
		}
		create(t, s, "a", thread.Created{})
		lock(t, s, "a", one, time.Hour) // the turn went with the thread
	})
	t.Run("one of many takes the turn", func(t *testing.T) {
		s := fresh(t)
		errs := make([]error, 8) // each goroutine has its own slot
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = s.Lock(t.Context(), "a", thread.Holder{Token: fmt.Sprint(i)}, time.Hour) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, harness.ErrBusy) {
				t.Errorf("error = %v, want ErrBusy", err)
			}
		}
		if won != 1 {
			t.Errorf("%d took it, want 1", won)
		}
	})
}

func testFence(t *testing.T, s harness.Threads) {
	write := func(turn string) error {
		_, err := s.Append(t.Context(), "a", turn, thread.Note{Text: turn})
		return err
	}
	if err := write("one"); !errors.Is(err, harness.ErrLost) {
		t.Errorf("without a lock: error = %v, want ErrLost", err)
	}
	lock(t, s, "a", thread.Holder{Token: "one"}, over)
	if err := write("one"); err != nil {
		t.Errorf("late, but nobody else has taken it: %v", err)
	}
	lock(t, s, "a", thread.Holder{Token: "two"}, time.Hour)
	if err := write("one"); !errors.Is(err, harness.ErrLost) {
		t.Errorf("after another has taken it: error = %v, want ErrLost", err)
	}
	if err := write("two"); err != nil {
		t.Errorf("the new holder: %v", err)
	}
	if err := write(""); err != nil {
		t.Errorf("what no turn writes: %v", err)
	}
	unlock(t, s, "a", "two")
	if err := write("two"); !errors.Is(err, harness.ErrLost) {
		t.Errorf("after it was given up: error = %v, want ErrLost", err)
	}
	if got := len(read(t, s, "a", 1)); got != 3 {
		t.Errorf("%d entries were written, want 3", got)
	}
}

func lock(t *testing.T, s harness.Threads, id string, h thread.Holder, ttl time.Duration) {
	t.Helper()
	if err := s.Lock(t.Context(), id, h, ttl); err != nil {
		t.Fatal(err)
	}
}

func unlock(t *testing.T, s harness.Threads, id, token string) {
	t.Helper()
	if err := s.Unlock(t.Context(), id, token); err != nil {
		t.Fatal(err)
	}
}
