// Package rpc is the messages of JSON-RPC as servers really write them, whatever carries
// them.
package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A Frame is a message as it came. A member that did not come is nil.
type Frame struct {
	Version json.RawMessage `json:"jsonrpc"` // a text, or what a server takes for one
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// Versioned reports whether f says that it is of JSON-RPC 2.0.
func (f Frame) Versioned() bool { return string(f.Version) == `"2.0"` }

// Says reports whether f asks, tells or answers anything.
func (f Frame) Says() bool { return f.Method != "" || f.Result != nil || f.Error != nil }

// IsAnswer reports whether f answers something.
func (f Frame) IsAnswer() bool { return f.Method == "" }

// Failed reports whether f answers with an error.
func (f Frame) Failed() bool { return !none(f.Error) }

// HasID reports whether f has an id that is one.
func (f Frame) HasID() bool { return !none(f.ID) }

func none(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// Number returns the id as a number of ours, also where it has become a text or got a
// fraction; 0 is none of ours.
func (f Frame) Number() uint64 {
	text, fraction, _ := strings.Cut(strings.Trim(string(f.ID), `"`), ".")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" {
		return 0
	}
	return n
}

// Outcome returns what f answers. Its error is a [*transport.Error].
func (f Frame) Outcome() (json.RawMessage, error) {
	switch {
	case f.Failed():
		return nil, Fault(f.Error)
	case f.Result == nil:
		return nil, &transport.Error{Code: transport.CodeInternal, Message: "the answer has neither a result nor an error"}
	}
	return f.Result, nil
}

// Fault reads an error, whatever its form.
func Fault(data json.RawMessage) *transport.Error {
	var e struct {
		Code    json.Number     `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(data, &e) != nil {
		return &transport.Error{Code: transport.CodeInternal, Message: Plain(data)}
	}
	code, err := e.Code.Float64()
	if err != nil {
		code = transport.CodeInternal
	}
	message := Plain(e.Message)
	if message == "" {
		message = "the server answered with an error"
	}
	return &transport.Error{Code: int(code), Message: message, Data: e.Data}
}

// EncodeFault encodes what a handler has failed with: a [*transport.Error] as it stands,
// any other error as an internal one.
func EncodeFault(err error) json.RawMessage {
	e, ok := errors.AsType[*transport.Error](err)
	if !ok {
		e = &transport.Error{Code: transport.CodeInternal, Message: err.Error()}
	}
	data, err := json.Marshal(e)
	if err != nil { // its data is no JSON
		data, err = json.Marshal(&transport.Error{Code: e.Code, Message: e.Message})
	}
	if err != nil {
		return json.RawMessage(`{"code":-32603,"message":"internal error"}`)
	}
	return data
}

// Plain returns a text as such and anything else as JSON.
func Plain(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	return string(data)
}

// Message encodes a message; id nil has none. Body is the name of a member, such as
// params, and its value; a nil value leaves it out.
func Message(id json.RawMessage, method, body string, value json.RawMessage) []byte {
	b := make([]byte, 0, len(value)+len(method)+64)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	if method != "" {
		name, err := json.Marshal(method)
		if err == nil { // a text always can be
			b = append(append(b, `,"method":`...), name...)
		}
	}
	if value != nil {
		b = append(append(append(b, `,"`...), body...), `":`...)
		b = append(b, value...)
	}
	return append(b, '}')
}

// OneLine returns data without line ends; nil is nothing. Its error says that data is no
// JSON.
func OneLine(data json.RawMessage) (json.RawMessage, error) {
	if data == nil || bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') < 0 && json.Valid(data) {
		return data, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// ID returns the id of a request.
func ID(n uint64) json.RawMessage { return strconv.AppendUint(nil, n, 10) }

// Abandoned returns the parameters of the notification that nobody waits for a request
// any more.
func Abandoned(n uint64) json.RawMessage {
	return append(append([]byte(`{"requestId":`), ID(n)...), `,"reason":"nobody waits for it"}`...)
}

// Cancelled returns the id of the request that a notification of a cancellation is about;
// "" is none.
func Cancelled(params json.RawMessage) string {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return string(p.ID)
}
