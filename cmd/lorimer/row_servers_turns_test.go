//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 35 (R-HARN-03, R-MCP-21): a server that has died and is connected again with the
// same tools is no reason to rebuild, and the tool of the next message is called at the
// new program.
func TestRow035Reconnected(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"the editor", "the user"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			zoo, ant := e.stub("Zoo", e.having("feed", "open")...), e.stub("ant", e.having("carry")...)
			all := []*stub{zoo, ant}
			if who == "the user" {
				e.file(configFile, tables(all...))
				all = nil
			}
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(step("zoo_feed", object{}), `{"text": "fed"}`, step("zoo_feed", object{}), always)))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(all...)
			e.prompt(s, "go")
			zoo.kill()
			e.untilEvents(zoo, "the second start", func([]stubEvent) bool { return len(zoo.events("start")) == 2 })
			e.untilConnected(s)
			e.prompt(s, "again")
			if diff := cmp.Diff([]string{"built", "reused"}, e.changes(s)); diff != "" {
				t.Errorf("harnesses (-want +got):\n%s", diff)
			}
			calls, starts := zoo.messages("tools/call"), zoo.events("start")
			if len(calls) != 2 || len(starts) != 2 || calls[0].PID != starts[0].PID || calls[1].PID != starts[1].PID {
				t.Errorf("calls %+v of starts %+v, want one of each", calls, starts)
			}
			if n := len(ant.events("start")); n != 1 {
				t.Errorf("the other server was started %d times, want once", n)
			}
			for _, r := range e.results(s) {
				if r.IsError {
					t.Errorf("result = %+v", r)
				}
			}
		})
	}
}

// Row 35 (R-HARN-03): another client, in another process, with the same servers has the
// same signature. What a tool does, how it is described and how a server is reached are
// no part of it.
func TestRow035SignatureOfServers(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	model := "script:" + e.file("script.jsonl", always)
	var signatures []string
	for i, client := range []string{"zed", "toad"} {
		e = e.again()
		e.acp("--model", model)
		e.call("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": client, "version": "1"}}, nil)
		tool := object{"name": "feed", "description": "Feeds as " + client, "inputSchema": object{"type": "object", "required": []any{client}}}
		s := e.connects(e.stub("Zoo", append(e.scenario(tool), "-name", client, "-instructions", "Of "+client)...))
		e.prompt(s, "hello")
		if got := addsTo(e.lastRequest(s).Tools); !slices.Equal(got, []string{"zoo_feed"}) {
			t.Errorf("tools of servers = %q", got)
		}
		signatures = append(signatures, e.turns(s)[0].Signature)
		if i > 0 && signatures[i] != signatures[0] {
			t.Errorf("signatures of two clients = %q, want them equal", signatures)
		}
		e.leave()
	}
}

// Row 90 (R-TOOLS-20, R-HARN-09, R-MCP-14, R-MCP-21): a server that changes its tools
// within a turn has the old ones to the end of it and the new ones in the next, and one
// that is gone cannot be called. The tools of servers come beside ours.
func TestRow090ListChanges(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"stdio", "http", "sse"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(
				step("x_change", object{"tools": []string{"fresh", "a", "echo"}}),
				step("x_add", object{"a": 1, "b": 2}),
				`{"text": "changed"}`,
				`{"tools": [{"name": "x_add", "args": {"a": 1, "b": 2}}, {"name": "x_fresh", "args": {"n": 1}}, {"name": "x_change", "args": {"fail": true}}]}`,
				`{"text": "changed", "repeat": true}`,
			), "--mode", "auto")
			e.call("initialize", object{"protocolVersion": 1}, nil)
			var x *stub
			if kind == "stdio" {
				x = e.stub("x", "-mode", "listchange")
			} else {
				x = e.webStub(kind, "x", "-mode", "listchange")
			}
			s := e.connects(x)
			for _, text := range []string{"go", "again", "and again"} {
				e.prompt(s, text)
			}
			all := e.requests(s)
			if len(all) != 6 {
				t.Fatalf("%d requests, want 6", len(all))
			}
			old := addsTo(all[0].Tools)
			if !slices.Contains(old, "x_add") || slices.Contains(old, "x_fresh") {
				t.Errorf("tools of the first request = %q", old)
			}
			for i, r := range all {
				want := []string{"x_a", "x_change", "x_echo", "x_fresh"}
				if i < 3 {
					want = old
				}
				if diff := cmp.Diff(want, addsTo(r.Tools)); diff != "" {
					t.Errorf("tools of servers in request %d (-want +got):\n%s", i+1, diff)
				}
				if diff := cmp.Diff([]string{fmt.Sprintf("x (%d tools)", len(want))}, serverLines(r.System)); diff != "" {
					t.Errorf("servers in request %d (-want +got):\n%s", i+1, diff)
				}
				if len(r.Tools) != len(want)+len(allTools()) {
					t.Errorf("tools of request %d = %q, want ours too", i+1, r.Tools)
				}
			}
			if diff := cmp.Diff([]string{"change", "add", "fresh", "change"}, x.called()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			results := e.results(s)
			if len(results) != 5 {
				t.Fatalf("results = %+v, want 5", results)
			}
			for i, want := range []string{"changed", "x answered with an error: unknown tool: add", "x_add is not available for this message", "fresh", "changed"} {
				if !strings.Contains(results[i].Text, want) || results[i].IsError != (i == 1 || i == 2) {
					t.Errorf("result %d = %+v, want %q", i+1, results[i], want)
				}
			}
		})
	}
}

