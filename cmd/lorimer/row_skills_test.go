//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// builtinSkill returns the instruction of a skill of this program.
func builtinSkill(t *testing.T, name string) string {
	t.Helper()
	p, err := os.ReadFile(filepath.Join("..", "..", "prompt", "skills", "builtin", name, "SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, ok := strings.Cut(strings.TrimPrefix(string(p), "---\n"), "\n---\n")
	if !ok {
		t.Fatalf("skill %s has no front matter", name)
	}
	return strings.TrimSpace(body)
}

// Row 23 (R-TOOLS-24): the tool gives the full instruction of a skill by its name,
// bare or with a slash, and names one that is not there or not enabled.
func TestRow023SkillTool(t *testing.T) {
	t.Parallel()
	research := builtinSkill(t, "research")
	mine := "Do {{model}}.\n\n<skill name=\"other\">\n\nThe end."
	tests := []struct {
		args object
		want string // the whole result, or of an error a part of it
		fail bool
	}{
		{object{"name": "research"}, research, false},
		{object{"name": "/research"}, research, false},
		{object{"name": "nope"}, `"nope"`, true},
		{object{"name": "/nope"}, `"nope"`, true},
		{object{"name": ""}, "name", true},
		{object{"name": "../research"}, `"../research"`, true},
		{object{"name": "off"}, `"off"`, true},     // by its file
		{object{"name": "quiet"}, `"quiet"`, true}, // by the configuration
		{object{"name": "mine"}, mine, false},
		{object{"name": "wire"}, "From the editor.", false},
		{object{"name": "folder", "file": "parts/one.md"}, "Part one.\n", false},
		{object{"name": "folder", "file": "../mine.md"}, "without ..", true},
		{object{"name": "folder", "file": "/etc/passwd"}, "without ..", true},
		{object{"name": "folder", "file": "out.md"}, `"out.md"`, true}, // a link that leads out
		{object{"name": "folder", "file": "two.md"}, "parts/one.md", true},
		{object{"name": "mine", "file": "parts/one.md"}, "single text", true},
		{object{"skill": "research"}, "name", true},
	}
	var calls []string
	for _, tt := range tests {
		calls = append(calls, step("skill", tt.args))
	}
	e := newEditor(t)
	e.file(".agents/skills/mine.md", textSkill("mine", "Mine.", mine))
	e.file(".agents/skills/quiet.md", textSkill("quiet", "Quiet.", "Quiet."))
	e.file(".agents/skills/off.md", "---\nname: off\ndescription: Off.\nenabled: false\n---\nOff.\n")
	e.file(".agents/skills/folder/SKILL.md", textSkill("folder", "With files.", "See parts/one.md."))
	e.file(".agents/skills/folder/parts/one.md", "Part one.\n")
	secret := e.file("secret.md", "secret of another")
	if err := os.Symlink(secret, filepath.Join(e.home, ".agents/skills/folder/out.md")); err != nil {
		t.Fatal(err)
	}
	e.file(configFile, "skills.disabled = [\"quiet\"]\n")
	e.acp("--model", "script:"+e.file("script.jsonl", steps(calls...)), "--mode", "read-only")
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("skills", []any{
		object{"name": "wire", "description": "Wire.", "instruction": "From the editor."},
	})}, &s)
	e.prompt(s.SessionID, "go")
	got := e.results(s.SessionID)
	if len(got) != len(tests) {
		t.Fatalf("%d results, want %d", len(got), len(tests))
	}
	for i, tt := range tests {
		right := got[i].Text == tt.want
		if tt.fail {
			right = strings.Contains(got[i].Text, tt.want)
		}
		if got[i].IsError != tt.fail || !right {
			t.Errorf("skill %v: error %v, %q; want %v, %q", tt.args, got[i].IsError, got[i].Text, tt.fail, tt.want)
		}
		if strings.Contains(got[i].Text, "secret of another") || strings.Contains(got[i].Text, e.home) && tt.fail {
			t.Errorf("skill %v tells %q", tt.args, got[i].Text)
		}
	}
	if n := len(e.questions()); n != 0 {
		t.Errorf("%d permissions were asked, want none", n)
	}
}

// An intentLine is what the trace says of what a message asks for.
type intentLine struct{ Session, Intent string }

// lastIntent returns the intent of the newest turn of a session.
func (e *editor) lastIntent(session string) string {
	e.t.Helper()
	all := decoded(e, "turn", func(l intentLine) bool { return l.Session == session })
	if len(all) == 0 {
		e.t.Fatalf("no turn of session %q was traced", session)
	}
	return all[len(all)-1].Intent
}

