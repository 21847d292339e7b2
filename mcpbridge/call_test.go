package mcpbridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/client"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/server"
)

func TestToolDescribesItself(t *testing.T) { // R-MCP-06, R-MCP-07, R-ACP-40, R-ACP-41
	yes, no := true, false
	schema := json.RawMessage(`{"$schema":"x","type":"object","oneOf":[]}`)
	looks := tools.Fetches | tools.Reads
	tests := []struct {
		name string
		spec client.Tool
		want tools.Info // Origin and Description apart
	}{
		{
			"as it came", client.Tool{Name: "a.b", Title: "Make {x}", Input: schema},
			tools.Info{Name: "s_a_b_407e8e5c", Schema: schema, Verb: "Make (x) — s", Kind: tools.KindOther, Effect: tools.Acts},
		},
		{
			"without a schema", client.Tool{Name: "t"},
			tools.Info{Name: "s_t", Schema: json.RawMessage(`{"type":"object"}`), Verb: "t — s", Kind: tools.KindOther, Effect: tools.Acts},
		},
		{
			"it looks", client.Tool{Name: "t", Input: schema, Hints: client.Hints{ReadOnly: &yes, Destructive: &no}},
			tools.Info{Name: "s_t", Schema: schema, Verb: "t — s", Kind: tools.KindRead, Effect: looks},
		},
		{
			"it says that it does not", client.Tool{Name: "t", Input: schema, Hints: client.Hints{ReadOnly: &no, Idempotent: &yes}},
			tools.Info{Name: "s_t", Schema: schema, Verb: "t — s", Kind: tools.KindOther, Effect: tools.Acts},
		},
		{
			"it contradicts itself", client.Tool{Name: "t", Input: schema, Hints: client.Hints{ReadOnly: &yes, Destructive: &yes}},
			tools.Info{Name: "s_t", Schema: schema, Verb: "t — s", Kind: tools.KindOther, Effect: tools.Acts},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				tt.spec.Description, tt.want.Description = "Words.", "Words."
				w := newWorld(map[string]*fake{"s": {Tools: []client.Tool{tt.spec}, About: client.About{Icon: "https://e.org/i.png"}}})
				s := program("s")
				s.Args = []string{"--api-key", "12345678"}
				got := message(t, open(t, w.pool(t), s)).tools[0].Info()
				tt.want.Origin = &tools.Origin{
					Server: "s", Prefix: "s", Address: "s --api-key ********", Icon: "https://e.org/i.png", Tool: tt.spec.Name,
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Info() (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestPlanShowsTheInput(t *testing.T) { // R-ACP-41
	bubble(t, func(t *testing.T) {
		long := strings.Repeat("long", 30)
		w := newWorld(map[string]*fake{"x": {Tools: []client.Tool{{Name: "send.mail", Title: "Send mail"}, {Name: long}}}, "y": {Tools: toolsNamed("send.mail")}})
		one, other := program("x"), program("y")
		one.Name = "Post " + long
		s := message(t, open(t, w.pool(t), one, other))
		plan, err := s.tools[0].Plan(t.Context(), json.RawMessage(`{"to":"a@b","n":2}`))
		if err != nil {
			t.Fatal(err)
		}
		if want := "Send mail — Post longlonglonglonglonglonglonglonglonglonglonglonglonglong...(n: 2, to: a@b)"; plan.Title != want {
			t.Errorf("title = %q, want %q", plan.Title, want)
		}
		if plan.Effect != tools.Acts {
			t.Errorf("effect = %v", plan.Effect)
		}
		keys := make(map[string]bool)
		for _, tool := range s.tools {
			plan, err := tool.Plan(t.Context(), json.RawMessage(`{}`))
			if err != nil || plan.Always.Label == "" || len([]rune(plan.Always.Label)) >= 80 {
				t.Errorf("label %q, %v", plan.Always.Label, err)
			}
			keys[plan.Always.Key] = true
		}
		if len(keys) != 3 {
			t.Errorf("three tools of two servers have %d permissions: %v", len(keys), keys)
		}
	})
}

func TestCallGoesOutUnderTheRawName(t *testing.T) { // R-MCP-06, R-MCP-18, C087
	bubble(t, func(t *testing.T) {
		azure := &fake{Tools: toolsNamed(strings.Repeat("tool_name_", 6), "a.b/c", "2nd")}
		w := newWorld(map[string]*fake{"azure": azure})
		s := program("azure")
		s.Name, s.Timeout = "My Azure: Tools (prod)", 7*time.Second
		got := message(t, open(t, w.pool(t), s))
		want := []string{
			"my_azure_tools_prod_tool_name_tool_name_tool_name_tool__91cc2c09",
			"my_azure_tools_prod_a_b_c_9455ff57",
			"my_azure_tools_prod_2nd",
		}
		if diff := cmp.Diff(want, got.Names); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
		for i, name := range got.Names {
			if r := got.run(t, name, `{"n":9223372036854775807}`); r.Text != azure.Tools[i].Name || r.IsError {
				t.Errorf("%s gave %+v", name, r)
			}
		}
		c := azure.called()[1]
		if c.Tool != "a.b/c" || c.Input != `{"n":9223372036854775807}` || c.Timeout != 7*time.Second || c.Limit != 70*time.Second {
			t.Errorf("the server was called with %+v", c)
		}
	})
}

func TestCallsThatFail(t *testing.T) { // R-MCP-18, R-MCP-19, R-MCP-24, ACCEPTANCE 218
	const secret = "s3cr3t-value"
	gone := &transport.GoneError{State: "exit status 3", Stderr: "panic: " + secret}
	tests := []struct {
		name string
		err  error
		want string
		lost bool // the server counts as lost
	}{
		{
			"answered with an error", &transport.Error{Code: transport.CodeInvalidParams, Message: "no tool x for " + secret},
			"The MCP server a answered with an error: no tool x for ******** (-32602)", false,
		},
		{
			"too slow", fmt.Errorf("tools/call: %w", client.ErrTimeout),
			"The MCP server a gave no result within 1m and was told that nobody waits any more. The call may have had effects: look before it is made again.", false,
		},
		{
			"gone", gone,
			"The MCP server a was lost during the call: the program has ended (exit status 3): panic: ********. The call is not repeated, since it may have had effects: look before it is made again. The server is being reconnected.", true,
		},
		{
			"connection reset", errors.New("read tcp: connection reset by peer"),
			"The MCP server a was lost during the call: read tcp: connection reset by peer. The call is not repeated, since it may have had effects: look before it is made again. The server is being reconnected.", true,
		},
		{
			"broken behind a proxy", &transport.StatusError{Status: 503, Text: "no backend"},
			"The MCP server a was lost during the call: HTTP status 503: no backend. The call is not repeated, since it may have had effects: look before it is made again. The server is being reconnected.", true,
		},
		{
			"not given what it asks for", &client.UnansweredError{Method: "sampling/createMessage", Err: server.ErrRefused},
			"The MCP server a gave no result: the server asks for sampling/createMessage: the user did not allow it. It may have done a part of the call: look before it is made again.", false,
		},
		{
			"not given what is not offered", &client.UnansweredError{Method: "x", Err: &transport.Error{Code: -32601, Message: "Method not found"}},
			"The MCP server a gave no result: the server asks for x: Method not found (-32601). It may have done a part of the call: look before it is made again.", false,
		},
		{
			"too often", &transport.StatusError{Status: 429},
			"The MCP server a refused the call: HTTP status 429.", false,
		},
		{
			"credential revoked", &transport.StatusError{Status: 401, Rejected: true},
			"The MCP server a refused the call: credential rejected (HTTP 401).", true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &fake{Tools: toolsNamed("x")}
				a.OnCall = func(context.Context, *peer, call) (client.Result, error) { return client.Result{}, tt.err }
				w := newWorld(map[string]*fake{"a": a})
				s := program("a")
				s.Env = map[string]string{"SOME_KEY": secret}
				b := open(t, w.pool(t), s)
				got := message(t, b).run(t, "a_x", `{}`)
				if got.Text != tt.want || !got.IsError {
					t.Errorf("result %v %q, want %q", got.IsError, got.Text, tt.want)
				}
				if n := len(a.called()); n != 1 {
					t.Errorf("the call was made %d times", n)
				}
				if left := message(t, b).Names == nil; left != tt.lost {
					t.Errorf("the server counts as lost: %v, want %v", left, tt.lost)
				}
				time.Sleep(time.Minute)
				message(t, b) // where nothing but a new credential helps
				synctest.Wait()
				if got := message(t, b).Names; !slices.Equal(got, []string{"a_x"}) { // R-MCP-24: reconnected
					t.Errorf("a minute later Tools() = %q", got)
				}
			})
		})
	}
}

// What a server says of an error is cut like what it says of success.
func TestLongError(t *testing.T) { // R-MCP-17
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		a.OnCall = func(context.Context, *peer, call) (client.Result, error) {
			return client.Result{}, &transport.Error{Code: 1, Message: strings.Repeat("word ", 1<<18) + "end"}
		}
		w := newWorld(map[string]*fake{"a": a})
		got := message(t, open(t, w.pool(t), program("a"))).run(t, "a_x", `{}`).Text
		if len(got) > 66<<10 || !strings.HasPrefix(got, "The MCP server a answered with an error: word") || !strings.HasSuffix(got, "end (1)") {
			t.Errorf("%d bytes: %.60q … %q", len(got), got, got[len(got)-20:])
		}
	})
}

