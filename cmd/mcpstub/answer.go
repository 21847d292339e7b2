package main

import (
	"encoding/json"
	"strconv"
)

// answer emits the answer to r, in the way that the modes want.
func (r *request) answer(result any, err error) {
	o := r.c.s.o
	id := r.ID
	switch {
	case o.modes.has("string-id"):
		id = json.RawMessage(strconv.Quote(string(id)))
	case o.modes.has("float-id"):
		id = append(id[:len(id):len(id)], ".0"...)
	case o.modes.has("wrong-id"):
		r.emit(encode(json.RawMessage("987654321"), struct{}{}, nil))
	}
	if err == nil && r.revision == stateless {
		result = r.modern(result)
	}
	called := r.Method == "tools/call"
	switch {
	case o.modes.has("null-id") && (r.Method == "initialize" || r.Method == "server/discover"),
		o.modes.has("null-id-call") && called:
		r.emit(encode(nil, nil, faultf(codeInternal, "internal error")))
	case o.modes.has("error-string") && called:
		r.emit(object("jsonrpc", "2.0", "id", id, "error", "plain string"))
	case o.modes.has("error-null") && err == nil:
		r.emit(object("jsonrpc", "2.0", "id", id, "result", result, "error", nil))
	case o.modes.has("no-jsonrpc") && err == nil:
		r.emit(object("id", id, "result", result))
	case o.modes.has("dup"):
		for range 3 {
			r.emit(encode(id, result, err))
		}
	default:
		r.emit(encode(id, result, err))
	}
}

// modern returns a result with what every result of the stateless revision has.
func (r *request) modern(result any) any {
	m, ok := result.(map[string]any)
	if !ok || r.c.s.o.modes.has("no-meta") {
		return result
	}
	if m["resultType"] == nil {
		m["resultType"] = "complete"
	}
	about, ok := m["_meta"].(map[string]any)
	if !ok {
		about = map[string]any{}
		m["_meta"] = about
	}
	about["io.modelcontextprotocol/serverInfo"] = r.c.s.info()
	return m
}
