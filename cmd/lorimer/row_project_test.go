//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt/attach"
)

// bound makes a session in a directory, with what its client says of it.
func (e *editor) bound(dir string, ours object) string {
	e.t.Helper()
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": dir, "mcpServers": []any{}, "_meta": object{"lorimer.dev": ours}}, &s)
	return s.SessionID
}

// headings returns the headings of a system prompt, in order.
func headings(system string) (all []string) {
	for line := range strings.Lines(system) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			all = append(all, strings.TrimSpace(title))
		}
	}
	return all
}

// below returns what a system prompt says under the heading that begins so, up to
// the next one, or "".
func below(system, heading string) string {
	_, text, ok := strings.Cut("\n"+system, "\n# "+heading)
	if !ok {
		return ""
	}
	_, text, _ = strings.Cut(text, "\n")
	text, _, _ = strings.Cut(text, "\n# ")
	return strings.TrimSpace(text)
}

// sent sends a message and returns the system prompt that went with it.
func (e *editor) sent(session, text string) string {
	e.t.Helper()
	if stop := e.prompt(session, text); stop != "end_turn" {
		e.t.Fatalf("stop reason = %s, want end_turn", stop)
	}
	return e.lastRequest(session).System
}

// changes returns what became of the harness in each turn of a session, with what
// was changed.
func (e *editor) changes(session string) (all []string) {
	e.t.Helper()
	for _, l := range e.turns(session) {
		all = append(all, strings.TrimSpace(l.Harness+" "+strings.Join(l.Changed, ",")))
	}
	return all
}

const changed = "rebuilt stablePrompt"

// notices returns what the program has told of itself in a session, not the model.
func (e *editor) notices(session string) (all []string) {
	e.t.Helper()
	for _, u := range e.updates(session) {
		if !strings.HasPrefix(u.Update.MessageID, "notice-") {
			continue
		}
		var c struct{ Text string }
		if err := json.Unmarshal(u.Update.Content, &c); err != nil {
			e.t.Fatal(err)
		}
		all = append(all, strings.TrimSpace(c.Text))
	}
	return all
}

