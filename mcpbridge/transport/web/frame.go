package web

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A frame is a message as it came. A member that did not come is nil.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// parse reads a message, or an array of them as revision 2025-03-26 has it. What is
// neither has none.
func parse(data []byte) []frame {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil
	}
	var all []frame
	switch data[0] {
	case '[':
		if json.Unmarshal(data, &all) != nil {
			return nil
		}
	case '{':
		all = make([]frame, 1)
		if json.Unmarshal(data, &all[0]) != nil {
			return nil
		}
	}
	messages := all[:0]
	for _, f := range all {
		if f.Method != "" || f.Result != nil || f.Error != nil {
			messages = append(messages, f)
		}
	}
	return messages
}

// isAnswer reports whether f answers something.
func (f frame) isAnswer() bool { return f.Method == "" }

// failed reports whether f answers with an error.
func (f frame) failed() bool { return f.Error != nil && string(f.Error) != "null" }

// hasID reports whether f has an id that is one.
func (f frame) hasID() bool { return f.ID != nil && string(f.ID) != "null" }

// number returns the id as a number of ours, also where it has become a text or got a
// fraction; 0 is none of ours.
func (f frame) number() uint64 {
	text, fraction, _ := strings.Cut(strings.Trim(string(f.ID), `"`), ".")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" {
		return 0
	}
	return n
}

// outcome returns what f answers.
func (f frame) outcome() (json.RawMessage, error) {
	switch {
	case f.failed():
		return nil, fault(f.Error)
	case f.Result == nil:
		return nil, &transport.Error{Code: transport.CodeInternal, Message: "the answer has neither a result nor an error"}
	}
	return f.Result, nil
}

// fault reads an error, whatever its form.
func fault(data json.RawMessage) *transport.Error {
	var e struct {
		Code    json.Number     `json:"code"`
		Message json.RawMessage `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if json.Unmarshal(data, &e) != nil {
		return &transport.Error{Code: transport.CodeInternal, Message: plain(data)}
	}
	code, err := e.Code.Float64()
	if err != nil {
		code = transport.CodeInternal
	}
	message := plain(e.Message)
	if message == "" {
		message = "the server answered with an error"
	}
	return &transport.Error{Code: int(code), Message: message, Data: e.Data}
}

// plain returns a text as such and anything else as JSON.
func plain(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return text
	}
	return string(data)
}

// message encodes a message; id nil has none. Body is the name of a member, such as
// params, and its value; a nil value leaves it out.
func message(id json.RawMessage, method, body string, value json.RawMessage) []byte {
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

func idText(id uint64) json.RawMessage { return strconv.AppendUint(nil, id, 10) }

// encodeFault encodes an error that a handler has answered with.
func encodeFault(e *transport.Error) json.RawMessage {
	if data, err := json.Marshal(e); err == nil {
		return data
	}
	return json.RawMessage(`{"code":-32603,"message":"internal error"}`) // its data is no JSON
}
