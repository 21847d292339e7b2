//go:build unix

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// Row 207 (R-CMD-03): a script answers as its lines say, through what every model
// goes through.
func TestRow207Script(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		script  string
		prompts []string
		stops   []string // or the code of an error
		text    string
	}{
		{
			"lines in order, each once", `{"text": "one "}` + "\n\n" + `{"text": ["t", "wo "]}`,
			[]string{"a", "b", "c"}, []string{"end_turn", "end_turn", "PROVIDER_ERROR"}, "one two ",
		},
		{
			"repeats", `{"text": "twice ", "repeat": 2}` + "\n" + `{"text": "always ", "repeat": true}`,
			[]string{"a", "b", "c", "d"}, []string{"end_turn", "end_turn", "end_turn", "end_turn"}, "twice twice always always ",
		},
		{
			"what a line fits", `{"match": {"contains": "second"}, "text": "2 "}` + "\n" + `{"match": {"kind": "title"}, "text": "no "}` + "\n" + `{"match": {"kind": "main", "session": "s1"}, "text": "1 "}`,
			[]string{"first", "second"}, []string{"end_turn", "end_turn"}, "1 2 ",
		},
		{
			"stop reasons", `{"text": "cut", "stop": "length"}` + "\n" + `{"text": "no", "stop": "refusal"}`,
			[]string{"a", "b"}, []string{"max_tokens", "refusal"}, "cutno",
		},
		{
			"errors", `{"error": {"status": 400}}` + "\n" + `{"error": {"status": 401}}` + "\n" + `{"text": "after"}`,
			[]string{"a", "b", "c"}, []string{"PROVIDER_ERROR", "AUTH_REQUIRED", "end_turn"}, "after",
		},
		{
			"an error that passes", `{"error": {"status": 503, "retryable": true}}` + "\n" + `{"text": "after"}`,
			[]string{"a"}, []string{"end_turn"}, "after",
		},
		{
			"a build that fails once", `{"text": "up", "fail_build": 1}`,
			[]string{"a", "b"}, []string{"MODEL_UNAVAILABLE", "end_turn"}, "up",
		},
		{"an unknown key", `{"txt": "x"}`, []string{"a"}, []string{"MODEL_UNAVAILABLE"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, tt.script)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("sessionId", "s1")}, nil)
			var stops []string
			for _, p := range tt.prompts {
				f := e.wait(e.send("session/prompt", say("s1", p)))
				if f.Error != nil {
					stops = append(stops, code(f))
					continue
				}
				stops = append(stops, stopReason(t, f))
			}
			if diff := cmp.Diff(tt.stops, stops); diff != "" {
				t.Errorf("ends of the turns (-want +got):\n%s", diff)
			}
			if got := e.text("s1"); got != tt.text {
				t.Errorf("text = %q, want %q", got, tt.text)
			}
		})
	}
}

// Row 207: what is wrong with a script, or does not fit it, is named.
func TestRow207ScriptMistakes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, want string }{
		"a line":      {`{"text": "x"}` + "\n" + `{"txt": "x"}`, "script.jsonl:2:"},
		"no JSON":     {"\n\ntext", "script.jsonl:3:"},
		"a request":   {`{"match": {"contains": "else"}, "text": "x"}`, `last message \"go`},
		"a tool call": {`{"tools": [{"args": {}}]}`, "script.jsonl:1:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, tt.script)
			s := e.open(nil)
			if f := e.wait(e.send("session/prompt", say(s, "go"))); f.Error == nil || !strings.Contains(f.Raw, tt.want) {
				t.Errorf("prompt: %s, want an error with %q", f.Raw, tt.want)
			}
		})
	}
}