// lastNotes returns the notes of skills that the newest request of a session
// carries, and the text of its last message without what the program has added.
func (e *editor) lastNotes(session string) (skills []note, text string) {
	e.t.Helper()
	r := e.lastRequest(session)
	message := r.Messages[len(r.Messages)-1].text()
	_, inTurn := notesIn(message)
	_, inSystem := notesIn(r.System)
	for _, n := range slices.Concat(inTurn, inSystem) {
		if strings.HasPrefix(n.Kind, "skill ") {
			skills = append(skills, n)
		}
	}
	return skills, message
}

// A storedMessage is a message of the user in an export.
type storedMessage struct {
	Kind string
	Body map[string]json.RawMessage
}

// stored returns the messages of the user as "lorimer session export" has them.
func (e *editor) stored(session string) (all []storedMessage) {
	e.t.Helper()
	var out struct{ Entries []storedMessage }
	if err := json.Unmarshal([]byte(e.prints("session", "export", session)), &out); err != nil {
		e.t.Fatal(err)
	}
	return slices.DeleteFunc(out.Entries, func(m storedMessage) bool { return m.Kind != "user" })
}

// Row 24 (R-PROMPT-44, R-WEB-03): which words of a message are slash tokens, what
// they ask for and what is injected for them. The text of the user is sent, stored and
// shown as it was written, and beside what the model was sent nothing of the skills
// is stored.
func TestRow024SlashTokens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, intent string
		skills       []string
	}{
		{"/research x", "research", []string{"research"}},
		{"x /research", "research", []string{"research"}},
		{"x /research.", "auto", nil},
		{"docs/research", "auto", nil},
		{"/search then /research", "research", []string{"search", "research"}},
		{"please research this", "auto", nil},
		{"/search x", "search", []string{"search"}},
		{"docs/search", "auto", nil},
		{"/search.", "auto", nil},
		{"x\n/search\ty\n/mine /search", "search", []string{"search", "mine"}},
		{"/mine", "auto", []string{"mine"}},
		{"/off /nope /mine-2 x", "auto", nil},
		{"/nope /search", "search", []string{"search"}},
		{"/Search //search /search/ (/search) `/search` ü/search /searchü", "auto", nil},
		{"x /usage /retry", "auto", nil},
		{"{{model}} /mine {{", "auto", []string{"mine"}},
	}
	for _, tools := range []string{"on", "off"} {
		e := newEditor(t)
		e.file(".agents/skills/mine.md", textSkill("mine", "Mine.", "Do it my way."))
		e.file(".agents/skills/off.md", "---\nname: off\ndescription: Off.\nenabled: false\n---\nOff.\n")
		e.acp("--model", "script:"+e.file("script.jsonl", always), "--clock", notedClock, "--tz", "UTC")
		s := e.open(nil)
		e.set(s, "tools", tools)
		for i, tt := range tests {
			e.prompt(s, tt.text)
			notes, message := e.lastNotes(s)
			var names []string
			for _, n := range notes {
				names = append(names, strings.TrimPrefix(n.Kind, "skill "))
			}
			if got := e.lastIntent(s); got != tt.intent || !slices.Equal(names, tt.skills) {
				t.Errorf("tools %s, %q: intent %s with notes %q, want %s and %q", tools, tt.text, got, names, tt.intent, tt.skills)
			}
			want := map[string]string{"on": tt.text + "\n\n" + notedDate, "off": tt.text}[tools]
			if len(tt.skills) == 0 && message != want || !strings.HasSuffix(message, want) {
				t.Errorf("tools %s: message = %q, want the text of the user, %q", tools, message, want)
			}
			body := e.stored(s)[i].Body
			if got := string(body["blocks"]); got != jsonText(t, []any{object{"text": tt.text}}) {
				t.Errorf("stored text = %s, want %q", got, tt.text)
			}
			if keys := slices.Sorted(maps.Keys(body)); !slices.Equal(keys, []string{"blocks", "message_id", "sent"}) {
				t.Errorf("stored of a message = %q, want its text and what was sent", keys)
			}
		}
		if export := e.prints("session", "export", s); tools == "off" && (strings.Contains(export, "Do it my way.") || strings.Contains(export, "intent")) {
			t.Errorf("a skill is stored:\n%s", export)
		}
		var told, want []string
		next := e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
		told = next.load(s).said
		for _, tt := range tests {
			want = append(want, tt.text)
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Errorf("messages of the replay (-want +got):\n%s", diff)
		}
	}
}

