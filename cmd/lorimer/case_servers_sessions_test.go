//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fourCalls is a turn with four calls of the tool at once.
func fourCalls(t *testing.T, tool string) string {
	t.Helper()
	var calls []any
	for i := range 4 {
		calls = append(calls, object{"name": tool, "args": object{"text": fmt.Sprint("call ", i)}})
	}
	return jsonText(t, object{"tools": calls}) + "\n" + `{"text": "done"}`
}

// C085 (R-MCP-23): 20 calls in 5 turns of 2 sessions take one process for each session,
// and none is left of a session that was closed, nor of any when the program ends: of
// servers that leave as they should, of those that must be killed and of those with
// children.
func TestC085OneProcessForASession(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "never-exit", "grandchild"} {
		t.Run("mode "+mode, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			x := e.stub("x", "-mode", mode)
			if mode == "" {
				x = e.stub("x")
			}
			turn := fourCalls(t, "x_echo")
			e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", strings.Repeat(turn+"\n", 5)))
			e.call("initialize", object{"protocolVersion": 1}, nil)
			first, second := e.connects(x), e.connects(x)
			for _, s := range []string{first, second, first, second, first} {
				if stop := e.prompt(s, "go"); stop != "end_turn" {
					t.Fatalf("stop reason %s, want end_turn", stop)
				}
			}
			calls, starts := x.messages("tools/call"), x.events("start")
			if len(calls) != 20 || len(starts) != 2 {
				t.Fatalf("%d calls in %d processes, want 20 in 2", len(calls), len(starts))
			}
			by := map[int]int{}
			for _, c := range calls {
				by[c.PID]++
			}
			if counts := []int{by[starts[0].PID], by[starts[1].PID]}; !slices.Contains(counts, 12) || !slices.Contains(counts, 8) {
				t.Errorf("calls of each process = %v, want 12 and 8", counts)
			}
			alive := func() (n int) {
				for _, ev := range append(starts, x.children()...) {
					if !gone(ev) {
						n++
					}
				}
				return n
			}
			each := 1 + len(x.children())/2
			if n := alive(); n != 2*each || mode == "grandchild" && each != 2 {
				t.Errorf("%d processes live in 2 sessions, want %d", n, 2*each)
			}
			e.call("session/close", object{"sessionId": first}, nil)
			e.eventually("the processes of a closed session to end", func() bool { return alive() == each }, func() any { return x.events("end") })
			e.prompt(second, "/mcp")
			if n := alive(); n != each {
				t.Errorf("%d processes live after one session was closed, want %d", n, each)
			}
			e.call("session/close", object{"sessionId": second}, nil)
			e.eventually("the processes of both to end", func() bool { return alive() == 0 }, func() any { return x.events("end") })
			third := e.connects(x)
			e.untilConnected(third)
			starts = x.events("start")
			if code := e.leave(); code != 0 || len(starts) != 3 {
				t.Errorf("exit code %d, %d starts; want 0 and 3", code, len(starts))
			}
			// Nobody but the system waits for the child of a program that was killed.
			e.eventually("the processes to end with the agent", func() bool { return alive() == 0 }, func() any { return x.events("end") })
		})
	}
}

// children returns the children that a server has told of, as events of them.
func (s *stub) children() (all []stubEvent) {
	s.t.Helper()
	for _, ev := range s.events("grandchild") {
		ev.PID = ev.Child
		all = append(all, ev)
	}
	return all
}