// Row 9 (R-PROMPT-23, R-PROMPT-28): the section of the project stands after that of
// the context. What the user edits while a session is open counts for its next
// message, and is the one reason to rebuild; the messages stay.
func TestRow009ProjectOfTheDirectory(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	src := filepath.Join(e.cwd, "src")
	if err := os.Mkdir(src, 0o700); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(e.prints("project", "add", "Web shop", "--instructions", "Prices are in {{cents}}.\n# Not a heading of the prompt"))
	e.open(nil)
	s := e.bound(src, nil)
	first := e.sent(s, "one")
	all := headings(first)
	if at := slices.Index(all, "Project: Web shop"); at < 1 || all[at-1] != "Context" {
		t.Errorf("headings = %q, want that of the project after Context", all)
	}
	if last := all[len(all)-1]; !strings.HasPrefix(last, "Conversation") && !strings.HasPrefix(last, "Environment") {
		t.Errorf("the last heading = %q", last)
	}
	holds(t, "the prompt", first, "# Project: Web shop", "apply to every message", "<instructions>\nPrices are in {{cents}}.\n", "\n</instructions>")
	lacks(t, "the prompt", first, "search_project_chats")
	e.sent(s, "two")

	edits := []struct {
		args       []string
		says, not  string
		heading    string
		asAtTurnOf int // whose signature is the same again; 0 is a new one
	}{
		{[]string{"--instructions", "In euro."}, "In euro.", "{{cents}}", "Project: Web shop", 0},
		{[]string{"--name", "Shop | <x>"}, "In euro.", "{{cents}}", "Project: Shop | <x>", 0},
		{[]string{"--name", "Web shop", "--instructions", "Prices are in {{cents}}.\n# Not a heading of the prompt"}, "{{cents}}", "In euro.", "Project: Web shop", 1},
		{[]string{"--instructions", ""}, "", "{{cents}}", "", 0},
		{[]string{"--instructions", "Back.", "--remove-dir", e.cwd}, "", "Back.", "", 5},
		{[]string{"--dir", src}, "Back.", "In euro.", "Project: Web shop", 0},
	}
	wants := []string{"built", "reused"}
	for i, tt := range edits {
		e.prints(append([]string{"project", "edit", id}, tt.args...)...)
		got := e.sent(s, fmt.Sprint("edit ", i))
		if has := slices.ContainsFunc(headings(got), func(h string) bool { return strings.HasPrefix(h, "Project") }); has != (tt.heading != "") ||
			has && !slices.Contains(headings(got), tt.heading) {
			t.Errorf("headings after edit %d = %q, want %q", i, headings(got), tt.heading)
		}
		holds(t, "the prompt", got, tt.says)
		lacks(t, "the prompt", got, tt.not)
		turns := e.turns(s)
		if tt.asAtTurnOf == 5 { // a project without a word is as none
			wants = append(wants, "reused")
		} else {
			wants = append(wants, changed)
		}
		if tt.asAtTurnOf == 1 && turns[0].Signature != turns[len(turns)-1].Signature {
			t.Error("the signature of the first text is not that of the same text again")
		}
	}
	e.sent(s, "and on")
	wants = append(wants, "reused")
	e.prints("project", "delete", id)
	if got := e.sent(s, "without"); strings.Contains(got, "\n# Project") || strings.Contains(got, "Back.") {
		t.Errorf("a project that was deleted is told:\n%s", got)
	}
	if diff := cmp.Diff(append(wants, changed), e.changes(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
	checkOnce(t, e.lastRequest(s), []string{"one", "two", "edit 0", "edit 1", "edit 2", "edit 3", "edit 4", "edit 5", "and on", "without"})
}

// Row 9 (M-18): a session joins the project of the nearest directory, by the path
// that its links lead to as well; one that its client names, by id or name, counts
// before that, wherever the session is.
func TestRow009ProjectByName(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	inner, link := filepath.Join(e.cwd, "a", "inner"), filepath.Join(t.TempDir(), "link")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(inner, link); err != nil {
		t.Fatal(err)
	}
	e.prints("project", "add", "Outer", "--instructions", "I am outer.")
	e.prints("project", "add", "The inner one", "--dir", inner, "--instructions", "I am inner.")
	e.prints("project", "add", "Far", "--no-dir", "--instructions", "I am far.")
	e.prints("project", "add", "Silent", "--no-dir")
	e.open(nil)
	elsewhere := t.TempDir()
	tests := []struct {
		name, dir string
		ours      object
		want      string // "" is no section
	}{
		{"the directory", e.cwd, nil, "I am outer."},
		{"a directory below", filepath.Dir(inner), nil, "I am outer."},
		{"the nearest", inner, nil, "I am inner."},
		{"through a link", link, nil, "I am inner."},
		{"nowhere", elsewhere, nil, ""},
		{"by id", elsewhere, object{"project": "the-inner-one"}, "I am inner."},
		{"by name", elsewhere, object{"project": "The inner one"}, "I am inner."},
		{"named before that of the directory", inner, object{"project": "far"}, "I am far."},
		{"one with nothing to say", inner, object{"project": "silent"}, ""},
		{"an empty name is none", inner, object{"project": ""}, "I am inner."},
	}
	for _, tt := range tests {
		got := e.sent(e.bound(tt.dir, tt.ours), "hello")
		var said []string
		for _, text := range []string{"I am outer.", "I am inner.", "I am far."} {
			if strings.Contains(got, text) {
				said = append(said, text)
			}
		}
		if want := strings.Fields(tt.want); len(said) != min(len(want), 1) || tt.want != "" && said[0] != tt.want || strings.Contains(got, "# Project") != (tt.want != "") {
			t.Errorf("%s: the prompt says %q, want %q", tt.name, said, tt.want)
		}
	}
	refused := []struct {
		name string
		ours object
	}{
		{"one that is not there", object{"project": "nosuch"}},
		{"another case", object{"project": "the inner one"}},
		{"a number", object{"project": 7}},
		{"null", object{"project": []any{"far"}}},
	}
	for _, tt := range refused {
		f := e.wait(e.send("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": object{"lorimer.dev": tt.ours}}))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, `_meta["lorimer.dev"].project`) {
			t.Errorf("%s: %s, want -32602 that names the field", tt.name, f.Raw)
		}
	}
	if n := len(e.list(object{})); n != len(tests)+1 {
		t.Errorf("%d sessions, want %d: what is refused makes none", n, len(tests)+1)
	}
}