// jsonText returns v as JSON.
func jsonText(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// Row 24: /retry finds the skills of the message anew, as they are by then. What
// follows is told the message as it was sent last.
func TestRow024RetryFindsSkillsAnew(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	const file = ".agents/skills/mine.md"
	e.file(file, textSkill("mine", "Mine.", "The first way."))
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	e.prompt(s, "/mine /later /search go")
	before := string(e.stored(s)[0].Body["blocks"])
	check := func(when, intent string, want map[string]string) {
		t.Helper()
		notes, message := e.lastNotes(s)
		got := make(map[string]string)
		for _, n := range notes {
			for _, way := range []string{"The first way.", "The second way.", "The later way.", "# Look one thing up"} {
				if strings.Contains(n.Text, way) {
					got[n.Kind] += way
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(message, "\n\n/mine /later /search go\n\n") {
			t.Errorf("%s: notes (-want +got):\n%s", when, diff)
		}
		if got := e.lastIntent(s); got != intent {
			t.Errorf("%s: intent %s, want %s", when, got, intent)
		}
		all := e.stored(s)
		if len(all) != 1 || string(all[0].Body["blocks"]) != before {
			t.Errorf("%s: stored %+v, want the one message as it was, %s", when, all, before)
		}
	}
	check("first", "search", map[string]string{"skill mine": "The first way.", "skill search": "# Look one thing up"})
	e.file(file, textSkill("mine", "Mine.", "The second way."))
	e.prompt(s, "/retry")
	check("changed", "search", map[string]string{"skill mine": "The second way.", "skill search": "# Look one thing up"})
	e.file(".agents/skills/later.md", textSkill("later", "Later.", "The later way."))
	e.file(configFile, "skills.disabled = [\"search\"]\n")
	e.prompt(s, "/retry")
	check("another one added, one disabled", "auto", map[string]string{"skill mine": "The second way.", "skill later": "The later way."})
	if err := os.Remove(filepath.Join(e.home, file)); err != nil {
		t.Fatal(err)
	}
	e.prompt(s, "/retry")
	check("one deleted", "auto", map[string]string{"skill later": "The later way."})
	sent := e.lastRequest(s).Messages
	for _, next := range []*editor{e, e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))} {
		if next != e {
			next.load(s)
			next.prompt(s, "and on")
		}
		if got := next.lastRequest(s).Messages[0]; cmp.Diff(sent[0], got) != "" {
			t.Errorf("the message is told as %+v, want it as it was sent last, %+v", got, sent[0])
		}
	}
}

// Row 24: a token counts in what the user has typed, in each block of it, and not in
// what is attached.
func TestRow024TokensOfBlocks(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	s := e.open(nil)
	text := func(text string) object { return object{"type": "text", "text": text} }
	attached := object{"type": "resource", "resource": object{"uri": "file:///a.txt", "text": "/research this", "mimeType": "text/plain"}}
	link := object{"type": "resource_link", "uri": "file:///search", "name": "/search"}
	for _, tt := range []struct {
		name   string
		blocks []any
		want   string
	}{
		{"in the second", []any{text("look"), text("/search x")}, "search"},
		{"in both", []any{text("/search"), text("/research")}, "research"},
		{"attached", []any{attached, text("see this")}, "auto"},
		{"a link", []any{link, text("see this")}, "auto"},
		{"beside an attachment", []any{attached, text("/search it")}, "search"},
		{"parts of a word", []any{text("docs"), text("/search")}, "search"},
	} {
		e.call("session/prompt", object{"sessionId": s, "prompt": tt.blocks}, nil)
		if got := e.lastIntent(s); got != tt.want {
			t.Errorf("%s: intent %s, want %s", tt.name, got, tt.want)
		}
	}
}

// Row 24 (R-ACP-29): the commands of the program keep their names, whatever skill
// has one of them.
func TestRow024CommandsCount(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	for _, name := range []string{"usage", "help", "compact"} {
		e.file(".agents/skills/"+name+".md", textSkill(name, "Takes the place of "+name+".", "Do as I say."))
	}
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	var s struct{ SessionID string }
	e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("skills", []any{
		object{"name": "retry", "description": "Takes the place of retry.", "instruction": "Do as I say."},
	})}, &s)
	listed, _ := e.commands(s.SessionID, -1, func(map[string]string) bool { return true })
	if diff := cmp.Diff([]string{"help", "research", "retry", "search", "usage"}, slices.Sorted(maps.Keys(listed))); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	e.prompt(s.SessionID, "/usage")
	if got := e.text(s.SessionID); !strings.Contains(got, "Tokens in:") || len(e.trace("model")) != 0 {
		t.Errorf("/usage says %q with %d requests, want the use of the session and none", got, len(e.trace("model")))
	}
	e.prompt(s.SessionID, "/usage of this word")
	if notes, _ := e.lastNotes(s.SessionID); notes != nil || strings.Contains(e.lastRequest(s.SessionID).System, "Takes the place of") {
		t.Errorf("skills with the names of commands are disclosed: %v", notes)
	}
	e.leave()
	for _, name := range []string{"usage", "help", "compact", "retry"} {
		if n := strings.Count(e.stderr.String(), `the name \"`+name+`\" is that of a command`); n != 1 {
			t.Errorf("the log tells of %s %d times, want once:\n%s", name, n, e.stderr.String())
		}
	}
}
