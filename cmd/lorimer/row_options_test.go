//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// A configOption is an option of a session as the client is told of it.
type configOption struct {
	ID, Category, CurrentValue string
	Options                    []struct{ Value string }
}

func (o configOption) values() []string {
	var all []string
	for _, v := range o.Options {
		all = append(all, v.Value)
	}
	return all
}

// A sessionState is what session/new and the changes of options answer.
type sessionState struct {
	SessionID     string
	ConfigOptions []configOption
	Modes         struct{ CurrentModeID string }
}

// current returns the values of the options by their ids.
func (s sessionState) current() map[string]string {
	all := make(map[string]string)
	for _, o := range s.ConfigOptions {
		all[o.ID] = o.CurrentValue
	}
	return all
}

// newState makes a session and returns what the answer says.
func (e *editor) newState() (s sessionState) {
	e.t.Helper()
	e.call("session/new", object{"cwd": e.cwd}, &s)
	return s
}

// set changes an option and returns the answer.
func (e *editor) set(session, option, value string) (s sessionState) {
	e.t.Helper()
	e.call("session/set_config_option", object{"sessionId": session, "configId": option, "value": value}, &s)
	return s
}

// Row 194 (R-ACP-18), as far as its options exist: model, mode, tools and
// thinking; web search, citation mode and voice are not part of the program, and
// a session is not kept beyond its process.
func TestRow194EachOption(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.newState()
	want := s.current()
	if want["mode"] != "ask" || want["tools"] != "on" || want["thinking"] != "default" || s.Modes.CurrentModeID != "ask" {
		t.Errorf("options of a new session = %v in mode %s", want, s.Modes.CurrentModeID)
	}
	for _, o := range s.ConfigOptions {
		for _, value := range o.values() {
			got := e.set(s.SessionID, o.ID, value)
			want[o.ID] = value
			if diff := cmp.Diff(want, got.current()); diff != "" {
				t.Fatalf("options after %s = %s (-want +got):\n%s", o.ID, value, diff)
			}
		}
		for _, wrong := range []any{"no such value", "", true, 5, nil, strings.ToUpper(o.CurrentValue)} {
			f := e.wait(e.send("session/set_config_option", object{"sessionId": s.SessionID, "configId": o.ID, "value": wrong}))
			if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "value") {
				t.Errorf("%s = %v: %s, want -32602 that names the value", o.ID, wrong, f.Raw)
			}
		}
		if diff := cmp.Diff(want, e.set(s.SessionID, "tools", want["tools"]).current()); diff != "" {
			t.Errorf("options after wrong values of %s (-want +got):\n%s", o.ID, diff)
		}
	}
	f := e.wait(e.send("session/set_config_option", object{"sessionId": s.SessionID, "configId": "colour", "value": "on"}))
	if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "colour") {
		t.Errorf("option that is not there: %s, want -32602 that names it", f.Raw)
	}
	f = e.wait(e.send("session/set_mode", object{"sessionId": s.SessionID, "modeId": "yolo"}))
	if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "yolo") {
		t.Errorf("mode that is not there: %s, want -32602 that names it", f.Raw)
	}
	if other := e.newState().current(); other["mode"] != "ask" || other["thinking"] != "default" {
		t.Errorf("options of another session = %v, want the defaults", other)
	}
}

