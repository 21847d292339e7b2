//go:build unix

package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// ends returns how each call of a session ended, in the order of the calls.
func (e *editor) ends(session string) (all []string) {
	e.t.Helper()
	for _, l := range lives(e, session) {
		all = append(all, l.states[len(l.states)-1])
	}
	return all
}

// gone reports whether a process that a server was is no more, not even as one that
// nobody has waited for.
func gone(start stubEvent) bool { return errors.Is(syscall.Kill(start.PID, 0), syscall.ESRCH) }

// Row 178 (R-MCP-01, R-ACP-13): the model uses the tools of servers that the editor names
// in session/new, whatever way they are reached, and the user is asked before.
func TestRow178ServersOfTheEditor(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"stdio", "http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(step("my_server_echo", object{"text": "hello there"}), step("my_server_add", object{"a": 2, "b": 3}))+"\n"+always)
			e.allow("allow_once")
			e.call("initialize", object{"protocolVersion": 1}, nil)
			x := e.stub("My Server")
			if kind != "stdio" {
				x = e.webStub(kind, "My Server")
			}
			s := e.connects(x)
			if stop := e.prompt(s, "use it"); stop != "end_turn" {
				t.Errorf("stop reason %s, want end_turn", stop)
			}
			if diff := cmp.Diff([]string{"hello there", "5"}, e.resultTexts(s)); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"echo", "add"}, x.called()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"completed", "completed"}, e.ends(s)); diff != "" {
				t.Errorf("ends of the calls (-want +got):\n%s", diff)
			}
			asked := 0
			for _, f := range e.heard() {
				if f.Method == "session/request_permission" {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("the user was asked %d times, want for the call that does not say it only reads", asked)
			}
			if other := addsTo(e.offered(e.session())); len(other) > 0 {
				t.Errorf("another session has %q, want no server", other)
			}
		})
	}
}

// Row 199 (R-ACP-46, R-MCP-20): a client learns how the servers of a session stand, before
// an outage, in it and after it, and asking starts nothing. An extension method that does
// not exist is unknown.
func TestRow199Status(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	x, y := e.gated("My Server", e.having("b", "a")...), e.webStub("http", "other", e.having("c")...)
	s := e.connects(x, y)
	up := e.untilConnected(s)
	want := []serverStatus{
		{Name: "My Server", Prefix: "my_server", State: "connected", Kind: "stdio", Tools: []string{"my_server_a", "my_server_b"}},
		{Name: "other", Prefix: "other", State: "connected", Kind: "http", Tools: []string{"other_c"}},
	}
	check := func(when string, got []serverStatus) {
		t.Helper()
		var short []serverStatus
		for _, now := range got {
			tools := slices.Sorted(slices.Values(now.Tools))
			short = append(short, serverStatus{Name: now.Name, Prefix: now.Prefix, State: now.State, Kind: now.Kind, Tools: tools})
		}
		if diff := cmp.Diff(want, short); diff != "" {
			t.Errorf("status %s (-want +got):\n%s", when, diff)
		}
	}
	check("before the outage", up)
	if up[0].LastError != "" || up[1].LastError != "" {
		t.Errorf("status = %+v, want no errors", up)
	}

	x.shut()
	x.kill()
	down := e.untilServers(s, "the server to be down", func(all []serverStatus) bool { return all[0].State == "connecting" && all[0].Attempts > 0 })
	if down[0].LastError == "" || down[1].State != "connected" || down[1].LastError != "" {
		t.Errorf("status in the outage = %+v, want an error of the one that is down", down)
	}
	starts, posts := len(x.events("start")), len(y.events("message"))
	for range 20 {
		e.statuses(s)
	}
	if got := len(x.events("start")); got != starts {
		t.Errorf("the program was started %d times, want %d", got, starts)
	}
	if got := len(y.events("message")); got != posts {
		t.Errorf("asking for the status sent messages to a server: %d, want %d", got, posts)
	}

	x.reopen()
	check("after the outage", e.untilConnected(s))
	if n := len(x.events("start")); n != 2 {
		t.Errorf("the program was started %d times, want twice", n)
	}
	for _, method := range []string{"_lorimer.dev/mcp_statuses", "_lorimer.dev/", "_lorimer.dev/MCP_STATUS", "_example.com/mcp_status"} {
		if f := e.wait(e.send(method, object{"sessionId": s})); f.Error == nil || f.Error.Code != -32601 {
			t.Errorf("%s: %s, want -32601", method, f.Raw)
		}
	}
	if f := e.wait(e.send(statusMethod, object{"sessionId": "nobody"})); f.Error == nil || f.Error.Code == -32601 {
		t.Errorf("status of a session that is not there: %s, want an error of its own", f.Raw)
	}
}

