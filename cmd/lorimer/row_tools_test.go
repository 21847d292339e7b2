//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// allTools returns the names of the tools of a session whose mode withholds none,
// in wire order.
func allTools() []string {
	return []string{"ask_user", "bash", "edit", "glob", "grep", "read", "read-context", "skill", "write"}
}

// readingTools returns those of them that change nothing.
func readingTools() []string {
	return []string{"ask_user", "glob", "grep", "read", "read-context", "skill"}
}

// A stepLine is what the trace says of a step of a turn.
type stepLine struct {
	Session  string
	System   string
	Tools    []string
	Schemas  json.RawMessage `json:"tool_schemas"`
	NoTools  bool            `json:"no_tools"`
	Messages []messageLine
}

func (e *editor) steps(session string) []stepLine {
	e.t.Helper()
	return decoded(e, "model", func(l stepLine) bool { return l.Session == session })
}

// last is the text of the last message of a step.
func (l stepLine) last() string { return l.Messages[len(l.Messages)-1].text() }

const (
	// What the notes about the steps begin with.
	nudge    = "A third of the steps"
	lastStep = "This is the last step"

	stepCap = 50
)

const endless = `{"tools": [{"name": "glob", "args": {"pattern": "*"}}], "repeat": true}`

// Row 212 (R-HARN-23): a model that calls tools without end is told in time, then
// has to answer without them; its tools stay on the wire. How many steps there
// are, and what the notes say, cannot be configured.
func TestRow212StepCap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script string
		stop   string
		text   string
	}{
		{"it never answers", endless, "max_turn_requests", ""},
		{"it answers at last", `{"match": {"contains": "` + lastStep + `"}, "text": "so far"}` + "\n" + endless, "end_turn", "so far"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, tt.script)
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != tt.stop || e.text(s) != tt.text {
				t.Errorf("prompt: %s with %q, want %s with %q", stop, e.text(s), tt.stop, tt.text)
			}
			all := e.steps(s)
			if len(all) != stepCap {
				t.Fatalf("%d requests, want %d", len(all), stepCap)
			}
			for i, l := range all {
				if final := i == stepCap-1; l.NoTools != final || strings.HasPrefix(l.last(), lastStep) != final {
					t.Errorf("request %d: without tools: %v, last message %q", i+1, l.NoTools, l.last())
				}
				if strings.HasPrefix(l.last(), nudge) != (i == stepCap/3) {
					t.Errorf("request %d: last message %q; the note belongs to request %d", i+1, l.last(), stepCap/3+1)
				}
				if len(l.Tools) == 0 || !slices.Equal(l.Tools, all[0].Tools) || !bytes.Equal(l.Schemas, all[0].Schemas) || l.System != all[0].System {
					t.Errorf("request %d: tools or prompt changed", i+1)
				}
				if i > 0 && len(cmp.Diff(all[i-1].Messages, l.Messages[:len(all[i-1].Messages)])) > 0 {
					t.Errorf("request %d does not continue the one before it", i+1)
				}
			}
			if code := e.leave(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
		})
	}
}

