package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// An exchange is a request whose answer is awaited.
type exchange struct {
	s         *streamable
	id        uint64
	r         transport.Request
	resumable bool // the revision lets a stream be taken up again

	stop   func() bool // detaches it from its caller
	cancel func()      // ends its streams
	strays int         // answers to something else
}

// answer returns the answer, which res brings or the streams that follow it. It ends res.
func (x *exchange) answer(ctx context.Context, res *http.Response) (rpc.Frame, error) {
	if !isEvents(res.Header.Get("Content-Type")) {
		defer x.cancel()
		defer res.Body.Close()
		all, err := x.s.t.read(res)
		if err != nil {
			return rpc.Frame{}, err
		}
		f, ok := x.sort(all)
		if !ok {
			return rpc.Frame{}, x.missing()
		}
		return f, nil
	}
	var last string
	retry := usualRetry
	for {
		ev := newEvents(res.Body, x.s.t.o.MaxMessage)
		ev.last, ev.retry = last, retry
		f, ok, err := x.follow(ev)
		if ok {
			x.linger(res, ev)
			return f, nil
		}
		res.Body.Close()
		last, retry = ev.last, ev.retry
		if ctx.Err() == nil && x.resumable && last != "" && !errors.Is(err, errTooLong) {
			res, err = x.resume(ctx, last, retry)
		} else if !errors.Is(err, errTooLong) {
			err = x.cut(err)
		}
		if err != nil {
			x.cancel()
			return rpc.Frame{}, err
		}
	}
}

// cut is the error of a stream that has ended with err and without the answer.
func (x *exchange) cut(err error) error {
	switch {
	case x.strays > 0:
		return x.missing()
	case err == io.EOF:
		return errCut
	}
	return fmt.Errorf("%w: %w", errCut, err)
}

func (x *exchange) missing() error {
	if x.strays == 0 {
		return fmt.Errorf("the server took the request (%s) and sent no answer", x.r.Method)
	}
	return fmt.Errorf("the server answered another request than this one (%s)", x.r.Method)
}

// follow reads a stream up to the answer, or to its end.
func (x *exchange) follow(ev *events) (f rpc.Frame, ok bool, err error) {
	for {
		e, err := ev.next()
		if err != nil {
			return rpc.Frame{}, false, err
		}
		if e.kind != "" && e.kind != "message" {
			continue
		}
		if f, ok := x.sort(parse(e.data)); ok {
			return f, true, nil
		}
	}
}

// sort hands over what comes beside the answer, and returns that. An error without an id
// can be about nothing else.
func (x *exchange) sort(all []rpc.Frame) (answer rpc.Frame, ok bool) {
	for _, f := range all {
		switch {
		case !f.IsAnswer():
			x.hear(f)
		case f.Number() == x.id, !f.HasID() && f.Failed():
			if !ok {
				answer, ok = f, true
			}
		default:
			x.strays++
			x.s.t.o.Log.Debug().Uint64("id", f.Number()).Msg("an answer to what was not asked")
		}
	}
	return answer, ok
}

func (x *exchange) hear(f rpc.Frame) {
	if x.r.Notify != nil && !f.HasID() {
		x.r.Notify(f.Method, f.Params)
		return
	}
	x.s.t.inbox.Put(f)
}

// linger lets a stream end by itself, so that its connection can be used again, and hears
// what comes behind the answer.
func (x *exchange) linger(res *http.Response, ev *events) {
	x.stop()
	x.r.Notify = nil
	read := func(context.Context) {
		late := time.AfterFunc(lingering, x.cancel)
		defer late.Stop()
		_, _, _ = x.follow(ev) // there is no second answer
		x.end(res)
	}
	if !x.s.t.life.Start(read) {
		x.end(res)
	}
}

func (x *exchange) end(res *http.Response) {
	x.cancel()
	res.Body.Close()
}

// resume asks for what comes behind the event last, after the pause that the server wants.
func (x *exchange) resume(ctx context.Context, last string, retry time.Duration) (*http.Response, error) {
	var err error
	for n := range resumes {
		if err := pause(ctx, backOff(retry, n)); err != nil {
			return nil, err
		}
		var res *http.Response
		if res, err = x.s.get(ctx, last); err == nil {
			return res, nil
		}
		refused, ok := errors.AsType[*refusal](err)
		final := ok && refused.status.Status < 500 && refused.status.Status != http.StatusTooManyRequests
		if ok {
			err = refused.asError(0)
		}
		switch {
		case errors.Is(err, transport.ErrSession): // which is no word on the request
			x.s.t.die(err)
			return nil, fmt.Errorf("%w: %v", errCut, err)
		case final, err == errNoStream:
			return nil, fmt.Errorf("%w; the server does not take it up again: %w", errCut, err)
		}
	}
	return nil, fmt.Errorf("%w; it cannot be taken up again: %w", errCut, err)
}

// get opens a stream, from behind the event last if that is not "".
func (s *streamable) get(ctx context.Context, last string) (*http.Response, error) {
	h := s.header("text/event-stream")
	if last != "" {
		h.Set(mcp.HeaderLastEventID, last)
	}
	res, err := s.t.send(ctx, request{method: http.MethodGet, url: s.t.url, header: h, safe: true})
	if err != nil {
		return nil, s.lost(h, err)
	}
	if !isEvents(res.Header.Get("Content-Type")) {
		ignore(res)
		return nil, errNoStream
	}
	return res, nil
}

// errNoStream is for an answer that should have been a stream.
var errNoStream = errors.New("the server answered with something else than an event stream")

// backOff returns how long to wait after n attempts without success.
func backOff(first time.Duration, n int) time.Duration {
	first = min(max(first, minRetry), maxRetry)
	if n == 0 {
		return first
	}
	d := min(first<<min(n, 16), max(first, maxRetry))
	return d/2 + rand.N(d/2)
}

// pause waits for d, or returns why not.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