// A call that found its connection broken, and no other in time, says no more than is
// known of its effects.
func TestCallWithoutAReconnect(t *testing.T) { // R-MCP-24, C089
	yes := true
	tests := []struct {
		name string
		tool client.Tool
		err  error
		want string
	}{
		{
			"the session had expired", tool("x"), transport.ErrSession,
			"The MCP server a had forgotten the session, and the call was not run. It is being reconnected: call again later.",
		},
		{
			"it may be repeated, and may have been run", client.Tool{Name: "x", Hints: client.Hints{Idempotent: &yes}}, errOops,
			"The MCP server a was lost during the call: oops. The call is not repeated, since it may have had effects: look before it is made again. The server is being reconnected.",
		},
		{
			"nothing was sent", tool("x"), transport.Unsent(errOops),
			"The MCP server a is not connected: down. Nothing was sent; it is tried again in the background. Go on without it, or call again later.",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &fake{Tools: []client.Tool{tt.tool}}
				a.OnCall = func(context.Context, *peer, call) (client.Result, error) { return client.Result{}, tt.err }
				a.Fail = func(n int) error {
					if n == 1 {
						return nil
					}
					return errors.New("down")
				}
				w := newWorld(map[string]*fake{"a": a})
				if got := message(t, open(t, w.pool(t), address("a"))).run(t, "a_x", `{}`); got.Text != tt.want || !got.IsError {
					t.Errorf("result %v %q, want %q", got.IsError, got.Text, tt.want)
				}
			})
		})
	}
}

