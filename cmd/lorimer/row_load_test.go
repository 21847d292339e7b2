//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// state returns whether a session is open or saved.
func (e *editor) state(session string) string {
	e.t.Helper()
	var s struct{ Status string }
	e.call("session/status", object{"sessionId": session}, &s)
	return s.Status
}

// Row 177 (R-ACP-13, R-ACP-15): what one process has told of a session, the next
// one replays in the same order and before it answers; to resume tells nothing.
// Both go on with all that was said.
func TestRow177LoadAndResume(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.seed("a.txt", "one\ntwo\n")
	model := "script:" + e.file("script.jsonl", strings.Join([]string{
		`{"match": {"contains": "look"}, "think": ["hm ", "so"], "text": "I look.", "tools": [{"name": "read", "args": {"path": "a.txt"}}, {"name": "bash", "args": {"command": "echo out; exit 3"}}]}`,
		`{"match": {"contains": "status 3"}, "text": ["It has ", "two lines."]}`, `{"text": "fine", "repeat": true}`}, "\n"))
	e.acp("--model", model, "--mode", "auto")
	s := e.open(nil)
	for _, text := range []string{"look at a.txt", "and now?"} {
		if stop := e.prompt(s, text); stop != "end_turn" {
			t.Fatalf("stop reason = %s, want end_turn", stop)
		}
	}
	live := e.record(s, len(e.heard()))
	if len(live.calls) != 2 || len(live.texts) != 4 {
		t.Fatalf("the turns told of %d calls and %d messages, want 2 and 4: %q", len(live.calls), len(live.texts), live.order)
	}

	second := e.restart("--model", model, "--mode", "auto")
	if got := second.state(s); got != "saved" {
		t.Errorf("status before it is opened = %s, want saved", got)
	}
	id := second.send("session/load", second.where(s))
	answer := second.wait(id)
	replay := second.record(s, answer.N)
	checkReplay(t, live, replay)
	if diff := cmp.Diff([]string{"look at a.txt", "and now?"}, replay.said); diff != "" {
		t.Errorf("messages of the user in the replay (-want +got):\n%s", diff)
	}
	second.sync()
	if late := second.record(s, len(second.heard())); len(late.order) != len(replay.order) {
		t.Errorf("the replay went on after its answer: %q, before it %q", late.order, replay.order)
	}
	if got := second.state(s); got != "open" {
		t.Errorf("status of the loaded session = %s, want open", got)
	}
	second.prompt(s, "third")
	checkResults(t, second.lastRequest(s))

	third := second.restart("--model", model)
	answer = third.wait(third.send("session/resume", third.where(s)))
	if got := third.record(s, answer.N); answer.Error != nil || len(got.order) > 0 {
		t.Errorf("session/resume answers %s and tells of %q, want nothing", answer.Raw, got.order)
	}
	third.prompt(s, "fourth")
	msgs := third.lastRequest(s).Messages
	var asked []string
	for _, m := range msgs {
		if m.Role == "user" {
			asked = append(asked, m.text())
		}
	}
	for i, want := range []string{"look at a.txt", "and now?", "third", "fourth"} {
		if len(asked) != 4 || !strings.Contains(asked[i], want) {
			t.Fatalf("messages of the user in the request = %q, want all four", asked)
		}
	}
	if diff := cmp.Diff([]string{"built", "reused", "built", "built"}, third.harnesses(s)); diff != "" {
		t.Errorf("harnesses of the three processes (-want +got):\n%s", diff)
	}
}

// C001 (R-ACP-15): what was never made is not loaded, and nothing is made of it;
// a session without a message is there.
func TestC001LoadOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	empty := e.open(nil)
	next := e.restart("--model", model)
	for _, method := range []string{"session/load", "session/resume"} {
		missing(t, method, next.wait(next.send(method, next.where("wellformed-but-never-made"))))
		f := next.wait(next.send(method, next.where("../../etc/x")))
		if f.Error == nil || f.Error.Code != -32602 {
			t.Errorf("%s of a path: %s, want -32602", method, f.Raw)
		}
	}
	if got := next.list(object{}); !slices.Equal(got, []string{empty}) {
		t.Errorf("sessions = %q, want %q alone", got, empty)
	}
	if r := next.load(empty); len(r.order) > 0 {
		t.Errorf("the empty session tells of %q, want nothing", r.order)
	}
	if stop := next.prompt(empty, "hello"); stop != "end_turn" {
		t.Errorf("stop reason in the empty session = %s, want end_turn", stop)
	}
}

