package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
)

// Bounds of the polling of tasks.
const (
	minPoll     = 100 * time.Millisecond
	defaultPoll = time.Second
	maxPoll     = 30 * time.Second
	cancelBound = 5 * time.Second // for telling that a task is not wanted any more
)

// A task is what a server says of one.
type task struct {
	id, status string
	message    string
	poll       time.Duration // until it is to be looked at again
}

// over reports whether the task does not change any more.
func (t task) over() bool {
	return t.status == "completed" || t.status == "failed" || t.status == "cancelled"
}

// readTask reads a task; the member for the poll differs between revisions.
func readTask(o object) task {
	t := task{message: line(o["statusMessage"], maxLine), poll: defaultPoll}
	t.id, _ = text(o["taskId"])
	t.status, _ = text(o["status"])
	for _, name := range []string{"pollInterval", "pollIntervalMs"} {
		if ms := number(o[name]); ms > 0 {
			t.poll = min(max(time.Duration(min(ms, 1e9))*time.Millisecond, minPoll), maxPoll)
		}
	}
	return t
}

// follow waits for a task of the stateless era, which o describes, and returns its
// result. What it asks for is answered, each question once.
func (p *peer) follow(ctx context.Context, w *watch, o object) (json.RawMessage, error) {
	t := readTask(o)
	if t.id == "" {
		return nil, errors.New("the server began a task without an identifier")
	}
	ended := false
	defer func() {
		if !ended {
			p.abandon(t.id)
		}
	}()
	given := map[string]bool{}
	for {
		if t.status == "working" {
			if err := p.pause(ctx, t.poll); err != nil {
				return nil, err
			}
		}
		o, err := p.look(ctx, w, &t)
		if err != nil {
			return nil, err
		}
		ended = t.over()
		switch t.status {
		case "completed":
			return o["result"], nil
		case "failed", "cancelled":
			return nil, t.failure(o["error"])
		case "input_required":
			if err := p.update(ctx, t.id, o["inputRequests"], given); err != nil {
				return nil, err
			}
		}
		t.status = "working" // what ends it would have returned
	}
}

// update gives a task what it asks for and was not given before.
func (p *peer) update(ctx context.Context, id string, requests json.RawMessage, given map[string]bool) error {
	questions, _ := fields(requests)
	for key := range given {
		delete(questions, key)
	}
	if len(questions) == 0 {
		return nil
	}
	answers, err := p.answers(ctx, questions)
	if err != nil {
		return err
	}
	for key := range answers {
		given[key] = true
	}
	_, err = p.send(ctx, nil, query{method: methodTaskUpdate, name: id, params: map[string]any{
		"taskId": id, "inputResponses": answers,
	}})
	return err
}

// followed waits for the task of 2025-11-25 that raw describes, and returns its
// result; where raw is a result already, it is returned. A task that wants input asks
// for it while its result is waited for.
func (p *peer) followed(ctx context.Context, w *watch, raw json.RawMessage) (json.RawMessage, error) {
	created, _ := fields(raw)
	o, _ := fields(created["task"])
	t := readTask(o)
	if t.id == "" {
		return raw, nil
	}
	defer func() {
		if p.tasks.cancel && !t.over() {
			p.abandon(t.id)
		}
	}()
	var result <-chan answer
	for {
		if result == nil && t.status != "working" {
			result = p.outcome(ctx, w, t.id)
		}
		select {
		case a := <-result:
			if a.err == nil {
				t.status = "completed"
			}
			return a.raw, a.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-p.t.Done():
			return nil, p.gone()
		case <-time.After(t.poll):
		}
		if _, err := p.look(ctx, w, &t); err != nil && result == nil {
			return nil, err
		}
	}
}

// outcome asks for the result of a task of 2025-11-25, which comes when it is done.
func (p *peer) outcome(ctx context.Context, w *watch, id string) <-chan answer {
	c := make(chan answer, 1)
	p.life.Start(func(context.Context) {
		raw, err := p.send(ctx, w, query{method: methodTaskResult, name: id, params: map[string]any{"taskId": id}})
		c <- answer{raw, err}
	})
	return c
}

// look asks how a task is. An answer is a sign of life; w is told of a new message.
func (p *peer) look(ctx context.Context, w *watch, t *task) (object, error) {
	raw, err := p.send(ctx, nil, query{method: methodTask, name: t.id, params: map[string]any{"taskId": t.id}})
	if err != nil {
		return nil, err
	}
	o, err := answered(methodTask, raw)
	if err != nil {
		return nil, err
	}
	now := readTask(o)
	now.id = t.id
	if now.message != "" && now.message != t.message {
		w.report(Progress{Message: now.message})
	}
	w.live()
	*t = now
	return o, nil
}

// failure is the error of a task that has none to give as its result.
func (t task) failure(raw json.RawMessage) error {
	var refusal transport.Error
	if json.Unmarshal(raw, &refusal) == nil && refusal.Message != "" {
		return &refusal
	}
	if t.message == "" {
		return fmt.Errorf("the server's task has ended as %s", t.status)
	}
	return fmt.Errorf("the server's task has ended as %s: %s", t.status, t.message)
}

// abandon tells the server that a task is not wanted any more. It does not wait.
func (p *peer) abandon(id string) {
	p.life.Start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, cancelBound)
		defer cancel()
		if _, err := p.send(ctx, nil, query{method: methodTaskCancel, name: id, params: map[string]any{"taskId": id}}); err != nil {
			p.o.Log.Debug().Str("error", p.fault(err)).Msg("task of an mcp server not cancelled")
		}
	})
}
