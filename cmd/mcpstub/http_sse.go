package main

import (
	"context"
	"net/http"
	"net/url"
)

// events is HTTP with server-sent events: the stream of a client.
func (w *site) events(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		http.Error(rw, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	id, k := w.admit()
	defer w.dismiss(id)
	k.hold(rw, r, func(out *eventWriter) {
		out.event("endpoint", []byte("/message?session="+url.QueryEscape(id)))
	})
}

// message takes a message of a client, whose answer goes to its stream.
func (w *site) message(rw http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("session")
	k := w.known(id)
	if k == nil {
		http.Error(rw, "could not find session", http.StatusNotFound)
		return
	}
	body, m, ok := readBody(rw, r)
	if !ok {
		return
	}
	rw.WriteHeader(http.StatusAccepted)
	if m.Method == "tools/call" && w.p.o.modes.has("http-cut") {
		w.mu.Lock()
		w.called++
		cut := w.called <= w.o.count
		w.mu.Unlock()
		if cut {
			w.dismiss(id)
			return
		}
	}
	go k.c.handle(context.WithoutCancel(r.Context()), body, func(message []byte) {
		select {
		case k.told <- message:
		case <-k.c.gone:
		}
	})
}
