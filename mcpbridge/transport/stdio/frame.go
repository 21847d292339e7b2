package stdio

import (
	"bytes"
	"encoding/json"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// parse reads a message; ok is false where data is none.
func parse(data []byte) (f rpc.Frame, ok bool) {
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &f) != nil {
		return rpc.Frame{}, false
	}
	return f, f.Says() || f.Versioned() && f.ID != nil
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
