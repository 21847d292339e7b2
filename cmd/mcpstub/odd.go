package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// oddCall answers tools/call where a mode has an answer of its own.
func (r *request) oddCall(ctx context.Context, call toolCall) (result any, err error, ok bool) {
	p, o := r.c.s.p, r.c.s.o
	switch {
	case o.modes.result != "":
		result, err = o.variant("results", o.modes.result)
		return result, err, true
	case o.modes.has("die-midcall"):
		p.die(3, "panic: runtime error")
	case o.modes.has("never"):
		result, err = r.wait(ctx)
		return result, err, true
	case o.modes.has("slow"):
		err = nap(ctx, p.pause(2*time.Second))
		return text("slow"), err, true
	case o.modes.has("stderr-flood"):
		floodStderr(50 << 20)
	case o.modes.has("big"):
		return text(strings.Repeat("B", 20<<20)), nil, true
	case o.modes.has("notif-flood"):
		line := notification("notifications/message", map[string]any{"level": "info", "data": "x"})
		for range 100_000 {
			r.emit(line)
		}
	case o.modes.has("elicit"):
		r.emit(object("jsonrpc", "2.0", "id", 900, "method", "elicitation/create", "params", form("?")))
		r.emit(object("jsonrpc", "2.0", "id", 901, "method", "roots/list"))
		r.emit(object("jsonrpc", "2.0", "id", 902, "method", "bogus/method"))
		return text("asked"), nil, true
	case o.modes.has("ask-flood"):
		for i := range 2000 {
			r.emit(object("jsonrpc", "2.0", "id", fmt.Sprintf("flood-%d", i), "method", "roots/list"))
		}
	case o.modes.has("ping-wait"):
		if _, err := r.c.ask(ctx, r.emit, "ping", nil); err != nil {
			return nil, err, true
		}
	}
	return nil, nil, false
}

// floodStderr writes so many bytes there.
func floodStderr(bytes int) {
	line := []byte(strings.Repeat("e", 1023) + "\n")
	for range bytes / len(line) {
		if _, err := os.Stderr.Write(line); err != nil {
			return
		}
	}
}

// form returns the parameters of an elicitation of a name.
func form(message string) map[string]any {
	return map[string]any{
		"message":         message,
		"requestedSchema": json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`),
	}
}
