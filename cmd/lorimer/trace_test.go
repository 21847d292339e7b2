//go:build unix

package main

import (
	"encoding/json"
	"strings"
)

// A turnLine is what the trace says of a turn.
type turnLine struct {
	Session   string
	Harness   string
	Changed   []string
	Signature string
}

// turns returns the turns of a session so far, or of all sessions for "".
func (e *editor) turns(session string) []turnLine {
	e.t.Helper()
	return decoded(e, "turn", func(l turnLine) bool { return session == "" || l.Session == session })
}

// harnesses returns what became of the harness in each turn of a session.
func (e *editor) harnesses(session string) []string {
	e.t.Helper()
	var all []string
	for _, l := range e.turns(session) {
		all = append(all, l.Harness)
	}
	return all
}

// A requestLine is what the trace says of a request to a model.
type requestLine struct {
	Session   string
	Signature string
	System    string
	Messages  []messageLine
	Tools     []string
	Effort    string
}

// A messageLine is a message of a request.
type messageLine struct {
	Role  string
	Parts []partLine
}

// A partLine is a part of a message; Provider is the model that has signed it.
type partLine struct{ Type, Text, ID, Name, Args, Provider string }

// text joins the texts of a message, results of tools included.
func (m messageLine) text() string {
	var all []string
	for _, p := range m.Parts {
		all = append(all, p.Text)
	}
	return strings.Join(all, "\n")
}

// count returns how many parts of a type the messages have.
func (r requestLine) count(kind string) (n int) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Type == kind {
				n++
			}
		}
	}
	return n
}

// requests returns the requests of a session so far, or of all sessions for "".
func (e *editor) requests(session string) []requestLine {
	e.t.Helper()
	return decoded(e, "model", func(l requestLine) bool { return session == "" || l.Session == session })
}

// lastRequest returns the newest request of a session.
func (e *editor) lastRequest(session string) requestLine {
	e.t.Helper()
	all := e.requests(session)
	if len(all) == 0 {
		e.t.Fatalf("no request of session %q was traced", session)
	}
	return all[len(all)-1]
}

func decoded[T any](e *editor, kind string, keep func(T) bool) []T {
	e.t.Helper()
	var all []T
	for _, raw := range e.trace(kind) {
		var l T
		if err := json.Unmarshal(raw, &l); err != nil {
			e.t.Fatal(err)
		}
		if keep(l) {
			all = append(all, l)
		}
	}
	return all
}