// C093: so it is with programs: one of the revision without a session tells changes to
// those alone who ask for them, one with sessions pushes them, and one that speaks neither
// is the only one that is missing.
func TestC093ChangesOverPipes(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	next := e.stub("next", "-revision", "2026-07-28", "-mode", "listchange,listen")
	past, odd := e.stub("past", "-mode", "listchange"), e.stub("odd", "-mode", "future-version")
	change := func(s *stub) string { return step(s.name+"_change", object{"tools": []string{"fresh"}}) }
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl", steps(change(next), change(past), `{"text": "changed"}`,
		step("next_fresh", object{}), step("past_fresh", object{}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(next, past, odd)
	e.prompt(s, "change")
	e.untilServers(s, "the new lists", func(now []serverStatus) bool {
		return !slices.ContainsFunc(now[:2], func(s serverStatus) bool { return len(s.Tools) != 2 })
	})
	e.prompt(s, "use what is new")
	if diff := cmp.Diff([]string{"changed", "changed", "fresh {}", "fresh {}"}, e.resultTexts(s)); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	for i, want := range []string{"connected 2026-07-28", "connected 2025-11-25"} {
		if now := e.statuses(s)[i]; now.State+" "+now.Revision != want {
			t.Errorf("%s is %s %s, want %s", now.Name, now.State, now.Revision, want)
		}
	}
	if n, m := len(next.messages("subscriptions/listen")), len(past.messages("subscriptions/listen")); n != 1 || m != 0 {
		t.Errorf("changes were asked for %d and %d times, want 1 and 0", n, m)
	}
	if n := len(next.messages("initialize")); n != 0 {
		t.Errorf("the server without sessions was initialized %d times", n)
	}
	if n := e.missed(s); len(n) != 1 || !strings.Contains(n[0], "MCP server odd did not connect") {
		t.Errorf("the user is told %q, want that one is missing", n)
	}
}

// C097 (R-ACP-15): a session that is loaded or resumed has the servers of that request,
// none of those before, whether it was open, closed or of another process. What is secret
// in their headers and environments reaches them and is kept nowhere.
func TestC097LatestServersWin(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		e, shop := newEditor(t), newEditor(t) // the servers have their files elsewhere
		var secrets []string
		secret := func(what string) string {
			secrets = append(secrets, "marker-of-"+what+"-5b1e90")
			return secrets[len(secrets)-1]
		}
		ant, bee, fly := shop.stub("ant", shop.having("carry")...), shop.webStub("http", "bee", shop.having("hum")...), shop.stub("fly", shop.having("buzz")...)
		cat := shop.webStub("sse", "cat", shop.having("purr")...)
		declared := map[*stub]object{
			ant: with(ant.sent(), "env", "ANT_TOKEN", secret("ant")), fly: with(fly.sent(), "env", "FLY_TOKEN", secret("fly")),
			bee: with(bee.sent(), "headers", "Authorization", "Bearer "+secret("bee")), cat: with(cat.sent(), "headers", "X-Pass", secret("cat")),
		}
		flags := []string{"--mode", "auto", "--log-level", "trace", "--model", "script:" + e.file("script.jsonl", always)}
		e.keeps(database, flags...)
		list := func(all ...*stub) []any {
			list := []any{}
			for _, s := range all {
				list = append(list, declared[s])
			}
			return list
		}
		var made struct{ SessionID string }
		e.call("session/new", object{"cwd": e.cwd, "mcpServers": list(ant)}, &made)
		s := made.SessionID
		check := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, addsTo(e.offered(s)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("tools of servers %s (-want +got):\n%s", when, diff)
			}
		}
		opens := func(method string, all ...*stub) {
			t.Helper()
			p := e.where(s)
			p["mcpServers"] = list(all...)
			e.call(method, p, nil)
		}
		check("of session/new", "ant_carry")
		e.prompt(s, "I am Ada") // which dump looks for
		opens("session/load", bee)
		check("after session/load of an open session", "bee_hum")
		opens("session/resume", fly, cat)
		check("after session/resume of an open session", "cat_purr", "fly_buzz")
		e.call("session/close", object{"sessionId": s}, nil)
		opens("session/resume", ant)
		check("after session/resume of a closed session", "ant_carry")
		opens("session/load")
		check("after session/load with none")
		for _, program := range []*stub{ant, fly} {
			for _, ev := range program.events("start") {
				e.eventually(program.name+" to end", func() bool { return gone(ev) }, func() any { return program.events("end") })
			}
		}
		opens("session/load", cat, fly)
		check("after session/load of an open session that had none", "cat_purr", "fly_buzz")

		old := e
		old.leave()
		for _, method := range []string{"session/load", "session/resume"} {
			e = e.again()
			e.acp(flags...)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			opens(method, bee, ant)
			check("after "+method+" in another process", "ant_carry", "bee_hum")
			e.nowhere(secrets...)
		}
		old.nowhere(secrets...)
		if !filepath.IsAbs(database) {
			lacks(t, "the database", dump(t, database), secrets...)
		} else if files, err := filepath.Glob(database + "*"); err != nil || len(files) == 0 {
			t.Errorf("files of the database %q (%v)", files, err)
		} else {
			for _, file := range files {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if i := slices.IndexFunc(secrets, func(s string) bool { return bytes.Contains(data, []byte(s)) }); i >= 0 {
					t.Errorf("%s has %s", file, secrets[i])
				}
			}
		}
		e.hides(secrets, "session list", "session show "+s+" --json", "session export "+s)
		for i, of := range []*stub{ant, fly, bee, cat} { // in the order of secrets
			journal, err := os.ReadFile(of.journal)
			if err != nil {
				t.Fatal(err)
			}
			for j, value := range secrets {
				if bytes.Contains(journal, []byte(value)) != (i == j) {
					t.Errorf("%s has got %s: %v", of.name, value, i != j)
				}
			}
		}
	})
}
