//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A pacedProvider answers one request with the pieces that it is given, when it
// is given them.
type pacedProvider struct {
	*httptest.Server
	say chan string // closed at the end of the answer
}

func newPacedProvider(t *testing.T) *pacedProvider {
	t.Helper()
	p := &pacedProvider{say: make(chan string)}
	p.Server = httptest.NewServer(http.HandlerFunc(p.answer))
	t.Cleanup(p.CloseClientConnections)
	return p
}

func (p *pacedProvider) answer(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // the end of the connection is seen once the body has been read
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta map[string]any, finish any) {
		p, _ := json.Marshal(map[string]any{"id": "x", "object": "chat.completion.chunk",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
		fmt.Fprintf(w, "data: %s\n\n", p)
		http.NewResponseController(w).Flush()
	}
	for {
		select {
		case text, ok := <-p.say:
			if !ok {
				send(map[string]any{}, "stop")
				fmt.Fprint(w, "data: [DONE]\n\n")
				return
			}
			send(map[string]any{"content": text}, nil)
		case <-r.Context().Done():
			return
		}
	}
}
