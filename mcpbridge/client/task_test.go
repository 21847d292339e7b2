package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools/server"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func unmarshal(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

func TestTasks(t *testing.T) {
	const working = `{"taskId":"7","status":"working","statusMessage":"first","pollInterval":2000}`
	done := client.Result{Blocks: []client.Block{{Type: "text", Text: "done"}}}
	tests := []struct {
		name   string
		server *fake
		want   client.Result
		err    string   // in part; "" is none
		asked  []string // after the call
		took   time.Duration
	}{
		{"2025-11-25", handshake(map[string]reply{
			"tools/call":   says(`{"task":` + working + `}`),
			"tasks/get":    inTurn(says(working), says(`{"taskId":"7","status":"completed","statusMessage":"second"}`)),
			"tasks/result": says(`{"content":"done"}`),
		}), done, "", []string{"tasks/get", "tasks/get", "tasks/result"}, 4 * time.Second},
		{"2025-11-25, done at once", handshake(map[string]reply{
			"tools/call":   says(`{"task":{"taskId":"7","status":"completed"}}`),
			"tasks/result": says(`{"content":"done"}`),
		}), done, "", []string{"tasks/result"}, 0},
		{"2025-11-25, not as a task", handshake(map[string]reply{"tools/call": says(`{"content":"done"}`)}), done, "", nil, 0},
		{"2025-11-25, the result is late", handshake(map[string]reply{
			"tools/call":   says(`{"task":{"taskId":"7","status":"input_required"}}`),
			"tasks/get":    says(`{"taskId":"7","status":"working"}`),
			"tasks/result": after(2500*time.Millisecond, says(`{"content":"done"}`)),
		}), done, "", []string{"tasks/result", "tasks/get", "tasks/get"}, 2500 * time.Millisecond},
		{"2025-11-25, failed", handshake(map[string]reply{
			"tools/call":   says(`{"task":{"taskId":"7","status":"failed"}}`),
			"tasks/result": refuses(-32603, "no disk"),
		}), client.Result{}, "no disk (-32603)", []string{"tasks/result"}, 0},
		{"2025-11-25, forgotten", handshake(map[string]reply{
			"tools/call":   says(`{"task":` + working + `}`),
			"tasks/get":    refuses(-32602, "no such task"),
			"tasks/cancel": says(`{}`),
		}), client.Result{}, "no such task (-32602)", []string{"tasks/get", "tasks/cancel"}, 2 * time.Second},
		{"2026-07-28", stateless(map[string]reply{
			"tools/call": says(`{"resultType":"task","taskId":"7","status":"working","pollIntervalMs":2000}`),
			"tasks/get": inTurn(says(`{"resultType":"complete","taskId":"7","status":"working","pollIntervalMs":3000,"statusMessage":"first"}`),
				says(`{"resultType":"complete","taskId":"7","status":"completed","result":{"content":"done"}}`)),
		}), done, "", []string{"tasks/get", "tasks/get"}, 5 * time.Second},
		{"2026-07-28, failed", stateless(map[string]reply{
			"tools/call": says(`{"resultType":"task","taskId":"7","status":"working"}`),
			"tasks/get":  says(`{"taskId":"7","status":"failed","error":{"code":-32603,"message":"no disk"}}`),
		}), client.Result{}, "no disk (-32603)", []string{"tasks/get"}, time.Second},
		{"2026-07-28, cancelled by the server", stateless(map[string]reply{
			"tools/call": says(`{"resultType":"task","taskId":"7","status":"cancelled"}`),
			"tasks/get":  says(`{"taskId":"7","status":"cancelled","statusMessage":"shutting down"}`),
		}), client.Result{}, "task has ended as cancelled: shutting down", []string{"tasks/get"}, 0},
		{"2026-07-28, failed without a reason", stateless(map[string]reply{
			"tools/call": says(`{"resultType":"task","taskId":"7","status":"failed"}`),
			"tasks/get":  says(`{"taskId":"7","status":"failed"}`),
		}), client.Result{}, "task has ended as failed", []string{"tasks/get"}, 0},
		{"2026-07-28, no answer that could be read", stateless(map[string]reply{
			"tools/call":   says(`{"resultType":"task","taskId":"7","status":"working"}`),
			"tasks/get":    says(`[]`),
			"tasks/cancel": refuses(-32602, "no such task"),
		}), client.Result{}, "tasks/get: the server's answer is no JSON object", []string{"tasks/get", "tasks/cancel"}, time.Second},
		{"2026-07-28, asks", stateless(map[string]reply{
			"tools/call": says(`{"resultType":"task","taskId":"7","status":"working"}`),
			"tasks/get": inTurn(says(`{"taskId":"7","status":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`),
				says(`{"taskId":"7","status":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`),
				says(`{"taskId":"7","status":"completed","result":{"content":"done"}}`)),
			"tasks/update": says(`{"resultType":"complete"}`),
		}), done, "", []string{"tasks/get", "tasks/update", "tasks/get", "tasks/get"}, 3 * time.Second},
		{"2026-07-28, asks for what is not offered", stateless(map[string]reply{
			"tools/call":   says(`{"resultType":"task","taskId":"7","status":"input_required"}`),
			"tasks/get":    says(`{"taskId":"7","status":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}`),
			"tasks/cancel": says(`{}`),
		}), client.Result{}, "asks for sampling/createMessage: Method not found", []string{"tasks/get", "tasks/cancel"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, tt.server, client.Options{Host: &host{}}, func(t *testing.T, p client.Peer) {
				begin := time.Now()
				got, err := p.Call(t.Context(), client.Tool{Name: "t", Task: true}, nil, client.CallOptions{Limit: time.Hour})
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				if took := time.Since(begin); took != tt.took {
					t.Errorf("it took %v, want %v", took, tt.took)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Call() (-want +got):\n%s", diff)
				}
				synctest.Wait()
				var asked []string
				for _, r := range tt.server.asked {
					if strings.HasPrefix(r.Method, "tasks/") {
						asked = append(asked, r.Method)
						if !strings.Contains(string(r.Params), `"taskId":"7"`) || r.Name != "7" {
							t.Errorf("%s of %q with %s", r.Method, r.Name, r.Params)
						}
					}
				}
				if diff := cmp.Diff(tt.asked, asked); diff != "" {
					t.Errorf("requests (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Only a tool that has to be is called as a task, and only where the server can.
func TestCalledAsTask(t *testing.T) {
	tests := []struct {
		name         string
		capabilities string
		tool         client.Tool
		want         bool
	}{
		{"required", capabilities, client.Tool{Name: "t", Task: true}, true},
		{"not required", capabilities, client.Tool{Name: "t"}, false},
		{"the server cannot", `{"tools":{}}`, client.Tool{Name: "t", Task: true}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{
				"initialize": says(`{"protocolVersion":"2025-11-25","capabilities":` + tt.capabilities + `}`),
				"tools/call": says(`{}`),
			})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				if _, err := p.Call(t.Context(), tt.tool, nil, client.CallOptions{Limit: time.Minute}); err != nil {
					t.Fatal(err)
				}
				if got := strings.Contains(string(f.last(t, "tools/call").Params), `"task":{"ttl":60000}`); got != tt.want {
					t.Errorf("called with %s", f.last(t, "tools/call").Params)
				}
			})
		})
	}
}

// A task that works on says so to whoever waits for it, and is life; one that nobody
// waits for any more is cancelled.
func TestTaskCancelled(t *testing.T) {
	servers := map[string]*fake{
		"2025-11-25": handshake(map[string]reply{
			"tools/call":   says(`{"task":{"taskId":"7","status":"working"}}`),
			"tasks/get":    says(`{"taskId":"7","status":"working","statusMessage":"still at it"}`),
			"tasks/cancel": says(`{}`),
		}),
		"2026-07-28": stateless(map[string]reply{
			"tools/call":   says(`{"resultType":"task","taskId":"7","status":"working"}`),
			"tasks/get":    says(`{"taskId":"7","status":"working","statusMessage":"still at it"}`),
			"tasks/cancel": says(`{}`),
		}),
	}
	for name, f := range servers {
		t.Run(name, func(t *testing.T) {
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()
				var got []client.Progress
				o := client.CallOptions{Timeout: time.Minute, Progress: func(r client.Progress) { got = append(got, r) }}
				if _, err := p.Call(ctx, client.Tool{Name: "t", Task: true}, nil, o); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Call() = %v, want the error of the context", err)
				}
				if diff := cmp.Diff([]client.Progress{{Message: "still at it"}}, got); diff != "" {
					t.Errorf("progress (-want +got):\n%s", diff)
				}
				synctest.Wait()
				f.last(t, "tasks/cancel")
			})
		})
	}
}