// Row 90: tools that a server has of its own accord join the next message too.
func TestRow090LateTools(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(e.stub("x", append(e.having("early"), "-mode", "late-tools")...))
	e.untilServers(s, "the late tool", func(all []serverStatus) bool { return slices.Contains(all[0].Tools, "x_late") })
	if diff := cmp.Diff([]string{"x_early", "x_late"}, addsTo(e.offered(s))); diff != "" {
		t.Errorf("tools of servers (-want +got):\n%s", diff)
	}
}

// Row 105 (R-PROMPT-20a): without an order the tools of servers and ours are sorted by
// their names, byte by byte, whatever the order of the servers, of their answers and of
// their lists.
func TestRow105ServersByName(t *testing.T) {
	t.Parallel()
	tools := map[string][]string{"zeta": {"z", "a", "Z", "_"}, "beta": {"b", "B-2", "10", "9"}, "a": {"s"}, "Grep": {"x"}}
	for _, order := range [][]string{{"zeta", "beta", "a", "Grep"}, {"Grep", "a", "beta", "zeta"}, {"beta", "zeta", "Grep", "a"}} {
		t.Run(strings.Join(order, " "), func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e := newEditor(t).reaches(m)
			e.env = append(e.env, "LC_ALL=de_DE.UTF-8")
			e.acp("--model", gpt)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			var all []*stub
			for i, name := range order {
				all = append(all, e.stub(name, append(e.having(tools[name]...), "-delay", fmt.Sprint(40-10*i, "ms"))...))
			}
			got := e.offered(e.connects(all...))
			want := slices.Sorted(slices.Values(append(allTools(),
				"zeta_z", "zeta_a", "zeta_Z", "zeta__", "beta_b", "beta_B-2", "beta_10", "beta_9", "a_s", "grep_x")))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			var body struct {
				Tools []struct{ Function struct{ Name string } }
			}
			if err := json.Unmarshal(m.Requests()[0].Body, &body); err != nil {
				t.Fatal(err)
			}
			for i, tool := range body.Tools {
				if tool.Function.Name != want[i] {
					t.Errorf("tool %d on the wire is %s, want %s", i, tool.Function.Name, want[i])
				}
			}
		})
	}
}

// Row 109 (R-PROMPT-20e, R-MCP-16): an order may name the tool of a server that is dead,
// as long as nobody has reached it, and again after it was there. It takes its place
// when the server comes. What the server has never had is unknown.
func TestRow109DeadServerInOrder(t *testing.T) {
	t.Parallel()
	const order = "tool_order = [\"dead_tool\", \"<unlisted-tools>\"]\n"
	e := newEditor(t)
	dead := e.gated("dead", e.having("other", "tool")...)
	dead.shut()
	e.file(configFile, order+dead.table())
	model := "script:" + e.file("script.jsonl", always)
	e.acp("--model", model)
	s := e.open(nil)
	with := append([]string{"dead_tool"}, slices.Sorted(slices.Values(append(allTools(), "dead_other")))...)
	check := func(when string, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, e.offered(s)); diff != "" {
			t.Errorf("tools %s (-want +got):\n%s", when, diff)
		}
	}
	check("while the server was never reached", allTools())
	dead.reopen()
	e.untilServer(s, "dead", "connected")
	check("once it is there", with)
	dead.shut()
	dead.kill()
	e.untilServer(s, "dead", "connecting")
	check("after it has died", allTools())

	for _, unknown := range []string{"dead_nope", "dea_tool", "live_tool"} {
		e.file(configFile, strings.Replace(order, "dead_tool", unknown, 1)+dead.table())
		f := e.wait(e.send("session/prompt", say(s, "hello")))
		if code(f) != "PROMPT_ASSEMBLY" {
			t.Fatalf("an order that names %s: %s", unknown, f.Raw)
		}
		holds(t, "the error", f.Error.Message, unknown, "bash", "dead_other", "dead_tool")
	}
	e.file(configFile, order+dead.table())
	check("with the order as it was", allTools())

	e = e.restart("--model", model)
	s = e.session()
	check("in another process", allTools())
	holds(t, "the notices", strings.Join(e.notices(s), "\n"), "MCP server dead did not connect")
}
