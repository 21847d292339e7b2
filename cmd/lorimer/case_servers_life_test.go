//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// looker returns the flags of a server with the tool look, which only reads or not, and
// which exits at the first call of its first start.
func (e *editor) looker(readOnly bool) []string {
	e.t.Helper()
	f := e.scenario(object{"name": "look", "inputSchema": object{"type": "object"}, "annotations": object{"readOnlyHint": readOnly}})
	return append(f, "-mode", "die-midcall", "-bad-starts", "1", "-state", filepath.Join(e.home, "starts"))
}

// threeLooks is a turn with three calls at once.
func threeLooks(t *testing.T) string {
	t.Helper()
	var calls []any
	for i := range 3 {
		calls = append(calls, object{"name": "x_look", "args": object{"n": i}})
	}
	return jsonText(t, object{"tools": calls})
}

// C091 (R-MCP-24): of three calls at once the first ends the server. There is one
// reconnect for all, the others succeed after it, and the tool is there in the next
// message. A call that only reads may be made again; one that acts may not.
func TestC091OneReconnectForAll(t *testing.T) {
	t.Parallel()
	for name, readOnly := range map[string]bool{"calls that only read": true, "calls that act": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			x := e.stub("x", e.looker(readOnly)...)
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(threeLooks(t), `{"text": "looked"}`, step("x_look", object{"n": 3}))))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(x)
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("stop reason %s, want end_turn", stop)
			}
			starts := x.events("start")
			if len(starts) != 2 {
				t.Fatalf("%d starts, want two", len(starts))
			}
			failed := 0
			for _, text := range e.resultTexts(s) {
				if strings.HasPrefix(text, "error: ") {
					failed++
					holds(t, "the error", text, "MCP server x")
				}
			}
			times := map[string]int{} // of each call, by its arguments, in both processes
			for _, c := range x.messages("tools/call") {
				var p struct{ Arguments struct{ N int } }
				if err := json.Unmarshal(c.Message.Params, &p); err != nil {
					t.Fatal(err)
				}
				times[string(rune('0'+p.Arguments.N))]++
			}
			if n := len(e.resultTexts(s)); n != 3 || failed > 1 || !readOnly && failed != 1 {
				t.Errorf("results = %q, want two at least", e.resultTexts(s))
			}
			if !readOnly {
				if diff := cmp.Diff(map[string]int{"0": 1, "1": 1, "2": 1}, times); diff != "" {
					t.Errorf("how often each call was made (-want +got):\n%s", diff)
				}
			}
			e.prompt(s, "again")
			if texts := e.resultTexts(s); len(texts) != 4 || strings.HasPrefix(texts[3], "error: ") {
				t.Errorf("results of the next message = %q", texts)
			}
			if n := len(x.events("start")); n != 2 || !gone(starts[0]) {
				t.Errorf("%d starts; the first process is gone: %v", n, gone(starts[0]))
			}
		})
	}
}

// C091: calls that wait for a reconnect that does not come can be cancelled at once.
func TestC091CancelWhileReconnecting(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"session/cancel", "$/cancel_request"} {
		t.Run(filepath.Base(way), func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			x := e.gated("x", e.looker(true)...)
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(threeLooks(t))))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(x)
			e.untilConnected(s)
			x.shut()
			id := e.send("session/prompt", say(s, "go"))
			e.untilServers(s, "the outage", func(all []serverStatus) bool { return all[0].State == "connecting" })
			start := time.Now()
			e.cancel(way, s, id)
			e.cancelled(s, id)
			if took := time.Since(start); took > 4*time.Second { // a call waits 5 s for a reconnect
				t.Errorf("the turn ended %v after it was cancelled", took)
			}
			if ends := e.ends(s); len(ends) != 3 || slices.Contains(ends, "in_progress") {
				t.Errorf("ends of the calls = %q, want three", ends)
			}
		})
	}
}

