package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// opening is how long a server of 2024-11-05 may take to say where messages go.
const opening = 30 * time.Second

// errLate is for a stream that did not begin.
var errLate = errors.New("the event stream did not say in time where messages go")

// An eventStream is the way of 2024-11-05: one stream with all that the server sends, and
// an address that all that it is sent goes to. It lasts as long as the stream.
type eventStream struct {
	t      *Transport
	target *url.URL      // where messages go
	gone   chan struct{} // closed when the stream has ended

	mu    sync.Mutex // guards the fields below
	err   error      // why gone is closed
	calls map[uint64]chan<- rpc.Frame
}

// openEventStream opens the stream and waits until it says where messages go.
func openEventStream(ctx context.Context, t *Transport) (*eventStream, error) {
	joint, stop, cancel := t.life.Within(ctx)
	late := time.AfterFunc(opening, cancel)
	defer late.Stop()
	w := &eventStream{t: t, gone: make(chan struct{}), calls: make(map[uint64]chan<- rpc.Frame)}
	res, ev, err := w.open(joint)
	if err != nil && joint.Err() != nil {
		err = errLate
	}
	if err != nil {
		cancel()
		return nil, err
	}
	read := func(context.Context) {
		defer cancel()
		defer res.Body.Close()
		w.read(ev)
	}
	if !stop() || !late.Stop() || !t.life.Start(read) {
		cancel()
		res.Body.Close()
		return nil, errLate
	}
	return w, nil
}

func (w *eventStream) open(ctx context.Context) (*http.Response, *events, error) {
	res, err := w.t.send(ctx, request{
		method: http.MethodGet, url: w.t.url, header: http.Header{"Accept": {"text/event-stream"}}, safe: true,
	})
	if err != nil {
		return nil, nil, err
	}
	if !isEvents(res.Header.Get("Content-Type")) {
		ignore(res)
		return nil, nil, errNoStream
	}
	ev := newEvents(res.Body, w.t.o.MaxMessage)
	if w.target, err = w.endpoint(res.Request.URL, ev); err != nil {
		res.Body.Close()
		return nil, nil, err
	}
	return res, ev, nil
}

// endpoint waits for the address that messages go to. It is one of the same origin.
func (w *eventStream) endpoint(from *url.URL, ev *events) (*url.URL, error) {
	for {
		e, err := ev.next()
		switch {
		case err == io.EOF:
			return nil, errors.New("the event stream ended before it said where messages go")
		case err != nil:
			return nil, fmt.Errorf("the event stream broke before it said where messages go: %w", err)
		case e.kind != "endpoint" || e.cut:
			continue
		}
		to, err := from.Parse(strings.TrimSpace(string(e.data)))
		switch {
		case err != nil:
			return nil, errors.New("the event stream says to send messages to what is no address")
		case originOf(to) != originOf(w.t.url):
			return nil, fmt.Errorf("the event stream says to send messages to %s, and headers and credentials do not leave %s",
				originOf(to), originOf(w.t.url))
		}
		return within(w.t.url, to), nil
	}
}

// read reads the stream until it ends, which ends all that waits for it.
func (w *eventStream) read(ev *events) {
	var err error
	for err == nil {
		var e event
		if e, err = ev.next(); err == nil && (e.kind == "" || e.kind == "message") {
			for _, f := range parse(e.data) {
				w.heard(f)
			}
		}
	}
	if err == io.EOF {
		err = fmt.Errorf("%w: its event stream has ended", transport.ErrGone)
	} else {
		err = fmt.Errorf("%w: its event stream has broken: %w", transport.ErrGone, err)
	}
	w.t.die(err)
	w.mu.Lock()
	w.err = err
	w.mu.Unlock()
	close(w.gone)
}

func (w *eventStream) heard(f rpc.Frame) {
	if !f.IsAnswer() {
		w.t.inbox.Put(f)
		return
	}
	w.mu.Lock()
	id := f.Number()
	if !f.HasID() && f.Failed() && len(w.calls) == 1 {
		for id = range w.calls { // there is no other that it could be about
		}
	}
	waiting := w.calls[id]
	delete(w.calls, id)
	w.mu.Unlock()
	if waiting == nil {
		w.t.o.Log.Debug().Uint64("id", f.Number()).Msg("an answer to what nobody waits for")
		return
	}
	waiting <- f
}

func (w *eventStream) call(ctx context.Context, id uint64, r transport.Request) (json.RawMessage, error) {
	ctx, _, cancel := w.t.life.Within(ctx)
	defer cancel()
	got := make(chan rpc.Frame, 1)
	w.mu.Lock()
	w.calls[id] = got
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.calls, id)
	}()
	if err := w.post(ctx, r.Method, rpc.Message(rpc.ID(id), r.Method, "params", r.Params)); err != nil {
		return nil, err
	}
	select {
	case f := <-got:
		return f.Outcome()
	case <-w.gone:
		select {
		case f := <-got: // it answered, and then it was gone
			return f.Outcome()
		default:
			return nil, w.failure()
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *eventStream) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *eventStream) post(ctx context.Context, method string, body []byte) error {
	res, err := w.t.send(ctx, request{
		method: http.MethodPost, url: w.target, header: http.Header{"Content-Type": {"application/json"}},
		body: body, safe: isSafe(method),
	})
	if err == nil {
		ignore(res)
		return nil
	}
	if refused, ok := errors.AsType[*refusal](err); ok && refused.expired() {
		return fmt.Errorf("%w (%w)", transport.ErrSession, refused.status)
	}
	return err
}

func (w *eventStream) told(string) {}

func (w *eventStream) negotiated(string) {}

func (w *eventStream) cancels() bool { return true }

// end does nothing: the end of the stream is all that the server is to know.
func (w *eventStream) end(context.Context) {}