func TestCancelledCall(t *testing.T) { // R-MCP-18, ACCEPTANCE 217
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		a.OnCall = func(ctx context.Context, _ *peer, _ call) (client.Result, error) {
			<-ctx.Done()
			return client.Result{}, fmt.Errorf("calling: %w", ctx.Err())
		}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		s := message(t, b)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errOops) })
		start := time.Now()
		_, err := s.tool(t, "a_x").Run(ctx, tools.Call{ID: "c"})
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("Run() = %v after %v", err, time.Since(start))
		}
		if got := message(t, b).Names; got == nil {
			t.Error("a cancelled call counts as an outage")
		}

		time.AfterFunc(time.Second, func() { _ = b.Close(t.Context()) })
		if got := s.run(t, "a_x", `{}`); !got.IsError || got.Text != "The session was closed before the call ended." {
			t.Errorf("a call of a session that is closed gave %+v", got)
		}
	})
}

// three runs a tool three times beside each other.
func three(t *testing.T, s send, name string) (texts []string) {
	t.Helper()
	texts = make([]string, 3)
	var wg sync.WaitGroup
	for i := range texts {
		wg.Go(func() { texts[i] = s.run(t, name, `{}`).Text })
	}
	wg.Wait()
	slices.Sort(texts)
	return texts
}

