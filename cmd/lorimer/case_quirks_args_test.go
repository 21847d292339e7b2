//go:build unix

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// readers are the providers that pass on what a model wrote as the arguments of a
// call, whatever it is. The servers of the others take it apart.
func readers() []provider {
	return slices.DeleteFunc(allProviders(), func(p provider) bool { return p.kind == "gemini" || p.kind == "ollama" })
}

// goesRound has a session go on with every model, and with the first one again, in
// this process and the next. Each request must be accepted.
func (e *editor) goesRound(m *modeltest.Server, session, first string) *editor {
	e.t.Helper()
	asks := func(id string) {
		m.Add(modeltest.Reply{Match: "go round", Text: []string{fmt.Sprintf("%s after %d.", id, len(m.Requests()))}})
		if stop := e.prompt(session, "go round"); stop != "end_turn" {
			e.t.Errorf("stop reason with %s = %s, want end_turn", id, stop)
		}
	}
	for _, p := range allProviders() {
		e.choose(session, "model", p.model)
		asks(p.model)
	}
	e.choose(session, "model", first)
	asks(first)
	e = e.restart()
	e.load(session)
	asks(first)
	if got := m.Rejected(); len(got) > 0 {
		e.t.Errorf("rejected: %q", got)
	}
	return e
}

// checkArguments checks that the calls of a request are these.
func checkArguments(t *testing.T, r requestLine, want ...string) {
	t.Helper()
	var got []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Type == "tool_call" {
				got = append(got, p.Args)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments in the history (-want +got):\n%s", diff)
	}
}

// C101 (R-HARN-15, R-TOOLS-01): a call whose arguments are cut does not run. The
// model reads where they end, the history holds an object, and every provider takes
// what comes after.
func TestC101CutArguments(t *testing.T) {
	t.Parallel()
	cut := modeltest.Tool{Name: "bash", Args: `{"command":"echo ran >> log`}
	const want = "input of bash is not valid JSON: it ends at byte 27"
	for _, p := range readers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Text: []string{"I run it."}, Tools: []modeltest.Tool{cut}},
				modeltest.Reply{Text: []string{"Again."}, Tools: []modeltest.Tool{cut}},
				modeltest.Reply{Text: []string{"I leave it."}})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			if diff := cmp.Diff([]string{"text I run it.", "text Again.", "text I leave it."}, e.said(s)); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			results := e.results(s)
			for _, r := range results {
				if !r.IsError || !strings.HasPrefix(r.Text, want) || len(r.Text) > 200 {
					t.Errorf("result = %+v, want a short error with %q", r, want)
				}
			}
			for _, l := range lives(e, s) {
				if !slices.Equal(l.states, []string{"pending", "failed"}) || !strings.Contains(l.shown, want) {
					t.Errorf("the user sees a call that is %q with %s, want it to fail with %q", l.states, l.shown, want)
				}
			}
			checkArguments(t, e.lastRequest(s), "{}", "{}")
			e.goesRound(m, s, p.model)
			if got := e.disk("log"); len(results) != 2 || got != "-" {
				t.Errorf("%d results and the log %q, want 2 and none", len(results), got)
			}
		})
	}
}

// C101: Gemini's server tells that the call is malformed, and is asked again. With
// Ollama what is no call is text.
func TestC101ServerReadsArguments(t *testing.T) {
	t.Parallel()
	cut := modeltest.Tool{Name: "bash", Args: `{"command":"echo ran >> log`}
	for model, want := range map[string]struct {
		said     []string
		requests int
	}{
		gemini: {[]string{"text I leave it."}, 2},
		llama:  {[]string{"text bash" + cut.Args}, 1},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Tools: []modeltest.Tool{cut}}, modeltest.Reply{Match: "begin", Text: []string{"I leave it."}})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", model, "--mode", "auto")
			s := e.open(nil)
			if stop := e.prompt(s, "begin"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			if diff := cmp.Diff(want.said, e.said(s)); diff != "" || len(m.Requests()) != want.requests {
				t.Errorf("messages of %d requests, want %d (-want +got):\n%s", len(m.Requests()), want.requests, diff)
			}
			e.goesRound(m, s, model)
			if calls := lives(e, s); len(calls) > 0 {
				t.Errorf("%d calls are told, want none", len(calls))
			}
			e.absent("log")
		})
	}
}

