package app

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/store/storetest"
	"github.com/lorimer-dev/lorimer/harness/thread"
)

// A kept store counts its closing.
type kept struct {
	passing
	closed int
}

func newKept() *kept { return &kept{passing: passing{memory.New(nil), memory.NewPlaces(nil)}} }

func (k *kept) Close() error { k.closed++; return nil }

func TestThreads(t *testing.T) {
	storetest.TestThreads(t, func(*testing.T) harness.Threads {
		return &lazy{open: func(context.Context) (database, error) { return newKept(), nil }}
	})
}

func TestPlaces(t *testing.T) {
	storetest.TestPlaces(t, func(_ *testing.T, now func() time.Time) place.Places {
		return &lazy{open: func(context.Context) (database, error) {
			return passing{memory.New(now), memory.NewPlaces(now)}, nil
		}}
	})
}

// TestLazyOpenOnce: those who come at the same time share one opening, and
// nothing is opened before.
func TestLazyOpenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened, store := 0, newKept()
		s := &lazy{open: func(context.Context) (database, error) {
			opened++
			time.Sleep(time.Second)
			return store, nil
		}}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrNotFound) {
					t.Errorf("Info: %v, want ErrNotFound", err)
				}
			})
		}
		wg.Wait()
		if err := s.close(t.Context()); err != nil || opened != 1 || store.closed != 1 {
			t.Errorf("opened %d times, closed %d times (%v), want once each", opened, store.closed, err)
		}
		if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrClosed) {
			t.Errorf("after close: %v, want ErrClosed", err)
		}
	})
}

// TestLazyOpenAgain: a failure reaches all who waited, and the next use tries
// again.
func TestLazyOpenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken, opened := errors.New("the disk is gone"), 0
		s := &lazy{open: func(context.Context) (database, error) {
			time.Sleep(time.Second)
			if opened++; opened == 1 {
				return nil, broken
			}
			return newKept(), nil
		}}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := s.List(t.Context(), thread.Query{}); !errors.Is(err, broken) {
					t.Errorf("List: %v, want the reason", err)
				}
			})
		}
		wg.Wait()
		if err := s.Create(t.Context(), "a", thread.Created{}); err != nil || opened != 2 {
			t.Errorf("then: %v after %d openings, want none after 2", err, opened)
		}
	})
}

// TestLazyOpenerLeaves: whoever opens the store may lose patience; the others
// get it all the same.
func TestLazyOpenerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &lazy{open: func(ctx context.Context) (database, error) {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Minute):
				return newKept(), nil
			}
		}}
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Info(short, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("impatient: %v, want the end of its context", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrNotFound) {
				t.Errorf("patient: %v, want ErrNotFound", err)
			}
		})
		wg.Wait()
	})
}

// TestLazyCloseWhileOpening: what was opened too late does not stay open.
func TestLazyCloseWhileOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newKept()
		s := &lazy{open: func(context.Context) (database, error) {
			time.Sleep(time.Second)
			return store, nil
		}}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrClosed) {
				t.Errorf("Info: %v, want ErrClosed", err)
			}
		})
		synctest.Wait()
		if err := s.close(t.Context()); err != nil || store.closed != 1 {
			t.Errorf("closed %d times (%v), want once before close returns", store.closed, err)
		}
		wg.Wait()
	})
}

// TestLazyOpenPanics: an opening that panics is one that failed.
func TestLazyOpenPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		s := &lazy{open: func(context.Context) (database, error) {
			time.Sleep(time.Second)
			if opened++; opened == 1 {
				panic("a mistake")
			}
			return newKept(), nil
		}}
		var wg sync.WaitGroup
		wg.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic did not reach the one who opened")
				}
			}()
			s.Info(t.Context(), "a")
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := s.Info(t.Context(), "a"); !errors.Is(err, errPanicked) {
				t.Errorf("beside it: %v, want errPanicked", err)
			}
		})
		wg.Wait()
		if _, err := s.Info(t.Context(), "a"); !errors.Is(err, harness.ErrNotFound) {
			t.Errorf("then: %v, want ErrNotFound", err)
		}
	})
}
