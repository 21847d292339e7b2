package stdio

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// A frame is a message as it came. A member that did not come is nil.
type frame struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// parse reads a message; ok is false where data is none.
func parse(data []byte) (f frame, ok bool) {
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &f) != nil {
		return frame{}, false
	}
	said := f.Method != "" || f.Result != nil || f.Error != nil
	return f, said || f.Version == "2.0" && f.ID != nil
}

// hasID reports whether f has an id that is one.
func (f frame) hasID() bool { return f.ID != nil && string(f.ID) != "null" }

// number returns the id as a number of ours, also where it has become a text or got
// a fraction; 0 is none of ours.
func (f frame) number() uint64 {
	text := strings.Trim(string(f.ID), `"`)
	text, fraction, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strings.Trim(fraction, "0") != "" {
		return 0
	}
	return n
}

// answer returns what f answers.
func (f frame) answer() answer {
	switch {
	case f.Error != nil && string(f.Error) != "null":
		return answer{err: faultOf(f.Error)}
	case f.Result == nil:
		return answer{err: &transport.Error{Code: transport.CodeInternal, Message: "the answer has neither a result nor an error"}}
	}
	return answer{result: f.Result}
}

// faultOf reads an error, whatever its form.
func faultOf(data json.RawMessage) *transport.Error {
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

// message encodes a message as a line; id nil has none. Body is the name of a member,
// such as params, and its value, which must be on one line; a nil value leaves it out.
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
	return append(b, "}\n"...)
}

// oneLine returns data without line ends; nil is nothing. Its error says that data is
// no JSON.
func oneLine(data json.RawMessage) (json.RawMessage, error) {
	if data == nil || bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') < 0 && json.Valid(data) {
		return data, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, data); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
