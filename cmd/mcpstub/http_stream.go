package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

const (
	codeServer  = -32000
	codeSession = -32001
	codeHeader  = -32020
)

// streamable is streamable HTTP: sessions up to 2025-11-25, none after.
func (w *site) streamable(rw http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	k := w.known(id)
	switch {
	case r.Method == http.MethodPost:
		w.post(rw, r, id, k)
	case r.Method != http.MethodGet && r.Method != http.MethodDelete, !w.p.o.older():
		http.Error(rw, "method not allowed", http.StatusMethodNotAllowed)
	case id == "":
		refuse(rw, http.StatusBadRequest, nil, codeServer, "Bad Request: Mcp-Session-Id header is required")
	case k == nil:
		refuse(rw, http.StatusNotFound, nil, codeSession, "Session not found")
	case r.Method == http.MethodDelete:
		w.dismiss(id)
	default:
		k.hold(rw, r, nil)
	}
}

// post takes a message.
func (w *site) post(rw http.ResponseWriter, r *http.Request, id string, k *client) {
	body, m, ok := readBody(rw, r)
	if !ok {
		return
	}
	o := w.p.o
	switch {
	case m.Method == "initialize" && o.older():
		id, k = w.admit()
		rw.Header().Set("Mcp-Session-Id", id)
		w.answer(r.Context(), rw, k.c, body, m)
		if k.c.spoken() == "" { // it was refused
			w.dismiss(id)
		}
	case id != "" && k == nil:
		refuse(rw, http.StatusNotFound, nil, codeSession, "Session not found")
	case k != nil:
		w.inSession(rw, r, id, k, body, m)
	case !o.newer():
		refuse(rw, http.StatusBadRequest, nil, codeServer, "Bad Request: No valid session ID provided")
	default:
		w.single(rw, r, body, m)
	}
}

// inSession takes a message of a session, which lasts for as many calls as the mode has.
func (w *site) inSession(rw http.ResponseWriter, r *http.Request, id string, k *client, body []byte, m message) {
	if m.Method == "tools/call" && w.p.o.modes.has("http-drop-session") {
		k.mu.Lock()
		k.calls++
		over := k.calls > w.o.count
		k.mu.Unlock()
		if over {
			w.dismiss(id)
			refuse(rw, http.StatusNotFound, nil, codeSession, "Session not found")
			return
		}
	}
	// The end of the connection cancels nothing here.
	w.answer(context.WithoutCancel(r.Context()), rw, k.c, body, m)
}

// single takes a message of the stateless revision, whose headers say what it does.
func (w *site) single(rw http.ResponseWriter, r *http.Request, body []byte, m message) {
	if wrong := mismatch(r.Header, m); wrong != "" {
		refuse(rw, http.StatusBadRequest, m.ID, codeHeader, "the header %s is not what the message says", wrong)
		return
	}
	c := w.s.open(func([]byte) {})
	defer c.close()
	ended := context.AfterFunc(r.Context(), c.leave)
	w.answer(r.Context(), rw, c, body, m)
	if ended() {
		c.leave()
	}
}

// mismatch returns the name of a header that is wrong.
func mismatch(h http.Header, m message) string {
	var p struct {
		Name string `json:"name"`
		URI  string `json:"uri"`
		Meta meta   `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p) // era answers what cannot be read
	switch {
	case h.Get("Mcp-Protocol-Version") != p.Meta.Revision:
		return "MCP-Protocol-Version"
	case h.Get("Mcp-Method") != m.Method:
		return "Mcp-Method"
	}
	name := ""
	switch m.Method {
	case "tools/call", "prompts/get":
		name = p.Name
	case "resources/read":
		name = p.URI
	}
	if plain(h.Get("Mcp-Name")) != name {
		return "Mcp-Name"
	}
	return ""
}

// plain decodes the value of a header.
func plain(value string) string {
	coded, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, "?="))
	if err != nil {
		return value
	}
	return string(data)
}

// answer has a message handled and writes what comes of it: one answer as a body, more
// than that as a stream.
func (w *site) answer(ctx context.Context, rw http.ResponseWriter, c *session, body []byte, m message) {
	a := &reply{w: w, rw: rw, m: m}
	if m.Method == "tools/call" && w.p.o.modes.has("http-cut") {
		w.mu.Lock()
		w.called++
		a.cut = w.called <= w.o.count
		w.mu.Unlock()
	}
	if a.cut || w.p.o.modes.has("http-stream") && m.isRequest() {
		a.begin()
	}
	c.handle(ctx, body, a.emit)
	a.end()
}

// A reply is what one message is answered with.
type reply struct {
	w   *site
	rw  http.ResponseWriter
	m   message
	cut bool // the stream breaks before the answer

	events *eventWriter // nil before it is a stream
	held   []byte       // the answer, while it is all there is
}

func (a *reply) begin() { a.events = newEventWriter(a.rw) }

// emit takes a message that belongs to the request. An answer waits for what may follow.
func (a *reply) emit(data []byte) {
	var out message
	err := json.Unmarshal(data, &out)
	final := err == nil && out.Method == ""
	switch {
	case final && a.cut:
		panic(http.ErrAbortHandler)
	case a.events == nil && final && a.held == nil:
		a.held = data
		return
	case a.events == nil:
		a.begin()
	}
	if a.held != nil {
		a.events.event("", a.held)
		a.held = nil
	}
	a.events.event("", data)
}

func (a *reply) end() {
	switch {
	case a.events != nil:
	case a.held == nil && a.m.isRequest(): // nobody wants an answer any more
		a.begin()
	case a.held == nil:
		a.rw.WriteHeader(http.StatusAccepted)
	default:
		a.rw.Header().Set("Content-Type", "application/json")
		a.rw.WriteHeader(a.status())
		a.rw.Write(a.held)
	}
}

// status returns the status of an answer that is a body.
func (a *reply) status() int {
	var out message
	if json.Unmarshal(a.held, &out) != nil || out.Error == nil || !a.w.p.o.newer() {
		return http.StatusOK
	}
	switch out.Error.Code {
	case codeMethod:
		return http.StatusNotFound
	case codeRevision, codeParams, codeParse:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
