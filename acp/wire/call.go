package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// A call is a request to the peer that waits for its answer.
type call struct {
	wake   context.CancelFunc // called when the fields below are set
	result json.RawMessage
	err    error
}

// Call sends a request to the peer, waits for the answer and decodes its result
// into result, unless that is nil. An error of the peer is an [Error] whose Data
// is nil or a json.RawMessage. If ctx ends first, Call returns its error at once
// and tells the peer by $/cancel_request; an answer that comes nevertheless is
// ignored. After the end of the input the error is [ErrEndOfInput].
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	answered, wake := context.WithCancel(ctx)
	defer wake()
	p := &call{wake: wake}
	id, err := c.expect(p)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	err = c.send(answered, id, method, params)
	if err == nil {
		select {
		case <-answered.Done():
		case <-c.w.dead:
			err = c.w.failure()
		}
	}
	switch waiting := c.forget(id); {
	case !waiting && p.err != nil:
		return fmt.Errorf("%s: %w", method, p.err)
	case !waiting:
		return decodeResult(method, p.result, result)
	case ctx.Err() != nil:
		if err == nil {
			c.tellCancelled(ctx, id)
		}
		return fmt.Errorf("%s: %w", method, ctx.Err())
	}
	return fmt.Errorf("%s: %w", method, err)
}

// send sends the request of a call, unless ctx ends while there is no room.
func (c *Conn) send(ctx context.Context, id int64, method string, params any) error {
	b := c.w.buffer()
	if err := b.appendCall(id, method, params); err != nil {
		c.w.recycle(b)
		return fmt.Errorf("encoding parameters: %w", err)
	}
	return c.w.put(ctx.Done(), entry{buf: b}, 1)
}

func decodeResult(method string, raw json.RawMessage, result any) error {
	if result == nil || len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("decoding the answer to %s: %w", method, err)
	}
	return nil
}

// tellCancelled sends $/cancel_request for the call with the given id, unless
// the output is full. ctx has ended, so that this does not wait.
func (c *Conn) tellCancelled(ctx context.Context, id int64) {
	b := c.w.buffer()
	err := b.appendCall(0, methodCancel, struct {
		RequestID int64 `json:"requestId"`
	}{id})
	if err == nil {
		err = c.w.put(ctx.Done(), entry{buf: b}, 2)
	}
	if err != nil {
		c.o.Log.Debug().Err(err).Msg("peer was not told of a cancelled call")
	}
}

// expect gives p an id and waits for an answer with it.
func (c *Conn) expect(p *call) (id int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noAnswers != nil {
		return 0, c.noAnswers
	}
	c.lastCall++
	c.calls[c.lastCall] = p
	return c.lastCall, nil
}

// forget ends the wait for an answer and reports whether it still went on.
func (c *Conn) forget(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, waiting := c.calls[id]
	delete(c.calls, id)
	return waiting
}

// finish ends the call with the given id, if it still waits.
func (c *Conn) finish(id int64, result json.RawMessage, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.calls[id]; p != nil {
		delete(c.calls, id)
		p.result, p.err = result, err
		p.wake()
	}
}

// failCalls ends all calls with err, those to come too. For these the first err
// counts.
func (c *Conn) failCalls(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noAnswers = cmp.Or(c.noAnswers, err)
	for id, p := range c.calls {
		delete(c.calls, id)
		p.err = err
		p.wake()
	}
}

// answered hands the answer in e to its call. An answer that nobody waits for
// is ignored, and so is one whose id is no number, such as the null that some
// clients send with an error about a notification that they do not know.
func (c *Conn) answered(e envelope) {
	id, err := strconv.ParseInt(string(e.id), 10, 64)
	switch {
	case err != nil:
	case e.err != nil && !isNull(e.err):
		c.finish(id, nil, peerError(e.err))
	default:
		c.finish(id, e.result, nil)
	}
}

// peerError returns the error that the peer sent as raw.
func peerError(raw json.RawMessage) *Error {
	var e struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return &Error{Code: CodeInternal, Message: "the peer sent a malformed error"}
	}
	pe := &Error{Code: e.Code, Message: e.Message}
	if len(e.Data) > 0 && !isNull(e.Data) {
		pe.Data = e.Data
	}
	return pe
}