// C102 (R-TOOLS-01): arguments that are JSON but no object. Nothing and null stand
// for the empty object; the rest is an error that does not repeat what is large.
func TestC102NoObject(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 128<<10)
	const missing = "missing property 'command'"
	tests := []struct{ args, want string }{
		{"null", missing}, {"", missing},
		{"[]", "is an array; send an object"},
		{`"x"`, "is a string; send an object"},
		{"17", "is a number; send an object"},
		{`{"a":1}{"a":1}`, "more text follows the first value at byte 7"},
		{`"` + huge + `"`, "is a string; send an object"},
		{`{"` + strings.Repeat(huge, 8), "it ends at byte 1048578"},
	}
	for _, p := range readers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			m.Listed[0].Window = 16_000 // what is large has no place in it
			e.acp("--model", p.model, "--mode", "auto")
			e.open(nil)
			last := ""
			for _, tt := range tests {
				m.Add(modeltest.Reply{Tools: []modeltest.Tool{{Name: "bash", Args: tt.args}, mark("log", "ran")}}, modeltest.Reply{Text: []string{"fine"}})
				last = e.session()
				if stop := e.prompt(last, "go"); stop != "end_turn" {
					t.Errorf("%.40q: stop reason = %s, want end_turn", tt.args, stop)
				}
				results := e.results(last)
				if len(results) != 2 || !results[0].IsError || !strings.Contains(results[0].Text, tt.want) || len(results[0].Text) > 500 || results[1].IsError {
					t.Errorf("%.40q: results = %+v, want an error with %q, and a call that has run", tt.args, results, tt.want)
				}
				checkArguments(t, e.lastRequest(last), "{}", mark("log", "ran").Args)
				checkToldOnce(e, last)
			}
			if got, want := e.disk("log"), strings.Repeat("ran\n", len(tests)); got != want {
				t.Errorf("log = %q, want %q", got, want)
			}
			for i, r := range m.Requests() {
				if len(r.Body) > 64<<10 {
					t.Errorf("request %d has %d bytes: it repeats what is large", i+1, len(r.Body))
				}
			}
			e.goesRound(m, last, p.model)
		})
	}
}

// C102: an object that is large and wrong is as large in the history, but not in
// the error, with every provider.
func TestC102HugeObject(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("x", 64<<10)
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "bash", Args: `{"` + name + `": 1}`}}, Usage: &model.Usage{Input: 100, Output: 100, Known: true}},
				modeltest.Reply{Text: []string{"fine"}})
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			results := e.results(s)
			if len(results) != 1 || !results[0].IsError || !strings.Contains(results[0].Text, "missing property 'command'") || len(results[0].Text) > 1000 {
				t.Errorf("results = %.2000v, want a short error", results)
			}
			last := m.Requests()[len(m.Requests())-1]
			if got := bytes.Count(last.Body, []byte(name)); got != 1 || last.Reject != "" {
				t.Errorf("the history has the arguments %d times, want once; rejected: %q", got, last.Reject)
			}
			checkToldOnce(e, s)
		})
	}
}

