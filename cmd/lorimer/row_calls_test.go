//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A life is what was told of one tool call.
type life struct {
	name   string
	title  string // the last one
	kind   string
	states []string // each change of it
	input  string
	output string
	shown  string // the last content
	diffs  []diffBlock
	places []string
}

type diffBlock struct {
	Type, Path, NewText string
	OldText             *string
}

// lives returns the tool calls of a session in the order in which they were
// announced, and checks the rules of R-ACP-23 that hold for every call: it is
// announced once and as pending, with a title, and nothing follows its one final
// state.
func lives(e *editor, session string) []*life {
	e.t.Helper()
	byID := make(map[string]*life)
	var all []*life
	for _, u := range e.updates(session) {
		c := u.Update
		if c.Kind != "tool_call" && c.Kind != "tool_call_update" {
			continue
		}
		l := byID[c.ToolCallID]
		if (l == nil) != (c.Kind == "tool_call") {
			e.t.Errorf("call %s: %s, known before: %v", c.ToolCallID, c.Kind, l != nil)
		}
		if l == nil {
			l = &life{name: c.Name, title: c.Title}
			byID[c.ToolCallID], all = l, append(all, l)
			if c.Status != "pending" || c.Title == "" {
				e.t.Errorf("call %s is announced as %q with title %q, want pending and a title", c.ToolCallID, c.Status, c.Title)
			}
		}
		if n := len(l.states); n > 0 && (l.states[n-1] == "completed" || l.states[n-1] == "failed") {
			e.t.Errorf("call %s: an update after %s: %+v", c.ToolCallID, l.states[n-1], c)
		}
		l.take(e, u)
	}
	return all
}

// take notes an update. What an update leaves out stays as it was.
func (l *life) take(e *editor, u update) {
	e.t.Helper()
	c := u.Update
	if n := len(l.states); c.Status != "" && (n == 0 || l.states[n-1] != c.Status) {
		l.states = append(l.states, c.Status)
	}
	for to, v := range map[*string]string{
		&l.title: c.Title, &l.input: string(c.RawInput), &l.output: string(c.RawOutput), &l.shown: string(c.Content), &l.kind: c.ToolKind,
	} {
		if v != "" {
			*to = v
		}
	}
	for _, p := range c.Locations {
		l.places = append(l.places, p.Path)
	}
	if c.Content != nil {
		var blocks []diffBlock
		if err := json.Unmarshal(c.Content, &blocks); err != nil {
			e.t.Errorf("content %s: %v", c.Content, err)
		}
		l.diffs = slices.DeleteFunc(blocks, func(b diffBlock) bool { return b.Type != "diff" })
	}
}

// checkCalls checks that every call of a session has come to its end.
func checkCalls(e *editor, session string) {
	e.t.Helper()
	for _, l := range lives(e, session) {
		if last := l.states[len(l.states)-1]; last != "completed" && last != "failed" {
			e.t.Errorf("call %q is left %s", l.title, last)
		}
	}
}