// Row 217 (R-MCP-14): a server that tells of a change, and then cannot list its tools,
// keeps those that it had.
func TestRow217FailedRefresh(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(step("x_change", object{"fail": true, "tools": []string{"echo", "fresh"}}), `{"text": "changed"}`,
		step("x_echo", object{"text": "still there"})), "--mode", "auto")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	x := e.stub("x", "-mode", "listchange")
	s := e.connects(x)
	e.prompt(s, "go")
	old := addsTo(e.requests(s)[0].Tools)
	e.untilEvents(x, "the refresh that fails", func([]stubEvent) bool { return len(x.messages("tools/list")) > 1 })
	e.prompt(s, "again")
	if got := addsTo(e.lastRequest(s).Tools); len(old) < 5 || !slices.Equal(got, old) {
		t.Errorf("tools after a failed refresh = %q, want %q", got, old)
	}
	if texts := e.resultTexts(s); len(texts) != 2 || !strings.Contains(texts[1], "still there") || strings.HasPrefix(texts[1], "error") {
		t.Errorf("results = %q, want that the tool is there", texts)
	}
	if now := e.untilServer(s, "x", "connected"); len(now.Tools) != len(old) {
		t.Errorf("status = %+v, want %d tools", now, len(old))
	}
}

// Row 217 (R-MCP-17): the picture that a tool of a server returns goes to a model that
// sees; one that reads text alone gets a line about it, and its bytes in no form.
func TestRow217Pictures(t *testing.T) {
	t.Parallel()
	for model, sees := range map[string]bool{"openai/gpt-3.5-turbo": false, gpt: true} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{{Name: "x_image", Args: "{}"}}}, modeltest.Reply{Text: []string{"fine"}})
			e := newEditor(t).reaches(m)
			e.acp("--model", model, "--mode", "auto")
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(e.stub("x"))
			if stop := e.prompt(s, "look"); stop != "end_turn" {
				t.Errorf("stop reason %s, want end_turn", stop)
			}
			requests := m.Requests()
			if len(requests) != 2 {
				t.Fatalf("%d requests, want 2", len(requests))
			}
			const head = "iVBORw0KGgo" // of every PNG in base64
			body := string(requests[1].Body)
			if sees {
				holds(t, "what the model gets", body, head)
				return
			}
			lacks(t, "what the model gets", body, head, "image_url")
			holds(t, "what the model gets", body, "image/png")
			if texts := e.resultTexts(s); len(texts) != 1 || !strings.Contains(texts[0], "image/png") || strings.HasPrefix(texts[0], "error") {
				t.Errorf("results = %q, want a notice", texts)
			}
		})
	}
}

