package serve

import (
	"bytes"
	"encoding/json"
)

// marshal encodes v in one line, with its characters as they are.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// response returns the answer to a request; id nil is one that could not be read. It
// has no line feed, since it may become a part of a batch.
func response(id json.RawMessage, result json.RawMessage, f *fault) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	name := `,"result":`
	if f != nil {
		name, result = `,"error":`, f.encode()
	}
	b := make([]byte, 0, len(id)+len(result)+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, name...)
	b = append(b, result...)
	return append(b, '}')
}

// notification returns a notification as a whole line; params nil has none.
func notification(method string, params any) []byte {
	data, err := marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
	if err != nil {
		return nil // params are of texts and numbers, and of JSON that was read
	}
	return append(data, '\n')
}