// C008 (R-ACP-15): a load of a session whose turn runs, or is being cancelled,
// waits for it and tells all of it. There is one harness.
func TestC008LoadWhileATurnEnds(t *testing.T) {
	t.Parallel()
	for _, cancel := range []bool{true, false} {
		t.Run(fmt.Sprint("cancelled ", cancel), func(t *testing.T) {
			t.Parallel()
			// The command goes on for a while after the polite signal.
			e := edit(t, step("bash", object{"command": `trap "" TERM; echo up > up; read x < pipe; echo $x`})+"\n"+always, "--mode", "auto")
			s := e.open(nil)
			up, pipe := e.fifo("up"), e.fifo("pipe")
			turn := e.send("session/prompt", say(s, "work"))
			up.get()
			if cancel {
				e.notify("session/cancel", object{"sessionId": s})
			}
			load := e.send("session/load", e.where(s))
			next := e.send("session/prompt", say(s, "next"))
			if !cancel {
				pipe.put("let go")
			}
			ended, loaded := e.wait(turn), e.wait(load)
			want := map[bool]string{true: "cancelled", false: "end_turn"}[cancel]
			if stop := stopReason(t, ended); stop != want {
				t.Errorf("stop reason = %s, want %s", stop, want)
			}
			if loaded.Error != nil || loaded.N < ended.N {
				t.Errorf("the load was answered at place %d with %s, want it after the turn's answer at %d", loaded.N, loaded.Raw, ended.N)
			}
			told := map[string]int{}
			for _, f := range e.heard()[ended.N:loaded.N] {
				for _, kind := range []string{"user_message_chunk", `"tool_call"`} {
					told[kind] += strings.Count(f.Raw, kind)
				}
			}
			if told["user_message_chunk"] != 1 || told[`"tool_call"`] != 1 {
				t.Errorf("the load told of %v, want the message and the call", told)
			}
			if stop := stopReason(t, e.wait(next)); stop != "end_turn" {
				t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
			}
			checkResults(t, e.lastRequest(s))
			if diff := cmp.Diff([]string{"built", "reused"}, e.harnesses(s)); diff != "" {
				t.Errorf("harnesses (-want +got):\n%s", diff)
			}
		})
	}
}

// C009 (R-ACP-15): a session that is loaded in another directory works there, in
// a process of its own or where it is open; the model is told, and the list has
// it there. A relative directory is refused and changes nothing.
func TestC009LoadInAnotherDirectory(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} {
		for _, method := range []string{"session/load", "session/resume"} {
			t.Run(fmt.Sprintf("%s while open %v", method, open), func(t *testing.T) {
				t.Parallel()
				e := edit(t, steps(bash("pwd > where"))+"\n"+steps(bash("pwd > where"))+"\n"+always, "--mode", "auto")
				e.call("initialize", object{"protocolVersion": 1}, nil)
				a, b := t.TempDir(), t.TempDir()
				var made struct{ SessionID string }
				e.call("session/new", object{"cwd": a, "mcpServers": []any{}}, &made)
				s := made.SessionID
				e.prompt(s, "where?")
				next := e
				if !open {
					next = e.restart("--model", "script:"+e.file("script.jsonl", steps(bash("pwd > where"))+"\n"+always), "--mode", "auto")
				}
				for _, wrong := range []string{"relative", "./b", "~"} {
					f := next.wait(next.send(method, object{"sessionId": s, "cwd": wrong, "mcpServers": []any{}}))
					if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "cwd") {
						t.Errorf("%s in %q: %s, want -32602 that names cwd", method, wrong, f.Raw)
					}
				}
				if got := next.list(object{"cwd": a}); !slices.Equal(got, []string{s}) {
					t.Errorf("sessions of the old directory before the load = %q, want it", got)
				}
				next.call(method, object{"sessionId": s, "cwd": b, "mcpServers": []any{}}, nil)
				if stop := next.prompt(s, "and where now?"); stop != "end_turn" {
					t.Fatalf("stop reason = %s, want end_turn", stop)
				}
				for _, dir := range []string{a, b} {
					got, err := os.ReadFile(filepath.Join(dir, "where"))
					if err != nil || strings.TrimSpace(string(got)) != dir {
						t.Errorf("the command in %s wrote %q (%v)", dir, got, err)
					}
				}
				r := next.lastRequest(s)
				var asked []string
				for _, m := range r.Messages {
					if m.Role == "user" {
						asked = append(asked, m.text())
					}
				}
				if !strings.Contains(r.System, b) || strings.Contains(r.System, a) || len(asked) != 2 || !strings.Contains(asked[1], b) {
					t.Errorf("the model was told %q after %q, want a word of %s", asked, r.System, b)
				}
				if here, there := next.list(object{"cwd": a}), next.list(object{"cwd": b}); len(here) != 0 || !slices.Equal(there, []string{s}) {
					t.Errorf("sessions of the old directory = %q, of the new one %q, want it in the new one alone", here, there)
				}
			})
		}
	}
}