// A server that dies between two looks at a task ends the call, with its reason.
func TestTaskDies(t *testing.T) {
	for name, f := range map[string]*fake{
		"2025-11-25": handshake(map[string]reply{"tools/call": says(`{"task":{"taskId":"7","status":"working"}}`)}),
		"2026-07-28": stateless(map[string]reply{"tools/call": says(`{"resultType":"task","taskId":"7","status":"working"}`)}),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				time.AfterFunc(500*time.Millisecond, func() { f.die(&transport.GoneError{State: "exit status 3"}) })
				begin := time.Now()
				_, err := p.Call(t.Context(), client.Tool{Name: "t", Task: true}, nil, client.CallOptions{})
				if !errors.Is(err, transport.ErrGone) || time.Since(begin) != 500*time.Millisecond {
					t.Errorf("Call() = %v after %v", err, time.Since(begin))
				}
			})
		})
	}
}

// A task of 2025-11-25 that wants input asks for it while its result is waited for.
func TestTaskAsks(t *testing.T) {
	h := &host{offers: offersForm, elicit: accepts(`{"which":"snake"}`)}
	f := handshake(map[string]reply{
		"tools/call": says(`{"task":{"taskId":"7","status":"working"}}`),
		"tasks/get":  inTurn(says(`{"taskId":"7","status":"input_required"}`), says(`{"taskId":"7","status":"working"}`)),
		"tasks/result": func(ctx ctx, f *fake, _ request) (string, error) {
			answer, err := f.ask(ctx, "elicitation/create", `{"message":"Which?","requestedSchema":{}}`)
			return `{"structuredContent":` + answer + `}`, err
		},
	})
	bubble(t, f, client.Options{Host: h}, func(t *testing.T, p client.Peer) {
		got, err := p.Call(t.Context(), client.Tool{Name: "t", Task: true}, nil, client.CallOptions{})
		if want := `{"action":"accept","content":{"which":"snake"}}`; err != nil || string(got.Structured) != want {
			t.Errorf("Call() = %s, %v, want %s", got.Structured, err, want)
		}
		if want := []any{server.Elicitation{Message: "Which?", Schema: []byte(`{}`)}}; !cmp.Equal(want, h.asked) {
			t.Errorf("the host heard %v", h.asked)
		}
	})
}
