//go:build unix

package main

import (
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

// missing checks that an answer says that there is no such session.
func missing(t *testing.T, method string, f frameIn) {
	t.Helper()
	if f.Error == nil || f.Error.Code != -32002 || code(f) != "SESSION_NOT_FOUND" {
		t.Errorf("%s of a session that is not there: %s, want -32002 SESSION_NOT_FOUND", method, f.Raw)
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