// C016 (R-ACP-18): each way to open a session answers with the same options and
// with the values that were chosen, in every process, and so does each change.
func TestC016OptionsOfEachOpening(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	fresh := e.newState()
	s := fresh.SessionID
	chosen := map[string]string{"mode": "accept-edits", "model": "offline", "thinking": "high", "tools": "off", "citations": "linked", "voice": "on"}
	var changed sessionState
	for id, value := range chosen {
		changed = e.set(s, id, value)
		if len(changed.ConfigOptions) != len(fresh.ConfigOptions) {
			t.Errorf("a change of %s answers with %d options, want all %d", id, len(changed.ConfigOptions), len(fresh.ConfigOptions))
		}
	}
	if diff := cmp.Diff(chosen, changed.current()); diff != "" {
		t.Errorf("options after the changes (-want +got):\n%s", diff)
	}
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		next := e.restart("--model", model)
		var got sessionState
		next.call(method, next.where(s), &got)
		if diff := cmp.Diff(changed.ConfigOptions, got.ConfigOptions); diff != "" {
			t.Errorf("options of %s (-after the change +got):\n%s", method, diff)
		}
		if got.Modes.CurrentModeID != "accept-edits" {
			t.Errorf("mode of %s = %q, want accept-edits", method, got.Modes.CurrentModeID)
		}
		e = next
	}
	e.load(s)
	e.set(s, "tools", "on")
	chosen["tools"] = "on"
	var got sessionState
	next := e.restart("--model", model)
	next.call("session/resume", next.where(s), &got)
	if diff := cmp.Diff(chosen, got.current()); diff != "" {
		t.Errorf("options after a change in another process (-want +got):\n%s", diff)
	}
}

// C017: a session whose model is not known any more opens with it, says so when
// it is asked, and goes on with another.
func TestC017LoadWithAModelThatIsGone(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.file(configFile, house{Model: "house/m1", Usual: "m1", BaseURL: "http://127.0.0.1:9/v1", KeyFile: "key"}.toml())
	e.file(".config/lorimer/key", "sk-test-0123456789")
	e.acp()
	s := e.open(nil)
	e.set(s, "model", "house/m1")
	e.file(configFile, "model = \"offline\"\n")
	next := e.restart()
	var got sessionState
	next.call("session/load", next.where(s), &got)
	i := slices.IndexFunc(got.ConfigOptions, func(o configOption) bool { return o.Category == "model" })
	if o := got.ConfigOptions[i]; o.CurrentValue != "house/m1" || !slices.Contains(o.values(), "house/m1") {
		t.Errorf("model = %q among %q, want house/m1 still", o.CurrentValue, o.values())
	}
	f := next.wait(next.send("session/prompt", say(s, "hello")))
	if code(f) != "MODEL_UNAVAILABLE" || !strings.Contains(f.Raw, `there is no provider \"house\"`) {
		t.Errorf("prompt: %s, want MODEL_UNAVAILABLE that names it", f.Raw)
	}
	next.set(s, "model", "offline")
	if stop := next.prompt(s, "stream 3 words"); stop != "end_turn" {
		t.Errorf("stop reason with another model = %s, want end_turn", stop)
	}
}

// C024 (R-ACP-17): two sessions stream at the same time, and are replayed at the
// same time by another process. Each is told its own in its own order.
func TestC024TwoSessionsAtOnce(t *testing.T) {
	t.Parallel()
	var script strings.Builder
	want := map[string]string{}
	names := []string{"left", "right"}
	for _, name := range names {
		var pieces []string
		for i := range 200 {
			pieces = append(pieces, fmt.Sprintf("%q", fmt.Sprint(name, i, " ")))
			want[name] += fmt.Sprint(name, i, " ")
		}
		fmt.Fprintf(&script, `{"match": {"contains": "go %s"}, "text": [%s]}`+"\n", name, strings.Join(pieces, ", "))
	}
	e := edit(t, script.String())
	e.call("initialize", object{"protocolVersion": 1}, nil)
	sessions, asked := map[string]string{}, map[string]int{}
	for _, name := range names {
		sessions[name] = e.session()
	}
	for _, name := range names {
		asked[name] = e.send("session/prompt", say(sessions[name], "go "+name))
	}
	live := map[string]*record{}
	for _, name := range names {
		e.wait(asked[name])
		if got := e.text(sessions[name]); got != want[name] {
			t.Errorf("the session %s was told %q", name, got)
		}
	}
	for _, name := range names {
		live[name] = e.record(sessions[name], len(e.heard()))
	}
	next := e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
	loads := map[string]int{}
	for _, name := range names {
		loads[name] = next.send("session/load", next.where(sessions[name]))
	}
	for _, name := range names {
		f := next.wait(loads[name])
		got := next.record(sessions[name], f.N)
		checkReplay(t, live[name], got)
		if !slices.Equal(got.said, []string{"go " + name}) || next.text(sessions[name]) != want[name] {
			t.Errorf("the replay of %s has %q and the answer %q", name, got.said, next.text(sessions[name]))
		}
	}
}
