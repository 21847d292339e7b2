package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/retry"
)

// flaky fails with each of the errors in turn, and then answers.
type flaky struct {
	errs  []error
	calls int
}

func (f *flaky) streamer() model.Streamer {
	return model.Func(func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		f.calls++
		if f.calls <= len(f.errs) {
			return nil, f.errs[f.calls-1]
		}
		return &model.Reply{Stop: model.StopEnd}, sink(model.Text("ok"))
	})
}

func times(n int, err error) []error {
	var all []error
	for range n {
		all = append(all, err)
	}
	return all
}

func fail(kind model.Kind, after time.Duration) *model.Error {
	return &model.Error{Kind: kind, Provider: "p", Message: "no luck", RetryAfter: after}
}

// middle is a jitter that changes nothing.
func middle() float64 { return 0.5 }

// run streams through a wrapper and returns the waits that were told.
func run(t *testing.T, f *flaky, p retry.Policy) (waits []time.Duration, err error) {
	t.Helper()
	_, err = retry.Wrap(f.streamer(), p).Stream(t.Context(), &model.Request{}, func(e model.Event) error {
		if r, ok := e.(model.Retrying); ok {
			waits = append(waits, r.Wait)
			if r.Attempt != len(waits) || r.Err == nil {
				t.Errorf("event %+v, want attempt %d with its error", r, len(waits))
			}
		}
		return nil
	})
	return waits, err
}

func TestRepeats(t *testing.T) {
	const s = time.Second
	growing := []time.Duration{s / 2, s, 2 * s, 4 * s, 8 * s, 10 * s, 10 * s, 10 * s, 10 * s, 10 * s, 10 * s, 10 * s}
	tests := []struct {
		name  string
		errs  []error
		waits []time.Duration
		fails bool
	}{
		{"success at once", nil, nil, false},
		{"C118 529 nine times, then fine", times(9, fail(model.Overloaded, 0)), growing[:9], false},
		{"connection 12 times, then fine", times(12, fail(model.Connection, 0)), growing, false},
		{"13 times is once too often", times(13, fail(model.Overloaded, 0)), growing, true},
		{"silence before the first event", times(1, fail(model.Idle, 0)), growing[:1], false},
		{"429 with a hint", times(2, fail(model.RateLimit, 7*s)), []time.Duration{7 * s, 7 * s}, false},
		{"a named wait of a minute is kept", times(2, fail(model.RateLimit, time.Minute)), []time.Duration{time.Minute, time.Minute}, false},
		{"the third would go over 120 s", times(3, fail(model.RateLimit, time.Minute)), []time.Duration{time.Minute, time.Minute}, true},
		{"C117 a longer one fails at once", times(1, fail(model.RateLimit, 1382400*s)), nil, true},
		{"429 without a hint twice", times(2, fail(model.RateLimit, 0)), growing[:2], false},
		{"429 without a hint three times", times(3, fail(model.RateLimit, 0)), growing[:2], true},
		{"a hint and none", []error{fail(model.RateLimit, 3*s), fail(model.RateLimit, 0), fail(model.Overloaded, 0)}, []time.Duration{3 * s, s, 2 * s}, false},
		{"quota", times(1, fail(model.Quota, 0)), nil, true},
		{"context overflow", times(1, fail(model.TokenLimit, 0)), nil, true},
		{"content refused", times(1, fail(model.Refused, 0)), nil, true},
		{"a bad key", times(1, fail(model.Auth, 0)), nil, true},
		{"final", times(1, &model.Error{Kind: model.Overloaded, Final: true}), nil, true},
		{"partial", times(1, &model.Error{Kind: model.Connection, Partial: true}), nil, true},
		{"another error", times(1, errors.New("a bug")), nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				f := &flaky{errs: tt.errs}
				waits, err := run(t, f, retry.Policy{Jitter: middle})
				if (err != nil) != tt.fails {
					t.Errorf("error = %v, want one: %v", err, tt.fails)
				}
				if diff := cmp.Diff(tt.waits, waits); diff != "" {
					t.Errorf("waits (-want +got):\n%s", diff)
				}
				var sum time.Duration
				for _, w := range tt.waits {
					sum += w
				}
				if got := time.Since(start); got != sum || f.calls != len(tt.waits)+1 {
					t.Errorf("took %v and %d requests, want %v and %d", got, f.calls, sum, len(tt.waits)+1)
				}
			})
		})
	}
}

func TestJitterStaysInItsRange(t *testing.T) {
	for _, tt := range []struct {
		jitter float64
		want   time.Duration
	}{{0, 250 * time.Millisecond}, {0.999, 749500 * time.Microsecond}} {
		synctest.Test(t, func(t *testing.T) {
			waits, err := run(t, &flaky{errs: times(1, fail(model.Overloaded, 0))}, retry.Policy{Jitter: func() float64 { return tt.jitter }})
			if err != nil || len(waits) != 1 || waits[0] != tt.want {
				t.Errorf("waits = %v (%v), want %v", waits, err, tt.want)
			}
		})
	}
}

func TestOwnWaitsFillTheAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := &flaky{errs: times(20, fail(model.Overloaded, 0))}
		waits, err := run(t, f, retry.Policy{Jitter: func() float64 { return 0.999999999 }})
		if err == nil || time.Since(start) > 120*time.Second || len(waits) != 12 {
			t.Errorf("%d repeats in %v (%v), want 12 in at most 120s", len(waits), time.Since(start), err)
		}
	})
}

