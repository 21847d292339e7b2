package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// readerShare is how many times as much output may wait for what the reader answers
// itself.
const readerShare = 2

// read handles what comes in until the end of the input or of ctx, from which the
// contexts of the requests descend.
func (c *conn) read(ctx context.Context, in io.Reader) error {
	ls := newLines(in, c.s.o.MaxLine)
	for ctx.Err() == nil {
		line, err := ls.next()
		switch {
		case err == nil:
			c.line(ctx, line)
		case errors.Is(err, errTooLong):
			c.s.o.Log.Warn().Int("limit", c.s.o.MaxLine).Msg("skipped a line that is too long")
			c.refuse(ctx, idIn(line), faultf(mcp.INVALID_REQUEST, "the message is longer than %d bytes", c.s.o.MaxLine))
		case err == io.EOF:
			return nil
		case ctx.Err() != nil:
			return nil // it was closed to leave
		default:
			return fmt.Errorf("reading input: %w", err)
		}
	}
	return nil
}

// line handles a line: a message, or a batch of them (revision 2025-03-26).
func (c *conn) line(ctx context.Context, line []byte) {
	switch {
	case !utf8.Valid(line):
		c.refuse(ctx, nil, faultf(mcp.PARSE_ERROR, "the line is not valid UTF-8"))
	case !json.Valid(line):
		c.refuse(ctx, nil, faultf(mcp.PARSE_ERROR, "the line is not valid JSON"))
	case line[0] != '[':
		c.message(ctx, line, nil)
	default:
		var all []json.RawMessage
		if err := json.Unmarshal(line, &all); err != nil || len(all) == 0 || len(all) > c.s.o.Open {
			c.refuse(ctx, nil, faultf(mcp.INVALID_REQUEST, "a batch must have 1 to %d messages", c.s.o.Open))
			return
		}
		b := &batch{c: c, open: 1}
		for _, m := range all {
			c.message(ctx, m, b)
		}
		b.part(ctx, nil) // now it can end
	}
}

// message handles a message, which is valid JSON.
func (c *conn) message(ctx context.Context, data json.RawMessage, b *batch) {
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	err := json.Unmarshal(data, &m)
	if err == nil && m.Method == nil && (m.Result != nil || m.Error != nil) {
		return // an answer, and nothing was asked
	}
	r := &request{c: c, id: m.ID, batch: b, params: m.Params}
	if string(r.params) == "null" {
		r.params = nil
	}
	key, valid := keyOf(m.ID)
	ok := valid && !c.isOpen(key) // the answer to an open request is still to come
	switch {
	case err != nil || m.Method == nil || m.Version != "2.0":
		r.reject(ctx, ok, faultf(mcp.INVALID_REQUEST, `a message must be an object with "jsonrpc": "2.0" and a text as "method"`))
	case m.ID != nil && !valid:
		r.reject(ctx, false, faultf(mcp.INVALID_REQUEST, `"id" must be a string or a number`))
	case len(r.params) > 0 && r.params[0] != '{':
		r.reject(ctx, ok, faultf(mcp.INVALID_PARAMS, `"params" must be an object`))
	case m.ID == nil:
		c.notified(*m.Method, r.params)
	default:
		r.key, r.method = key, *m.Method
		c.request(ctx, r)
	}
}

// notified handles a notification. What is not known is ignored.
func (c *conn) notified(method string, params json.RawMessage) {
	if method != "notifications/cancelled" {
		return
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if key, ok := keyOf(p.RequestID); ok {
		c.cancel(key)
	}
}

// refuse answers a line that is no request.
func (c *conn) refuse(ctx context.Context, id json.RawMessage, f *fault) {
	if key, ok := keyOf(id); !ok || c.isOpen(key) {
		id = nil // the answer to an open request is still to come
	}
	c.send(ctx, response(id, nil, f), readerShare)
}

// send writes a message unless ctx or the output ends before there is room for it.
func (c *conn) send(ctx context.Context, message []byte, share int) {
	if err := c.out.put(ctx.Done(), append(message, '\n'), share); err != nil {
		c.s.o.Log.Debug().Err(err).Msg("an answer was not sent")
	}
}

// idIn returns the id in the beginning of a message, or nil.
func idIn(beginning []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(beginning))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil
		}
		if name == "id" {
			return v
		}
	}
}
