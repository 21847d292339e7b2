package wire

import (
	"context"
	"errors"
)

// request admits r and starts it.
func (c *Conn) request(ctx context.Context, r *Request) {
	own, cancel := context.WithCancelCause(ctx)
	r.cancel = cancel
	r.begun = make(chan struct{})
	if err := c.register(r); err != nil {
		cancel(nil)
		c.refuse(ctx, r.ID, err)
		return
	}
	admitted := c.guard(r.Method, func() { r.Follow(c.h.Admit(r)) })
	c.enqueue(r)
	go c.run(own, r, admitted)
}

// run answers r when its turn has come. Serve waits until all requests have
// ended.
func (c *Conn) run(ctx context.Context, r *Request, admitted bool) {
	defer c.end(r)
	for _, prev := range r.prev {
		<-prev
	}
	var b *buffer
	if admitted {
		c.guard(r.Method, func() {
			result, err := c.h.Serve(ctx, r)
			if err != nil {
				b = c.response(r.ID, nil, c.failure(ctx, r, err))
			} else {
				b = c.response(r.ID, result, nil)
			}
		})
	}
	if b == nil {
		b = c.response(r.ID, nil, internalError())
	}
	c.respond(r, b)
}

// failure returns what the peer is told of err, with which r ended. Of an error
// that is no [Error] the text stays here: it may name files, addresses or keys.
func (c *Conn) failure(ctx context.Context, r *Request, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		return e
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &Error{Code: CodeRequestCancelled, Message: "request cancelled"}
	}
	if c.w.failure() == nil { // otherwise all requests fail alike, and Serve says so
		c.o.Log.Error().Err(err).Str("method", clip(r.Method)).Msg("request failed")
	}
	return internalError()
}

// respond sends the response b to r and, when it has been written, runs the
// hooks of r. From then on the peer may use the id again.
func (c *Conn) respond(r *Request, b *buffer) {
	c.unregister(r)
	e := entry{buf: b}
	hooks := r.hooks()
	if len(hooks) > 0 {
		e.written = make(chan struct{})
	}
	if c.w.put(nil, e, 1) != nil || e.written == nil {
		return // an output that is closed is told by Serve
	}
	select {
	case <-e.written:
	case <-c.w.dead:
		return
	}
	for _, f := range hooks {
		c.guard(r.Method, f)
	}
}

// register makes r known as a request in flight.
func (c *Conn) register(r *Request) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return &Error{Code: CodeInternal, Message: "the agent is shutting down"}
	case c.open >= c.o.MaxRequests:
		return &Error{Code: CodeInternal, Message: "too many requests are open; wait for answers"}
	}
	c.requests[r.key] = r
	c.open++
	return nil
}

func (c *Conn) unregister(r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, r.key)
}

func (c *Conn) inFlight(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[key] != nil
}

// enqueue makes r the last request of its queues.
func (c *Conn) enqueue(r *Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, queue := range r.queues {
		if prev := c.queues[queue]; prev != nil && prev != r.begun {
			r.prev = append(r.prev, prev)
		}
		c.queues[queue] = r.begun
	}
}

// end closes what is left of r.
func (c *Conn) end(r *Request) {
	r.Release()
	r.cancel(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, queue := range r.queues {
		if c.queues[queue] == r.begun {
			delete(c.queues, queue)
		}
	}
	c.open--
	if c.stopped && c.open == 0 {
		close(c.idle)
	}
}

// stop admits no further requests.
func (c *Conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped && c.open == 0 {
		close(c.idle)
	}
	c.stopped = true
}
