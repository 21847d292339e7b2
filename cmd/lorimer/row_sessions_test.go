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

// A listedSession is what session/list says of a session.
type listedSession struct {
	SessionID, Cwd, Title, UpdatedAt string
	Archived                         bool
}

// listing returns the sessions of the first page of a list.
func (e *editor) listing(params object) []listedSession {
	e.t.Helper()
	var page struct{ Sessions []listedSession }
	e.call("session/list", params, &page)
	return page.Sessions
}

// again returns an editor whose agent has the home, the workspace and the
// environment of e: the same program, started once more.
func (e *editor) again() *editor {
	e.t.Helper()
	other := e.another()
	other.home = e.home
	return other
}

// restart ends the agent, which must leave with 0, and starts the next one with
// the flags.
func (e *editor) restart(flags ...string) *editor {
	e.t.Helper()
	if code := e.leave(); code != 0 {
		e.t.Errorf("exit code %d, want 0", code)
	}
	next := e.again()
	next.acp(flags...)
	next.call("initialize", object{"protocolVersion": 1}, nil)
	return next
}

// where is the parameters of a method that opens a stored session in the
// workspace.
func (e *editor) where(session string) object {
	return object{"sessionId": session, "cwd": e.cwd, "mcpServers": []any{}}
}

// state returns whether a session is open or saved.
func (e *editor) state(session string) string {
	e.t.Helper()
	var s struct{ Status string }
	e.call("session/status", object{"sessionId": session}, &s)
	return s.Status
}

// missing checks that an answer says that there is no such session.
func missing(t *testing.T, method string, f frameIn) {
	t.Helper()
	if f.Error == nil || f.Error.Code != -32002 || code(f) != "SESSION_NOT_FOUND" {
		t.Errorf("%s of a session that is not there: %s, want -32002 SESSION_NOT_FOUND", method, f.Raw)
	}
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

// Row 177 (R-ACP-16, R-ACP-34): titles, archive and status hold beyond the
// process, for sessions that are open and for those that are not; what is deleted
// stays so.
func TestRow177Library(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	first := e.open(nil)
	second := e.session()
	e.prompt(first, "What is the first about?")
	e.prompt(second, "What is the second about?")
	for _, l := range e.listing(object{}) { // what a list has is told in the turn that gave it
		var told []string
		for _, u := range e.updates(l.SessionID) {
			if u.Update.Kind == "session_info_update" {
				told = append(told, u.Update.Title)
			}
		}
		if !slices.Equal(told, []string{l.Title}) {
			t.Errorf("titles of %s that were told = %q, want %q", l.SessionID, told, l.Title)
		}
	}
	var titled struct{ Title string }
	e.call("session/set_title", object{"sessionId": first, "title": "  The\nfirst\tof all "}, &titled)
	if titled.Title != "The first of all" {
		t.Errorf("title = %q, want it on one line", titled.Title)
	}
	e.until("session_info_update", func(f frameIn) bool {
		return strings.Contains(f.Raw, `"session_info_update"`) && strings.Contains(f.Raw, "The first of all")
	})
	e.call("session/archive", object{"sessionId": second}, nil)
	if got := e.state(second); got != "saved" {
		t.Errorf("status of the archived session = %s, want saved", got)
	}
	missing(t, "session/prompt", e.wait(e.send("session/prompt", say(second, "x"))))

	next := e.restart("--model", model)
	next.load(first)
	next.prompt(first, "Call it otherwise")
	if got := next.listing(object{}); len(got) != 1 || got[0].SessionID != first || got[0].Title != "The first of all" || got[0].Cwd != e.cwd {
		t.Errorf("list = %+v, want the session that is not archived, with its title", got)
	}
	if got := next.listing(object{"archived": "only"}); len(got) != 1 || got[0].SessionID != second || !got[0].Archived || got[0].Title != "What is the second about?" {
		t.Errorf("list of the archived = %+v, want the other one", got)
	}
	next.call("session/set_title", object{"sessionId": second, "title": "Second"}, nil)
	next.call("session/unarchive", object{"sessionId": second}, nil)
	for _, id := range []string{first, second} {
		if got := next.list(object{}); len(got) != 2 || !slices.Contains(got, id) {
			t.Errorf("list = %q, want both", got)
		}
	}
	next.call("session/delete", object{"sessionId": first}, nil)
	next.call("session/delete", object{"sessionId": first}, nil) // as good as deleted
	missing(t, "session/prompt", next.wait(next.send("session/prompt", say(first, "x"))))

	last := next.restart("--model", model)
	if got := last.listing(object{}); len(got) != 1 || got[0].Title != "Second" {
		t.Errorf("list = %+v, want the one that is left", got)
	}
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		missing(t, method, last.wait(last.send(method, last.where(first))))
	}
	for _, method := range []string{"session/status", "session/archive", "session/unarchive"} {
		missing(t, method, last.wait(last.send(method, object{"sessionId": first})))
	}
	missing(t, "session/set_title", last.wait(last.send("session/set_title", object{"sessionId": first, "title": "x"})))
	last.call("session/delete", object{"sessionId": "nobody"}, nil)
}