// C102: arguments of 40 MB that are right come through: the tool runs once, and the
// model and the user read them once.
func TestC102FortyMegabytes(t *testing.T) {
	t.Parallel()
	size := 40 << 20
	if underRace {
		size /= 40 // the race detector makes some minutes of it
	}
	content := strings.Repeat("0123456789abcdef", size/16)
	m := modeltest.New(t,
		modeltest.Reply{Tools: []modeltest.Tool{tool("write", object{"path": "big.txt", "content": content})}, Usage: &model.Usage{Input: 100, Output: 100, Known: true}},
		modeltest.Reply{Text: []string{"fine"}, Usage: &model.Usage{Input: 100, Output: 100, Known: true}})
	e := newEditor(t).reachesAll(m)
	e.acp("--model", gpt, "--mode", "auto")
	s := e.open(nil)
	if stop := e.prompt(s, "go"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
	if got := e.disk("big.txt"); got != content {
		t.Errorf("the file has %d bytes, want %d", len(got), size)
	}
	if got := lives(e, s); len(got) != 1 || len(got[0].input) < size || !slices.Equal(got[0].states, []string{"pending", "in_progress", "completed"}) {
		t.Errorf("%d calls are told, want one that has run, with its input", len(got))
	}
	requests := m.Requests()
	if got := bytes.Count(requests[len(requests)-1].Body, []byte(content)); got != 1 || len(requests) != 2 || len(m.Rejected()) > 0 {
		t.Errorf("the last of %d requests has the arguments %d times, want once of 2; rejected: %q", len(requests), got, m.Rejected())
	}
}

// C113 (R-TOOLS-23): a model that makes the same faulty call over and over loses the
// tool for the turn, is asked for an answer when that does not help, and the turn
// ends whatever it does.
func TestC113SameFaultyCall(t *testing.T) {
	t.Parallel()
	bad := modeltest.Reply{Tools: []modeltest.Tool{tool("bash", object{"cmd": "echo ran >> log"})}}
	tests := []struct {
		name     string
		faults   int // -1 is for ever
		stop     string
		requests int
	}{
		{"learns from it", 2, "end_turn", 3},
		{"learns when it is blocked", 3, "end_turn", 4},
		{"learns when it is asked for an answer", 6, "end_turn", 7},
		{"learns never", -1, "max_turn_requests", 7},
	}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			e.open(nil)
			for _, tt := range tests { // the last one leaves replies behind
				again := bad
				again.Repeat = max(tt.faults, 0) - 1
				m.Add(again, modeltest.Reply{Text: []string{"I give up."}})
				s := e.session()
				if stop := e.prompt(s, "go"); stop != tt.stop {
					t.Errorf("%s: stop reason = %s, want %s", tt.name, stop, tt.stop)
				}
				steps := e.steps(s)
				if len(steps) != tt.requests || steps[len(steps)-1].NoTools != (tt.requests == 7) {
					t.Fatalf("%s: %d requests, the last without tools: %v; want %d", tt.name, len(steps), steps[len(steps)-1].NoTools, tt.requests)
				}
				for i, r := range e.results(s) {
					want := []string{"missing property 'command'", "missing property 'command'", "came 3 times, so bash is blocked", "bash is blocked"}[min(i, 3)]
					if !r.IsError || !strings.Contains(r.Text, want) || i < 2 && strings.Contains(r.Text, "blocked") {
						t.Errorf("%s: result %d = %+v, want an error with %q", tt.name, i+1, r, want)
					}
				}
				if said := e.said(s); tt.stop == "end_turn" && !slices.Equal(said, []string{"text I give up."}) {
					t.Errorf("%s: messages = %q, want the answer", tt.name, said)
				}
				checkToldOnce(e, s)
				e.failed(s, len(lives(e, s)))
			}
			e.absent("log")
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// C114 (R-TOOLS-23): names that there are not, no name at all, and a tool that is
// withheld: each call fails before the eyes of the user, the model reads near names,
// and after three steps of nothing else it is asked for an answer.
func TestC114UnknownTools(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, want string }{
		{"read_file", `There is no tool "read_file". Near names: read`},
		{"", `There is no tool ""`},
		{"bash", "bash is not available for this message"},
		{strings.Repeat("long", 100), `There is no tool "longlong`},
		{"read\nfile \u2028\"", `There is no tool "`},
	}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "read-only")
			e.open(nil)
			last := ""
			for i, tt := range tests {
				word := fmt.Sprintf("turn %d", i)
				m.Add(modeltest.Reply{Tools: []modeltest.Tool{{Name: tt.name, Args: `{"command":"echo ran >> log"}`}}, Repeat: 2},
					modeltest.Reply{Text: []string{word}})
				last = e.session()
				if stop := e.prompt(last, "go"); stop != "end_turn" || e.text(last) != word {
					t.Errorf("%.20q: stop reason = %s with %q, want an answer", tt.name, stop, e.text(last))
				}
				steps := e.steps(last)
				if len(steps) != 4 || steps[2].NoTools || !steps[3].NoTools {
					t.Errorf("%.20q: %d requests, want the fourth without tools", tt.name, len(steps))
				}
				results := e.results(last)
				for _, r := range results {
					if !r.IsError || !strings.Contains(r.Text, tt.want) || len(r.Text) > 300 {
						t.Errorf("%.20q: result = %+v, want a short error with %q", tt.name, r, tt.want)
					}
				}
				e.failed(last, 3)
				checkToldOnce(e, last)
				checkPaired(t, e.lastRequest(last))
			}
			m.Add(modeltest.Reply{Match: "for ever", Tools: []modeltest.Tool{{Name: "read_file"}}}, modeltest.Reply{Tools: []modeltest.Tool{{Name: "read_file"}}, Repeat: 7})
			if stop := e.prompt(last, "for ever"); stop != "max_turn_requests" || len(e.steps(last)) != 8 {
				t.Errorf("stop reason for ever = %s after %d more requests, want max_turn_requests after 4", stop, len(e.steps(last))-4)
			}
			e.failed(last, len(lives(e, last)))
			e.absent("log")
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}