// Row 212: the next message starts to count anew.
func TestRow212CountsAnew(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "hello"}, "text": "fine"}`+"\n"+endless)
	s := e.open(nil)
	e.prompt(s, "go")
	if stop := e.prompt(s, "hello"); stop != "end_turn" || e.text(s) != "fine" {
		t.Errorf("prompt: %s with %q, want end_turn with fine", stop, e.text(s))
	}
	all := e.steps(s)
	if l := all[len(all)-1]; len(all) != stepCap+1 || l.NoTools {
		t.Errorf("request %d: without tools: %v, want a first step with tools", len(all), l.NoTools)
	}
}

// Row 212 on the wire of two protocols: the choice is none in the last request
// alone, and the bytes of the tools stay.
func TestRow212Wire(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Match: lastStep, Text: []string{"so far"}},
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "glob", Args: `{"pattern":"*"}`}}, Repeat: -1})
			e := newEditor(t).reaches(m)
			e.acp("--model", provider+"/"+modeltest.ModelID)
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" || e.text(s) != "so far" {
				t.Fatalf("prompt: %s with %q, want end_turn with so far", stop, e.text(s))
			}
			all := m.Requests()
			if rejected := m.Rejected(); len(all) != stepCap || len(rejected) > 0 {
				t.Fatalf("%d requests, rejected %q, want %d", len(all), rejected, stepCap)
			}
			var first json.RawMessage
			for i, r := range all {
				var body struct {
					Tools  json.RawMessage
					Choice json.RawMessage `json:"tool_choice"`
				}
				if err := json.Unmarshal(r.Body, &body); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					first = body.Tools
				}
				if len(body.Tools) == 0 || !bytes.Equal(body.Tools, first) {
					t.Errorf("request %d: the tools changed", i+1)
				}
				if none := strings.Contains(string(body.Choice), `"none"`); none != (i == stepCap-1) {
					t.Errorf("request %d: tool choice %s", i+1, body.Choice)
				}
			}
		})
	}
}

// Row 224 (R-TOOLS-07): calls of one step that only look run beside each other,
// four at a time: the editor answers none of their reads before it has four of
// them. Results keep the order of the calls, whatever the order of the ends.
func TestRow224Overlap(t *testing.T) {
	t.Parallel()
	const n = 6
	var calls []any
	e := newEditor(t)
	for i := range n {
		name := fmt.Sprintf("f%d.txt", i)
		e.seed(name, fmt.Sprintf("file %d\n", i))
		calls = append(calls, object{"name": "read", "args": object{"path": name}})
	}
	line, err := json.Marshal(object{"tools": calls})
	if err != nil {
		t.Fatal(err)
	}
	e.on("fs/read_text_file", func(json.RawMessage) (any, *rpcError) { return nil, nil })
	e.acp("--model", "script:"+e.file("script.jsonl", string(line)+"\n"+`{"text": "done"}`))
	s := e.open(fsCapabilities(true, false))
	id := e.send("session/prompt", say(s, "go"))
	answer := func(f frameIn) {
		e.write(object{"jsonrpc": "2.0", "id": f.ID, "error": rpcError{Code: -32603, Message: "no buffer"}})
	}
	var waiting []frameIn
	for i := range n {
		e.until(fmt.Sprintf("read %d", i+1), func(f frameIn) bool {
			if f.Method == "fs/read_text_file" && !slices.ContainsFunc(waiting, func(w frameIn) bool { return w.N == f.N }) {
				waiting = append(waiting, f)
				return true
			}
			return false
		})
		if i >= 3 {
			answer(waiting[i]) // the newest of four first
		}
	}
	for _, f := range waiting[:3] {
		answer(f)
	}
	if stop := stopReason(t, e.wait(id)); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
	running, most := 0, 0
	for _, u := range e.updates(s) {
		switch u.Update.Status {
		case "in_progress":
			running++
		case "completed", "failed":
			running--
		}
		most = max(most, running)
	}
	if most != 4 {
		t.Errorf("%d calls ran at the same time, want 4", most)
	}
	for i, r := range e.results(s) {
		if want := fmt.Sprintf("1\tfile %d\n", i); r.IsError || r.Text != want {
			t.Errorf("result %d = %+v, want %q", i, r, want)
		}
	}
}

// Row 224: a search through many files does not hold up those beside it.
func TestRow224Searches(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	text := strings.Repeat("nothing to be found on this line\n", 2000)
	for i := range 200 {
		e.seed(fmt.Sprintf("d%d/f.txt", i), text)
	}
	search := `{"name": "grep", "args": {"pattern": "(no|on|to)+thin+gs? (at|be) all"}}`
	e.acp("--model", "script:"+e.file("script.jsonl", `{"tools": [`+strings.Repeat(search+",", 3)+search+"]}\n"+`{"text": "done"}`))
	s := e.open(nil)
	e.prompt(s, "go")
	var states []string
	for _, u := range e.updates(s) {
		if st := u.Update.Status; st == "in_progress" || st == "completed" || st == "failed" {
			states = append(states, st)
		}
	}
	begun, ended := 0, 0
	for _, st := range states {
		switch {
		case st == "failed":
			t.Errorf("states of the searches = %q, want none to fail", states)
		case st == "completed":
			ended++
		case ended == 0:
			begun++
		}
	}
	if begun < 2 || ended != 4 {
		t.Errorf("states of the searches = %q, want some to begin before one has ended", states)
	}
}

// Row 224: a call that may change something has the step to itself.
func TestRow224ChangesRunAlone(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.seed("a.txt", "0\n")
	append1 := `{"name": "bash", "args": {"command": "read n < a.txt; echo $((n+1)) > a.txt"}}`
	look := `{"name": "read", "args": {"path": "a.txt"}}`
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl",
		`{"tools": [`+strings.Join([]string{look, append1, append1, look, look, append1, look}, ",")+"]}\n"+`{"text": "done"}`))
	s := e.open(nil)
	e.prompt(s, "go")
	var seen []string
	for _, r := range e.results(s) {
		if r.Name == "read" {
			seen = append(seen, strings.TrimSpace(strings.TrimPrefix(r.Text, "1\t")))
		}
	}
	if diff := cmp.Diff([]string{"0", "2", "2", "3"}, seen); diff != "" {
		t.Errorf("what the reads saw (-want +got):\n%s", diff)
	}
}

// Row 224 (R-TOOLS-23): a name that was not offered in the request is an error of
// the call and runs nothing. A limit of calls for a tool cannot be set, so there
// is none to reach.
func TestRow224Undeclared(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		flags []string
		call  string
		want  string // a part of the result
	}{
		{"C114 an unknown name", nil, `{"name": "run_shell", "args": {"command": "touch ran"}}`, `no tool "run_shell"`},
		{"C114 another spelling", nil, `{"name": "Bash", "args": {"command": "touch ran"}}`, "bash"},
		{"withheld by the mode", []string{"--mode", "read-only"}, `{"name": "bash", "args": {"command": "touch ran"}}`, "bash"},
		{"a path for a name", nil, `{"name": "../bash", "args": {"command": "touch ran"}}`, "no tool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, `{"tools": [`+tt.call+`, {"name": "glob", "args": {"pattern": "*"}}]}`+"\n"+`{"text": "done"}`, tt.flags...)
			e.allow("allow_once")
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" || e.text(s) != "done" {
				t.Errorf("prompt: %s with %q, want end_turn with done", stop, e.text(s))
			}
			r := e.results(s)
			if len(r) != 2 || !r[0].IsError || r[1].IsError || !strings.Contains(r[0].Text, tt.want) {
				t.Errorf("results = %+v, want an error with %q, and files", r, tt.want)
			}
			if got := e.disk("ran"); got != "-" || len(e.questions()) > 0 {
				t.Errorf("the call ran or was asked about: %q, %v", got, e.subjects())
			}
		})
	}
	t.Run("tools that were switched off", func(t *testing.T) {
		t.Parallel()
		e := edit(t, `{"tools": [{"name": "bash", "args": {"command": "touch ran"}}], "repeat": true}`, "--mode", "auto")
		s := e.open(nil)
		e.call("session/set_config_option", object{"sessionId": s, "configId": "tools", "value": "off"}, nil)
		e.prompt(s, "go")
		if got := e.disk("ran"); got != "-" {
			t.Error("a call ran although no tool was offered")
		}
		for i, l := range e.steps(s) {
			if len(l.Tools) > 0 {
				t.Errorf("request %d offers %q", i+1, l.Tools)
			}
		}
	})
}