// Row 217 (R-MCP-18): a call that hangs is an error after the time that the configuration
// gives it. The server is told, is not called again for it, and stays connected.
func TestRow217HangingCall(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	slow, quick := e.stub("slow", "-mode", "never"), e.stub("quick")
	e.file(configFile, slow.table(`timeout = "300ms"`)+"\n"+quick.table())
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(step("slow_echo", object{"text": "a"}), step("quick_echo", object{"text": "b"}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects()
	if stop := e.prompt(s, "go"); stop != "end_turn" {
		t.Errorf("stop reason %s, want end_turn", stop)
	}
	texts := e.resultTexts(s)
	if len(texts) != 2 || texts[1] != "b" {
		t.Fatalf("results = %q, want an error and b", texts)
	}
	holds(t, "the result of the call that hangs", texts[0], "error: ", "slow", "300ms")
	if diff := cmp.Diff([]string{"failed", "completed"}, e.ends(s)); diff != "" {
		t.Errorf("ends of the calls (-want +got):\n%s", diff)
	}
	e.untilEvents(slow, "the cancellation", func([]stubEvent) bool { return len(slow.messages("notifications/cancelled")) == 1 })
	took := slow.messages("notifications/cancelled")[0].Time.Sub(slow.messages("tools/call")[0].Time)
	if took < 200*time.Millisecond || took > 10*time.Second {
		t.Errorf("the call was given up after %v, want 300ms", took)
	}
	e.untilConnected(s)
	if calls, starts := slow.called(), slow.events("start"); len(calls) != 1 || len(starts) != 1 {
		t.Errorf("calls %q in %d starts, want one of each", calls, len(starts))
	}
}

// Row 217 (R-MCP-18): a prompt whose call hangs can be cancelled at once, and so can the
// call at the server. The server can be called afterwards.
func TestRow217CancelledCall(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"session/cancel", "$/cancel_request"} {
		t.Run(filepath.Base(way), func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(step("x_sleep", object{"ms": 600_000}), step("x_echo", object{"text": "awake"})), "--mode", "auto")
			e.call("initialize", object{"protocolVersion": 1}, nil)
			x := e.stub("x")
			s := e.connects(x)
			id := e.send("session/prompt", say(s, "go"))
			e.untilEvents(x, "the call", func([]stubEvent) bool { return len(x.called()) == 1 })
			e.cancel(way, s, id)
			e.cancelled(s, id)
			if diff := cmp.Diff([]string{"failed"}, e.ends(s)); diff != "" {
				t.Errorf("ends of the calls (-want +got):\n%s", diff)
			}
			e.untilEvents(x, "the cancellation", func([]stubEvent) bool { return len(x.events("cancelled")) == 1 })
			e.prompt(s, "again")
			if texts := e.resultTexts(s); len(texts) != 2 || texts[1] != "awake" {
				t.Errorf("results = %q, want that the server answers", texts)
			}
			if calls, starts := x.called(), x.events("start"); !slices.Equal(calls, []string{"sleep", "echo"}) || len(starts) != 1 {
				t.Errorf("calls %q in %d starts, want both in one", calls, len(starts))
			}
		})
	}
}

// Row 218 (R-MCP-24): a server that exits inside a call has failed that call. It is not
// made again, since it may have had effects; the server is connected again and called by
// the next message.
func TestRow218DiesInACall(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]string{"its tool": "", "before an answer": "die-midcall", "within an answer": "half-line"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			flags, tool, code := []string{}, "die", 3
			if mode != "" {
				state := filepath.Join(e.home, "starts")
				flags, tool = []string{"-mode", mode, "-state", state, "-bad-starts", "1"}, "echo"
			}
			if mode == "half-line" {
				code = 4
			}
			x := e.stub("x", flags...)
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(step("x_"+tool, object{"text": "first"}), `{"text": "it failed"}`, step("x_echo", object{"text": "second"}))))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(x)
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("stop reason %s, want end_turn", stop)
			}
			if diff := cmp.Diff([]string{"failed"}, e.ends(s)); diff != "" {
				t.Errorf("ends of the calls (-want +got):\n%s", diff)
			}
			e.untilEvents(x, "the second start", func([]stubEvent) bool { return len(x.events("start")) == 2 })
			e.untilConnected(s)
			if diff := cmp.Diff([]string{tool}, x.called()); diff != "" {
				t.Errorf("calls before the next message (-want +got):\n%s", diff)
			}
			e.prompt(s, "again")
			texts := e.resultTexts(s)
			if len(texts) != 2 || texts[1] != "second" {
				t.Fatalf("results = %q, want an error and second", texts)
			}
			holds(t, "the result of the call", texts[0], "error: ", "MCP server x")
			calls, starts, ended := x.messages("tools/call"), x.events("start"), x.events("end")
			if len(calls) != 2 || len(starts) != 2 || calls[0].PID != starts[0].PID || calls[1].PID != starts[1].PID {
				t.Errorf("%d calls in %d starts, want one of each", len(calls), len(starts))
			}
			if len(ended) != 1 || ended[0].Code != code {
				t.Errorf("ends = %+v, want one with %d", ended, code)
			}
			if !gone(starts[0]) {
				t.Errorf("process %d has not been waited for", starts[0].PID)
			}
		})
	}
}