// Row 207 (R-CMD-04): the trace has a line for each turn and each request, in
// order, with exactly what the model was sent, and no secret.
func TestRow207Trace(t *testing.T) {
	t.Parallel()
	const key = "sk-0123456789abcdef"
	m := modeltest.New(t,
		modeltest.Reply{Tools: []modeltest.Tool{{Name: "bash", Args: modeltest.JSON(object{"command": "echo the key is " + key})}}},
		modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	e := newEditor(t)
	e.env = []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + m.OpenAI()}
	e.acp("--mode", "auto", "--model", "openai/"+modeltest.ModelID)
	s := e.open(nil)
	e.prompt(s, "go")
	e.prompt(s, "on")
	type line struct {
		Type      string
		Seq       int64
		Time      time.Time
		Session   string
		Kind      string
		Signature string
		System    string
		Messages  []messageLine
		Tools     []string
		Schemas   []struct{ Name, Description string } `json:"tool_schemas"`
	}
	var all []line
	var types []string
	for i, raw := range e.allTrace() {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			t.Fatal(err)
		}
		if l.Seq != int64(i+1) || l.Session != s || l.Signature == "" || l.Time.IsZero() {
			t.Errorf("line %d: %+v, want its number, session, signature and time", i+1, l)
		}
		if strings.Contains(string(raw), key) {
			t.Errorf("line %d has the key: %s", i+1, raw)
		}
		types = append(types, l.Type)
		if l.Type == "model" {
			all = append(all, l)
		}
	}
	if diff := cmp.Diff([]string{"turn", "model", "model", "turn", "model"}, types); diff != "" {
		t.Fatalf("lines (-want +got):\n%s", diff)
	}
	for i, r := range m.Requests() {
		var sent struct {
			Messages []struct{ Role, Content json.RawMessage }
			Tools    []struct {
				Function struct{ Name, Description string }
			}
		}
		if err := json.Unmarshal(r.Body, &sent); err != nil {
			t.Fatal(err)
		}
		var names []string
		for j, tool := range sent.Tools {
			names = append(names, tool.Function.Name)
			if all[i].Schemas[j].Name != tool.Function.Name || all[i].Schemas[j].Description != tool.Function.Description {
				t.Errorf("request %d: tool %d is traced as %+v, sent as %+v", i+1, j, all[i].Schemas[j], tool.Function)
			}
		}
		if !slices.Equal(names, all[i].Tools) || all[i].Kind != "main" {
			t.Errorf("request %d of kind %s: tools %q were traced, %q sent", i+1, all[i].Kind, all[i].Tools, names)
		}
		system, err := json.Marshal(all[i].System)
		if err != nil {
			t.Fatal(err)
		}
		if got := sent.Messages[0].Content; !sameString(t, got, system) || len(sent.Messages) != 1+len(all[i].Messages) {
			t.Errorf("request %d: %d messages were sent, %d and the system prompt traced", i+1, len(sent.Messages), len(all[i].Messages))
		}
	}
}

// sameString reports whether two JSON strings say the same.
func sameString(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y string
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return x == y && x != ""
}

// allTrace returns the lines of the trace.
func (e *editor) allTrace() []json.RawMessage {
	e.t.Helper()
	var all []json.RawMessage
	for _, kind := range []string{"turn", "model"} {
		all = append(all, e.trace(kind)...)
	}
	seq := func(raw json.RawMessage) (n int) {
		var l struct{ Seq int }
		if err := json.Unmarshal(raw, &l); err != nil {
			e.t.Fatal(err)
		}
		return l.Seq
	}
	slices.SortFunc(all, func(a, b json.RawMessage) int { return seq(a) - seq(b) })
	return all
}

// Row 207 (R-CMD-08): a clock that is fixed, in a zone, that goes on with each
// send and with nothing else.
func TestRow207Clock(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		flags []string
		want  []string // of each send
	}{
		{"fixed", nil, []string{"Thursday, March 5, 2026 at 11:30 PM UTC", "Thursday, March 5, 2026 at 11:30 PM UTC"}},
		{"with a step", []string{"--clock-step", "1h"}, []string{"Thursday, March 5, 2026 at 11:30 PM UTC", "Friday, March 6, 2026 at 12:30 AM UTC"}},
		{"in a zone", []string{"--tz", "Asia/Tokyo"}, []string{"Friday, March 6, 2026 at 8:30 AM", "Friday, March 6, 2026 at 8:30 AM"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, `{"tools": [{"name": "glob", "args": {"pattern": "*"}}]}`+"\n"+always,
				slices.Concat([]string{"--clock", "2026-03-05T23:30:00Z", "--tz", "UTC"}, tt.flags)...)
			s := e.open(nil)
			for range tt.want {
				e.prompt(s, "go")
			}
			var users []string
			for _, m := range e.lastRequest(s).Messages {
				if m.Role == "user" {
					users = append(users, m.text())
				}
			}
			if len(users) != len(tt.want) {
				t.Fatalf("%d messages of the user, want %d: %q", len(users), len(tt.want), users)
			}
			for i, want := range tt.want {
				if !strings.Contains(users[i], want) {
					t.Errorf("message %d = %q, want %q in it", i, users[i], want)
				}
			}
		})
	}
}
