package lifetime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/internal/lifetime"
)

func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := lifetime.New(ctx)
		cancel()
		var cause error
		l.Start(func(ctx context.Context) {
			<-ctx.Done()
			cause = context.Cause(ctx)
			time.Sleep(time.Second)
		})
		l.Enter()
		synctest.Wait()
		if cause != nil {
			t.Errorf("it has ended with the context that it was made with: %v", cause)
		}

		over := errors.New("over")
		l.End(over)
		l.End(errors.New("again"))
		if l.Start(func(context.Context) { t.Error("started after the end") }) || l.Enter() {
			t.Error("something began after the end")
		}
		short, stop := context.WithTimeout(t.Context(), 2*time.Second)
		defer stop()
		if err := l.Wait(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait() = %v while something is left", err)
		}
		l.Leave()
		if err := l.Wait(short); err != nil {
			t.Errorf("Wait() = %v when all have left", err)
		}
		if cause != over {
			t.Errorf("cause = %v, want the first", cause)
		}
		<-l.Left()
	})
}

func TestWithin(t *testing.T) {
	tests := []struct {
		name  string
		after func(l *lifetime.Lifetime, end func(), detach func() bool)
		want  bool // ended
	}{
		{"nothing", func(*lifetime.Lifetime, func(), func() bool) {}, false},
		{"the caller ends", func(_ *lifetime.Lifetime, end func(), _ func() bool) { end() }, true},
		{"the lifetime ends", func(l *lifetime.Lifetime, _ func(), _ func() bool) { l.End(nil) }, true},
		{"the caller ends behind", func(_ *lifetime.Lifetime, end func(), detach func() bool) { detach(); end() }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := lifetime.New(t.Context())
				ctx, end := context.WithCancel(t.Context())
				defer end()
				joint, detach, cancel := l.Within(ctx)
				defer cancel()
				tt.after(l, end, detach)
				synctest.Wait()
				if got := joint.Err() != nil; got != tt.want {
					t.Errorf("ended = %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// What is over leaves nothing behind at a caller that goes on.
func TestWithinLeavesNothing(t *testing.T) {
	l := lifetime.New(t.Context())
	caller := &counting{Context: t.Context()}
	for range 100 {
		_, _, cancel := l.Within(caller)
		cancel()
	}
	if caller.open != 0 {
		t.Errorf("%d of 100 still wait for the caller", caller.open)
	}
}

// A counting context counts what waits for its end.
type counting struct {
	context.Context
	open int
}

func (c *counting) AfterFunc(func()) (stop func() bool) {
	c.open++
	return func() bool { c.open--; return true }
}

func (c *counting) Done() <-chan struct{} { return make(chan struct{}) }
