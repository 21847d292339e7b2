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

// mark is a call that adds a line to a file of the workspace.
func mark(file, line string) modeltest.Tool {
	return tool("bash", object{"command": "echo " + line + " >> " + file})
}

// checkToldOnce checks that a client was told of each call of a session once: it is
// announced, its input and its result come in one update each.
func checkToldOnce(e *editor, session string) {
	e.t.Helper()
	input, output := map[string]int{}, map[string]int{}
	for _, u := range e.updates(session) {
		if u.Update.RawInput != nil {
			input[u.Update.ToolCallID]++
		}
		if u.Update.RawOutput != nil {
			output[u.Update.ToolCallID]++
		}
	}
	for id, n := range input {
		if n != 1 || output[id] != 1 {
			e.t.Errorf("call %s: its input was told %d times and its result %d times, want once each", id, n, output[id])
		}
	}
	checkCalls(e, session)
}

// checkPaired is checkResults with ids that the calls have for themselves alone.
func checkPaired(t *testing.T, r requestLine) {
	t.Helper()
	checkResults(t, r)
	seen := map[string]bool{"": true}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Type == "tool_call" && seen[p.ID] {
				t.Errorf("a call has the id %q, which is empty or another one's", p.ID)
			}
			seen[p.ID] = seen[p.ID] || p.Type == "tool_call"
		}
	}
}

// requestsOf returns the requests so far by their sessions.
func (e *editor) requestsOf() map[string][]requestLine {
	e.t.Helper()
	all := map[string][]requestLine{}
	for _, r := range e.requests("") {
		all[r.Session] = append(all[r.Session], r)
	}
	return all
}

// C104, C105 (R-HARN-24): however a server cuts the calls of an answer, each runs
// once, in order, under an id of its own, and is told once.
func TestC105EveryCut(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			e.open(nil)
			sessions := map[string]modeltest.Quirk{}
			for i, q := range append(modeltest.Quirks(p.kind), "") {
				file := fmt.Sprint("log", i)
				m.Add(modeltest.Reply{
					Quirk: q, Think: []string{"Let me ", "think."}, Text: []string{"I ", "run."},
					Tools: []modeltest.Tool{mark(file, "one"), mark(file, "two")},
				}, modeltest.Reply{Text: []string{"Done."}})
				s := e.session()
				if stop := e.prompt(s, "go"); stop != "end_turn" {
					t.Errorf("%q: stop reason = %s, want end_turn", q, stop)
				}
				said := e.said(s)
				said[0] = strings.Join(strings.Fields(said[0]), " ") // how parts of a thought are joined is the client's
				want := []string{"thought Let me think.", "text I run.", "text Done."}
				if q == modeltest.TextInLast { // the calls come between the two
					want = []string{want[0], "text I ", "text run.", want[2]}
				}
				if diff := cmp.Diff(want, said); diff != "" {
					t.Errorf("%q: messages (-want +got):\n%s", q, diff)
				}
				if got := e.disk(file); got != "one\ntwo\n" {
					t.Errorf("%q: the calls have left %q, want each once", q, got)
				}
				var told []string
				for _, l := range lives(e, s) {
					told = append(told, l.name+" "+strings.Join(l.states, " "))
					var in struct{ Command string }
					if err := json.Unmarshal([]byte(l.input), &in); err != nil || !strings.HasSuffix(in.Command, file) {
						t.Errorf("%q: rawInput = %s (%v)", q, l.input, err)
					}
				}
				if !slices.Equal(told, slices.Repeat([]string{"bash pending in_progress completed"}, 2)) {
					t.Errorf("%q: calls = %q, want two that have run", q, told)
				}
				checkToldOnce(e, s)
				sessions[s] = q
			}
			requests := e.requestsOf()
			for s, q := range sessions {
				if len(requests[s]) != 2 {
					t.Errorf("%q: %d requests, want 2", q, len(requests[s]))
				}
				checkPaired(t, requests[s][len(requests[s])-1])
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// C105: one id for all calls, in an answer and in those after it. Each runs once, and
// every provider takes the history. Where calls come in pieces an id alone says which
// call a piece belongs to, so there they come whole.
func TestC105OneIDForAll(t *testing.T) {
	t.Parallel()
	same := func(lines ...string) (calls []modeltest.Tool) {
		for _, line := range lines {
			c := mark("log", line)
			c.ID = "same"
			calls = append(calls, c)
		}
		return calls
	}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Tools: same("one", "two"), Quirk: modeltest.WholeCall},
				modeltest.Reply{Tools: same("three")}, modeltest.Reply{Text: []string{"Done."}})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			if got := e.disk("log"); got != "one\ntwo\nthree\n" || len(lives(e, s)) != 3 {
				t.Errorf("%d calls have left %q, want each once", len(lives(e, s)), got)
			}
			checkToldOnce(e, s)
			checkPaired(t, e.lastRequest(s))
			e.goesRound(m, s, p.model)
		})
	}
}
