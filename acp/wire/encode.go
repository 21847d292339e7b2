package wire

import (
	"encoding/json"
	"strconv"
)

// appendValue appends the JSON of v, on one line and without the escapes that
// HTML wants.
func (b *buffer) appendValue(v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.b = b.b[:len(b.b)-1] // the encoder's line feed
	return nil
}

// appendCall appends a request, or a notification if id is 0. Params that are
// nil are left out.
func (b *buffer) appendCall(id int64, method string, params any) error {
	b.b = append(b.b, `{"jsonrpc":"2.0",`...)
	if id != 0 {
		b.b = append(b.b, `"id":`...)
		b.b = strconv.AppendInt(b.b, id, 10)
		b.b = append(b.b, ',')
	}
	b.b = append(b.b, `"method":`...)
	if err := b.appendValue(method); err != nil {
		return err
	}
	if params != nil {
		b.b = append(b.b, `,"params":`...)
		if err := b.appendValue(params); err != nil {
			return err
		}
	}
	b.b = append(b.b, "}\n"...)
	return nil
}

// appendResponse appends the response to the request with the given id; an
// empty id is sent as null. The member is named "result" or "error".
func (b *buffer) appendResponse(id json.RawMessage, member string, v any) error {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	b.b = append(b.b, `{"jsonrpc":"2.0","id":`...)
	b.b = append(b.b, id...)
	b.b = append(b.b, `,"`...)
	b.b = append(b.b, member...)
	b.b = append(b.b, `":`...)
	if err := b.appendValue(v); err != nil {
		return err
	}
	b.b = append(b.b, "}\n"...)
	return nil
}

// response returns the encoded response to the request with the given id: err,
// or result if err is nil. What cannot be encoded becomes an internal error.
func (c *Conn) response(id json.RawMessage, result any, err *Error) *buffer {
	b := c.w.buffer()
	member, v := "result", result
	if err != nil {
		member, v = "error", err
	}
	failure := b.appendResponse(id, member, v)
	if failure == nil {
		return b
	}
	c.o.Log.Error().Err(failure).Msg("response cannot be encoded")
	if err == nil {
		err = internalError()
	}
	b.b = b.b[:0]
	// Without data there is nothing left that might not encode.
	_ = b.appendResponse(id, "error", &Error{Code: err.Code, Message: err.Message})
	return b
}
