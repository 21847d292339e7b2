// Package retry repeats a request that failed, or whose answer was empty, when
// the next one may do better (R-HARN-24).
//
// Waiting and counting happen in an [Allowance] that belongs to a turn, so that
// all repeats of one turn draw from the same 120 seconds wherever they happen.
// This is the one layer that repeats; a provider underneath never does.
//
// What an attempt has told before it failed cannot be taken back: the sink hears
// of it in a [model.Retrying], and decides what becomes of it. Nothing was done
// for such an attempt, since the calls of an answer run when it is complete.
package retry

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
)

const (
	firstWait = 500 * time.Millisecond // before the first repeat of what came to nothing, on average
	maxOwn    = 10 * time.Second       // the longest such wait, on average
	emptyWait = 250 * time.Millisecond // after the first empty answer
	brokeWait = 2 * time.Second        // after the first answer that broke off, on average
	maxNamed  = time.Minute            // the longest wait that a provider may name
)

// A Policy says how a turn repeats. The zero value is right for a single
// request.
type Policy struct {
	// Allowance is what the turn has left; nil gives every request its own.
	Allowance *Allowance
	// Hold reports that the turn must not be repeated any more, since its web
	// budget is spent (R-WEB-18). It is asked before each repeat; nil never holds.
	Hold func() bool
	// Jitter returns a number in [0, 1) by which waits are spread; the default
	// is random.
	Jitter func() float64
}

// Wrap returns s with repeats: a [model.Retrying] goes out before each wait.
// The error at the end is the provider's, with what to do about it, or a
// [model.Error] of [model.Empty]. Never repeated is what would fail again, or
// what nobody waits for: a lost client, a cancel, an overflow of the context, a
// refusal, a spent quota, and what the provider calls final.
func Wrap(s model.Streamer, p Policy) model.Streamer {
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return model.Func(func(ctx context.Context, req *model.Request, sink func(model.Event) error) (*model.Reply, error) {
		r := repeater{Policy: p, ctx: ctx, sink: sink}
		if r.Allowance == nil {
			r.Allowance = new(Allowance)
		}
		return r.stream(s, req)
	})
}

// A repeater is one request with its repeats.
type repeater struct {
	Policy
	ctx  context.Context
	sink func(model.Event) error

	began   bool // the attempt has told something
	said    bool // some of it is an answer
	repeats int
	nothing int // repeats after an attempt that told nothing
	empties int // answers that were empty
}

func (r *repeater) stream(s model.Streamer, req *model.Request) (*model.Reply, error) {
	for {
		r.began, r.said = false, false
		start := time.Now()
		reply, err := s.Stream(r.ctx, req, r.hear)
		fail, ok := errors.AsType[*model.Error](err)
		switch {
		case err == nil && (r.said || !empty(reply)):
			return reply, nil
		case err == nil:
			r.empties++
			fail = &model.Error{Kind: model.Empty, Message: emptyText(r.empties)}
		case !ok || !fail.Temporary():
			return reply, later(err, fail)
		}
		before := r.repeats
		if err := r.wait(fail, time.Since(start), reply); err != nil {
			if r.repeats > before {
				reply = nil // the sink knows that this attempt was given up
			}
			return reply, err
		}
	}
}

// hear passes an event on.
func (r *repeater) hear(e model.Event) error {
	r.began = true
	switch e := e.(type) {
	case model.Text:
		r.said = r.said || strings.TrimSpace(string(e)) != ""
	case model.ToolStart:
		r.said = true
	}
	return r.sink(e)
}

// wait waits before the next repeat of a request that failed with fail after
// it had taken a time and brought reply, which may be nil. The error says why
// there is no repeat.
func (r *repeater) wait(fail *model.Error, took time.Duration, reply *model.Reply) error {
	if r.ctx.Err() != nil {
		return r.canceled(fail)
	}
	if r.Hold != nil && r.Hold() {
		return ending(fail, "not repeated, since the lookups for this message are used up; send it again")
	}
	partial := r.began || fail.Partial
	cause := causeOf(fail, partial)
	if fail.Kind == model.Idle && cause == Nothing {
		r.Allowance.charge(took)
	}
	wait, err := r.Allowance.next(fail, cause, r.nothing, r.Jitter)
	if err != nil {
		return err
	}
	r.repeats++
	if cause == Nothing || cause == Unhinted {
		r.nothing++
	}
	e := model.Retrying{Err: fail, Wait: wait, Attempt: r.repeats, Partial: partial}
	if reply != nil {
		e.Usage = reply.Usage
	}
	if err := r.sink(e); err != nil {
		return err
	}
	if !sleep(r.ctx, wait) {
		return r.canceled(fail)
	}
	return nil
}

func (r *repeater) canceled(fail *model.Error) error {
	return &model.Error{
		Kind: model.Canceled, Provider: fail.Provider, Message: "the request was cancelled", Err: context.Cause(r.ctx),
	}
}

// causeOf says which limit a repeat after fail counts against.
func causeOf(fail *model.Error, partial bool) Cause {
	switch {
	case fail.Kind == model.Empty:
		return Empty
	case partial:
		return Partial
	case fail.Kind == model.RateLimit && fail.RetryAfter <= 0:
		return Unhinted
	}
	return Nothing
}

// empty reports whether an answer says nothing and calls nothing, and nothing
// but the model is to blame for it. Thoughts are no answer.
func empty(reply *model.Reply) bool {
	if reply == nil {
		return true
	}
	switch reply.Stop {
	case model.StopLength, model.StopContext, model.StopRefusal, model.StopPause:
		return false
	}
	for _, p := range reply.Parts {
		switch p := p.(type) {
		case model.Reasoning:
		case llms.TextContent:
			if strings.TrimSpace(p.Text) != "" {
				return false
			}
		case model.SignedText:
			if strings.TrimSpace(p.Text) != "" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func emptyText(times int) string {
	if times == 1 {
		return "the model gave an empty answer"
	}
	return fmt.Sprintf("the model gave an empty answer %d times", times)
}

// next draws the wait before a repeat. Before is how often the request has been
// repeated after it came to nothing. The error is fail, with why there is no
// further repeat.
func (a *Allowance) next(fail *model.Error, c Cause, before int, jitter func() float64) (time.Duration, error) {
	if fail.RetryAfter > maxNamed {
		return 0, ending(fail, "it can be asked again "+when(fail.RetryAfter))
	}
	if wait := fail.RetryAfter; wait > 0 {
		if !a.Draw(c, wait) {
			return 0, ending(fail, a.spent()+"; it can be asked again "+when(wait))
		}
		return wait, nil
	}
	wait := a.own(c, before, jitter)
	wait = min(wait, a.Left()) // our own waits may be shorter, a provider's not
	if wait > 0 && a.Draw(c, wait) {
		return wait, nil
	}
	if c == Empty {
		return 0, ending(fail, "send the message again, or choose another model")
	}
	return 0, ending(fail, a.spent()+"; try again later, or choose another model")
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

// sleep waits for d, and reports false if ctx ended before that.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