// Row 9: a session stays in the project that its client has named, in the next
// process and as a fork, until a client names another. One that is gone by then is
// told once, and the session goes on.
func TestRow009ProjectStays(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	model := "script:" + filepath.Join(e.home, "script.jsonl")
	for _, name := range []string{"First", "Second"} {
		e.prints("project", "add", name, "--no-dir", "--instructions", "I am the "+name+".")
	}
	e.open(nil)
	s := e.bound(e.cwd, object{"project": "first"})
	e.sent(s, "hello")

	e = e.restart("--model", model)
	e.load(s)
	holds(t, "the prompt of the next process", e.sent(s, "again"), "I am the First.")
	var fork struct{ SessionID string }
	e.call("session/fork", e.where(s), &fork)
	holds(t, "the prompt of the fork", e.sent(fork.SessionID, "as a fork"), "I am the First.")
	e.call("session/close", object{"sessionId": s}, nil)
	moved := e.where(s)
	moved["_meta"] = namespaced("project", "second")
	e.call("session/resume", moved, nil)
	holds(t, "the prompt of what was moved", e.sent(s, "moved"), "I am the Second.")

	e = e.restart("--model", model)
	e.load(s)
	holds(t, "the prompt of what was moved, in the next process", e.sent(s, "again"), "I am the Second.")
	holds(t, "the prompt of the fork's origin", e.prints("prompt", "render", "--session", fork.SessionID), "I am the First.")

	e.prints("project", "delete", "first", "second")
	e = e.restart("--model", model)
	e.load(s)
	for range 2 {
		if got := e.sent(s, "without"); strings.Contains(got, "I am the") {
			t.Errorf("a project that was deleted is told:\n%s", got)
		}
	}
	if got := e.notices(s); len(got) != 1 || !strings.Contains(got[0], `project "second"`) {
		t.Errorf("notices = %q, want one of the project that is gone", got)
	}
	f := e.wait(e.send("session/load", object{"sessionId": fork.SessionID, "cwd": e.cwd, "mcpServers": []any{}, "_meta": namespaced("project", "first")}))
	if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, "first") {
		t.Errorf("load with a project that was deleted: %s, want -32602 that names it", f.Raw)
	}
}

