package retry

import (
	"fmt"
	"sync"
	"time"
)

// A Cause is why a request is repeated; each has a limit of its own.
type Cause int

// The causes.
const (
	Nothing  Cause = iota // it failed and had produced nothing: 12 repeats
	Unhinted              // the same, with a rate limit that names no time: 2 of the 12
	Partial               // it broke off in the middle: 3 repeats
	Empty                 // its answer was empty: one of the same 3
)

// limits of an allowance (R-HARN-24).
const (
	maxWaiting  = 120 * time.Second
	maxNothing  = 12
	maxUnhinted = 2
	maxPartial  = 3
)

// An Allowance is what one logical turn may still spend on repeats. The zero
// value is a full one. It is safe for concurrent use.
type Allowance struct {
	mu                         sync.Mutex // guards the fields below
	waited                     time.Duration
	nothing, unhinted, partial int
	empty                      int // of the partial ones
}

// Draw takes one repeat for cause c after wait, and reports whether there was
// one. If not, nothing is taken.
func (a *Allowance) Draw(c Cause, wait time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waited+wait > maxWaiting {
		return false
	}
	switch c {
	case Partial, Empty:
		if a.partial == maxPartial {
			return false
		}
		a.partial++
		if c == Empty {
			a.empty++
		}
	case Unhinted:
		if a.unhinted == maxUnhinted || a.nothing == maxNothing {
			return false
		}
		a.unhinted++
		a.nothing++
	default:
		if a.nothing == maxNothing {
			return false
		}
		a.nothing++
	}
	a.waited += wait
	return true
}

// own returns the wait before a repeat for which the provider has named none.
// Before is how often the request has been repeated after it came to nothing;
// repeats of what broke off or was empty count for the whole turn.
func (a *Allowance) own(c Cause, before int, jitter func() float64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait := min(firstWait<<min(before, 10), maxOwn)
	switch {
	case c == Empty && a.empty == 0:
		return emptyWait
	case c == Empty, c == Partial:
		wait = brokeWait << a.partial // which has a limit
	}
	return time.Duration(float64(wait) * (0.5 + jitter()))
}

// charge counts time that was spent waiting for a model that said nothing: a
// dead server would otherwise hold a turn for hours.
func (a *Allowance) charge(silence time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waited = min(a.waited+silence, maxWaiting)
}

// Left returns the waiting time that is left.
func (a *Allowance) Left() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maxWaiting - a.waited
}

// spent tells what has been taken.
func (a *Allowance) spent() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	repeats := a.nothing + a.partial
	if repeats == 0 {
		return "not repeated"
	}
	times := "repeats"
	if repeats == 1 {
		times = "repeat"
	}
	return fmt.Sprintf("gave up after %d %s in %v", repeats, times, a.waited.Round(time.Second))
}
