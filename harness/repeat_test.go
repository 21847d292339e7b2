package harness_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestErrorsOfEachKind(t *testing.T) { // R-HARN-24, R-HARN-25
	fail := func(kind model.Kind, after time.Duration, final bool) step {
		return fails(&model.Error{Kind: kind, Provider: "p", Message: "no", RetryAfter: after, Final: final})
	}
	times := func(n int, s step) []step { return slices.Repeat([]step{s}, n) }
	const s = time.Second
	tests := []struct {
		name     string
		steps    []step
		requests int
		least    time.Duration // waited, with what the jitter may add
		most     time.Duration
		ends     string // what the user reads if it is an error
	}{
		{"overloaded", times(3, fail(model.Overloaded, 0, false)), 4, s * 7 / 4, s * 21 / 4, ""},
		{"overloaded for ever", times(20, fail(model.Overloaded, 0, false)), 13, 40 * s, 120 * s, "gave up after 12 repeats"},
		{"no connection", times(1, fail(model.Connection, 0, false)), 2, s / 4, s * 3 / 4, ""},
		{"rate limit with a time", times(1, fail(model.RateLimit, 9*s, false)), 2, 9 * s, 9 * s, ""},
		{"rate limit without", times(9, fail(model.RateLimit, 0, false)), 3, s * 3 / 4, s * 9 / 4, "gave up after 2 repeats"},
		{"rate limit for days", times(1, fail(model.RateLimit, 400*time.Hour, false)), 1, 0, 0, "it can be asked again after"},
		{"quota", times(1, fail(model.Quota, 0, false)), 1, 0, 0, "quota"},
		{"context overflow", times(1, fail(model.TokenLimit, 0, false)), 1, 0, 0, "context overflow"},
		{"refused", times(1, fail(model.Refused, 0, false)), 1, 0, 0, "refused"},
		{"a bad key", times(1, fail(model.Auth, 0, false)), 1, 0, 0, "authentication"},
		{"final", times(1, fail(model.Overloaded, 0, true)), 1, 0, 0, "overloaded"},
		{"broken off", times(1, broke(model.Text("x"))), 2, s, 3 * s, ""},
		{"broken off for ever", times(9, broke(model.Text("x"))), 4, 7 * s, 21 * s, "gave up after 3 repeats"},
		{"empty", times(1, stops(model.StopEnd)), 2, s / 4, s / 4, ""},
		{"empty for ever", times(9, stops(model.StopEnd)), 4, s / 4, 19 * s, "empty answer 4 times"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture()
				f.script.steps = append(slices.Clone(tt.steps), says("x y"))
				session := f.open(t)
				rec := &recorder{}
				start := time.Now()
				out, err := prompted(t, session, t.Context(), "go", rec)
				if got := time.Since(start); got < tt.least || got > tt.most {
					t.Errorf("waited %v, want %v to %v", got, tt.least, tt.most)
				}
				if got := len(f.script.requests()); got != tt.requests {
					t.Errorf("%d requests, want %d", got, tt.requests)
				}
				waits := 0
				for _, e := range rec.all() {
					if e, ok := e.(event.Retry); ok {
						waits++
						if e.Attempt != waits || e.Reason == "" || strings.Contains(e.Reason, "\n") {
							t.Errorf("wait %d is told as %+v", waits, e)
						}
					}
				}
				if waits != tt.requests-1 {
					t.Errorf("%d waits were told, want %d", waits, tt.requests-1)
				}
				if tt.ends == "" {
					if err != nil || out.Stop != harness.EndTurn || rec.text() != "x y" {
						t.Errorf("outcome = %+v, %v with %q", out, err, rec.text())
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), tt.ends) {
					t.Errorf("error = %v, want it to say %q", err, tt.ends)
				}
			})
		})
	}
}

// The last step may give no answer: then it is the limit that ends the turn.
func TestEmptyLastStep(t *testing.T) { // R-ACP-27
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Echo("look"))
		f.options.MaxSteps = 2
		f.script.steps = []step{wants(want{"w", "look", "{}"}), stops(model.StopEnd)}
		out, _ := ask(t, f.open(t), "go")
		if got := len(f.script.requests()); out.Stop != harness.MaxTurnRequests || got != 5 {
			t.Errorf("%q after %d requests, want the limit after 2 and 3 repeats", out.Stop, got)
		}
	})
}

// What a model took before it broke off is part of the turn's cost.
func TestBrokenAttemptCosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		f.script.steps = []step{func(context.Context, *model.Request, func(model.Event) error) (*model.Reply, error) {
			return reply(model.StopEnd), nil // empty
		}, says("x")}
		out, _ := ask(t, f.open(t), "go")
		if want := (model.Usage{Input: 20, Output: 4, Known: true}); out.Usage != want {
			t.Errorf("usage = %+v, want %+v", out.Usage, want)
		}
	})
}

func TestCancelWhileARepeatWaits(t *testing.T) { // R-HARN-27
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(toolstest.Echo("look"))
		f.script.steps = []step{broke(model.Text("half"), model.ToolStart{ID: "w", Name: "look"}), says("next")}
		s := f.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		rec := &recorder{hook: func(e event.Event) error {
			if _, ok := e.(event.Retry); ok {
				cancel()
			}
			return nil
		}}
		start := time.Now()
		out, err := prompted(t, s, ctx, "go", rec)
		if err != nil || out.Stop != harness.Cancelled || time.Since(start) != 0 {
			t.Errorf("outcome = %+v, %v after %v, want cancelled at once", out, err, time.Since(start))
		}
		if got := len(f.script.requests()); got != 1 {
			t.Errorf("%d requests, want one", got)
		}
		if diff := cmp.Diff([]string{"partial text m3-1: half"}, stored(f.entries(t, s))); diff != "" {
			t.Errorf("stored (-want +got):\n%s", diff)
		}
		if err := rec.closed(); err != nil {
			t.Error(err)
		}
		if out, rec := ask(t, s, "and now"); out.Stop != harness.EndTurn || rec.text() != "next" {
			t.Errorf("next prompt: %q, %q", out.Stop, rec.text())
		}
	})
}