// Row 177 (R-ACP-16): to close, archive or delete a session ends what runs in it.
// What was closed or archived is stored as far as it came, and can be loaded, by
// the same process too.
func TestRow177Close(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"session/close", "session/archive", "session/delete"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			e := edit(t, step("bash", object{"command": "echo $$ > up; read x < pipe; touch ran-on"})+"\n"+always, "--mode", "auto")
			s := e.open(nil)
			up := e.fifo("up")
			e.fifo("pipe")
			id := e.send("session/prompt", say(s, "work"))
			e.file("pid", up.get())
			closed := e.wait(e.send(method, object{"sessionId": s}))
			if stop := stopReason(t, e.wait(id)); stop != "cancelled" || closed.Error != nil {
				t.Errorf("stop reason of the prompt = %s after %s, want cancelled", stop, closed.Raw)
			}
			e.dead("pid")
			missing(t, "session/prompt", e.wait(e.send("session/prompt", say(s, "x"))))
			missing(t, "session/close", e.wait(e.send("session/close", object{"sessionId": s})))
			if method == "session/delete" {
				missing(t, "session/load", e.wait(e.send("session/load", e.where(s))))
				return
			}
			r := e.load(s)
			if !slices.Equal(r.said, []string{"work"}) || len(r.calls) != 1 {
				t.Errorf("the load tells of %q and %d calls, want the turn that was ended", r.said, len(r.calls))
			}
			if stop := e.prompt(s, "next"); stop != "end_turn" {
				t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
			}
			checkResults(t, e.lastRequest(s))
			e.absent("ran-on")
			if diff := cmp.Diff([]string{"built", "built"}, e.harnesses(s)); diff != "" {
				t.Errorf("harnesses (-want +got):\n%s", diff)
			}
		})
	}
}