// C094 (R-MCP-09, R-MCP-10, R-MCP-13): session/new waits for no server. The first message
// waits a short time, says so, and goes on with the server that is fine; the model hears
// that the tool of the slow one is not there yet. That joins the next message once it has
// started, and each server that is missing has one notice.
func TestC094SlowAndDeadServers(t *testing.T) {
	t.Parallel()
	call := jsonText(t, object{"tools": []any{object{"name": "fine_echo", "args": object{"text": "a"}}, object{"name": "slow_echo", "args": object{"text": "b"}}}})
	e := edit(t, steps(call, `{"text": "asked"}`, call), "--mode", "auto")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	begin := e.fifo("begin") // the slow server starts with a line of it
	slow, mute, dead, fine := e.stub("slow"), e.stub("mute", "-mode", "never-init"), e.stub("dead", "-mode", "die-at-start"), e.stub("fine")
	servers := sent(slow, mute, dead, fine)
	command, args := slow.program()
	servers[0] = object{"name": "slow", "command": "/bin/sh", "env": []any{},
		"args": append([]string{"-c", `read line < "$0"; exec "$@"`, begin.path, command}, args...)}
	var made struct{ SessionID string }
	start := time.Now()
	e.call("session/new", object{"cwd": e.cwd, "mcpServers": servers}, &made)
	if took := time.Since(start); took > time.Second {
		t.Errorf("session/new took %v, want less than a second", took)
	}
	s := made.SessionID
	start = time.Now()
	e.prompt(s, "at once")
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the first message took %v", took)
	}
	if tools := e.requests(s)[0].Tools; !slices.Contains(tools, "fine_echo") || slices.Contains(tools, "slow_echo") {
		t.Errorf("tools of the first message = %q", tools)
	}
	texts := e.resultTexts(s)
	if len(texts) != 2 || texts[0] != "a" || !strings.HasPrefix(texts[1], "error: ") {
		t.Errorf("results = %q, want a and an error", texts)
	}
	notices := e.notices(s)
	if len(notices) != 4 {
		t.Fatalf("notices = %q, want one of the wait and three of servers", notices)
	}
	holds(t, "the first notice", notices[0], "Waiting for MCP servers: ", "slow", "mute")
	for i, want := range []string{"slow has not answered yet", "mute has not answered yet", "dead did not connect"} {
		holds(t, "a notice", notices[1+i], "MCP server "+want)
	}
	begin.put("go")
	e.untilServer(s, "slow", "connected")
	e.prompt(s, "later")
	if texts := e.resultTexts(s); len(texts) != 4 || texts[2] != "a" || texts[3] != "b" {
		t.Errorf("results = %q, want that both are there", texts)
	}
	if more := e.missed(s); len(more) != 3 {
		t.Errorf("notices = %q, want none again", more)
	}
}

// C086 (R-ACP-05, R-MCP-23): the editor kills the launcher that it knows, not the agent
// behind it. The end of the input ends that, the call that runs, and the servers with
// their children; what was said is kept.
func TestC086LauncherAndServers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "never-exit", "grandchild"} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t).breaks()
			e.within = []string{"sh", "-c", `"$@"; true`, "launcher"}
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(step("x_sleep", object{"ms": 600_000}))))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			flags := []string{}
			if mode != "" {
				flags = append(flags, "-mode", mode)
			}
			x := e.stub("x", flags...)
			s := e.connects(x)
			e.send("session/prompt", say(s, "a message to keep"))
			e.untilEvents(x, "the call", func([]stubEvent) bool { return len(x.called()) == 1 })
			processes := append(x.events("start"), x.children()...)
			if err := e.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if _, err := e.cmd.Process.Wait(); err != nil {
				t.Fatal(err)
			}
			for _, p := range processes {
				if gone(p) {
					t.Errorf("process %d has ended with the launcher", p.PID)
				}
			}
			// A turn could finish while somebody reads (R-ACP-07).
			e.out.Close()
			start := time.Now()
			e.leave() // ends its input; when nobody holds its standard error any more, the agent is gone
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("the agent took %v to end, want seconds", took)
			}
			e.eventually("the processes to end", func() bool {
				return !slices.ContainsFunc(processes, func(p stubEvent) bool { return !gone(p) })
			}, func() any { return x.events() })
			if trace, err := os.ReadFile(filepath.Join(e.home, "trace")); err != nil || !strings.HasSuffix(string(trace), "\n") {
				t.Errorf("the trace ends within a line (%v)", err)
			}
			after := e.again()
			after.acp("--model", "script:"+after.file("script.jsonl", always))
			after.call("initialize", object{"protocolVersion": 1}, nil)
			after.call("session/load", after.where(s), nil)
			after.prompt(s, "go on")
			holds(t, "what the model gets", after.lastRequest(s).Messages[0].text(), "a message to keep")
		})
	}
}