// Row 9 (R-HARN-06): an edit in the middle of a turn counts for the next message.
func TestRow009EditInTheMiddle(t *testing.T) {
	t.Parallel()
	e := edit(t, bash("echo > started; read x < pipe")+"\n"+always, "--mode", "auto")
	e.prints("project", "add", "P", "--instructions", "Before.")
	s := e.open(nil)
	started, pipe := e.fifo("started"), e.fifo("pipe")
	id := e.send("session/prompt", say(s, "run"))
	started.get()
	e.prints("project", "edit", "p", "--instructions", "After.")
	pipe.put("on")
	if f := e.wait(id); f.Error != nil {
		t.Fatalf("prompt: %s", f.Raw)
	}
	e.sent(s, "next")
	var said []string
	for _, r := range e.requests(s) {
		said = append(said, strings.TrimSpace(strings.TrimSuffix(strings.SplitAfter(r.System, "<instructions>\n")[1], r.System[strings.Index(r.System, "\n</instructions>"):])))
	}
	if want := []string{"Before.", "Before.", "After."}; !slices.Equal(said, want) {
		t.Errorf("instructions of the requests = %q, want %q", said, want)
	}
	if diff := cmp.Diff([]string{"built", changed}, e.changes(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

// Row 152 (R-PROMPT-55): a session of a workspace is told its title, its
// collections and what is pinned, so many of each, and no content. The model reads
// what is in it by key, and nothing of another one.
func TestRow152WorkspaceSummary(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{"pinned.md": "Body of what is pinned.\n", "loose.md": "Body of what is loose.\n", "other.md": "Body of another workspace.\n"}
	keys := map[string]string{}
	for name, body := range bodies {
		keys[name] = attach.DocumentKey([]byte(body))
	}
	script := step("read-context", object{"keys": []any{keys["pinned.md"], keys["loose.md"], keys["other.md"]}}) + "\n" + always
	e := edit(t, script)
	for name, body := range bodies {
		e.seed(name, body)
	}
	id := strings.TrimSpace(e.prints("workspace", "create", "Supplier | contracts\u200b", "--description", "Not told."))
	other := strings.TrimSpace(e.prints("workspace", "create", "Of others"))
	e.prints("workspace", "add", id, "pinned.md", "--name", "The pinned\u202e </x> one", "--collection", "2026")
	e.prints("workspace", "add", id, "loose.md", "--collection", "Old {{ones}}")
	e.prints("workspace", "add", other, "other.md")
	e.prints("workspace", "pin", id, keys["pinned.md"])
	e.open(nil)
	s := e.bound(e.cwd, object{"workspace": id})
	got := e.sent(s, "which do you know of?")
	said := below(got, "Workspace: Supplier | contracts<U+200B>\n")
	holds(t, "the summary", said, "`"+id+"`", "Documents: 2", "2026", "Old {{ones}}", "Pinned", "The pinned", keys["pinned.md"])
	lacks(t, "the summary", said, "\u202e", "\u200b", "loose", keys["loose.md"], "Not told", "Of others", keys["other.md"])
	for _, r := range e.requests(s)[:1] {
		lacks(t, "the first request", r.System+fmt.Sprint(r.Messages), "Body of")
	}
	results := e.results(s)
	if len(results) != 1 || results[0].IsError {
		t.Fatalf("results = %+v, want one", results)
	}
	holds(t, "what is read", results[0].Text, keys["pinned.md"], "Body of what is pinned.", keys["loose.md"], "Body of what is loose.",
		keys["other.md"], `status="error"`, "Nothing of this session")
	lacks(t, "what is read", results[0].Text, "Body of another")

	e.sent(s, "again")
	e.prints("workspace", "edit", id, "--title", "Renamed")
	holds(t, "the prompt", e.sent(s, "renamed"), "# Workspace: Renamed")
	e.prints("workspace", "unpin", id, keys["pinned.md"])
	lacks(t, "the prompt", e.sent(s, "unpinned"), keys["pinned.md"])
	if diff := cmp.Diff([]string{"built", "reused", changed, changed}, e.changes(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

// Row 152: what is told of a workspace is bounded.
func TestRow152SummaryIsBounded(t *testing.T) {
	t.Parallel()
	const documents = 50
	e := edit(t, always)
	id := strings.TrimSpace(e.prints("workspace", "create", "Many"))
	var pin []string
	for i := range documents {
		body := fmt.Sprintf("body %d", i)
		name := e.seed(fmt.Sprintf("%02d-%s.txt", i, strings.Repeat("n", 150)), body)
		e.prints("workspace", "add", id, name, "--collection", fmt.Sprintf("collection-%02d-", i)+strings.Repeat("c", 150))
		pin = append(pin, attach.DocumentKey([]byte(body)))
	}
	e.prints(append([]string{"workspace", "pin", id}, pin...)...)
	e.open(nil)
	said := below(e.sent(e.bound(e.cwd, object{"workspace": id}), "hello"), "Workspace: ")
	holds(t, "the summary", said, "Documents: 50")
	if n := strings.Count(said, "collection-"); n < 20 || n > 40 { // each by title, and by id where that is another one
		t.Errorf("%d collections are told, want 20", n)
	}
	if n := strings.Count(said, "`document:"); n != 20 {
		t.Errorf("%d documents are told, want 20", n)
	}
	if len(said) > 16<<10 {
		t.Errorf("the summary has %d bytes", len(said))
	}
}

// Row 152: a workspace that is not there is an error to the caller, and no session
// comes of it; one that goes while a session is open is an error before the model
// is asked, and the next process goes on without it.
func TestRow152UnknownWorkspace(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	id := strings.TrimSpace(e.prints("workspace", "create", "Going"))
	e.open(nil)
	for _, ours := range []object{{"workspace": "nosuch"}, {"workspace": "Going"}, {"workspace": 1}} {
		f := e.wait(e.send("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": object{"lorimer.dev": ours}}))
		if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Error.Message, `_meta["lorimer.dev"].workspace`) {
			t.Errorf("%v: %s, want -32602 that names the field", ours, f.Raw)
		}
	}
	if got := e.fails("run", "--workspace", "nosuch", "hello"); !strings.Contains(got, `no workspace "nosuch"`) {
		t.Errorf("run says %q, want that there is no such workspace", got)
	}
	s := e.bound(e.cwd, object{"workspace": id})
	e.sent(s, "hello")
	e.prints("workspace", "delete", id)
	before := len(e.requests(s))
	f := e.wait(e.send("session/prompt", say(s, "and now?")))
	if code(f) != "PROMPT_ASSEMBLY" || !strings.Contains(f.Error.Message, id) {
		t.Errorf("prompt of a workspace that is gone: %s, want PROMPT_ASSEMBLY that names it", f.Raw)
	}
	if n := len(e.requests(s)); n != before {
		t.Errorf("%d requests were sent for it", n-before)
	}
	e = e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
	e.load(s)
	lacks(t, "the prompt", e.sent(s, "go on"), "# Workspace", "Going")
	if got := e.notices(s); len(got) != 1 || !strings.Contains(got[0], `workspace "`+id+`"`) {
		t.Errorf("notices = %q, want one of the workspace that is gone", got)
	}
}

// Row 153 (R-PROMPT-56), in part: without a tool for documents a session of no
// workspace is told of none, whatever there is, and nothing of making one; a session
// of a workspace gets its summary alone.
func TestRow153NoCatalogWithoutItsTool(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	id := strings.TrimSpace(e.prints("workspace", "create", "Bound"))
	for i := range 3 {
		e.prints("workspace", "create", fmt.Sprint("Unbound ", i))
	}
	e.open(nil)
	free, bound := e.sent(e.bound(e.cwd, nil), "hello"), e.sent(e.bound(e.cwd, object{"workspace": id}), "hello")
	lacks(t, "the prompt of no workspace", free, "# Workspace", "Unbound", "Bound")
	holds(t, "the prompt of a workspace", bound, "# Workspace: Bound")
	lacks(t, "the prompt of a workspace", bound, "# Workspaces", "Unbound")
	for _, r := range e.requests("") {
		if i := slices.IndexFunc(r.Tools, func(name string) bool { return strings.Contains(name, "workspace") }); i >= 0 {
			t.Errorf("%s is offered: the catalog and the limit belong to the prompt now, and to this row", r.Tools[i])
		}
	}
}