// Row 177 and C053 (R-ACP-16): a fork ends before the message of the user that is
// named, by the id that the client gave it or was told with the answer, and that a
// replay has too, and goes on apart. The session that it was taken from stays as
// it is, to the byte.
func TestC053ForkAtAMessage(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(bash("echo one >> log"))+"\n"+always, "--mode", "auto")
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	s := e.open(nil)
	said := []string{"first", "second", "third"}
	var ids []string
	for i, text := range said {
		params := say(s, text)
		if i != 1 { // which gets an id of the agent's
			params["_meta"] = namespaced("messageId", fmt.Sprint("wished-", i+1))
		}
		var answer struct {
			Meta map[string]struct{ MessageID string } `json:"_meta"`
		}
		e.call("session/prompt", params, &answer)
		ids = append(ids, answer.Meta["lorimer.dev"].MessageID)
	}
	if ids[0] != "wished-1" || ids[1] == "" || ids[2] != "wished-3" {
		t.Fatalf("ids of the messages told with the answers = %q, want those that were wished, and one made up", ids)
	}
	before := e.prints("session", "export", s, "--reasoning")

	e.file("script.jsonl", always)
	next := e.restart("--model", model)
	told := next.load(s)
	var users []string
	for _, id := range told.order {
		if slices.Contains(said, told.texts[id]) {
			users = append(users, id)
		}
	}
	if diff := cmp.Diff(ids, users); diff != "" {
		t.Fatalf("ids of the user's messages in the replay (-want +got):\n%s", diff)
	}
	answer := told.order[slices.Index(told.order, ids[1])+1]
	tests := []struct {
		at    string
		said  []string
		calls int
	}{
		{ids[0], nil, 0},
		{ids[1], said[:1:1], 1},
		{answer, said[:2:2], 1},
		{"", said[:3:3], 1},
	}
	for _, tt := range tests {
		params := next.where(s)
		if tt.at != "" {
			params["_meta"] = namespaced("messageId", tt.at)
		}
		var fork sessionState
		next.call("session/fork", params, &fork)
		if fork.SessionID == s || fork.SessionID == "" || len(fork.ConfigOptions) == 0 {
			t.Fatalf("session/fork at %q answers %+v, want an id of its own and the options", tt.at, fork)
		}
		if stop := next.prompt(fork.SessionID, "anew"); stop != "end_turn" {
			t.Errorf("stop reason in the fork at %q = %s, want end_turn", tt.at, stop)
		}
		r := next.load(fork.SessionID)
		if !slices.Equal(r.said, append(tt.said, "anew")) || len(r.calls) != tt.calls {
			t.Errorf("the fork at %q has %q and %d calls, want %q before the new message and %d", tt.at, r.said, len(r.calls), tt.said, tt.calls)
		}
	}
	for _, wrong := range []string{"nothing", "wished-4", "../x"} {
		params := next.where(s)
		params["_meta"] = namespaced("messageId", wrong)
		if f := next.wait(next.send("session/fork", params)); f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "messageId") {
			t.Errorf("session/fork at %q: %s, want -32602 that names messageId", wrong, f.Raw)
		}
	}
	if got := len(next.list(object{})); got != 1+len(tests) {
		t.Errorf("%d sessions are listed, want the session and its %d forks", got, len(tests))
	}
	if after := e.prints("session", "export", s, "--reasoning"); after != before {
		t.Errorf("the session has changed by its forks (-before +after):\n%s", cmp.Diff(before, after))
	}
	if got := e.disk("log"); got != "one\n" {
		t.Errorf("log = %q: a call ran again", got)
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

// C015 (R-ACP-16): the directory of the request decides what is listed, however
// it is written; the last used is first; pages have each session once, also when
// some are used between them.
func TestC015ListOfAWorkspace(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	made := map[string][]string{}
	add := func(where string) {
		var s struct{ SessionID string }
		e.call("session/new", object{"cwd": dirs[where], "mcpServers": []any{}}, &s)
		made[where] = append([]string{s.SessionID}, made[where]...)
	}
	for range 60 { // more than a page of each
		add("a")
		add("b")
	}
	next := e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
	for where, written := range map[string]string{"a": dirs["a"], "b": dirs["b"] + "/./"} {
		if got := next.list(object{"cwd": written}); !slices.Equal(got, made[where]) {
			t.Errorf("sessions of %s = %q, want %q", written, got, made[where])
		}
	}
	if got := next.list(object{"cwd": next.cwd}); len(got) > 0 {
		t.Errorf("sessions of the directory of the process = %q, want none", got)
	}
	if got := next.list(object{}); len(got) != 120 {
		t.Errorf("%d sessions in all directories, want 120", len(got))
	}

	oldest := made["a"][len(made["a"])-1]
	next.call("session/resume", object{"sessionId": oldest, "cwd": dirs["a"], "mcpServers": []any{}}, nil)
	var first struct {
		Sessions   []listedSession
		NextCursor string
	}
	next.call("session/list", object{"cwd": dirs["a"]}, &first)
	next.prompt(oldest, "it is used now")
	rest := next.list(object{"cwd": dirs["a"], "cursor": first.NextCursor})
	seen := map[string]int{}
	for _, s := range first.Sessions {
		seen[s.SessionID]++
	}
	for _, id := range rest {
		seen[id]++
	}
	for _, id := range made["a"] {
		if seen[id] != 1 && id != oldest || seen[id] > 1 {
			t.Errorf("session %s is on the pages %d times, want once", id, seen[id])
		}
	}
	if got := next.listing(object{"cwd": dirs["a"]})[0]; got.SessionID != oldest || got.Title != "it is used now" {
		t.Errorf("the first of the list = %+v, want the one used last", got)
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
	chosen := map[string]string{"mode": "accept-edits", "model": "offline", "thinking": "high", "tools": "off"}
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