// C013, C014: an unknown slash command goes to the model as text, and the selectors
// and the use of tokens are there for every client.
func TestC013SlashAndC014Selectors(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "/nothing like that"}, "text": "heard", "usage": {"input": 30, "output": 4}}`)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.newState()
	got := make(map[string]string)
	for _, o := range s.ConfigOptions {
		got[o.ID] = o.Category
	}
	want := map[string]string{"mode": "mode", "model": "model", "thinking": "thought_level", "tools": "", "citations": "", "voice": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("categories of the options (-want +got):\n%s", diff)
	}
	if stop := e.prompt(s.SessionID, "/nothing like that"); stop != "end_turn" || e.text(s.SessionID) != "heard" {
		t.Errorf("%s with %q, want the model's answer", stop, e.text(s.SessionID))
	}
	uses := 0
	for _, u := range e.updates(s.SessionID) {
		if u.Update.Kind == "usage_update" {
			uses++
		}
	}
	if uses != 1 {
		t.Errorf("%d usage updates after one request, want 1", uses)
	}
}

// Row 194: the next send follows what was chosen.
func TestRow194NextSendFollows(t *testing.T) {
	t.Parallel()
	all := allTools()
	tests := []struct {
		option, value string
		tools         []string
		effort        string
	}{
		{"tools", "off", nil, ""},
		{"tools", "auto", all, ""},
		{"thinking", "high", all, "high"},
		{"thinking", "off", all, "off"},
		{"mode", "read-only", readingTools(), ""},
		{"mode", "auto", all, ""},
	}
	for _, tt := range tests {
		t.Run(tt.option+" "+tt.value, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			s := e.open(nil)
			e.prompt(s, "before")
			before := e.lastRequest(s)
			if !slices.Equal(before.Tools, all) || before.Effort != "" {
				t.Errorf("first request with tools %q and effort %q, want %q and none", before.Tools, before.Effort, all)
			}
			e.set(s, tt.option, tt.value)
			e.prompt(s, "after")
			after := e.lastRequest(s)
			if !slices.Equal(after.Tools, tt.tools) && len(after.Tools)+len(tt.tools) > 0 || after.Effort != tt.effort {
				t.Errorf("next request with tools %q and effort %q, want %q and %q", after.Tools, after.Effort, tt.tools, tt.effort)
			}
		})
	}
	t.Run("model", func(t *testing.T) {
		t.Parallel()
		m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
		e := newEditor(t)
		e.file(configFile, house{Model: "house/m1", Usual: "m2", BaseURL: m.OpenAI(), KeyFile: "key"}.toml())
		e.file(".config/lorimer/key", "sk-test-0123456789")
		e.acp()
		s := e.open(nil)
		e.prompt(s, "one")
		e.set(s, "model", "house/m2")
		e.prompt(s, "two")
		var models []string
		for _, r := range m.Requests() {
			var body struct{ Model string }
			if err := json.Unmarshal(r.Body, &body); err != nil {
				t.Fatal(err)
			}
			models = append(models, body.Model)
		}
		if !slices.Equal(models, []string{"m1", "m2"}) {
			t.Errorf("models that were asked = %q, want m1, then m2", models)
		}
	})
}

// Row 194: modes differ in what they ask; a mode is also an option, and both say
// the same.
func TestRow194Modes(t *testing.T) {
	t.Parallel()
	const work = `{"match": {"contains": "work"}, "tools": [{"name": "read", "args": {"path": "."}},` +
		`{"name": "write", "args": {"path": "w", "content": "x"}}, {"name": "bash", "args": {"command": "touch b"}}], "repeat": true}` + "\n" + always
	tests := []struct {
		mode string
		asks []string
	}{
		{"ask", []string{"edit", "execute"}},
		{"accept-edits", []string{"execute"}},
		{"auto", nil},
		{"read-only", nil},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			e := edit(t, work)
			s := e.open(nil)
			e.allow("allow_once")
			e.call("session/set_mode", object{"sessionId": s, "modeId": tt.mode}, nil)
			e.prompt(s, "work")
			var asked, told []string
			for _, f := range e.heard() {
				var p struct {
					ToolCall struct{ Kind string }
					Update   struct {
						SessionUpdate string
						ConfigOptions []configOption
					}
				}
				if err := json.Unmarshal(f.Params, &p); f.Params != nil && err != nil {
					t.Fatal(err)
				}
				if f.Method == "session/request_permission" {
					asked = append(asked, p.ToolCall.Kind)
				}
				if p.Update.SessionUpdate == "config_option_update" {
					told = append(told, sessionState{ConfigOptions: p.Update.ConfigOptions}.current()["mode"])
				}
			}
			if !slices.Equal(asked, tt.asks) {
				t.Errorf("asked for %q, want %q", asked, tt.asks)
			}
			if want := []string{tt.mode}; tt.mode != "ask" && !slices.Equal(told, want) {
				t.Errorf("modes told as option = %q, want %q", told, want)
			}
			if tt.mode == "read-only" {
				e.absent("w", "b")
			}
		})
	}
	t.Run("as an option", func(t *testing.T) {
		t.Parallel()
		e := edit(t, always)
		s := e.open(nil)
		e.set(s, "mode", "auto")
		e.until("mode update", func(f frameIn) bool {
			return strings.Contains(f.Raw, "current_mode_update") && strings.Contains(f.Raw, `"currentModeId":"auto"`)
		})
	})
}

// Row 194 (R-HARN-06, R-ACP-07): a change in the middle of a turn shows on the
// next send, and one between two prompts that come together shows on the second.
func TestRow194ChangeInTheMiddle(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe; echo got $x"}}]}`+"\n"+always,
		"--mode", "auto")
	s := e.open(nil)
	started, pipe := e.fifo("started"), e.fifo("pipe")
	first := e.send("session/prompt", say(s, "run"))
	started.get()
	waiting := e.send("session/prompt", say(s, "with tools"))
	e.set(s, "tools", "off")
	last := e.send("session/prompt", say(s, "without tools"))
	pipe.put("on")
	for _, id := range []int{first, waiting, last} {
		if f := e.wait(id); f.Error != nil {
			t.Errorf("prompt: %s", f.Raw)
		}
	}
	got := make([]int, 0, 4)
	for _, r := range e.requests(s) {
		got = append(got, len(r.Tools))
	}
	if n := len(allTools()); !slices.Equal(got, []int{n, n, n, 0}) {
		t.Errorf("numbers of tools of the requests = %v, want %d, and none for the last", got, n)
	}
}

