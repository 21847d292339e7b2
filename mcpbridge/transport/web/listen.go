package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

const (
	// headStart is how long calls of tools wait, after the handshake, for the server's own
	// stream to open.
	headStart = 250 * time.Millisecond

	usualRetry = time.Second      // before the server's own stream is opened again
	steady     = 30 * time.Second // that a stream lasts which was no failure
	maxAlone   = 5 * time.Minute  // that the server is not asked for it, whatever it wants
)

// listen holds the stream of what the server sends of its own accord, as long as the
// server has one (405: it has none). Opened is called when that has been asked once.
func (s *streamable) listen(ctx context.Context, opened func()) {
	log := s.t.o.Log
	var last string
	retry := usualRetry
	had := false
	for fails := 0; ; fails++ {
		begun := time.Now()
		res, err := s.get(ctx, last)
		opened()
		if err == nil {
			had = true
			ev := newEvents(res.Body, s.t.o.MaxMessage)
			ev.last, ev.retry = last, retry
			var any bool
			any, err = s.hear(ev)
			res.Body.Close()
			last, retry = ev.last, ev.retry
			if any || time.Since(begun) >= steady {
				fails = 0
			}
		}
		if ctx.Err() != nil {
			return
		}
		log.Debug().Err(err).Dur("held", time.Since(begun)).Msg("the server's own stream has ended")
		switch {
		case had && errors.Is(err, transport.ErrSession):
			s.t.die(err)
			return
		case s.streamless(err, had):
			return
		}
		if pause(ctx, cmp.Or(min(leftAlone(err), maxAlone), backOff(retry, fails))) != nil {
			return
		}
	}
}

// hear reads a stream to its end, and reports whether anything came.
func (s *streamable) hear(ev *events) (any bool, err error) {
	for {
		e, err := ev.next()
		if err != nil {
			return any, err
		}
		any = true
		for _, f := range parse(e.data) {
			if !f.IsAnswer() {
				s.t.inbox.Put(f)
			}
		}
	}
}

// streamless reports whether err, of asking for its own stream, is that of a server which
// has none. One that has had one has it again.
func (s *streamable) streamless(err error, had bool) bool {
	if errors.Is(err, errNoStream) || errors.Is(err, transport.ErrSession) {
		return true
	}
	refused, ok := errors.AsType[*refusal](err)
	if !ok {
		return false
	}
	switch status := refused.status.Status; {
	case status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return true
	case status == http.StatusConflict, status == http.StatusTooManyRequests, status >= 500:
		return false
	}
	return !had
}

// leftAlone returns how long the server wants to be left alone; 0 is not said.
func leftAlone(err error) time.Duration {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused.status.RetryAfter
	}
	return 0
}
