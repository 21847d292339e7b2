//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt/attach"
)

// lastUser returns the newest message of the user in the newest request of a session.
func (e *editor) lastUser(session string) string {
	e.t.Helper()
	all := e.lastRequest(session).user()
	return all[len(all)-1].text()
}

// sameHistory checks that the messages of before begin those of the newest request of a
// session.
func (e *editor) sameHistory(session string, before requestLine) {
	e.t.Helper()
	now := e.lastRequest(session).Messages
	if len(now) <= len(before.Messages) {
		e.t.Fatalf("%d messages, want more than %d", len(now), len(before.Messages))
	}
	if diff := cmp.Diff(before.Messages, now[:len(before.Messages)]); diff != "" {
		e.t.Errorf("older messages changed (-before +after):\n%s", diff)
	}
}

// The prompts of a server are commands. What the server makes of one goes to the model
// beside what the user wrote, which stays as it is, is replayed, and is sent again as it
// was when the server is no longer there. Without an argument that it needs, or without
// its server, no model is asked.
func TestMCPPrompts(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			desk := e.gated("My Desk", "-revision", revision)
			s := e.connects(desk)
			list, _ := e.commands(s, 0, func(all map[string]string) bool { return all["my_desk_greet"] != "" })
			if got := list["my_desk_greet"]; got != "Greets somebody." {
				t.Errorf("the command is described as %q", got)
			}
			const text = `/my_desk_greet name="Ada L." tone=kind`
			e.prompt(s, text)
			_, notes := notesIn(e.lastUser(s))
			const want = "<prompt server=\"My Desk\" name=\"greet\" role=\"user\">\nGreet Ada L.. Be kind.\n</prompt>\n\n" + text
			if len(notes) == 0 || notes[0].Kind != "prompt" || !strings.HasSuffix(notes[0].Text, want) { // the words of the user are behind
				t.Errorf("notes = %+v, want one of the prompt that ends with\n%s", notes, want)
			}
			e.prompt(s, "/my_desk_greet Bo")
			holds(t, "the prompt with arguments in their order", e.lastUser(s), "Greet Bo.\n")
			asked := len(e.requests(s))
			e.prompt(s, "/my_desk_greet")
			holds(t, "the answer", e.text(s), "/my_desk_greet needs the argument name.")
			desk.shut()
			desk.kill()
			e.untilServer(s, "My Desk", "connecting")
			e.prompt(s, "/my_desk_greet Cy")
			holds(t, "the answer", e.text(s), "/my_desk_greet would be a prompt of the MCP server My Desk, which is not connected")
			if n := len(e.requests(s)); n != asked {
				t.Errorf("the model was asked %d times for what no server answers", n-asked)
			}

			sent := e.lastRequest(s)
			e = e.restart("--model", "script:"+e.file("script.jsonl", always))
			if diff := cmp.Diff([]string{text, "/my_desk_greet Bo"}, e.load(s).said); diff != "" { // without the server, and what no model was asked
				t.Errorf("what the user is said to have written (-want +got):\n%s", diff)
			}
			e.prompt(s, "and without the server?")
			e.sameHistory(s, sent)
		})
	}
}

// What a server has to read is listed, and attached by a link or by a token: the model
// gets its table and reads it by its key. It stays a part of its message.
func TestMCPResources(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			one, two := attach.ResourceKey("memo://1"), attach.ResourceKey("memo://22")
			e := edit(t, step("read-context", object{"keys": []any{one, two}})+"\n"+always)
			e.call("initialize", object{"protocolVersion": 1}, nil)
			desk := e.stub("My Desk", "-revision", revision)
			s := e.connects(desk)
			e.untilServers(s, "the resources", func(all []serverStatus) bool { return all[0].Resources == 3 })
			e.prompt(s, "/resources")
			holds(t, "the list", e.text(s), "my_desk:memo://1", "First memo", "memo://picture", "memo://{n}")
			e.gives(s, textBlock("Compare with @my_desk:memo://22, please."), linkBlock("memo://1", "Memo"), linkBlock("memo://nothing", "None"))
			_, rows, _ := tableOf(t, e.requests(s)[0].user()[0].text())
			table := strings.Join(rows, "\n")
			holds(t, "the table", table, one, two)
			results := e.results(s)
			if len(results) != 1 || results[0].IsError {
				t.Fatalf("results = %+v", results)
			}
			holds(t, "what is read", results[0].Text, "This is memo 1.", "This is memo 22.")

			sent := e.lastRequest(s)
			e = e.restart("--model", "script:"+e.file("script.jsonl", always))
			said := strings.Join(e.load(s).said, "\n") // without the server
			holds(t, "what the user is said to have written", said, "Compare with @my_desk:memo://22, please.")
			lacks(t, "what the user is said to have written", said, "This is memo")
			e.prompt(s, "and without the server?")
			e.sameHistory(s, sent)
		})
	}
}
