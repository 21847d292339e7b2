// Package retry repeats a request that failed before its first event, and only
// then (R-HARN-24).
//
// Waiting and counting happen in an [Allowance] that belongs to a turn, so that
// all repeats of one turn draw from the same 120 seconds wherever they happen.
// This is the one layer that repeats; a provider underneath never does.
package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	firstWait = 500 * time.Millisecond // before the first repeat, on average
	maxOwn    = 10 * time.Second       // the longest wait that nobody named, on average
	maxNamed  = time.Minute            // the longest wait that a provider may name
)

// A Policy says how a turn repeats. The zero value is right for a single
// request.
type Policy struct {
	// Allowance is what the turn has left; nil gives every request its own.
	Allowance *Allowance
	// Jitter returns a number in [0, 1) by which waits are spread; the default
	// is random.
	Jitter func() float64
}

// Wrap returns s with repeats: a [model.Retrying] goes out before each wait.
// The error at the end is the provider's, with what to do about it.
func Wrap(s model.Streamer, p Policy) model.Streamer {
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		a := p.Allowance
		if a == nil {
			a = new(Allowance)
		}
		return repeat(ctx, s, req, sink, a, p.Jitter)
	})
}

func repeat(ctx context.Context, s model.Streamer, req *model.Request, sink func(model.Event) error, a *Allowance, jitter func() float64) (*model.Reply, error) {
	began := false
	watch := func(e model.Event) error {
		began = true
		return sink(e)
	}
	for n := 1; ; n++ {
		start := time.Now()
		reply, err := s.Stream(ctx, req, watch)
		fail, ok := errors.AsType[*model.Error](err)
		if !ok || began || fail.Partial || !fail.Temporary() {
			return reply, later(err, fail)
		}
		if fail.Kind == model.Idle {
			a.charge(time.Since(start))
		}
		wait, err := a.next(fail, n, jitter)
		if err != nil {
			return reply, err
		}
		if err := sink(model.Retrying{Err: fail, Wait: wait, Attempt: n}); err != nil {
			return reply, err
		}
		if err := sleep(ctx, wait); err != nil {
			return reply, &model.Error{Kind: model.Canceled, Provider: fail.Provider, Message: "the request was cancelled", Err: err}
		}
	}
}

// next draws the wait before repeat n of a request that failed with fail. The
// error is fail, with why there is no further repeat.
func (a *Allowance) next(fail *model.Error, n int, jitter func() float64) (time.Duration, error) {
	if fail.RetryAfter > maxNamed {
		return 0, ending(fail, "it can be asked again "+when(fail.RetryAfter))
	}
	cause, wait := Nothing, fail.RetryAfter
	switch {
	case wait > 0:
		if !a.Draw(cause, wait) {
			return 0, ending(fail, a.spent()+"; it can be asked again "+when(wait))
		}
		return wait, nil
	case fail.Kind == model.RateLimit:
		cause = Unhinted
	}
	wait = min(firstWait<<min(n-1, 10), maxOwn)
	wait = time.Duration(float64(wait) * (0.5 + jitter()))
	wait = min(wait, a.Left()) // our own waits may be shorter, a provider's not
	if wait <= 0 || !a.Draw(cause, wait) {
		return 0, ending(fail, a.spent()+"; try again later, or choose another model")
	}
	return wait, nil
}

// later adds to an error that is not repeated when the provider answers again,
// if it said so.
func later(err error, fail *model.Error) error {
	if fail == nil || fail.RetryAfter <= 0 || fail.Kind == model.Canceled {
		return err
	}
	return ending(fail, "it can be asked again "+when(fail.RetryAfter))
}

// ending returns fail with more to its message.
func ending(fail *model.Error, more string) *model.Error {
	e := *fail
	if e.Message == "" && e.Err != nil {
		e.Message = e.Err.Error()
	}
	if e.Message == "" {
		e.Message = string(e.Kind)
	}
	e.Message = fmt.Sprintf("%s (%s)", e.Message, more)
	return &e
}

// when tells when a wait is over, in the reader's zone.
func when(wait time.Duration) string {
	t := time.Now().Add(wait)
	if wait < 12*time.Hour {
		return "after " + t.Format("15:04:05 MST")
	}
	return "after " + t.Format("15:04 MST on 2 January 2006")
}

// sleep waits for d or the end of ctx, and returns the cause of that.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
