//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// failing returns a server whose first starts fail, so many.
func (e *editor) failing(name, starts string, flags ...string) *stub {
	e.t.Helper()
	s := e.stub(name, flags...)
	s.args = append(s.args, "-state", s.journal+".starts", "-fail-starts", starts)
	return s
}

// Row 87 (R-MCP-09, R-MCP-10): servers that exit at once, that hang and that refuse cost a
// message a short wait, and it goes on with the tools of the one that is fine. The user is
// told of each once.
func TestRow087FailedDiscoverySkipped(t *testing.T) {
	t.Parallel()
	type mode struct{ name, mode, kind string }
	for name, bad := range map[string][]mode{
		"as the row has it": {{"exits", "die-at-start", ""}, {"hangs", "never-init", ""}},
		"in other ways":     {{"init", "die-in-init", ""}, {"list", "die-in-list", ""}, {"error", "list-error", ""}, {"silent", "list-hang", ""}, {"busy", "http-503", "http"}, {"closed", "http-403", "http"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(step("fine_echo", object{"text": "here"}), `{"text": "done", "repeat": true}`), "--mode", "auto")
			e.call("initialize", object{"protocolVersion": 1}, nil)
			var all []*stub
			for _, m := range bad {
				if m.kind == "" {
					all = append(all, e.stub(m.name, "-mode", m.mode))
				} else {
					all = append(all, e.webStub(m.kind, m.name, "-mode", m.mode, "-count", "1000"))
				}
			}
			s := e.connects(append(all, e.stub("fine", e.having("echo")...))...)
			start := time.Now()
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("stop reason %s, want end_turn", stop)
			}
			// The row has 6 s, on a machine that does nothing else; a connection has 60 s.
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("the message took %v", took)
			}
			if diff := cmp.Diff([]string{"fine_echo"}, addsTo(e.requests(s)[0].Tools)); diff != "" {
				t.Errorf("tools of servers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"fine (1 tool)"}, serverLines(e.requests(s)[0].System)); diff != "" {
				t.Errorf("servers in the prompt (-want +got):\n%s", diff)
			}
			if texts := e.resultTexts(s); len(texts) != 1 || strings.HasPrefix(texts[0], "error: ") {
				t.Errorf("results = %q, want one", texts)
			}
			now := e.statuses(s)
			missed := e.missed(s)
			if len(missed) != len(bad) {
				t.Fatalf("notices = %q, want one of each of %d servers", missed, len(bad))
			}
			for i, m := range bad {
				want := " did not connect"
				if strings.Contains("hangs silent", m.name) {
					want = " has not answered yet"
				}
				holds(t, "the notice", missed[i], "MCP server "+m.name+want)
				if now[i].State == "connected" {
					t.Errorf("status = %+v, want that it is not connected", now[i])
				}
			}
			if last := now[len(now)-1]; last.State != "connected" || last.LastError != "" {
				t.Errorf("status = %+v, want it connected", last)
			}
		})
	}
}

// Row 88 (R-MCP-09, R-MCP-11, R-MCP-13): a server whose first two starts fail is missing
// from the first message and there in a later one, though nobody did anything for it. So
// is one that fails more often: an attempt starts a program of which nobody knows what it
// speaks twice, if that is gone at the first question.
func TestRow088BackgroundReconnect(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ who, starts string }{{"the editor", "2"}, {"the user", "2"}, {"the editor", "4"}} {
		t.Run(tt.who+" "+tt.starts, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			x := e.failing("x", tt.starts, e.having("b", "a")...)
			all := []*stub{x}
			if tt.who == "the user" {
				e.file(configFile, x.table())
				all = nil
			}
			e.acp("--model", "script:"+e.file("script.jsonl", always))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.connects(all...)
			if got := addsTo(e.offered(s)); len(got) > 0 {
				t.Errorf("tools of servers at first = %q, want none", got)
			}
			if tt.starts == "4" {
				down := e.untilServers(s, "two attempts", func(all []serverStatus) bool { return all[0].Attempts == 2 && len(x.events("end")) == 4 })
				if down[0].State != "connecting" || !strings.Contains(down[0].LastError, "of 4 that fail") {
					t.Errorf("status = %+v, want what is wrong", down[0])
				}
			}
			if now := e.untilServer(s, "x", "connected"); now.Attempts != 0 || now.LastError != "" {
				t.Errorf("status = %+v, want that the outage is over", now)
			}
			if diff := cmp.Diff([]string{"x_a", "x_b"}, addsTo(e.offered(s))); diff != "" {
				t.Errorf("tools of servers later (-want +got):\n%s", diff)
			}
			missed := e.missed(s)
			if len(missed) != 1 {
				t.Fatalf("notices = %q, want one", missed)
			}
			holds(t, "the notice", missed[0], "MCP server x did not connect", "tried again in the background")
			starts := x.events("start")
			if want := int(tt.starts[0]-'0') + 1; len(starts) != want {
				t.Fatalf("%d starts, want %d", len(starts), want)
			}
			if pause := starts[2].Time.Sub(starts[1].Time); pause < 400*time.Millisecond {
				t.Errorf("the second attempt came %v after the first, want half a second at least", pause)
			}
		})
	}
}