func TestParallelCallsShareOneReconnect(t *testing.T) { // C091
	yes := true
	tests := []struct {
		name string
		tool client.Tool
		// others is what becomes of those that did not kill the server.
		others error
		want   []string
	}{
		{
			"what was not sent is sent again", tool("x"), transport.Unsent(errExit),
			[]string{"The MCP server a was lost during the call: the program has ended (exit status 1): fatal: missing API_KEY. The call is not repeated, since it may have had effects: look before it is made again. The server is being reconnected.", "done by 2", "done by 2"},
		},
		{
			"what only looks is asked again", client.Tool{Name: "x", Hints: client.Hints{ReadOnly: &yes}}, errExit,
			[]string{"done by 2", "done by 2", "done by 2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &fake{Tools: []client.Tool{tt.tool}, Linger: time.Second, Delay: time.Second}
				var killer sync.Once
				a.OnCall = func(_ context.Context, p *peer, _ call) (client.Result, error) {
					if n := a.count(func() int { return a.attempts }); n > 1 {
						return says(fmt.Sprint("done by ", n)), nil
					}
					err := tt.others
					killer.Do(func() { err = errExit; p.end(errExit) })
					return client.Result{}, err
				}
				w := newWorld(map[string]*fake{"a": a})
				b := open(t, w.pool(t), program("a"))
				if diff := cmp.Diff(tt.want, three(t, message(t, b), "a_x")); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if got := len(w.tries()); got != 2 {
					t.Errorf("%d attempts, want one reconnect", got)
				}
			})
		})
	}
}

func TestCallInAnOutage(t *testing.T) { // C091
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		w := newWorld(map[string]*fake{"a": a})
		b := open(t, w.pool(t), program("a"))
		s := message(t, b)
		a.die(errExit)
		synctest.Wait()
		if got := s.run(t, "a_x", `{}`); got.Text != "x" || got.IsError {
			t.Errorf("a call that waited for the reconnect gave %+v", got)
		}

		a.set(func() { a.Fail = failing(always, errOops) })
		a.die(errExit)
		synctest.Wait()
		start := time.Now()
		got := s.run(t, "a_x", `{}`)
		if want := "The MCP server a is not connected: oops. Nothing was sent; it is tried again in the background. Go on without it, or call again later."; got.Text != want || !got.IsError || time.Since(start) != 5*time.Second {
			t.Errorf("a call in an outage gave %+v after %v, want %q", got, time.Since(start), want)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err := s.tool(t, "a_x").Run(ctx, tools.Call{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("a call that was given up = %v after %v", err, time.Since(start))
		}
		if n := len(a.called()); n != 1 {
			t.Errorf("the server was called %d times", n)
		}
	})
}

func TestExpiredSession(t *testing.T) { // C089
	yes := true
	tests := []struct {
		name string
		tool client.Tool
		want string
	}{
		{"a call that may have effects", tool("x"), "The MCP server a had forgotten the session, and the call was not run. It is reconnected: call again."},
		{"one that has none", client.Tool{Name: "x", Hints: client.Hints{Idempotent: &yes}}, "done by 2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				a := &fake{Tools: []client.Tool{tt.tool}}
				a.OnCall = func(_ context.Context, _ *peer, _ call) (client.Result, error) {
					n := a.count(func() int { return a.attempts })
					if n == 1 {
						return client.Result{}, fmt.Errorf("tools/call: %w", transport.ErrSession)
					}
					return says(fmt.Sprint("done by ", n)), nil
				}
				w := newWorld(map[string]*fake{"a": a})
				b := open(t, w.pool(t), address("a"))
				s := message(t, b)
				a.set(func() { a.Tools = append(a.Tools, tool("y")) })
				start := time.Now()
				if got := s.run(t, "a_x", `{}`).Text; got != tt.want || time.Since(start) != 0 {
					t.Errorf("the call gave %q after %v, want %q at once", got, time.Since(start), tt.want)
				}
				if got := s.run(t, "a_x", `{}`).Text; got != "done by 2" {
					t.Errorf("the next call gave %q", got)
				}
				if got := message(t, b).Names; !slices.Equal(got, []string{"a_x", "a_y"}) {
					t.Errorf("the list was not read again: %q", got)
				}
			})
		})
	}
}

