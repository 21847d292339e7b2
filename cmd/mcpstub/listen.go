package main

import (
	"context"
	"encoding/json"
	"sync"
)

// Listeners are the open subscriptions of the stateless revision.
type listeners struct {
	mu  sync.Mutex // guards all
	all map[*listener]struct{}
}

// A listener is one of them.
type listener struct {
	id     json.RawMessage
	wants  filter
	events chan []byte
}

// A filter is what a subscription is about.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

// tell tells those who want to hear of the list.
func (ls *listeners) tell(list, method string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if list == "tools" && l.wants.Tools || list == "prompts" && l.wants.Prompts || list == "resources" && l.wants.Resources {
			select {
			case l.events <- notification(method, map[string]any{"_meta": l.tag()}):
			default: // it has as much to read as it can take
			}
		}
	}
}

func (l *listener) tag() map[string]any {
	return map[string]any{"io.modelcontextprotocol/subscriptionId": l.id}
}

// listen answers subscriptions/listen, which lasts until the client cancels it.
func (r *request) listen(ctx context.Context) (any, error) {
	if r.revision != stateless {
		return nil, faultf(codeMethod, "method not found: %s", r.Method)
	}
	var p struct {
		Wants filter `json:"notifications"`
	}
	if json.Unmarshal(r.Params, &p) != nil {
		return nil, faultf(codeParams, "the parameters cannot be read")
	}
	l := &listener{id: r.ID, wants: p.Wants, events: make(chan []byte, 1000)}
	ls := r.c.s.listeners
	ls.mu.Lock()
	if ls.all == nil {
		ls.all = make(map[*listener]struct{})
	}
	ls.all[l] = struct{}{}
	ls.mu.Unlock()
	defer func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		delete(ls.all, l)
	}()
	r.emit(notification("notifications/subscriptions/acknowledged", map[string]any{"notifications": p.Wants, "_meta": l.tag()}))
	for {
		select {
		case event := <-l.events:
			r.emit(event)
		case <-r.c.gone:
			return map[string]any{"_meta": l.tag()}, nil
		case <-ctx.Done():
			return nil, errSilent
		}
	}
}
