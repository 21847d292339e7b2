//go:build unix

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A breach is an answer that a stream does not bring to its end, and what comes of
// it when the request is made again.
type breach struct {
	name    string
	replies []modeltest.Reply
	broken  int // the reply that breaks off
	said    []string
	ran     bool // a call was made, which runs once
}

// breaches are the places where a stream may break: those of the case, or more. The
// calls of the replies are of no matter.
func breaches(more bool) []breach {
	long := strings.Split(strings.Repeat("ten chars ", 20), " ")
	for i := range long {
		long[i] += " "
	}
	begun := modeltest.Reply{Text: []string{"I run it."}}
	whole := begun
	whole.Tools = make([]modeltest.Tool, 1)
	done := modeltest.Reply{Text: []string{"Do", "ne."}}
	said := []string{"text I run it.", "text Done."}
	all := []breach{
		{"before anything", []modeltest.Reply{{}, done}, 0, said[1:], false},
		{"after 200 characters", []modeltest.Reply{{Text: long}, {Text: append(long, "the end")}}, 0, []string{"text " + strings.Join(long, "") + "the end"}, false},
		{"after a whole call", []modeltest.Reply{whole, whole, done}, 0, said, true},
		{"after a tool has run", []modeltest.Reply{whole, {Text: []string{"Do"}}, done}, 1, said, true},
	}
	if more {
		all = append(all,
			breach{"before a call", []modeltest.Reply{begun, whole, done}, 0, said, true},
			breach{"after a call that does not come again", []modeltest.Reply{whole, {Text: []string{"I run it.", " No."}}}, 0, []string{"text I run it. No."}, false},
			breach{"after a text that comes otherwise", []modeltest.Reply{{Text: []string{"Hello ", "you"}}, {Text: []string{"Good day."}}}, 0, []string{"replaced text Hello you", "text Good day."}, false})
	}
	return all
}

// A brokenTurn is a turn with a breach in it.
type brokenTurn struct {
	breach
	word, session string
	id            int
}

// check checks what has come of a turn that has made some requests.
func (tt brokenTurn) check(e *editor, requests int) {
	e.t.Helper()
	if f := e.wait(tt.id); !strings.Contains(f.Raw, `"stopReason":"end_turn"`) {
		e.t.Errorf("%s: %s, want end_turn", tt.name, f.Raw)
	}
	if diff := cmp.Diff(tt.said, e.said(tt.session)); diff != "" {
		e.t.Errorf("%s: messages (-want +got):\n%s", tt.name, diff)
	}
	ran, log := 0, "-"
	if tt.ran {
		ran, log = 1, "ran\n"
	}
	if got := e.disk(tt.word); got != log {
		e.t.Errorf("%s: the call left %q, want %q", tt.name, got, log)
	}
	for _, l := range lives(e, tt.session) {
		if slices.Contains(l.states, "in_progress") {
			ran--
		}
	}
	waits := 0
	for _, u := range e.updates(tt.session) {
		waits += strings.Count(string(u.Update.Content), "asking again in")
	}
	if ran != 0 || waits != 1 || requests != len(tt.replies) {
		e.t.Errorf("%s: %d calls too few have run, %d repeats were told, of %d requests; want 0, 1 and %d", tt.name, ran, waits, requests, len(tt.replies))
	}
	checkCalls(e, tt.session)
}