// Row 180 (R-ACP-23, R-ACP-44): what a client is told of calls that succeed,
// fail, change a file, are not allowed, are malformed or do not exist.
func TestRow180ToolCallLife(t *testing.T) {
	t.Parallel()
	const script = `{"match": {"contains": "work"}, "tools": [
 {"name": "read", "args": {"path": "a.txt"}},
 {"name": "read", "args": {"path": "missing.txt"}},
 {"name": "write", "args": {"path": "new.txt", "content": "fresh\n"}},
 {"name": "edit", "args": {"path": "a.txt", "edits": [{"old": "two", "new": "deux"}]}},
 {"name": "bash", "args": {"command": "printf 'out put\\n'; exit 3"}},
 {"name": "bash", "args": {"command": "touch forbidden"}},
 {"name": "read_file", "args": {"path": "a.txt"}},
 {"name": "read", "args": "{\"path\": "},
 {"name": "read", "args": {"file": "a.txt"}}]}
`
	e := edit(t, strings.ReplaceAll(script, "\n ", " ")+always)
	s := e.open(nil)
	if err := os.WriteFile(filepath.Join(e.cwd, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.on("session/request_permission", func(params json.RawMessage) (any, *rpcError) {
		option := "allow_once"
		if strings.Contains(string(params), "forbidden") {
			option = "reject_once"
		}
		return object{"outcome": object{"outcome": "selected", "optionId": option}}, nil
	})
	if stop := e.prompt(s, "work"); stop != "end_turn" {
		t.Fatalf("stop reason = %s, want end_turn", stop)
	}
	ran, refused := []string{"pending", "in_progress", "completed"}, []string{"pending", "failed"}
	failed := []string{"pending", "in_progress", "failed"}
	want := []struct {
		name, kind string
		states     []string
		title      string // a part of it
		output     string // a part of it
		shown      string // a part of it
		place      string
	}{
		{"read", "read", ran, "a.txt", "two", "two", "a.txt"},
		{"read", "read", failed, "missing.txt", "missing.txt", "missing.txt", "missing.txt"},
		{"write", "edit", ran, "new.txt", "", "fresh", "new.txt"},
		{"edit", "edit", ran, "a.txt", "", "deux", "a.txt"},
		{"bash", "execute", ran, "exit 3", "3", "out put", ""},
		{"bash", "execute", refused, "touch forbidden", "", "", ""},
		{"read_file", "other", refused, "read_file", "read", "read", ""},
		{"read", "read", refused, "", "", "", ""},
		{"read", "read", refused, "", "path", "path", ""},
	}
	got := lives(e, s)
	if len(got) != len(want) {
		t.Fatalf("%d tool calls, want %d", len(got), len(want))
	}
	for i, l := range got {
		w := want[i]
		if l.name != w.name || l.kind != w.kind || !slices.Equal(l.states, w.states) {
			t.Errorf("call %d: %s of kind %s was %q, want %s of kind %s to be %q", i, l.name, l.kind, l.states, w.name, w.kind, w.states)
		}
		for _, part := range []struct{ what, got, want string }{
			{"title", l.title, w.title}, {"rawOutput", l.output, w.output}, {"content", l.shown, w.shown},
		} {
			if part.got == "" || !strings.Contains(part.got, part.want) {
				t.Errorf("call %d: %s = %s, want %q in it", i, part.what, part.got, part.want)
			}
		}
		if w.place != "" && !slices.Contains(l.places, filepath.Join(e.cwd, w.place)) {
			t.Errorf("call %d: locations %q, want %s", i, l.places, w.place)
		}
		if i != 7 && !json.Valid([]byte(l.input)) {
			t.Errorf("call %d: rawInput %q, want what the model wrote", i, l.input)
		}
	}
	old := "one\ntwo\n"
	wantDiffs := [][]diffBlock{
		{{Type: "diff", Path: filepath.Join(e.cwd, "new.txt"), NewText: "fresh\n"}},
		{{Type: "diff", Path: filepath.Join(e.cwd, "a.txt"), OldText: &old, NewText: "one\ndeux\n"}},
	}
	if diff := cmp.Diff(wantDiffs, [][]diffBlock{got[2].diffs, got[3].diffs}); diff != "" {
		t.Errorf("diffs (-want +got):\n%s", diff)
	}
	e.absent("forbidden")
	checkResults(t, e.lastRequest(s))
}

// checkResults checks that the model was given one result for each of its calls,
// in the order of the calls.
func checkResults(t *testing.T, r requestLine) {
	t.Helper()
	var calls, results []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch p.Type {
			case "tool_call":
				calls = append(calls, p.ID)
			case "tool_result":
				results = append(results, p.ID)
			}
		}
	}
	if len(calls) == 0 || !slices.Equal(calls, results) {
		t.Errorf("results for the calls %q, want one for each of %q", results, calls)
	}
}

// Row 180 and C036: a call that was allowed is asked for once and runs once.
func TestRow180AskedOnceRunOnce(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "work"}, "tools": [{"name": "bash", "args": {"command": "echo ran >> log"}}]}`+"\n"+always)
	s := e.open(nil)
	e.allow("allow_once")
	e.prompt(s, "work")
	var asked []frameIn
	for _, f := range e.heard() {
		if f.Method == "session/request_permission" {
			asked = append(asked, f)
		}
	}
	log, err := os.ReadFile(filepath.Join(e.cwd, "log"))
	if len(asked) != 1 || string(log) != "ran\n" {
		t.Errorf("C036: asked %d times and ran %q (%v), want once each", len(asked), log, err)
	}
	var q struct {
		ToolCall struct{ ToolCallID, Title, Kind string }
		Options  []struct{ OptionID, Kind, Name string }
	}
	if err := json.Unmarshal(asked[0].Params, &q); err != nil {
		t.Fatal(err)
	}
	announced := e.status(s, "pending")
	if q.ToolCall.ToolCallID != announced {
		t.Errorf("the question is about the call %q, want the one announced, %q", q.ToolCall.ToolCallID, announced)
	}
	if !strings.Contains(q.ToolCall.Title, "echo ran >> log") {
		t.Errorf("C032: title = %q, want the command in it", q.ToolCall.Title)
	}
	got := lives(e, s)[0].states
	if diff := cmp.Diff([]string{"pending", "in_progress", "completed"}, got); diff != "" {
		t.Errorf("C036: states (-want +got):\n%s", diff)
	}
}
