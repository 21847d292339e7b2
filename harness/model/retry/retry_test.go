package retry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tmc/langchaingo/llms"

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
			if err := f.errs[f.calls-1]; err != errEmpty {
				return nil, err
			}
			return &model.Reply{Stop: model.StopEnd}, nil
		}
		return &model.Reply{Stop: model.StopEnd}, sink(model.Text("ok"))
	})
}

// errEmpty stands for an answer that says nothing.
var errEmpty = errors.New("empty")

// cut is a failure after some of the answer.
func cut(kind model.Kind) *model.Error {
	return &model.Error{Kind: kind, Provider: "p", Message: "cut", Partial: true}
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
		{"C110 broken off three times", times(3, cut(model.Connection)), []time.Duration{2 * s, 4 * s, 8 * s}, false},
		{"four times is once too often", times(4, cut(model.Connection)), []time.Duration{2 * s, 4 * s, 8 * s}, true},
		{"C118 overloaded in the middle", times(1, cut(model.Overloaded)), []time.Duration{2 * s}, false},
		{"silence in the middle", times(1, cut(model.Idle)), []time.Duration{2 * s}, false},
		{"a named wait in the middle", times(1, &model.Error{Kind: model.RateLimit, Partial: true, RetryAfter: 7 * s}), []time.Duration{7 * s}, false},
		{"a named wait in the middle that is too long", times(1, &model.Error{Kind: model.RateLimit, Partial: true, RetryAfter: 61 * s}), nil, true},
		{"a refusal in the middle", times(1, cut(model.Refused)), nil, true},
		{"the window is full in the middle", times(1, cut(model.TokenLimit)), nil, true},
		{"final in the middle", times(1, &model.Error{Kind: model.Overloaded, Partial: true, Final: true}), nil, true},
		{"nothing, broken off, nothing", []error{fail(model.Overloaded, 0), cut(model.Connection), fail(model.Overloaded, 0)}, []time.Duration{s / 2, 2 * s, s}, false},
		{"an empty answer", times(1, errEmpty), []time.Duration{s / 4}, false},
		{"empty answers", times(3, errEmpty), []time.Duration{s / 4, 4 * s, 8 * s}, false},
		{"four empty answers", times(4, errEmpty), []time.Duration{s / 4, 4 * s, 8 * s}, true},
		{"broken off, then empty", []error{cut(model.Connection), errEmpty}, []time.Duration{2 * s, s / 4}, false},
		{"empty, then broken off", []error{errEmpty, cut(model.Connection)}, []time.Duration{s / 4, 4 * s}, false},
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
		{"empty", times(4, errEmpty), func() string {
			return "the model gave an empty answer 4 times (send the message again, or choose another model)"
		}},
		{"empty once, and no repeat is left", append(times(3, cut(model.Connection)), errEmpty), func() string {
			return "the model gave an empty answer (send the message again, or choose another model)"
		}},
		{"no message", times(1, &model.Error{Kind: model.RateLimit, RetryAfter: time.Hour, Err: errors.New("cause")}), func() string {
			return "cause " + again(time.Hour, clock)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, err := run(t, &flaky{errs: tt.errs}, retry.Policy{Jitter: middle})
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Kind != kindOf(tt.errs[len(tt.errs)-1]) || e.Message != tt.want() {
					t.Errorf("error = %v, want its kind with %q", err, tt.want())
				}
			})
		})
	}
}

