package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"unicode/utf8"
)

const methodCancel = "$/cancel_request"

// read handles what comes in until the end of the input or of ctx, from which
// the contexts of the requests descend.
func (c *Conn) read(ctx context.Context) error {
	frames := newFrameReader(c.in, c.o.MaxFrame)
	for ctx.Err() == nil {
		line, err := frames.next()
		switch {
		case err == nil:
			c.dispatch(ctx, line)
		case errors.Is(err, errTooLong):
			c.dispatchTooLong(ctx, line)
		case err == io.EOF:
			return nil
		default:
			return fmt.Errorf("reading input: %w", err)
		}
	}
	return nil
}

// dispatch handles one line.
func (c *Conn) dispatch(ctx context.Context, line []byte) {
	if !utf8.Valid(line) {
		c.refuse(ctx, nil, &Error{Code: CodeParse, Message: "parse error: the line is not valid UTF-8"})
		return
	}
	if !json.Valid(line) {
		c.refuse(ctx, nil, &Error{Code: CodeParse, Message: "parse error: the line is not valid JSON"})
		return
	}
	var e envelope
	if !e.scan(line) {
		c.refuse(ctx, nil, InvalidRequest("invalid request: a line must hold one object; batches are not supported"))
		return
	}
	if e.method == nil && (e.result != nil || e.err != nil) {
		c.answered(e)
		return
	}
	r, err := newRequest(e)
	switch {
	case err != nil:
		c.refuse(ctx, e.id, err)
	case e.id != nil && c.inFlight(r.key):
		c.refuse(ctx, e.id, InvalidRequest("invalid request: id %.100s is in use by another request", r.ID))
	case e.id != nil:
		c.request(ctx, r)
	case r.Method == methodCancel:
		c.cancelRequest(r.Params)
	default:
		c.guard(r.Method, func() { c.h.Notify(r.Method, r.Params) })
	}
}

// newRequest returns the request or the notification in e.
func newRequest(e envelope) (*Request, *Error) {
	if string(e.version) != `"2.0"` {
		return nil, InvalidRequest(`invalid request: member "jsonrpc" must be "2.0"`)
	}
	key, ok := idKey(e.id)
	if e.id != nil && !ok {
		return nil, InvalidRequest(`invalid request: member "id" must be a string or a number`)
	}
	method, ok := Text(e.method)
	if !ok {
		return nil, InvalidRequest(`invalid request: member "method" must be a string`)
	}
	r := &Request{ID: bytes.Clone(e.id), Method: method, key: key}
	switch {
	case e.params == nil || isNull(e.params):
	case e.params[0] == '{' || e.params[0] == '[':
		r.Params = e.params
	default:
		return nil, InvalidParams("params must be an object")
	}
	return r, nil
}

// dispatchTooLong handles a line of which only the beginning is known. Most
// peers write the id before what is long, and so can still be told which of
// their requests it was, or which of ours ends without its answer.
func (c *Conn) dispatchTooLong(ctx context.Context, beginning []byte) {
	var e envelope
	e.scan(beginning)
	c.o.Log.Warn().Int("limit", c.o.MaxFrame).Msg("skipped a line that is too long")
	if e.method == nil && (e.result != nil || e.err != nil) {
		e.result, e.err = nil, []byte(`{"code":-32603,"message":"the answer is too long"}`)
		c.answered(e)
		return
	}
	c.refuse(ctx, e.id, InvalidRequest("invalid request: the line is longer than %d bytes", c.o.MaxFrame))
}

// refuse answers a message with the given id, if there is one. The response has
// the id null if that is none that a request can have, or if it belongs to a
// request in flight, whose one answer is still to come. It waits only while
// more than twice the usual amount of output waits.
func (c *Conn) refuse(ctx context.Context, id json.RawMessage, err *Error) {
	if key, ok := idKey(id); !ok || c.inFlight(key) {
		id = nil
	}
	if c.w.put(ctx.Done(), entry{buf: c.response(id, nil, err)}, 2) != nil {
		c.o.Log.Debug().Int("code", err.Code).Msg("connection ended before a refusal was sent")
	}
}

// cancelRequest obeys a $/cancel_request. One that names no request in flight
// comes late and is ignored, as is one that cannot be read.
func (c *Conn) cancelRequest(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	key, ok := idKey(p.RequestID)
	if !ok {
		return
	}
	c.mu.Lock()
	r := c.requests[key]
	c.mu.Unlock()
	if r != nil {
		r.Cancel(ErrCancelRequest)
	}
}

// guard calls f and reports whether it returned. A panic in it is logged and
// ends there (R-ACP-06).
func (c *Conn) guard(method string, f func()) (returned bool) {
	defer func() {
		if returned {
			return
		}
		c.o.Log.Error().
			Str("method", clip(method)).
			Str("panic", clip(fmt.Sprint(recover()))).
			Bytes("stack", debug.Stack()).
			Msg("handler panicked")
	}()
	f()
	return true
}

// clip keeps the log readable, whatever a peer sends.
func clip(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}
