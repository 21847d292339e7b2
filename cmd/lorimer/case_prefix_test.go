//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/prompt/attach"
)

// furnished prepares a home and a workspace with all that a message can bring: skills,
// files of instructions, a project, and files to read. With backwards the same things
// are made in the opposite order.
func (e *editor) furnished(backwards bool) {
	e.t.Helper()
	file, _ := picture(e.t)
	var made []func()
	for i := range 8 {
		name := fmt.Sprintf("kind-%d", i)
		text := fmt.Sprintf("---\nname: %s\ndescription: Use for work of kind %d.\n---\nBody of kind %d.\n", name, i, i)
		made = append(made, func() { e.seed(".agents/skills/"+name+"/SKILL.md", text) }, func() { e.file(".agents/skills/own-"+name+".md", strings.Replace(text, "name: ", "name: own-", 1)) })
	}
	made = append(made,
		func() { e.seed("AGENTS.md", "Of the root.\n@style.md\n") },
		func() { e.seed("style.md", "Style.\n") },
		func() { e.seed("sub/AGENTS.md", "Of sub.\n") },
		func() { e.seed("sub/a.txt", "the walrus\n") },
		func() { e.seed("img.png", file) },
		func() { e.seed("linked.txt", "linked\n") },
		func() { e.prints("project", "add", "P", "--instructions", "Own words.") },
	)
	if backwards {
		slices.Reverse(made)
	}
	for _, f := range made {
		f()
	}
}

// C122 (R-PROMPT-22, R-PROMPT-33, R-HARN-14): three turns 61 seconds apart, with
// skills, voice, attachments and files of instructions. The prefix that each request
// shares with the one before is all of that one; the time and the notes are in the
// message of the user that they came with, and stay there.
func TestC122ClockAndNotes(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.furnished(false)
			linked := "file://" + filepath.Join(e.cwd, "linked.txt")
			e.acp("--model", p.model, "--clock", "2026-11-30T09:15:00Z", "--clock-step", "61s", "--tz", "UTC")
			s := e.open(nil)
			texts := []string{"/kind-3 turn 0", "/own-kind-1 /kind-3 turn 1", "turn 2"}
			for i, text := range texts {
				e.set(s, "voice", []string{"on", "off", "on"}[i])
				m.Add(
					modeltest.Reply{Think: []string{"hm"}, Text: []string{"I look."}, Tools: []modeltest.Tool{
						tool("read", object{"path": "sub/a.txt"}), tool("read", object{"path": "img.png"}),
						tool("read-context", object{"keys": []any{attach.ResourceKey(linked), docKey("large " + strings.Repeat("x", 20000))}})}},
					modeltest.Reply{Text: []string{"Seen."}})
				e.gives(s, textBlock(text), linkBlock(linked, "linked.txt"), embedBlock("file:///w/small.txt", "small"),
					embedBlock("file:///w/large.txt", "large "+strings.Repeat("x", 20000)))
			}
			e.checkReuse(m, p, s, 6)
			if diff := cmp.Diff([]string{"built", "reused", "reused"}, e.changes(s)); diff != "" {
				t.Errorf("harnesses (-want +got):\n%s", diff)
			}
			requests := e.requests(s)
			for _, r := range requests[1:] {
				if r.System != requests[0].System || !slices.Equal(r.Tools, requests[0].Tools) || r.Signature != requests[0].Signature {
					t.Error("the system prompt, the tools or the signature changed between requests")
				}
			}
			lacks(t, "the system prompt", requests[0].System, "2026", "November", "9:1", "read aloud", "Body of kind", "Attached Context\n")
			users := requests[len(requests)-1].user()
			if len(users) != 3 {
				t.Fatalf("%d messages of the user, want 3", len(users))
			}
			for i, want := range [][]string{
				{"Body of kind 3.", "read aloud", texts[0], attachedHead, "9:15 AM UTC"},
				{"Body of kind 1.", "Body of kind 3.", texts[1], attachedHead, "9:16 AM UTC"},
				{"read aloud", texts[2], attachedHead, "9:17 AM UTC"},
			} {
				holds(t, fmt.Sprint("message ", i), users[i].text(), want...)
				if n := strings.Count(users[i].text(), "AM UTC"); n != 1 {
					t.Errorf("message %d has the time %d times", i, n)
				}
			}
			lacks(t, "the second message", users[1].text(), "read aloud")
			lacks(t, "the third message", users[2].text(), "Body of")
			if n := strings.Count(string(m.Requests()[5].Body), "Of sub."); n != 1 {
				t.Errorf("the nested instructions are in the last request %d times, want once", n)
			}
		})
	}
}

