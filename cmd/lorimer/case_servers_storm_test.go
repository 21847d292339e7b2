//go:build unix

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// left returns the processes of servers, and their children, that are there.
func left(all ...*stub) (pids []int) {
	for _, s := range all {
		for _, ev := range append(s.events("start"), s.children()...) {
			if !gone(ev) {
				pids = append(pids, ev.PID)
			}
		}
	}
	return pids
}

// Row 89 (R-MCP-11, R-MCP-23): however a session loses its servers, while one is in a
// pause, one on its way, with a child, and deaf to SIGTERM, and one connected, no process
// of them is left and none is started any more.
func TestRow089NothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(e *editor, s string){
		"session/close":        func(e *editor, s string) { e.call("session/close", object{"sessionId": s}, nil) },
		"session/delete":       func(e *editor, s string) { e.call("session/delete", object{"sessionId": s}, nil) },
		"loaded without them":  func(e *editor, s string) { e.reconnects("session/load", s) },
		"the end of the input": func(e *editor, _ string) { e.leave() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			down, up := e.stub("down", "-mode", "die-at-start"), e.stub("up")
			deaf := e.stub("deaf", "-mode", "grandchild,never-init,ignore-term")
			s := e.connects(down, deaf, up)
			e.untilEvents(deaf, "its child", func([]stubEvent) bool { return len(deaf.children()) > 0 })
			e.untilServers(s, "a pause of the first, and the last", func(all []serverStatus) bool {
				return all[0].LastError != "" && all[2].State == "connected"
			})
			end(e, s)
			e.eventually("the processes to end", func() bool { return len(left(down, deaf, up)) == 0 }, func() any { return left(down, deaf, up) })
			if name == "the end of the input" {
				return
			}
			// Who has more attempts from now on has had all pauses that may be left.
			starts := len(slices.Concat(down.events("start"), deaf.events("start"), up.events("start")))
			attempts := 2 + len(down.events("start"))/2
			other := e.connects(e.stub("other", "-mode", "die-at-start"))
			e.untilServers(other, "another server to have had more pauses", func(all []serverStatus) bool { return all[0].Attempts >= attempts })
			if n := len(slices.Concat(down.events("start"), deaf.events("start"), up.events("start"))); n != starts {
				t.Errorf("programs were started %d times, want the %d before the end of the session", n, starts)
			}
			if pids := left(down, deaf, up); len(pids) > 0 {
				t.Errorf("processes %d are left", pids)
			}
		})
	}
}

// C095 (R-MCP-11): a program that fails is not started more often because its session
// comes and goes, however it fails and whether messages are sent between: there are the
// pauses of a session that stays. None of its processes is left.
func TestC095LoadsStartNoMore(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"-mode die-at-start", "-mode die-in-init", "-mode die-in-list", "-mode list-error", "-mode die-in-init -delay 50ms"} {
		for _, speaks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, messages %v", flags, speaks), func(t *testing.T) {
				t.Parallel()
				e := edit(t, always)
				e.call("initialize", object{"protocolVersion": 1}, nil)
				x := e.stub("x", strings.Fields(flags)...)
				s := e.connects(x)
				e.untilServers(s, "the first attempt to fail", func(all []serverStatus) bool { return all[0].LastError != "" })
				began := time.Now()
				each := len(x.events("start"))                                         // of one attempt
				for i := 0; i < 30 || time.Since(began) < 1200*time.Millisecond; i++ { // beyond the first pause
					e.reloads(1, s, x)
					if speaks {
						e.prompt(s, "hello")
					}
				}
				n := len(x.events("start"))
				most, since := 1, time.Since(began)
				for pause := 500 * time.Millisecond; since > pause; pause *= 2 { // the shortest that there are
					most, since = most+1, since-pause
				}
				if n > most*each {
					t.Errorf("%d starts in %v, %d with the first attempt, want %d at most", n, time.Since(began), each, most*each)
				}
				if n := e.missed(s); speaks && len(n) == 0 {
					t.Error("the user is not told that the server is missing")
				}
				if now := e.statuses(s)[0]; now.State == "connected" || now.LastError == "" || now.Attempts == 0 {
					t.Errorf("status = %+v, want that it fails and why", now)
				}
				e.call("session/close", object{"sessionId": s}, nil)
				e.eventually("the processes to end", func() bool { return len(left(x)) == 0 }, func() any { return left(x) })
			})
		}
	}
}

// C095 (R-ACP-17): an open session that is loaded again and again with the same program
// keeps it, and so it does when that is what fails: attempts are not begun anew.
func TestC095OpenSessionKeepsPrograms(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(step("up_echo", object{"text": "still the first"})), "--mode", "auto")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	up, down := e.stub("up"), e.stub("down", "-mode", "die-at-start")
	s := e.connects(up, down)
	e.untilServers(s, "both contacts to be over", func(all []serverStatus) bool { return all[0].State == "connected" && all[1].LastError != "" })
	began, each := time.Now(), len(down.events("start"))
	for i := range 30 {
		e.reconnects([]string{"session/load", "session/resume"}[i%2], s, up, down)
	}
	e.prompt(s, "call")
	if texts := e.resultTexts(s); !slices.Equal(texts, []string{"still the first"}) {
		t.Errorf("results = %q", texts)
	}
	if n, lists := len(up.events("start")), len(up.messages("tools/list")); n != 1 || lists != 1 {
		t.Errorf("the program was started %d times and listed its tools %d times, want once", n, lists)
	}
	if n := len(down.events("start")); time.Since(began) < 500*time.Millisecond && n != each {
		t.Errorf("the program that fails was started %d times, want %d", n, each)
	}
}
