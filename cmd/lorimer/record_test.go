//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A record is what a client has been told of a session, live or by a replay.
type record struct {
	order []string          // ids of messages and calls, as they first came
	texts map[string]string // of messages, by id
	calls map[string]*life
	said  []string          // the messages of the user
	kept  map[string]string // what must not be lost, by id; see keep
}

// record returns what has been told of the session in the frames up to number
// last, that one included.
func (e *editor) record(session string, last int) *record {
	e.t.Helper()
	r := &record{texts: map[string]string{}, calls: map[string]*life{}, kept: map[string]string{}}
	for _, f := range e.heard() {
		if f.N > last {
			break
		}
		switch f.Method {
		case "session/update":
			var u update
			if err := json.Unmarshal(f.Params, &u); err != nil {
				e.t.Fatalf("%s: %v", f.Raw, err)
			}
			if u.SessionID == session {
				r.update(e, u)
			}
		case "session/request_permission", "": // a question, or an answer
			r.keep()
		}
	}
	return r
}

// update notes an update.
func (r *record) update(e *editor, u update) {
	c := u.Update
	switch c.Kind {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk":
		if strings.HasPrefix(c.MessageID, "notice-") { // said by the program of what happens at this moment
			return
		}
		var block struct{ Text string }
		if err := json.Unmarshal(c.Content, &block); err != nil {
			e.t.Fatal(err)
		}
		if c.Kind == "user_message_chunk" {
			if n := len(r.said); n == 0 || len(r.order) > 0 && r.order[len(r.order)-1] != c.MessageID {
				r.said = append(r.said, "")
			}
			r.said[len(r.said)-1] += block.Text
		}
		r.note(c.MessageID)
		r.texts[c.MessageID] += block.Text
	case "tool_call", "tool_call_update":
		l := r.calls[c.ToolCallID]
		if l == nil {
			l = &life{name: c.Name}
			r.calls[c.ToolCallID] = l
		}
		r.note(c.ToolCallID)
		if c.Locations != nil {
			l.places = nil // the new ones replace them
		}
		l.take(e, u)
		if c.Status != "" && c.Status != "pending" { // the answer with the call was complete
			r.keep()
		}
	}
}

// note adds an id to the order.
func (r *record) note(id string) {
	if !slices.Contains(r.order, id) {
		r.order = append(r.order, id)
	}
}

// keep says that all that has been told so far belongs to steps of which more
// has been told than a step that is under way tells: it must be in the store
// (R-ACP-50). Of a call that has not ended only that it was made is.
func (r *record) keep() {
	for id, text := range r.texts {
		r.kept[id] = text
	}
	for id, l := range r.calls {
		r.kept[id] = l.ended()
	}
}

// ended tells how a call ended, in one line, or "" of one that has not.
func (l *life) ended() string {
	if len(l.states) == 0 {
		return ""
	}
	last := l.states[len(l.states)-1]
	if last != "completed" && last != "failed" {
		return ""
	}
	return fmt.Sprintf("%s %s %s %q %v, input %s, output %s, shown %s", last, l.name, l.kind, l.title, l.places, l.input, l.output, l.shown)
}

// checkReplay checks that a replay has all that must be kept of live, in the same
// order, and that its calls have ended.
func checkReplay(t *testing.T, live, replay *record) {
	t.Helper()
	for id, l := range replay.calls {
		if l.ended() == "" {
			t.Errorf("call %s (%s) is %v in the replay, want an end", id, l.title, l.states)
		}
	}
	for id, want := range live.kept {
		got, there := replay.texts[id]
		if l := replay.calls[id]; l != nil {
			got, there = l.ended(), true
		}
		if !there || want != "" && got != want {
			t.Errorf("the replay has of %s:\n%s\nwant:\n%s", id, got, want)
		}
	}
	common := func(r, of *record) []string {
		return slices.DeleteFunc(slices.Clone(r.order), func(id string) bool { return !slices.Contains(of.order, id) })
	}
	if got, want := common(replay, live), common(live, replay); !slices.Equal(got, want) {
		t.Errorf("order of the replay = %q, want that of the turn, %q", got, want)
	}
}

// load loads a session and returns what the replay told.
func (e *editor) load(session string) *record {
	e.t.Helper()
	f := e.wait(e.send("session/load", object{"sessionId": session, "cwd": e.cwd, "mcpServers": []any{}}))
	if f.Error != nil {
		e.t.Fatalf("session/load: %s", f.Raw)
	}
	return e.record(session, f.N)
}

// another returns an editor whose agent has the workspace of e, its environment,
// and a home of its own, so that the two share no more than what a flag or the
// configuration says.
func (e *editor) another() *editor {
	e.t.Helper()
	other := newEditor(e.t)
	other.cwd, other.env = e.cwd, e.env
	return other
}
