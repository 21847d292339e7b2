//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Row 148 (R-STORE-04): a key holds in the next process, for a fork, and after an
// answer was given anew. What is embedded is one file however often it comes, and
// goes with the last session that refers to it.
func TestRow148KeysHold(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, database string) {
		const shared, once = "of two sessions\n", "of one session\n"
		read := step("read-context", object{"keys": []any{docKey(shared), docKey(once)}}) + "\n"
		e := newEditor(t)
		model := "script:" + e.file("script.jsonl", always)
		e.keeps(database, "--model", model)
		s, other := e.session(), e.session()
		for range 2 {
			e.gives(s, textBlock("first"), embedBlock("file:///w/a.txt", shared), embedBlock("file:///w/b.txt", once))
		}
		e.gives(other, textBlock("also"), embedBlock("file:///x/c.txt", shared))
		if got := e.contents(); !slices.Equal(got, []string{once, shared}) {
			t.Errorf("contents that are kept = %q, want both, once each", got)
		}
		check := func(what, session, text string) {
			e.prompt(session, text)
			results := e.results(session)
			if len(results) == 0 {
				t.Fatalf("%s: no result", what)
			}
			holds(t, what, results[len(results)-1].Text, shared, once)
		}
		e.file("script.jsonl", strings.Repeat(read+`{"text": "read"}`+"\n", 4))
		e = e.restart("--model", model)
		e.load(s)
		check("in the next process", s, "read them")
		var fork struct{ SessionID string }
		e.call("session/fork", e.where(s), &fork)
		check("in a fork", fork.SessionID, "read them there")
		check("anew", s, "/retry")
		e.load(other)
		e.prompt(other, "read what is of the others")
		results := e.results(other)
		holds(t, "in another session", results[0].Text, shared, `status="error"`, "Nothing of this session")
		lacks(t, "in another session", results[0].Text, once)

		e.call("session/delete", object{"sessionId": s}, nil)
		if got := e.contents(); !slices.Equal(got, []string{once, shared}) {
			t.Errorf("contents after one of three is deleted = %q, want both", got)
		}
		e.call("session/delete", object{"sessionId": fork.SessionID}, nil)
		if got := e.contents(); !slices.Equal(got, []string{shared}) {
			t.Errorf("contents after two of three are deleted = %q, want that of the third", got)
		}
		e.prints("session", "delete", other)
		if got := e.contents(); len(got) > 0 {
			t.Errorf("contents after all are deleted = %q", got)
		}
	})
}

// Row 148: what was embedded in a message is read by its key also where its content
// is not kept: in another database, or when its file was lost. Of a document of a
// workspace that is lost the model is told, and the other keys hold.
func TestRow148ContentIsElsewhere(t *testing.T) {
	t.Parallel()
	const embedded, document = "of the message\n", "of the workspace\n"
	read := strings.Replace(step("read-context", object{"keys": []any{docKey(document), docKey(embedded)}}), "{", `{"match": {"contains": "walrus"}, "repeat": true, `, 1) + "\n" + always
	e := edit(t, read)
	id := strings.TrimSpace(e.prints("workspace", "create", "W"))
	e.prints("workspace", "add", id, e.seed("d.txt", document))
	e.open(nil)
	s := e.bound(e.cwd, object{"workspace": id})
	e.gives(s, textBlock("walrus"), embedBlock("file:///w/a.txt", embedded))
	check := func(what string, e *editor, lost bool) {
		t.Helper()
		r := e.results(s)
		text := r[len(r)-1].Text
		holds(t, what, text, docKey(document), docKey(embedded), embedded)
		if told := strings.Contains(text, `status="error"`); told != lost || strings.Contains(text, document) == lost {
			t.Errorf("%s: %q, want the document of the workspace to be lost: %v", what, text, lost)
		}
	}
	check("as it is kept", e, false)
	exported := e.prints("session", "export", s)

	if err := os.RemoveAll(filepath.Join(e.home, ".local/state/lorimer/documents")); err != nil {
		t.Fatal(err)
	}
	e.prompt(s, "walrus without the files")
	check("without the files", e, true)

	other := newEditor(t)
	other.prints("session", "import", other.file("in.json", exported), "--id", s)
	other.scripted(read)
	other.call("initialize", object{"protocolVersion": 1}, nil)
	other.load(s)
	other.set(s, "model", "script:"+filepath.Join(other.home, "script.jsonl"))
	other.prompt(s, "walrus elsewhere")
	check("in another database", other, true)
}

// contents returns what is kept of documents in the state directory, sorted.
func (e *editor) contents() (all []string) {
	e.t.Helper()
	for path, text := range files(e.t, filepath.Join(e.home, ".local/state/lorimer/documents")) {
		if len(filepath.Base(filepath.Dir(path))) == 2 { // the beginning of its hash
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return all
}

// Row 149 (R-PROMPT-51): what is shown and exported of a message is what the user
// sent: no table, no notes, no mention, and each block in its place.
func TestRow149OriginalMessage(t *testing.T) {
	t.Parallel()
	e := edit(t, always, "--clock", "2026-11-30T09:15:00Z")
	e.file(".agents/skills/terse/SKILL.md", "---\nname: terse\ndescription: Be terse.\n---\nFewer words.\n")
	_, encoded := picture(t)
	s := e.open(nil)
	e.gives(s, textBlock("/terse Compare"), embedBlock("file:///w/small.txt", "small body"), object{"type": "image", "mimeType": "image/png", "data": encoded},
		linkBlock("file:///w/linked.go", "linked.go"), textBlock("with this"))
	sent := e.lastRequest(s).user()[0].text()
	holds(t, "what was sent", sent, "Fewer words.", "# Attached Context", "November 30")
	enriched := []string{"Attached Context", "| Key |", "[Attached:", "Fewer words", "November 30", docKey("small body")}
	for _, args := range [][]string{{"session", "show", s}, {"session", "show", s, "--json"}, {"session", "show", s, "--all"}, {"session", "export", s, "--format", "markdown"}} {
		out := e.prints(args...)
		holds(t, strings.Join(args, " "), out, "/terse Compare", "with this")
		lacks(t, strings.Join(args, " "), out, enriched...)
	}
	if got := e.listing(object{}); len(got) != 1 || strings.ContainsAny(got[0].Title, "#|") || !strings.HasPrefix(got[0].Title, "/terse Compare") {
		t.Errorf("list = %+v, want a title of what the user wrote", got)
	}
	for _, words := range []string{"Attached", "Fewer", docKey("small body")} {
		if out := e.prints("session", "search", words, "--json"); strings.TrimSpace(out) != "[]" {
			t.Errorf("search for %q finds %s", words, out)
		}
	}

	e = e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
	e.load(s)
	var kinds []string
	for _, u := range e.updates(s) {
		if u.Update.Kind != "user_message_chunk" {
			continue
		}
		var b struct {
			Type, Text, URI, Data string
			Resource              struct{ URI, Text string }
		}
		if err := json.Unmarshal(u.Update.Content, &b); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, strings.TrimSpace(b.Type+" "+b.Text+b.URI+b.Resource.URI+" "+b.Resource.Text))
		lacks(t, "the replay", string(u.Update.Content), enriched...)
	}
	want := []string{"text /terse Compare", "resource file:///w/small.txt small body", "image", "resource_link file:///w/linked.go", "text with this"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("the message in the replay (-want +got):\n%s", diff)
	}
	e.prompt(s, "and on")
	if got := e.lastRequest(s).user()[0].text(); got != sent {
		t.Errorf("the message in the next process:\n%s\nwant it as it was sent:\n%s", got, sent)
	}
}
