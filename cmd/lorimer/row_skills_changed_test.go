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
)

// commands waits for a list of commands of a session that comes after frame number
// after and that ok accepts. It returns the list, descriptions by name, and the
// number of its frame.
func (e *editor) commands(session string, after int, ok func(map[string]string) bool) (list map[string]string, at int) {
	e.t.Helper()
	f := e.until("list of commands", func(f frameIn) bool {
		got, is := commandsIn(e.t, f, session)
		list = got
		return is && f.N > after && ok(got)
	})
	return list, f.N
}

// commandsIn returns the list of commands that a frame tells of a session.
func commandsIn(t *testing.T, f frameIn, session string) (list map[string]string, ok bool) {
	t.Helper()
	if f.Method != "session/update" || !strings.Contains(f.Raw, `"available_commands_update"`) {
		return nil, false
	}
	var p struct {
		SessionID string
		Update    struct {
			AvailableCommands []struct{ Name, Description string }
		}
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		t.Fatalf("%s: %v", f.Raw, err)
	}
	list = make(map[string]string)
	for _, c := range p.Update.AvailableCommands {
		if _, twice := list[c.Name]; twice {
			t.Errorf("the command %s is listed twice: %s", c.Name, f.Raw)
		}
		list[c.Name] = c.Description
	}
	return list, p.SessionID == session
}

// discloses returns the line about a skill in the prompt of the newest request of a
// session, "" for none.
func (e *editor) discloses(session, skill string) string {
	e.t.Helper()
	for line := range strings.Lines(e.lastRequest(session).System) {
		if strings.HasPrefix(line, "- "+skill+":") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// replaceFile puts content in the place of a file as editors do it, by renaming.
func replaceFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	part := path + ".part"
	if err := os.WriteFile(part, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part, path); err != nil {
		t.Fatal(err)
	}
}

// Row 112 (R-PROMPT-19, R-ACP-14): a skill that comes, changes or goes while the
// program runs is told as a command at once, and the next message follows it. The
// folder need not be there before.
func TestRow112SkillChanges(t *testing.T) {
	t.Parallel()
	const on = "skills.claude = true\n"
	for _, place := range []string{
		"cwd/.agents/skills/fresh/SKILL.md", "cwd/.claude/skills/fresh.md", "home/.agents/skills/fresh.md",
		"home/.claude/skills/fresh/SKILL.md", "home/.config/lorimer/skills/fresh/SKILL.md",
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			base, below, _ := strings.Cut(place, "/")
			file := filepath.Join(map[string]string{"cwd": e.cwd, "home": e.home}[base], below)
			e.file(configFile, on)
			e.acp("--model", "script:"+e.file("script.jsonl", always))
			s := e.open(nil)
			_, at := e.commands(s, -1, func(list map[string]string) bool { return list["fresh"] == "" && list["search"] != "" })
			e.prompt(s, "before")
			steps := []struct {
				name   string
				change func()
				want   string // its description from then on, "" for none
				unseen bool   // nothing tells of it before a message is sent
			}{
				{"added", func() { replaceFile(t, file, textSkill("fresh", "The first.", "Do one.")) }, "The first.", false},
				{"changed", func() { replaceFile(t, file, textSkill("fresh", "The second.", "Do two.")) }, "The second.", false},
				{"disabled in the configuration", func() { e.file(configFile, on+"skills.disabled = [\"fresh\"]\n") }, "", true},
				{"enabled again", func() { e.file(configFile, on) }, "The second.", true},
				{"disabled in its file", func() {
					replaceFile(t, file, "---\nname: fresh\ndescription: The third.\nenabled: false\n---\nDo three.\n")
				}, "", false},
				{"back", func() { replaceFile(t, file, textSkill("fresh", "The fourth.", "Do four.")) }, "The fourth.", false},
				{"emptied", func() { replaceFile(t, file, "") }, "", false},
				{"mended", func() { replaceFile(t, file, textSkill("fresh", "The fifth.", "Do five.")) }, "The fifth.", false},
				{"deleted", func() { os.RemoveAll(filepath.Dir(file)) }, "", false},
				{"there once more", func() { replaceFile(t, file, textSkill("fresh", "The sixth.", "Do six.")) }, "The sixth.", false},
				{"deleted with what is around it", func() { os.RemoveAll(filepath.Dir(filepath.Dir(file))) }, "", false},
				{"there again", func() { replaceFile(t, file, textSkill("fresh", "The seventh.", "Do seven.")) }, "The seventh.", false},
			}
			for _, tt := range steps {
				tt.change()
				listed := func(list map[string]string) bool { return list["fresh"] == tt.want && list["search"] != "" }
				if !tt.unseen {
					_, at = e.commands(s, at, listed)
				}
				e.prompt(s, "after it was "+tt.name)
				if tt.unseen {
					_, at = e.commands(s, at, listed)
				}
				want := ""
				if tt.want != "" {
					want = "- fresh: " + tt.want
				}
				turns := e.turns(s)
				if got := e.discloses(s, "fresh"); got != want || !slices.Equal(turns[len(turns)-1].Changed, []string{"stablePrompt"}) {
					t.Errorf("%s: the prompt says %q and the harness is %+v, want %q and rebuilt for the prompt", tt.name, got, turns[len(turns)-1], want)
				}
			}
			e.prompt(s, "and nothing more")
			if turns := e.turns(s); turns[len(turns)-1].Harness != "reused" {
				t.Errorf("harness of the last message = %+v, want it reused", turns[len(turns)-1])
			}
		})
	}
}