// C122, the wrong way: where the user has the date in the system prompt, each turn
// begins anew. This shows that the measure above can fail.
func TestC122DateInTheSystemPrompt(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	e := newEditor(t).reaches(m)
	e.file(configFile, "[prompt_cache]\nvolatile_placement = \"system\"\n")
	e.acp("--model", gpt, "--clock", "2026-11-30T09:15:00Z", "--clock-step", "61s", "--tz", "UTC")
	s := e.open(nil)
	for range 3 {
		e.prompt(s, "go on")
	}
	for i, r := range m.Reuse() {
		if r.Ratio() == 1 {
			t.Errorf("request %d repeats all of the one before it, with another time in front", i+2)
		}
	}
	if diff := cmp.Diff([]string{"built", "reused", "reused"}, e.changes(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
}

// C123 (R-PROMPT-20, R-PROMPT-22, R-HARN-14): the order in which files were made does
// not show. Two agents whose homes were filled in opposite orders send the same
// bytes, and so do two sessions of one.
func TestC123OrderOfFiles(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t, modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
	e := newEditor(t).reaches(m)
	clock := []string{"--model", gpt, "--clock", "2026-11-30T09:15:00Z", "--tz", "UTC"}
	sends := func(e *editor) {
		for _, id := range []string{"one", "two"} { // the same ids in both, like all that is sent
			e.call("session/new", object{"cwd": e.cwd, "mcpServers": []any{}, "_meta": namespaced("sessionId", id)}, nil)
			e.gives(id, textBlock("/kind-1 /own-kind-2 hello"), embedBlock("file:///w/a", "a"), linkBlock("file:///w/b", "b"))
		}
	}
	for _, backwards := range []bool{false, true} {
		if backwards {
			for _, name := range []string{".agents", "AGENTS.md", "style.md", "sub", "img.png", "linked.txt"} {
				if err := os.RemoveAll(filepath.Join(e.cwd, name)); err != nil {
					t.Fatal(err)
				}
			}
			e.leave()
			e = e.another()
		}
		e.furnished(backwards)
		e.acp(clock...)
		e.call("initialize", object{"protocolVersion": 1}, nil)
		sends(e)
	}
	requests := m.Requests()
	if len(requests) != 4 || len(m.Rejected()) > 0 {
		t.Fatalf("%d requests, rejected: %q; want 4", len(requests), m.Rejected())
	}
	for i, r := range requests[1:] {
		want := requests[0].Body
		if i+1 == 1 || i+1 == 3 { // of the other session, whose id may be in it
			want = bytes.ReplaceAll(want, []byte(`"one"`), []byte(`"two"`))
		}
		if !bytes.Equal(want, r.Body) {
			t.Errorf("request %d differs from the first (-first +it):\n%s", i+2, cmp.Diff(string(want), string(r.Body)))
		}
	}
}

// C123: what goes and comes back changes the order of nothing else, gives the same
// prompt again, and what was sent before stays as it was.
func TestC123SkillGoesAndComesBack(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.furnished(false)
	e.scripted(always)
	s := e.open(nil)
	first := e.sent(s, "/kind-3 with all")
	skill := filepath.Join(e.cwd, ".agents/skills/kind-3")
	if err := os.Rename(skill, filepath.Join(e.home, "away")); err != nil {
		t.Fatal(err)
	}
	without := e.sent(s, "/kind-3 without one")
	var left []string
	for line := range strings.Lines(first) {
		if !strings.HasPrefix(line, "- kind-3:") {
			left = append(left, line)
		}
	}
	if diff := cmp.Diff(strings.Join(left, ""), without); diff != "" || len(left) == strings.Count(first, "\n")+1 {
		t.Errorf("the prompt without a skill (-want +got):\n%s", diff)
	}
	if err := os.Rename(filepath.Join(e.home, "away"), skill); err != nil {
		t.Fatal(err)
	}
	if again := e.sent(s, "/kind-3 with all again"); again != first {
		t.Errorf("the prompt with the skill again (-first +again):\n%s", cmp.Diff(first, again))
	}
	turns := e.turns(s)
	if diff := cmp.Diff([]string{"built", changed, changed}, e.changes(s)); diff != "" || turns[0].Signature != turns[2].Signature {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
	requests := e.requests(s)
	for i, r := range requests[1:] {
		before := requests[i].Messages
		if diff := cmp.Diff(before, r.Messages[:len(before)]); diff != "" {
			t.Errorf("older messages changed (-before +after):\n%s", diff)
		}
		if !slices.Equal(requests[i].Tools, r.Tools) {
			t.Errorf("tools = %q, want %q", r.Tools, requests[i].Tools)
		}
	}
	var bodies []int
	for _, u := range requests[2].user() {
		bodies = append(bodies, strings.Count(u.text(), "Body of kind 3."))
	}
	if !slices.Equal(bodies, []int{1, 0, 1}) {
		t.Errorf("the text of the skill is in the messages %v times, want [1 0 1]", bodies)
	}
}

// C125 (R-HARN-07, R-HARN-15): after three turns with calls, attachments and notes the
// user edits the project. Only the head of the request changes; results, pictures,
// what was attached and what was told of folders are carried over as they were, and
// the files are untouched.
func TestC125ProjectIsEdited(t *testing.T) {
	t.Parallel()
	file, encoded := picture(t)
	m := modeltest.New(t)
	e := newEditor(t).reaches(m)
	e.furnished(false)
	e.acp("--model", claude, "--clock", "2026-11-30T09:15:00Z", "--clock-step", "61s")
	s := e.open(nil)
	for range 3 {
		m.Add(modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{tool("read", object{"path": "sub/a.txt"}), tool("read", object{"path": "img.png"})}},
			modeltest.Reply{Text: []string{"Seen."}})
		e.gives(s, textBlock("/kind-2 look"), embedBlock("file:///w/small.txt", "small body"))
	}
	edits := []struct {
		edit     func()
		old, new string
	}{
		{func() { e.prints("project", "edit", "p", "--instructions", "Other words.") }, "Own words.", "Other words."},
		{func() { e.seed("style.md", "Other style.\n") }, "Style.", "Other style."},
	}
	for _, tt := range edits {
		m.Add(modeltest.Reply{Text: []string{"It was an animal."}})
		before := e.lastRequest(s)
		tt.edit()
		e.prompt(s, "what was in the file that you read?")
		after := e.lastRequest(s)
		if diff := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); diff != "" {
			t.Errorf("the messages changed with the instructions (-before +after):\n%s", diff)
		}
		if got, want := after.System, strings.Replace(before.System, tt.old, tt.new, 1); got != want || got == before.System {
			t.Errorf("the prompt (-want +got):\n%s", cmp.Diff(want, got))
		}
	}
	if diff := cmp.Diff([]string{"built", "reused", "reused", changed, changed}, e.changes(s)); diff != "" {
		t.Errorf("harnesses (-want +got):\n%s", diff)
	}
	requests := m.Requests()
	body := requests[len(requests)-1].Body
	for text, want := range map[string]int{encoded: 3, "the walrus": 3, "small body": 3, "Body of kind 2.": 3, "Of sub.": 1, "It was an animal.": 1} {
		if n := bytes.Count(body, []byte(text)); n != want {
			t.Errorf("the last request has %.20q %d times, want %d", text, n, want)
		}
	}
	if got := m.Rejected(); len(got) > 0 {
		t.Errorf("rejected: %q", got)
	}
	for name, want := range map[string]string{"sub/a.txt": "the walrus\n", "img.png": file, "AGENTS.md": "Of the root.\n@style.md\n"} {
		if got := e.disk(name); got != want {
			t.Errorf("%s has changed", name)
		}
	}
}