// What a broken attempt has told is known to the sink before the next one tells
// anything.
func TestSinkHearsThatAnAttemptIsLeft(t *testing.T) { // R-HARN-28
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := model.Func(func(_ context.Context, _ *model.Request, sink func(model.Event) error) (*model.Reply, error) {
			if n++; n > 1 {
				return &model.Reply{Stop: model.StopEnd}, sink(model.Text("hm, yes"))
			}
			used := &model.Reply{Usage: model.Usage{Input: 3, Output: 1, Known: true}}
			return used, errors.Join(sink(model.Think("hm")), fail(model.Connection, 0)) // not marked as partial
		})
		var got []model.Event
		_, err := retry.Wrap(m, retry.Policy{Jitter: middle}).Stream(t.Context(), &model.Request{}, func(e model.Event) error {
			got = append(got, e)
			return nil
		})
		want := []model.Event{
			model.Think("hm"),
			model.Retrying{Wait: 2 * time.Second, Attempt: 1, Partial: true, Usage: model.Usage{Input: 3, Output: 1, Known: true}},
			model.Text("hm, yes"),
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(model.Retrying{}, "Err")); err != nil || diff != "" {
			t.Errorf("events (%v) (-want +got):\n%s", err, diff)
		}
	})
}

func TestEmptyAnswers(t *testing.T) { // R-HARN-24
	text := func(s string) *model.Reply {
		return &model.Reply{Stop: model.StopEnd, Parts: []llms.ContentPart{llms.TextContent{Text: s}}}
	}
	for _, tt := range []struct {
		name  string
		reply *model.Reply
		want  bool
	}{
		{"none at all", nil, true},
		{"no part", &model.Reply{Stop: model.StopEnd}, true},
		{"no part and no reason", &model.Reply{}, true},
		{"calls are announced and missing", &model.Reply{Stop: model.StopTools}, true},
		{"an empty text", text(""), true},
		{"space", text(" \n"), true},
		{"thoughts alone", &model.Reply{Parts: []llms.ContentPart{model.Reasoning{TextContent: llms.TextContent{Text: "hm"}}}}, true},
		{"text", text("x"), false},
		{"a call", &model.Reply{Parts: []llms.ContentPart{llms.ToolCall{ID: "a"}}}, false},
		{"a call with extra data", &model.Reply{Parts: []llms.ContentPart{model.Extra{}}}, false},
		{"the limit of tokens", &model.Reply{Stop: model.StopLength}, false},
		{"the window is full", &model.Reply{Stop: model.StopContext}, false},
		{"a refusal", &model.Reply{Stop: model.StopRefusal}, false},
		{"a pause", &model.Reply{Stop: model.StopPause}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				m := model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
					if n++; n > 1 {
						return text("x"), nil
					}
					return tt.reply, nil
				})
				_, err := retry.Wrap(m, retry.Policy{}).Stream(t.Context(), &model.Request{}, func(model.Event) error { return nil })
				if err != nil || (n == 2) != tt.want {
					t.Errorf("%d requests (%v), want a repeat: %v", n, err, tt.want)
				}
			})
		})
	}
}

func TestHeldTurnIsNotRepeated(t *testing.T) { // R-WEB-18
	for _, err := range []error{fail(model.Overloaded, 0), cut(model.Connection), fail(model.RateLimit, time.Second), errEmpty} {
		f := &flaky{errs: times(1, err)}
		waits, err := run(t, f, retry.Policy{Hold: func() bool { return true }})
		if e, ok := errors.AsType[*model.Error](err); !ok || !strings.Contains(e.Message, "not repeated") || f.calls != 1 || waits != nil {
			t.Errorf("%d requests after %v (%v), want one and its error", f.calls, waits, err)
		}
	}
	synctest.Test(t, func(t *testing.T) { // until then it is
		f := &flaky{errs: times(5, fail(model.Overloaded, 0))}
		run(t, f, retry.Policy{Hold: func() bool { return f.calls == 3 }})
		if f.calls != 3 {
			t.Errorf("%d requests, want 3", f.calls)
		}
	})
}

func TestCancelledRequestIsNotRepeated(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	m := model.Func(func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
		n++
		cancel()
		return nil, cut(model.Connection)
	})
	_, err := retry.Wrap(m, retry.Policy{}).Stream(ctx, &model.Request{}, func(e model.Event) error {
		t.Errorf("told %+v", e)
		return nil
	})
	if !errors.Is(err, context.Canceled) || n != 1 {
		t.Errorf("%d requests (%v), want one that was cancelled", n, err)
	}
}

func kindOf(err error) model.Kind {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Kind
	}
	return model.Empty
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
