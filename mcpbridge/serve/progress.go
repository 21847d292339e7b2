package serve

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"time"
)

// A reporter lets the progress of a call through to the client, no faster than its
// pace and never after the end of the call.
type reporter struct {
	over  func() bool // whether nothing of the call may be told any more
	out   *writer
	token json.RawMessage
	pace  time.Duration

	mu     sync.Mutex // guards the fields below
	last   float64    // that was told
	told   time.Time  // when
	next   *Progress  // waits for its time; nil is nothing
	timer  *time.Timer
	silent bool // nothing is told any more
}

// reporter returns the reporter of a call; without a token it says nothing.
func (r *request) reporter(ctx context.Context) *reporter {
	return &reporter{
		over: func() bool { return ctx.Err() != nil }, out: r.c.out, token: r.meta.Progress, pace: r.c.s.o.Pace,
		last: math.Inf(-1), silent: r.meta.Progress == nil,
	}
}

// tell reports p now, or in its time unless something newer comes before.
func (r *reporter) tell(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.silent {
		return
	}
	if wait := r.pace - time.Since(r.told); !r.told.IsZero() && wait > 0 {
		if r.next == nil {
			r.timer = time.AfterFunc(wait, r.due)
		}
		r.next = &p
		return
	}
	r.send(p)
}

// due reports what waits.
func (r *reporter) due() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next != nil && !r.silent {
		r.send(*r.next)
	}
}

// send tells the client, which wants each value to be more than the last. Older than
// that is what still waits.
func (r *reporter) send(p Progress) {
	r.next = nil
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.over() {
		return
	}
	if p.Done <= r.last || math.IsNaN(p.Done) {
		p.Done = math.Nextafter(r.last, math.Inf(1))
	}
	r.last, r.told = p.Done, time.Now()
	r.out.offer(notification("notifications/progress", struct {
		Token   json.RawMessage `json:"progressToken"`
		Done    float64         `json:"progress"`
		Total   float64         `json:"total,omitempty"`
		Message string          `json:"message,omitempty"`
	}{r.token, p.Done, p.Total, p.Message}))
}

// end silences the reporter.
func (r *reporter) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent, r.next = true, nil
	if r.timer != nil {
		r.timer.Stop()
	}
}