// Row 112: the text of a skill is read for each message, and its change alone is no
// news for the list.
func TestRow112TextAlone(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	file := filepath.Join(e.home, ".agents/skills/fresh.md")
	replaceFile(t, file, textSkill("fresh", "Fresh.", "The first text."))
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	e.commands(s, -1, func(list map[string]string) bool { return list["fresh"] == "Fresh." })
	e.prompt(s, "/fresh")
	replaceFile(t, file, textSkill("fresh", "Fresh.", "The other text."))
	e.prompt(s, "/fresh again")
	if notes, _ := e.lastNotes(s); len(notes) != 1 || !strings.Contains(notes[0].Text, "The other text.") {
		t.Errorf("notes = %+v, want the new text", notes)
	}
	if got := e.harnesses(s); !slices.Equal(got, []string{"built", "reused"}) {
		t.Errorf("harnesses = %q, want the second reused", got)
	}
	if n := e.listings(s); n != 1 {
		t.Errorf("the commands were told %d times, want once", n)
	}
}

// listings returns how often the commands of a session were told.
func (e *editor) listings(session string) (n int) {
	e.t.Helper()
	for _, f := range e.heard() {
		if _, ok := commandsIn(e.t, f, session); ok {
			n++
		}
	}
	return n
}

// Row 112 (R-HARN-06): a turn goes on with the skills that it began with, to its
// last request and in its tool; the next one has those of then.
func TestRow112TurnUnderWay(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	file := func(name string) string { return filepath.Join(e.cwd, ".agents/skills", name, "SKILL.md") }
	replaceFile(t, file("old"), textSkill("old", "The old one.", "Old text."))
	replaceFile(t, file("gone"), textSkill("gone", "The one that goes.", "Text that goes."))
	const wait = `{"name": "bash", "args": {"command": "echo > started; read x < pipe"}}`
	const load = `{"name": "skill", "args": {"name": "old"}}, {"name": "skill", "args": {"name": "gone"}}, {"name": "skill", "args": {"name": "new"}}`
	e.acp("--mode", "auto", "--model", "script:"+e.file("script.jsonl",
		`{"match": {"contains": "first"}, "tools": [`+wait+`]}`+"\n"+`{"match": {"contains": ""}, "tools": [`+load+`]}`+"\n"+`{"text": "seen"}`+"\n"+
			`{"tools": [`+load+`]}`+"\n"+always))
	s := e.open(nil)
	started, pipe := e.fifo("started"), e.fifo("pipe")
	id := e.send("session/prompt", say(s, "first"))
	started.get()
	replaceFile(t, file("new"), textSkill("new", "The new one.", "New text."))
	replaceFile(t, file("old"), textSkill("old", "The old one, changed.", "Changed text."))
	if err := os.RemoveAll(filepath.Dir(file("gone"))); err != nil {
		t.Fatal(err)
	}
	e.commands(s, -1, func(list map[string]string) bool {
		return list["new"] != "" && list["gone"] == "" && strings.Contains(list["old"], "changed")
	})
	pipe.put("on")
	e.wait(id)
	all := e.requests(s)
	for _, r := range all {
		if r.System != all[0].System || strings.Contains(r.System, "The new one") {
			t.Errorf("the prompt of the turn changed under way:\n%s", r.System)
		}
	}
	got := e.results(s)[1:]
	if len(got) != 3 || !strings.Contains(got[0].Text, "Old text.") || !strings.Contains(got[1].Text, "Text that goes.") || !got[2].IsError {
		t.Errorf("the tool gives %+v, want the texts with which the turn began", got)
	}
	e.prompt(s, "second")
	got = e.results(s)[4:]
	if len(got) != 3 || !strings.Contains(got[0].Text, "Changed text.") || !got[1].IsError || !strings.Contains(got[2].Text, "New text.") {
		t.Errorf("the tool gives %+v in the next turn, want the texts of then", got)
	}
	if got := []string{e.discloses(s, "new"), e.discloses(s, "old"), e.discloses(s, "gone")}; !slices.Equal(got, []string{"- new: The new one.", "- old: The old one, changed.", ""}) {
		t.Errorf("the next prompt says %q", got)
	}
}