func TestTurnSharesItsAllowance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := retry.Policy{Allowance: new(retry.Allowance), Jitter: middle}
		if waits, err := run(t, &flaky{errs: times(8, fail(model.Overloaded, 0))}, p); err != nil || len(waits) != 8 {
			t.Fatalf("first request: %v, %v", waits, err)
		}
		waits, err := run(t, &flaky{errs: times(8, fail(model.Overloaded, 0))}, p)
		if err == nil || len(waits) != 4 {
			t.Errorf("second request repeats %d times (%v), want 4 and an error", len(waits), err)
		}
		if p.Allowance.Draw(retry.Nothing, 0) || !p.Allowance.Draw(retry.Partial, 0) {
			t.Error("the repeats after nothing must be used up, those after partial output not")
		}
	})
}

func TestAllowance(t *testing.T) {
	var a retry.Allowance
	for i, tt := range []struct {
		cause retry.Cause
		wait  time.Duration
		want  bool
	}{
		{retry.Partial, 50 * time.Second, true},
		{retry.Partial, 50 * time.Second, true},
		{retry.Partial, 21 * time.Second, false}, // over 120 s
		{retry.Unhinted, 0, true},
		{retry.Unhinted, 0, true},
		{retry.Unhinted, 0, false},
		{retry.Partial, 0, true},
		{retry.Partial, 0, false},
		{retry.Nothing, 20 * time.Second, true},
		{retry.Nothing, 1, false},
	} {
		if got := a.Draw(tt.cause, tt.wait); got != tt.want {
			t.Errorf("draw %d = %v, want %v", i, got, tt.want)
		}
	}
	if got := a.Left(); got != 0 {
		t.Errorf("left = %v, want 0", got)
	}
}

func TestErrorTellsWhatToDo(t *testing.T) {
	const clock, date = "15:04:05 MST", "15:04 MST on 2 January 2006"
	again := func(wait time.Duration, layout string) string { // as told in the reader's zone
		return "(it can be asked again after " + time.Now().Add(wait).Format(layout) + ")"
	}
	tests := []struct {
		name string
		errs []error
		want func() string
	}{
		{"used up", times(13, fail(model.Overloaded, 0)), func() string {
			return "no luck (gave up after 12 repeats in 1m26s; try again later, or choose another model)"
		}},
		{"too long", times(1, fail(model.RateLimit, 2*time.Hour)), func() string { return "no luck " + again(2*time.Hour, clock) }},
		{"days", times(1, fail(model.RateLimit, 16*24*time.Hour)), func() string { return "no luck " + again(16*24*time.Hour, date) }},
		{"quota with a time", times(1, fail(model.Quota, time.Hour)), func() string { return "no luck " + again(time.Hour, clock) }},
		{"no message", times(1, &model.Error{Kind: model.RateLimit, RetryAfter: time.Hour, Err: errors.New("cause")}), func() string {
			return "cause " + again(time.Hour, clock)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := run(t, &flaky{errs: tt.errs}, retry.Policy{Jitter: middle})
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Kind != tt.errs[0].(*model.Error).Kind || e.Message != tt.want() {
					t.Errorf("error = %v, want its kind with %q", err, tt.want())
				}
			})
		})
	}
}

func TestNothingIsRepeatedAfterTheFirstEvent(t *testing.T) {
	n := 0
	m := model.Func(func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		n++
		return nil, errors.Join(sink(model.Think("hm")), fail(model.Connection, 0))
	})
	_, err := retry.Wrap(m, retry.Policy{}).Stream(t.Context(), &model.Request{}, func(model.Event) error { return nil })
	if err == nil || n != 1 {
		t.Errorf("%d requests (%v), want one and its error", n, err)
	}
}

func TestSilenceCountsAsWaiting(t *testing.T) { // R-HARN-24
	for silence, want := range map[time.Duration]int{300 * time.Second: 1, 50 * time.Second: 3} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			m := model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
				n++
				time.Sleep(silence)
				return nil, fail(model.Idle, 0)
			})
			_, err := retry.Wrap(m, retry.Policy{}).Stream(t.Context(), &model.Request{}, func(model.Event) error { return nil })
			if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Idle || n != want {
				t.Errorf("after %v of silence each: %d requests (%v), want %d", silence, n, err, want)
			}
		})
	}
}

func TestLostClientEndsTheRepeats(t *testing.T) {
	gone := errors.New("nobody watches")
	f := &flaky{errs: times(5, fail(model.Overloaded, 0))}
	_, err := retry.Wrap(f.streamer(), retry.Policy{}).Stream(t.Context(), &model.Request{}, func(model.Event) error { return gone })
	if err != gone || f.calls != 1 {
		t.Errorf("%d requests (%v), want one and the sink's error", f.calls, err)
	}
}

func TestCancelEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start := time.Now()
		f := &flaky{errs: times(5, fail(model.RateLimit, 50*time.Second))}
		_, err := retry.Wrap(f.streamer(), retry.Policy{}).Stream(ctx, &model.Request{}, func(model.Event) error { return nil })
		if !errors.Is(err, context.Canceled) || time.Since(start) != 3*time.Second || f.calls != 1 {
			t.Errorf("after %v and %d requests: %v; want cancelled at 3s after one", time.Since(start), f.calls, err)
		}
	})
}
