package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// errSilent is the cause of a request that the watch ended.
var errSilent = errors.New("the model fell silent")

// A watch ends a request whose server says nothing. Bytes that bring no event,
// such as comments that keep a connection open, count as a sign of life, but not
// for ever.
type watch struct {
	first, idle time.Duration
	last        time.Time    // of the last event
	fixed       bool         // the time left does not grow any more
	running     atomic.Int64 // the limit that is running, for the error
	timer       *time.Timer
}

func newWatch(first, idle time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{first: first, idle: idle, last: time.Now()}
	w.running.Store(int64(first))
	w.timer = time.AfterFunc(first, func() {
		cancel(fmt.Errorf("%w: nothing came for %v", errSilent, time.Duration(w.running.Load()).Round(time.Millisecond)))
	})
	return w
}

// set lets the request live for d from now on.
func (w *watch) set(d time.Duration) {
	w.running.Store(int64(d))
	w.timer.Reset(d)
}

// alive notes that bytes came.
func (w *watch) alive() {
	if !w.fixed {
		w.set(min(w.idle, w.first-time.Since(w.last)))
	}
}

// event notes that a part of the answer came.
func (w *watch) event() { w.last = time.Now() }

// shorten leaves the request d and no more.
func (w *watch) shorten(d time.Duration) {
	w.fixed = true
	w.set(d)
}

func (w *watch) stop() { w.timer.Stop() }

// watched is a reader whose bytes keep a request alive.
type watched struct {
	r io.Reader
	w *watch
}

func (r *watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.w.alive()
	}
	return n, err
}
