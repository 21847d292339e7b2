package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// errCancelled is why a request is cancelled that the client does not want answered
// any more.
var errCancelled = errors.New("the client has cancelled the request")

// A request is one that came and has not been answered.
type request struct {
	c        *conn
	id       json.RawMessage
	key      string
	method   string
	params   json.RawMessage // an object; nil is none
	revision string          // that it is answered by
	meta     meta
	batch    *batch // that it came in; nil is none
	listens  bool   // it lasts until somebody ends it
	cancel   context.CancelCauseFunc
}

// request admits a request. What is quick is answered by the reader, so that it is
// whatever else goes on.
func (c *conn) request(ctx context.Context, r *request) {
	c.mu.Lock()
	handshake := c.revision
	taken := c.open[r.key] != nil
	full := c.count >= c.s.o.Open
	c.mu.Unlock()
	if taken {
		r.reject(ctx, false, faultf(mcp.INVALID_REQUEST, "id %.100s is that of an open request", r.id))
		return
	}
	r.meta = readMeta(r.params)
	revision, f := revisionOf(r.meta, handshake)
	if f != nil {
		r.reject(ctx, true, f)
		return
	}
	r.revision = revision
	if do := quick(r); do != nil {
		result, f := do()
		r.answer(ctx, result, f, readerShare)
		return
	}
	do := slow(r)
	switch {
	case do == nil:
		r.reject(ctx, true, faultf(mcp.METHOD_NOT_FOUND, "there is no method %.100q in revision %s", r.method, r.revision))
	case full:
		r.reject(ctx, true, faultf(mcp.INTERNAL_ERROR, "%d requests are open; send this one again when some have been answered", c.s.o.Open))
	default:
		r.start(ctx, do)
	}
}

// A work answers a request. It returns soon after ctx has ended.
type work func(ctx context.Context, r *request) (any, *fault)

// start works on a request beside the reader, as soon as there is room.
func (r *request) start(ctx context.Context, do work) {
	ctx, r.cancel = context.WithCancelCause(ctx)
	c := r.c
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		r.cancel(nil)
		return
	}
	c.open[r.key] = r
	c.count++
	c.mu.Unlock()
	if r.batch != nil {
		r.batch.join()
	}
	go func() {
		defer r.end()
		defer r.cancel(nil)
		if !r.listens {
			select {
			case c.running <- struct{}{}:
				defer func() { <-c.running }()
			case <-ctx.Done():
			}
		}
		var result any
		f := faultf(mcp.INTERNAL_ERROR, "the server is leaving")
		if ctx.Err() == nil {
			result, f = r.guard(ctx, do)
		}
		r.conclude(ctx, result, f)
	}()
}

// conclude answers a request that was worked on, if anybody waits for that. Who ends
// the connection is answered, as far as he still reads.
func (r *request) conclude(ctx context.Context, result any, f *fault) {
	if errors.Is(context.Cause(ctx), errCancelled) {
		if r.batch != nil {
			r.batch.part(ctx, nil)
		}
		return
	}
	// The answer must be sent although the request may have ended with the connection.
	r.answer(context.WithoutCancel(ctx), result, f, 1)
}

// guard calls do. A panic in it is a fault, and the log has the rest.
func (r *request) guard(ctx context.Context, do work) (result any, f *fault) {
	defer func() {
		if p := recover(); p != nil {
			r.panicked(p)
			result, f = nil, faultf(mcp.INTERNAL_ERROR, "internal error")
		}
	}()
	return do(ctx, r)
}

func (r *request) panicked(p any) {
	r.c.s.o.Log.Error().Str("method", r.method).Str("panic", fmt.Sprintf("%.200v", p)).Bytes("stack", debug.Stack()).Msg("request panicked")
}

// end forgets a request.
func (r *request) end() {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[r.key] == r {
		delete(c.open, r.key)
	}
	if c.count--; c.count == 0 && c.stopped {
		close(c.idle)
	}
}

// cancel ends a request without an answer. One that is not open comes too late.
func (c *conn) cancel(key string) {
	c.mu.Lock()
	r := c.open[key]
	delete(c.open, key)
	c.mu.Unlock()
	if r != nil {
		r.cancel(errCancelled)
	}
}

func (c *conn) isOpen(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open[key] != nil
}

// answer answers a request.
func (r *request) answer(ctx context.Context, result any, f *fault, share int) {
	var data json.RawMessage
	if f == nil {
		var err error
		if data, err = marshal(result); err != nil {
			r.c.s.o.Log.Error().Err(err).Str("method", r.method).Msg("a result cannot be encoded")
			f = faultf(mcp.INTERNAL_ERROR, "the result cannot be encoded")
		}
	}
	r.deliver(ctx, response(r.id, data, f), share)
}

// reject answers what is not worked on; named tells whether its id can be told.
func (r *request) reject(ctx context.Context, named bool, f *fault) {
	id := r.id
	if !named {
		id = nil
	}
	r.deliver(ctx, response(id, nil, f), readerShare)
}

// deliver sends a message, or adds it to the batch that the request came in.
func (r *request) deliver(ctx context.Context, message []byte, share int) {
	if r.batch == nil {
		r.c.send(ctx, message, share)
		return
	}
	if r.cancel == nil { // it was answered at once, so that nobody has joined
		r.batch.join()
	}
	r.batch.part(ctx, message)
}

// A batch gathers the answers to messages that came as one, in the order in which
// they are there.
type batch struct {
	c *conn

	mu      sync.Mutex // guards the fields below
	open    int        // answers that are to come, and one until all messages were read
	answers [][]byte
}

func (b *batch) join() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open++
}

// part adds an answer, or nil where none comes, and sends all of them after the last.
func (b *batch) part(ctx context.Context, message []byte) {
	b.mu.Lock()
	if message != nil {
		b.answers = append(b.answers, message)
	}
	b.open--
	last := b.open == 0 && len(b.answers) > 0
	b.mu.Unlock()
	if last {
		all := bytes.Join(b.answers, []byte(","))
		b.c.send(ctx, append(append([]byte{'['}, all...), ']'), 1)
	}
}