// Row 194 and C017: a model that nobody knows is kept and listed; a provider
// alone means its usual model; a key is not looked for before it is needed.
func TestRow194ModelToBeginWith(t *testing.T) {
	t.Parallel()
	tests := []struct {
		model, current string
		works          bool
	}{
		{"openai/no-such-model", "openai/no-such-model", false},
		{"nowhere/m", "nowhere/m", false},
		{"openai", "openai/gpt-6-sol", false},
		{"house", "house/m2", true},
		{"offline", "offline", true},
	}
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	for _, tt := range tests {
		t.Run("C017 "+tt.model, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.file(configFile, house{Model: "offline", Usual: "m2", BaseURL: m.OpenAI(), KeyFile: "key"}.toml())
			e.file(".config/lorimer/key", "sk-test-0123456789")
			e.acp("--model", tt.model)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			s := e.newState()
			i := slices.IndexFunc(s.ConfigOptions, func(o configOption) bool { return o.Category == "model" })
			models := s.ConfigOptions[i].values()
			if s.current()["model"] != tt.current || !slices.Contains(models, tt.current) {
				t.Errorf("model = %q among %q, want %q", s.current()["model"], models, tt.current)
			}
			if slices.Sort(models); len(slices.Compact(models)) != len(s.ConfigOptions[i].Options) {
				t.Errorf("a model is listed twice: %q", s.ConfigOptions[i].values())
			}
			f := e.wait(e.send("session/prompt", say(s.SessionID, "think")))
			if works := f.Error == nil; works != tt.works {
				t.Errorf("prompt: %s, want it to work: %v", f.Raw, tt.works)
			}
			e.set(s.SessionID, "model", "house/m2")
			if stop := e.prompt(s.SessionID, "and now?"); stop != "end_turn" {
				t.Errorf("stop reason with another model = %s, want end_turn", stop)
			}
		})
	}
}