// Row 88 (R-MCP-20): `lorimer mcp list` tells of the attempts and of the last error.
func TestRow088ListedAttempts(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	x := e.failing("x", "2", e.having("a")...)
	e.file(configFile, x.table())
	for i, want := range []serverStatus{
		{Name: "x", State: "failed", Attempts: 1, LastError: "of 2 that fail"},
		{Name: "x", State: "connected"},
	} {
		out, err := e.run("mcp", "list", "--json")
		if err != nil {
			t.Fatal(err)
		}
		var got []serverStatus
		if err := json.Unmarshal(out, &got); err != nil || len(got) != 1 {
			t.Fatalf("list %d: %v: %s", i+1, err, out)
		}
		if got[0].Name != want.Name || got[0].State != want.State || got[0].Attempts != want.Attempts ||
			!strings.Contains(got[0].LastError, want.LastError) || (got[0].LastError == "") != (want.LastError == "") {
			t.Errorf("list %d: %+v, want %+v", i+1, got[0], want)
		}
	}
}

// Row 89 (R-MCP-11, R-MCP-12, R-MCP-23): a session that is closed while a server is in its
// back-off, or is being connected, leaves no process of it, and starts none later.
func TestRow089ReconnectStoppedOnClose(t *testing.T) {
	t.Parallel()
	for _, during := range []string{"back-off", "connecting"} {
		t.Run(during, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			x, y := e.gated("x", e.having("a")...), e.gated("y", e.having("b")...)
			if during == "connecting" {
				// The second start never answers: it is in the middle of connecting at the close.
				x.args = append(x.args, "-state", filepath.Join(e.home, "starts"), "-bad-starts", "1", "-mode", "never-init")
			}
			s, other := e.connects(x), e.connects(y)
			e.untilConnected(other)
			if during == "back-off" {
				e.untilConnected(s)
				x.shut()
				x.kill()
				e.untilServers(s, "the back-off", func(all []serverStatus) bool { return all[0].State == "connecting" && all[0].Attempts > 0 })
			} else {
				e.untilEvents(x, "the handshake", func([]stubEvent) bool { return len(x.events("message")) > 0 })
			}
			closed := time.Now()
			e.call("session/close", object{"sessionId": s}, nil)
			if during == "back-off" {
				x.reopen() // a start would work now
			}
			// Another server, that is lost after the close, is tried twice more: by then the
			// one of the closed session would have been tried too.
			y.shut()
			y.kill()
			e.untilServers(other, "two more attempts", func(all []serverStatus) bool { return all[0].Attempts >= 3 })
			starts := x.events("start")
			if len(starts) != 1 {
				t.Errorf("%d starts, want the one before the close", len(starts))
			}
			e.eventually("its processes to end", func() bool {
				return !slices.ContainsFunc(starts, func(s stubEvent) bool { return !gone(s) })
			}, func() any { return x.events() })
			if took := time.Since(closed); took > 30*time.Second { // an attempt has 60 s
				t.Errorf("its processes were gone %v after the close", took)
			}
			if f := e.wait(e.send(statusMethod, object{"sessionId": s})); f.Error == nil {
				t.Errorf("status of the closed session: %s, want an error", f.Raw)
			}
			if code := e.leave(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			if n := len(x.events("start")); n != 1 {
				t.Errorf("%d starts at the end, want 1", n)
			}
		})
	}
}
