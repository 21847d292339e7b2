package toolstest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func TestTools(t *testing.T) {
	fault := errors.New("fault")
	call := tools.Call{ID: "1", Input: json.RawMessage(`{"a":1}`)}
	tests := []struct {
		tool *toolstest.Tool
		text string
		err  error
	}{
		{toolstest.Echo("echo"), `{"a":1}`, nil},
		{toolstest.Answer("answer", tools.Result{Text: "x"}), "x", nil},
		{toolstest.Fail("fail", fault), "", fault},
		{toolstest.Chatty("chatty", "a", "b"), "ab", nil},
	}
	for _, tt := range tests {
		got, err := tt.tool.Run(t.Context(), call)
		if got.Text != tt.text || !errors.Is(err, tt.err) {
			t.Errorf("%s: Run = %q, %v; want %q, %v", tt.tool.Info().Name, got.Text, err, tt.text, tt.err)
		}
		if calls := tt.tool.Calls(); len(calls) != 1 || calls[0].ID != "1" {
			t.Errorf("%s: Calls = %v, want the one", tt.tool.Info().Name, calls)
		}
		if plan, err := tt.tool.Plan(t.Context(), call.Input); err != nil || plan.Title != "" {
			t.Errorf("%s: Plan = %v, %v; want the empty one", tt.tool.Info().Name, plan, err)
		}
		if _, err := tools.NewRegistry(tools.Allow(tools.Reads), tt.tool); err != nil {
			t.Error(err)
		}
	}
}

func TestLiveOutput(t *testing.T) {
	var live []string
	_, err := toolstest.Chatty("chatty", "a", "b").Run(t.Context(), tools.Call{Output: func(p []byte) { live = append(live, string(p)) }})
	if err != nil || len(live) != 2 || live[0] != "a" || live[1] != "b" {
		t.Errorf("live output = %q, %v", live, err)
	}
}

func TestPanic(t *testing.T) {
	defer func() {
		if got := recover(); got != "boom" {
			t.Errorf("recovered %v, want boom", got)
		}
	}()
	res, err := toolstest.Panic("panic", "boom").Run(t.Context(), tools.Call{})
	t.Errorf("Run = %v, %v; want a panic", res, err)
}

func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if _, err := toolstest.Slow("slow", time.Hour).Run(t.Context(), tools.Call{}); err != nil || time.Since(start) != time.Hour {
			t.Errorf("Slow took %v (%v), want 1h", time.Since(start), err)
		}
		cause := errors.New("cause")
		for _, tool := range []*toolstest.Tool{toolstest.Slow("slow", time.Hour), toolstest.Block("block")} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { cancel(cause) })
			start := time.Now()
			if _, err := tool.Run(ctx, tools.Call{}); err == nil || time.Since(start) != time.Minute {
				t.Errorf("%s ended after %v with %v, want an error after 1m", tool.Info().Name, time.Since(start), err)
			}
		}
	})
}
