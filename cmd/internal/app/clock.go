package app

import (
	"sync"
	"time"
)

// A clock tells the time of a send: the real one, or a fixed one that advances
// by a step with each send (R-CMD-08).
type clock struct {
	step time.Duration

	mu   sync.Mutex // guards the field below
	next time.Time  // zero is the real clock
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next.IsZero() {
		return time.Now()
	}
	t := c.next
	c.next = t.Add(c.step)
	return t
}