// Row 195 (R-ACP-24), the parts that exist: model and harness of each message
// stand under our key, and under no other does anything stand. A foreign key of
// the client reaches no request.
func TestRow195Meta(t *testing.T) {
	t.Parallel()
	const foreign = "text-under-a-foreign-key"
	meta := object{"example.com": object{"prompt": foreign}, "note": foreign, "lorimer.dev/x": foreign, "traceparent": foreign}
	e := edit(t, `{"match": {"contains": "work"}, "think": "hm", "text": "Looking.", "tools": [{"name": "glob", "args": {"pattern": "*"}}]}`+"\n"+always)
	e.call("initialize", object{"protocolVersion": 1, "_meta": meta,
		"clientInfo":         object{"name": "someone", "version": "1", "_meta": meta},
		"clientCapabilities": object{"_meta": meta, "fs": object{"_meta": meta}}}, nil)
	both := maps.Clone(meta)
	both["lorimer.dev"] = object{"sessionId": "wished", "later": foreign}
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "_meta": both}, &s)
	if s.SessionID != "wished" {
		t.Errorf("session id = %q, want the wished one", s.SessionID)
	}
	for _, text := range []string{"work", "more"} {
		e.call("session/prompt", object{"sessionId": "wished", "_meta": meta, "prompt": []any{
			object{"type": "text", "text": text, "_meta": meta},
			object{"type": "resource", "_meta": meta, "resource": object{"uri": "file:///a", "text": "a", "_meta": meta}},
			object{"type": "resource_link", "uri": "file:///b", "name": "b", "_meta": meta},
		}}, nil)
	}
	type told struct{ Model, Harness string }
	var messages []told
	for _, u := range e.updates("wished") {
		var m struct {
			Ours *told `json:"lorimer.dev"`
		}
		if u.Update.Meta == nil {
			continue
		}
		if err := json.Unmarshal(u.Update.Meta, &m); err != nil {
			t.Fatal(err)
		}
		if m.Ours != nil && u.Update.Kind == "agent_message_chunk" {
			messages = append(messages, *m.Ours)
		}
	}
	model := "script:" + e.home + "/script.jsonl"
	want := []told{{model, "built"}, {model, "built"}, {model, "reused"}}
	if diff := cmp.Diff(want, messages); diff != "" {
		t.Errorf("metadata of the messages (-want +got):\n%s", diff)
	}
	for _, f := range e.heard() {
		var v any
		if err := json.Unmarshal([]byte(f.Raw), &v); err != nil {
			t.Fatal(err)
		}
		for _, key := range metaKeys(v) {
			if key != "lorimer.dev" {
				t.Errorf("a frame has %q in _meta: %s", key, f.Raw)
			}
		}
		if strings.Contains(f.Raw, foreign) {
			t.Errorf("a frame has the text of a foreign key: %s", f.Raw)
		}
	}
	for _, kind := range []string{"model", "turn"} {
		lines := e.trace(kind)
		if len(lines) == 0 {
			t.Errorf("no line of type %s in the trace", kind)
		}
		for _, line := range lines {
			if strings.Contains(string(line), foreign) {
				t.Errorf("a line of the trace has the text of a foreign key: %s", line)
			}
		}
	}
}

// metaKeys returns the keys of all _meta objects in a value.
func metaKeys(v any) (keys []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			if m, ok := member.(map[string]any); ok && k == "_meta" {
				keys = append(keys, slices.Collect(maps.Keys(m))...)
				continue
			}
			keys = append(keys, metaKeys(member)...)
		}
	case []any:
		for _, member := range v {
			keys = append(keys, metaKeys(member)...)
		}
	}
	return keys
}

// Row 195 (R-ACP-33): a prompt that is sent again with the message id of the
// client is not run again, neither while it runs nor afterwards.
func TestRow195MessageID(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "run"}, "tools": [{"name": "bash", "args": {"command": "echo > started; read x < pipe; echo $x >> log"}}], "repeat": true}`+"\n"+always,
		"--mode", "auto")
	s := e.open(nil)
	started, pipe := e.fifo("started"), e.fifo("pipe")
	named := say(s, "run")
	named["_meta"] = namespaced("messageId", "m-1")
	ids := []int{e.send("session/prompt", named)}
	started.get()
	ids = append(ids, e.send("session/prompt", named))
	pipe.put("once")
	e.wait(ids[0])
	ids = append(ids, e.send("session/prompt", named))
	var results []string
	for _, id := range ids {
		results = append(results, string(e.wait(id).Result))
	}
	if slices.Sort(results); len(slices.Compact(results)) != 1 || !strings.Contains(results[0], "end_turn") {
		t.Errorf("results = %q, want the same end_turn for each", results)
	}
	if n := len(e.turns(s)); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
	named["_meta"] = namespaced("messageId", fmt.Sprint("m-", 2))
	named["prompt"] = say(s, "another")["prompt"]
	e.call("session/prompt", named, nil)
	if n := len(e.turns(s)); n != 2 {
		t.Errorf("%d turns after a message with another id, want 2", n)
	}
}
