// Package toolstest holds small working tools for the tests of whoever runs
// tools: one that answers, and one for each way of not doing so.
package toolstest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
)

// A Tool is a tool made of functions. Its zero value reads, takes any object
// and answers with its input.
type Tool struct {
	Describe tools.Info // Name is needed; Effect defaults to Reads
	OnPlan   func(ctx context.Context, in json.RawMessage) (tools.Plan, error)
	OnRun    func(ctx context.Context, call tools.Call) (tools.Result, error)

	mu    sync.Mutex // guards calls
	calls []tools.Call
}

var _ tools.Tool = (*Tool)(nil)

// Info returns Describe, completed.
func (t *Tool) Info() tools.Info {
	info := t.Describe
	if info.Effect == 0 {
		info.Effect = tools.Reads
	}
	if info.Schema == nil {
		info.Schema = json.RawMessage(`{"type":"object"}`)
	}
	if info.Description == "" {
		info.Description = "A tool for tests."
	}
	return info
}

// Plan calls OnPlan; without one the plan is empty.
func (t *Tool) Plan(ctx context.Context, in json.RawMessage) (tools.Plan, error) {
	if t.OnPlan == nil {
		return tools.Plan{}, nil
	}
	return t.OnPlan(ctx, in)
}

// Run records the call and calls OnRun; without one the result is the input.
func (t *Tool) Run(ctx context.Context, call tools.Call) (tools.Result, error) {
	t.mu.Lock()
	t.calls = append(t.calls, call)
	t.mu.Unlock()
	if t.OnRun == nil {
		return tools.Result{Text: string(call.Input)}, nil
	}
	return t.OnRun(ctx, call)
}

// Calls returns the calls that Run has had, in the order of their start.
func (t *Tool) Calls() []tools.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// Echo returns a tool that answers with its input.
func Echo(name string) *Tool { return named(name, nil) }

// Answer returns a tool that always gives r.
func Answer(name string, r tools.Result) *Tool {
	return named(name, func(context.Context, tools.Call) (tools.Result, error) { return r, nil })
}

// Fail returns a tool that fails with err.
func Fail(name string, err error) *Tool {
	return named(name, func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, err })
}

// Panic returns a tool that panics with v.
func Panic(name string, v any) *Tool {
	return named(name, func(context.Context, tools.Call) (tools.Result, error) { panic(v) })
}

// Slow returns a tool that answers with its input after d, or fails when its
// context ends first. It belongs into a testing/synctest bubble.
func Slow(name string, d time.Duration) *Tool {
	return named(name, func(ctx context.Context, call tools.Call) (tools.Result, error) {
		select {
		case <-time.After(d):
			return tools.Result{Text: string(call.Input)}, nil
		case <-ctx.Done():
			return tools.Result{}, ctx.Err()
		}
	})
}

// Block returns a tool that answers only when its context ends, with the cause.
func Block(name string) *Tool {
	return named(name, func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		<-ctx.Done()
		return tools.Result{}, context.Cause(ctx)
	})
}

// Chatty returns a tool that reports each of chunks as live output and then
// answers with all of them.
func Chatty(name string, chunks ...string) *Tool {
	return named(name, func(_ context.Context, call tools.Call) (tools.Result, error) {
		var all []byte
		for _, c := range chunks {
			if call.Output != nil {
				call.Output([]byte(c))
			}
			all = append(all, c...)
		}
		return tools.Result{Text: string(all)}, nil
	})
}

func named(name string, run func(context.Context, tools.Call) (tools.Result, error)) *Tool {
	return &Tool{Describe: tools.Info{Name: name}, OnRun: run}
}
