package main

import (
	"context"
	"encoding/json"
	"maps"
	"strconv"
	"sync"
	"time"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

// Tasks are the calls that go on when they have been answered.
type tasks struct {
	mu  sync.Mutex // guards all, and what a task holds
	all map[string]*task
}

// A task is one of them.
type task struct {
	id, status     string
	begun, changed time.Time
	result         map[string]any
	done           chan struct{} // closed when it has ended
}

// start begins a task that works for d and then has the result.
func (ts *tasks) start(d time.Duration, result map[string]any) *task {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	now := time.Now()
	t := &task{id: "task-" + strconv.Itoa(len(ts.all)+1), status: "working", begun: now, changed: now, done: make(chan struct{})}
	ts.all[t.id] = t
	time.AfterFunc(d, func() { ts.end(t, "completed", result) })
	return t
}

// end ends a task that works.
func (ts *tasks) end(t *task, status string, result map[string]any) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t.status != "working" {
		return
	}
	t.status, t.result, t.changed = status, result, time.Now()
	close(t.done)
}

// state tells how a task stands, with the names of its revision.
func (ts *tasks) state(t *task, revision string) map[string]any {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	m := map[string]any{
		"taskId": t.id, "status": t.status,
		"createdAt": t.begun.UTC().Format(time.RFC3339Nano), "lastUpdatedAt": t.changed.UTC().Format(time.RFC3339Nano),
	}
	if revision == stateless {
		m["ttlMs"], m["pollIntervalMs"] = 60_000, 50
	} else {
		m["ttl"], m["pollInterval"] = 60_000, 50
	}
	return m
}

// startTask answers a call of the tool task.
func (r *request) startTask(call toolCall) (any, error) {
	ts := r.c.s.tasks
	result := text("done: " + call.args.Text)
	result["isError"] = call.args.Fail
	d := time.Duration(call.args.MS) * time.Millisecond
	if r.revision == stateless {
		if r.meta.Capabilities == nil || r.meta.Capabilities.Extensions[tasksExtension] == nil {
			return result, nil // the client cannot have a task
		}
		state := ts.state(ts.start(d, result), r.revision)
		state["resultType"] = "task"
		return state, nil
	}
	if len(call.Task) == 0 {
		return nil, faultf(codeMethod, "the tool task can only be called as a task")
	}
	return map[string]any{"task": ts.state(ts.start(d, result), r.revision)}, nil
}

// task answers the requests about tasks.
func (r *request) task(ctx context.Context) (any, error) {
	ts := r.c.s.tasks
	var p struct {
		ID string `json:"taskId"`
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &p) != nil {
		return nil, faultf(codeParams, "the parameters cannot be read")
	}
	newer := r.revision == stateless
	if newer && (r.Method == "tasks/list" || r.Method == "tasks/result") || !newer && r.Method == "tasks/update" {
		return nil, faultf(codeMethod, "method not found: %s", r.Method)
	}
	ts.mu.Lock()
	t := ts.all[p.ID]
	ts.mu.Unlock()
	if r.Method == "tasks/list" {
		return map[string]any{"tasks": r.taskList()}, nil
	}
	if t == nil {
		return nil, faultf(codeParams, "there is no task %q", p.ID)
	}
	switch r.Method {
	case "tasks/cancel":
		ts.end(t, "cancelled", nil)
	case "tasks/result":
		return r.taskResult(ctx, t)
	}
	state := ts.state(t, r.revision)
	if newer && state["status"] == "completed" {
		state["result"] = r.modern(maps.Clone(t.result))
	}
	return state, nil
}

func (r *request) taskList() []any {
	ts := r.c.s.tasks
	ts.mu.Lock()
	all := make([]*task, 0, len(ts.all))
	for _, t := range ts.all {
		all = append(all, t)
	}
	ts.mu.Unlock()
	list := []any{}
	for _, t := range all {
		list = append(list, ts.state(t, r.revision))
	}
	return list
}

// taskResult waits for the end of a task (2025-11-25).
func (r *request) taskResult(ctx context.Context, t *task) (any, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if t.result == nil {
		return nil, faultf(-32000, "the task was cancelled")
	}
	result := map[string]any{"_meta": map[string]any{"io.modelcontextprotocol/related-task": map[string]any{"taskId": t.id}}}
	for name, v := range t.result {
		result[name] = v
	}
	return result, nil
}
