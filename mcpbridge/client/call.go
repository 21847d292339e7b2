package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// Bounds of requests. A task without a limit is to be kept for taskTTL.
const (
	maxRounds  = 10          // in which a server asks for more before it gives a result
	askTimeout = time.Minute // of a request for a prompt or a resource, without a sign of life
	askLimit   = 10 * askTimeout
	taskTTL    = 24 * time.Hour
)

func (p *peer) Call(ctx context.Context, t Tool, arguments json.RawMessage, o CallOptions) (Result, error) {
	if none(space(arguments)) {
		arguments = json.RawMessage(`{}`) // servers refuse null, and some a missing member
	}
	q := query{method: methodCall, name: t.Name, params: map[string]any{"name": t.Name, "arguments": arguments}}
	asTask := t.Task && p.tasks.call
	if asTask {
		ttl := o.Limit
		if ttl <= 0 {
			ttl = taskTTL
		}
		q = q.with(map[string]any{"task": map[string]any{"ttl": ttl.Milliseconds()}})
	}
	var result Result
	err := p.watched(ctx, o, func(ctx context.Context, w *watch) error {
		raw, err := p.called(ctx, w, q)
		if err == nil && asTask {
			raw, err = p.followed(ctx, w, raw)
		}
		if err == nil {
			result, err = decodeResult(raw)
		}
		return err
	})
	if err != nil {
		return Result{}, err
	}
	return result, nil
}

// called calls a tool with the headers that it wants. A server that finds them wrong
// has run nothing, and has changed the tool: it is read anew, once.
func (p *peer) called(ctx context.Context, w *watch, q query) (json.RawMessage, error) {
	var err error
	if q.headers, err = p.headers(q); err != nil {
		return nil, err
	}
	raw, err := p.exchange(ctx, w, q)
	if refusal, ok := errors.AsType[*transport.Error](err); !ok || refusal.Code != transport.CodeHeaderMismatch || !p.o.HTTP {
		return raw, err
	}
	p.changed(Tools)
	if _, fail := p.Tools(ctx); fail != nil {
		return nil, err
	}
	if q.headers, err = p.headers(q); err != nil {
		return nil, err
	}
	return p.exchange(ctx, w, q)
}

func (p *peer) Prompt(ctx context.Context, name string, arguments map[string]string) ([]server.Part, error) {
	if arguments == nil {
		arguments = map[string]string{}
	}
	o, err := p.get(ctx, query{method: methodPrompt, name: name, params: map[string]any{"name": name, "arguments": arguments}})
	return decodeMessages(o["messages"]), err
}

func (p *peer) Read(ctx context.Context, uri string) ([]server.Part, error) {
	o, err := p.get(ctx, query{method: methodRead, name: uri, params: map[string]any{"uri": uri}})
	return decodeContents(o["contents"]), err
}

// get asks for something that is no list, and is not of a tool.
func (p *peer) get(ctx context.Context, q query) (o object, err error) {
	err = p.watched(ctx, CallOptions{Timeout: askTimeout, Limit: askLimit}, func(ctx context.Context, w *watch) error {
		raw, err := p.exchange(ctx, w, q)
		if err != nil {
			return err
		}
		o, err = answered(q.method, raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// exchange sends q until the server gives a result, and gives it what it asks for.
func (p *peer) exchange(ctx context.Context, w *watch, q query) (json.RawMessage, error) {
	for round := 0; ; round++ {
		raw, err := p.send(ctx, w, q)
		if err != nil && round == 0 { // once: the user is asked each time
			if err = p.visited(ctx, err); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if p.about.Era != Stateless {
			return raw, nil
		}
		o, _ := fields(raw)
		switch kind := literal(o["resultType"]); {
		case kind == "", kind == "complete":
			return raw, nil
		case kind == "task" && q.method == methodCall:
			return p.follow(ctx, w, o)
		case kind != "input_required":
			return nil, fmt.Errorf("the server answered with a result of type %q, which is not one of MCP %s", cut(kind, maxName), p.about.Revision)
		case round == maxRounds:
			return nil, fmt.Errorf("the server asked for more than %d times before it gave a result", maxRounds)
		}
		if q, err = p.supplied(ctx, q, o, round); err != nil {
			return nil, err
		}
	}
}