// C110 (R-HARN-24, R-HARN-28): the connection breaks, the stream ends without a word,
// sends what is no event, or says that it failed: before and after visible text,
// after a whole call, and after a tool has run. The request is made again, the user
// is told so, no text is told twice, and no call runs twice.
func TestC110BrokenStreams(t *testing.T) {
	t.Parallel()
	breaks := map[string]modeltest.Reply{
		"cut": {Cut: true}, "end": {EOF: true}, "malformed": {Quirk: modeltest.MalformedEvent}, "failed": {Error: "Overloaded", Code: "overloaded_error"},
	}
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model, "--mode", "auto")
			e.open(nil)
			var turns []brokenTurn // all at once: a repeat waits for two seconds
			for how, b := range breaks {
				for _, tt := range breaches(how == "cut") {
					tt.name = how + " " + tt.name
					word := fmt.Sprintf("turn-%d.", len(turns))
					for i, r := range tt.replies {
						if i == tt.broken {
							r.Cut, r.EOF, r.Quirk, r.Error, r.Code = b.Cut, b.EOF, b.Quirk, b.Error, b.Code
						}
						if r.Tools != nil { // what it prints is in the next request
							r.Tools = []modeltest.Tool{tool("bash", object{"command": fmt.Sprintf("echo ran >> %s; echo %[1]s", word)})}
						}
						r.Match = word
						m.Add(r)
					}
					s := e.session()
					turns = append(turns, brokenTurn{tt, word, s, e.send("session/prompt", say(s, "go "+word))})
				}
			}
			for _, tt := range turns {
				e.wait(tt.id)
			}
			requests := e.requestsOf()
			for _, tt := range turns {
				tt.check(e, len(requests[tt.session]))
			}
			e = e.restart("--model", p.model)
			for _, tt := range turns {
				e.load(tt.session)
				m.Add(modeltest.Reply{Text: []string{"fine"}})
				e.prompt(tt.session, "and on")
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// C110 (R-HARN-24): a stream that breaks again and again is given up, with what has
// been told, and the session goes on.
func TestC110BrokenForEver(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Match: "go", Text: []string{"Hello"}, Tools: []modeltest.Tool{mark("log", "ran")}, EOF: true, Repeat: -1})
	e := newEditor(t).reachesAll(m)
	e.acp("--model", gpt, "--mode", "auto")
	s := e.open(nil)
	f := e.wait(e.send("session/prompt", say(s, "go")))
	checkFailure(t, f, -32603, "PROVIDER_ERROR", false)
	if got := e.said(s); !slices.Equal(got, []string{"text Hello"}) || len(m.Requests()) != 4 {
		t.Errorf("messages = %q after %d requests, want the text once after 4", got, len(m.Requests()))
	}
	m.Add(modeltest.Reply{Text: []string{"fine"}})
	if stop := e.prompt(s, "on"); stop != "end_turn" || len(m.Rejected()) > 0 {
		t.Errorf("the next prompt: %s, rejected: %q", stop, m.Rejected())
	}
	e.absent("log")
	checkCalls(e, s)
}

// C110: a server that shows nothing but that it lives is left when the user cancels.
// That patience with it has an end cannot be configured; the tests of the clients
// show it.
func TestC110OnlySignsOfLife(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Text: []string{"Hello"}, Quirk: modeltest.OnlyKeepAlive}, modeltest.Reply{Text: []string{"fine"}})
			begun := heralded(t, m)
			e := newEditor(t).reachesAll(m)
			e.acp("--model", p.model)
			s := e.open(nil)
			id := e.send("session/prompt", say(s, "go"))
			comes(t, "the answer", begun)
			e.cancel("session/cancel", s, id)
			if f := e.wait(id); !strings.Contains(f.Raw, `"stopReason":"cancelled"`) {
				t.Errorf("answer = %s, want cancelled", f.Raw)
			}
			comes(t, "the end of the connection", m.Gone())
			if stop := e.prompt(s, "and on"); stop != "end_turn" || !slices.Equal(e.said(s), []string{"text fine"}) {
				t.Errorf("the next prompt: %s, %q", stop, e.said(s))
			}
		})
	}
}

// heralded puts something in front of a server that tells of each answer when its
// first bytes have been written.
func heralded(t *testing.T, m *modeltest.Server) <-chan struct{} {
	begun := make(chan struct{}, 64)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.ContainsFunc(allProviders(), func(p provider) bool { return strings.Contains(r.URL.Path, p.route) }) {
			w = &herald{ResponseWriter: w, begun: begun}
		}
		m.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	m.URL = front.URL
	return begun
}

// A herald tells of the first bytes of an answer.
type herald struct {
	http.ResponseWriter
	begun chan<- struct{}
	told  bool
}

func (h *herald) Write(p []byte) (int, error) {
	n, err := h.ResponseWriter.Write(p)
	if !h.told {
		h.told = true
		h.begun <- struct{}{}
	}
	return n, err
}

// Unwrap gives http.ResponseController what it needs.
func (h *herald) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// comes waits for a value.
func comes(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s does not come", what)
	}
}