func TestSessionThatAlwaysExpires(t *testing.T) { // C089, C095
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		a.OnCall = func(context.Context, *peer, call) (client.Result, error) {
			return client.Result{}, transport.ErrSession
		}
		w := newWorld(map[string]*fake{"a": a})
		s := message(t, open(t, w.pool(t), address("a")))
		for range 100 {
			s.run(t, "a_x", `{}`)
			time.Sleep(10 * time.Millisecond)
		}
		if got := len(w.tries()); got > 11 {
			t.Errorf("%d attempts", got)
		}
	})
}

func TestProgressIsShown(t *testing.T) { // R-MCP-18
	bubble(t, func(t *testing.T) {
		a := &fake{Tools: toolsNamed("x")}
		a.OnCall = func(_ context.Context, _ *peer, c call) (client.Result, error) {
			if c.o.Progress == nil {
				return says("nobody looks"), nil
			}
			c.o.Progress(client.Progress{Done: 1, Total: 3, Message: "first\x1b[2J"})
			c.o.Progress(client.Progress{Done: 1.5, Total: 3})
			time.Sleep(time.Second)
			c.o.Progress(client.Progress{Done: 2.5})
			for range 1000 {
				time.Sleep(time.Second)
				c.o.Progress(client.Progress{Message: "on"})
			}
			return says("done"), nil
		}
		w := newWorld(map[string]*fake{"a": a})
		s := message(t, open(t, w.pool(t), program("a")))
		var lines []string
		r, err := s.tool(t, "a_x").Run(t.Context(), tools.Call{Output: func(p []byte) { lines = append(lines, string(p)) }})
		if err != nil || r.Text != "done" {
			t.Fatalf("Run() = %+v, %v", r, err)
		}
		if want := []string{"1/3 first\\x1b[2J\n", "2.5\n", "0 on\n"}; len(lines) != 200 || !slices.Equal(lines[:3], want) {
			t.Errorf("%d lines that begin with %q, want 200 that begin with %q", len(lines), lines[:3], want)
		}
		if r := s.run(t, "a_x", `{}`); r.Text != "nobody looks" {
			t.Errorf("without a watcher Run() = %+v", r)
		}
	})
}

func TestScratchOfTheSession(t *testing.T) { // R-MCP-17
	text := strings.Repeat("0123456789abcde\n", 10000)
	tests := []struct {
		name          string
		pool, session bool
		want          string
	}{
		{"of the session", true, true, "session"},
		{"of the pool", true, false, "pool"},
		{"none", false, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			bubble(t, func(t *testing.T) {
				a := &fake{Tools: toolsNamed("x")}
				a.OnCall = func(context.Context, *peer, call) (client.Result, error) { return says(text), nil }
				w := newWorld(map[string]*fake{"a": a})
				s := mcpbridge.Session{ID: "s", Dir: dir}
				if tt.session {
					s.Scratch = dir + "/session/in"
				}
				p := w.pool(t, func(o *mcpbridge.Options) {
					if tt.pool {
						o.Scratch = dir + "/pool"
					}
				})
				r := message(t, p.Open(t.Context(), s, programs("a"))).run(t, "a_x", `{}`)
				checkSpill(t, r.Text, text, dir, tt.want)
			})
		})
	}
}