// Row 112 (R-ACP-14): no list comes before the answer that opens a session, however
// it is opened and whatever changes meanwhile; each session hears of its own skills;
// one that is closed hears nothing.
func TestRow112ListsFollowTheAnswer(t *testing.T) {
	t.Parallel()
	e := edit(t, always)
	s := e.open(nil)
	e.prompt(s, "something to keep")
	file := func(name string) string { return filepath.Join(e.cwd, ".agents/skills", name+".md") }
	for i, method := range []string{"session/load", "session/resume", "session/fork", "session/new"} {
		name := fmt.Sprintf("s%d", i)
		e = e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
		params := e.where(s)
		if method == "session/new" {
			delete(params, "sessionId")
		}
		id := e.send(method, params)
		replaceFile(t, file(name), textSkill(name, "Skill "+name+".", "Do it."))
		answer := e.wait(id)
		if answer.Error != nil {
			t.Fatalf("%s: %s", method, answer.Raw)
		}
		opened := struct{ SessionID string }{s}
		if err := json.Unmarshal(answer.Result, &opened); err != nil {
			t.Fatal(err)
		}
		_, at := e.commands(opened.SessionID, -1, func(list map[string]string) bool { return list[name] != "" })
		if first := slices.IndexFunc(e.heard(), func(f frameIn) bool { return strings.Contains(f.Raw, "available_commands_update") }); first < answer.N {
			t.Errorf("%s: commands came as frame %d, before the answer, %d, and then as %d", method, first, answer.N, at)
		}
	}
	e.call("session/load", e.where(s), nil)
	elsewhere := t.TempDir()
	var far struct{ SessionID string }
	e.call("session/new", object{"cwd": elsewhere, "mcpServers": []any{}}, &far)
	closed := e.session()
	e.call("session/close", object{"sessionId": closed}, nil)
	before := e.listings(closed)
	_, at := e.commands(far.SessionID, -1, func(list map[string]string) bool { return list["s1"] == "" })
	replaceFile(t, file("s99"), textSkill("s99", "The last.", "Do it."))
	e.commands(s, at, func(list map[string]string) bool { return list["s99"] != "" })
	replaceFile(t, filepath.Join(elsewhere, ".agents/skills/far.md"), textSkill("far", "Far away.", "Do it."))
	if list, _ := e.commands(far.SessionID, at, func(list map[string]string) bool { return list["far"] != "" }); list["s99"] != "" {
		t.Errorf("a session in another directory is told of s99: %v", list)
	}
	if got := e.listings(closed); got != before {
		t.Errorf("a session that is closed was told %d lists more", got-before)
	}
}
