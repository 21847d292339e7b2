package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// fields are an object under construction.
type fields = map[string]any

// errGone says that the client went away.
var errGone = errors.New("client is gone")

// events writes server-sent events, or lines of JSON. After the first error it
// writes nothing.
type events struct {
	ctx    context.Context
	w      http.ResponseWriter
	delay  time.Duration
	quirk  Quirk
	lines  bool   // each event is a line
	prefix string // of ids that the answer makes up
	err    error
}

func (e *events) open() {
	e.w.Header().Set("Content-Type", "text/event-stream")
	if e.lines {
		e.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	e.w.Header().Set("X-Request-Id", "req_test")
	e.w.WriteHeader(http.StatusOK)
	e.flush()
}

// piece is send after the delay of the reply.
func (e *events) piece(name string, data any) {
	e.wait(e.delay)
	e.send(name, data)
}

func (e *events) wait(d time.Duration) {
	if e.err != nil || d <= 0 {
		return
	}
	select {
	case <-e.ctx.Done():
		e.err = errGone
	case <-time.After(d):
	}
}

// alive shows that the server still works.
func (e *events) alive() {
	if e.lines {
		e.write("\n")
	} else {
		e.write(": keep-alive\n\n")
	}
}

// send writes an event; data that is a string is written as it is.
func (e *events) send(name string, data any) {
	if e.quirk == KeepAlive {
		e.alive()
	}
	text, ok := data.(string)
	if !ok {
		text = encode(data)
	}
	switch {
	case e.lines:
		text += "\n"
	case name != "":
		text = "event: " + name + "\ndata: " + text + "\n\n"
	default:
		text = "data: " + text + "\n\n"
	}
	if e.quirk == CarriageReturns {
		text = strings.NewReplacer("\ndata: ", "\r\ndata:", "event: ", "event:", "\n", "\r\n").Replace(strings.Replace(text, "data: ", "data:", 1))
	}
	e.write(text)
}

func (e *events) write(text string) {
	if e.err == nil && e.ctx.Err() != nil {
		e.err = errGone
	}
	if e.err != nil {
		return
	}
	_, e.err = io.WriteString(e.w, text)
	e.flush()
}

func (e *events) flush() {
	if err := http.NewResponseController(e.w).Flush(); err != nil && e.err == nil {
		e.err = err
	}
}

// encode is v as JSON, with every character as it is.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// here marks the place of arguments in an event: encode would compact them.
const here = "@arguments"

// filled is v as JSON with each mark replaced by the next of args, as it is.
func filled(v any, args ...string) string {
	text := encode(v)
	for _, a := range args {
		text = strings.Replace(text, `"`+here+`"`, a, 1)
	}
	return text
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(v)
}
