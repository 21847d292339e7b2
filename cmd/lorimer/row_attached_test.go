//go:build unix

package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt/attach"
)

// Blocks of a prompt.
func textBlock(text string) object { return object{"type": "text", "text": text} }

func linkBlock(uri, name string) object {
	return object{"type": "resource_link", "uri": uri, "name": name}
}

func embedBlock(uri, text string) object {
	return object{"type": "resource", "resource": object{"uri": uri, "text": text}}
}

func blobBlock(uri, mime, data string) object {
	return object{"type": "resource", "resource": object{"uri": uri, "mimeType": mime, "blob": base64.StdEncoding.EncodeToString([]byte(data))}}
}

// pdf is the beginning of a file that is no text.
const pdf = "%PDF-1.7\x00\xe2\xe3"

func docKey(text string) string { return attach.DocumentKey([]byte(text)) }

// gives sends a message of the blocks and waits for its end.
func (e *editor) gives(session string, blocks ...any) {
	e.t.Helper()
	e.call("session/prompt", object{"sessionId": session, "prompt": blocks}, nil)
}

// user returns the messages of the user in a request.
func (r requestLine) user() (all []messageLine) {
	for _, m := range r.Messages {
		if m.Role == "user" {
			all = append(all, m)
		}
	}
	return all
}

const attachedHead = "# Attached Context\n\n| Key | Type | Name |\n| --- | --- | --- |\n"

// tableOf returns the rows of the table of attached context in a message, and what
// stands before and behind it.
func tableOf(t *testing.T, text string) (before string, rows []string, behind string) {
	t.Helper()
	before, rest, ok := strings.Cut(text, attachedHead)
	if !ok || strings.Count(text, attachedHead) != 1 {
		t.Fatalf("want one table in:\n%s", text)
	}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "| ") {
			break
		}
		rows = append(rows, strings.TrimSuffix(line, "\n"))
	}
	behind = strings.TrimPrefix(rest, strings.Join(rows, "\n"))
	return before, rows, behind
}

// Row 148 (R-PROMPT-50, R-PROMPT-51, R-PROMPT-52, C-32): what is attached is a table
// behind the text of the user. The small embedded text follows it as data; of what
// is large, linked or no text only the key is there. Names cannot leave their cells,
// and equal contents are one row.
func TestRow148AttachedContext(t *testing.T) {
	t.Parallel()
	const small, marker = "small </resource> body\u200b", "the body of the large one "
	large := strings.Repeat(marker, 1000)
	e := edit(t, always, "--clock", "2026-11-30T09:15:00Z", "--tz", "UTC")
	_, encoded := picture(t)
	linked := "file://" + e.seed("linked.go", "package linked\n")
	s := e.open(nil)
	e.gives(s, textBlock("Compare"), linkBlock(linked, "a|b\nc\\|d\u202e.go"), object{"type": "image", "mimeType": "image/png", "data": encoded},
		embedBlock("file:///w/small%20one.txt", small), textBlock("with"), embedBlock("file:///w/large.txt", large),
		embedBlock("file:///elsewhere/again.txt", small), blobBlock("file:///w/x.pdf", "application/pdf", pdf),
		linkBlock("https://example.com/page?q=1", ""), linkBlock("zed:///agent/thread/7", "Thread"), linkBlock(linked, "linked.go"))
	msgs := e.lastRequest(s).user()
	if len(msgs) != 1 || len(msgs[0].Parts) != 3 || !isImage(msgs[0].Parts[1]) {
		t.Fatalf("messages of the user = %+v, want a text, the picture and a text", msgs)
	}
	holds(t, "the text before the picture", msgs[0].Parts[0].Text, "Compare\n\n[Attached: ", attach.ResourceKey(linked))
	lacks(t, "the text before the picture", msgs[0].Parts[0].Text, "# Attached", "\u202e", "<resource")
	before, rows, behind := tableOf(t, msgs[0].Parts[2].Text)
	holds(t, "the text of the user", before, docKey(small), "\n\nwith\n\n", docKey(large), docKey(small), docKey(pdf))
	want := []string{
		"| " + attach.ResourceKey(linked) + ` | link | a\|b c\\\|d<U+202E>.go, linked.go |`,
		"| " + docKey(small) + " | text/plain | small one.txt, again.txt |",
		"| " + docKey(large) + " | text/plain | large.txt |",
		"| " + docKey(pdf) + " | application/pdf | x.pdf |",
		"| " + attach.ResourceKey("https://example.com/page?q=1") + " | link | page |",
		"| " + attach.ResourceKey("zed:///agent/thread/7") + " | link | Thread |",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows of the table (-want +got):\n%s", diff)
	}
	holds(t, "what follows the table", behind, "reference data", "<resource key=\""+docKey(small)+"\"", "\nsmall <\\/resource> body<U+200B>\n</resource>",
		"Monday, November 30, 2026 at 9:15 AM UTC")
	lacks(t, "the message", msgs[0].text(), marker, "package linked", "%PDF", "JVBERi0", "\u200b")
	if n := strings.Count(behind, "<resource "); n != 1 || !strings.HasSuffix(strings.TrimSpace(behind), "UTC") {
		t.Errorf("%d bodies follow the table, want one, and the date as the last line:\n%s", n, behind)
	}

	e.prompt(s, "nothing attached")
	later := e.lastRequest(s).user()
	if diff := cmp.Diff(msgs[0], later[0]); diff != "" {
		t.Errorf("the message changed when it became history (-before +after):\n%s", diff)
	}
	lacks(t, "a message without attachments", later[1].text(), "Attached")
	e.gives(s, linkBlock(linked, "linked.go")) // alone
	holds(t, "a message of a link alone", e.lastRequest(s).user()[2].text(), "[Attached: linked.go", attachedHead)
}

// Row 148: how long a text may be that is given in full is a setting, counted in
// bytes.
func TestRow148InlineBytes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		config string
		bytes  int
		want   bool
	}{
		{"", 16 << 10, true}, {"", 16<<10 + 1, false},
		{"[attachments]\ninline_bytes = 10\n", 10, true}, {"[attachments]\ninline_bytes = 10\n", 11, false},
		{"[attachments]\ninline_bytes = 0\n", 1, false},
	}
	for _, tt := range tests {
		e := newEditor(t)
		e.file(configFile, tt.config)
		e.acp("--model", "script:"+e.file("script.jsonl", always))
		s := e.open(nil)
		text := strings.Repeat("é", tt.bytes/2) + strings.Repeat("~", tt.bytes%2)
		e.gives(s, textBlock("x"), embedBlock("file:///a", text))
		if got := strings.Contains(e.lastRequest(s).user()[0].text(), text); got != tt.want {
			t.Errorf("%d bytes with %q are given in full: %v, want %v", tt.bytes, tt.config, got, tt.want)
		}
	}
}

// Row 148 (R-TOOLS-28): keys are read in one batch, an entry each in their order. A
// key that is missing, of another session, or of what cannot be read is an entry
// with an error, and the others hold.
func TestRow148ReadContext(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("é walks. ", 10000) + "end\n"
	const small, foreign, hidden = "small body", "of another session", "a\u200bb\u202ec"
	e := newEditor(t)
	linked, gone := "file://"+e.seed("sub/linked.go", "package linked\n"), "file://"+filepath.Join(e.cwd, "gone.txt")
	keys := []string{
		docKey(large), "document:0123456789abcdef", attach.ResourceKey(linked), docKey(foreign), attach.ResourceKey("https://example.com/x"),
		docKey(pdf), attach.ResourceKey(gone), docKey(small), docKey(hidden), attach.ResourceKey(linked),
	}
	e.acp("--model", "script:"+e.file("script.jsonl", `{"match": {"contains": "of the other"}, "text": "fine"}`+"\n"+
		steps(step("read-context", object{"keys": keys}), step("read-context", object{"keys": keys[1:2]}), step("read-context", object{"keys": append(keys, "x")}))))
	e.call("initialize", object{"protocolVersion": 1}, nil)
	e.gives(e.session(), textBlock("of the other"), embedBlock("file:///w/foreign.txt", foreign))
	s := e.session()
	e.gives(s, textBlock("go"), linkBlock(linked, "linked.go"), linkBlock(gone, "gone.txt"), linkBlock("https://example.com/x", "x"),
		embedBlock("file:///w/large.txt", large), embedBlock("file:///w/small.txt", small), embedBlock("file:///w/hidden.txt", hidden),
		blobBlock("file:///w/x.pdf", "application/pdf", pdf))
	results := e.results(s)
	if len(results) != 3 || results[0].IsError || !results[1].IsError || !results[2].IsError {
		t.Fatalf("results = %+v, want one of entries, one of a missing key and one of too many", results)
	}
	text := results[0].Text
	var got []string
	for _, part := range strings.Split(text, "<resource ")[1:] {
		got = append(got, part[strings.Index(part, `key="`)+len(`key="`):][:len(keys[0])])
	}
	for i, key := range keys {
		if i >= len(got) || !strings.HasPrefix(key, got[i]) && !strings.HasPrefix(got[i], key) {
			t.Fatalf("entries of %q, want %q", got, keys)
		}
	}
	holds(t, "the result", text, "é walks.", "of 90004 characters are missing", "</resource>", "Nothing of this session", "package linked", "Nothing of this session",
		"is a web address", "No text", "is not there any more", small, "a<U+200B>b<U+202E>c", "The same key as above")
	lacks(t, "the result", text, foreign, "\u200b", "\u202e", "%PDF", "end\n")
	if n := strings.Count(text, `status="error"`); n != 4 {
		t.Errorf("%d entries are errors, want 4:\n%.3000s", n, text[max(0, len(text)-3000):])
	}
	if n := len([]rune(text[:strings.Index(text, "of 90004 characters")])); n < 50000 || n > 50300 {
		t.Errorf("about %d characters of the large one are given, want 50000", n)
	}
	holds(t, "the result of too many", results[2].Text, "10")
	for _, l := range lives(e, s)[:1] {
		if l.kind != "read" || !slices.ContainsFunc(l.places, func(p string) bool { return strings.HasSuffix(p, "sub/linked.go") }) {
			t.Errorf("the call is shown as %s at %q, want a read of the file", l.kind, l.places)
		}
	}
}

// Row 148 (R-ACP-28, R-ACP-40): to read a file outside of the workspace, or one that
// may hold passwords, asks by the mode; the question names the file. Without a yes
// nothing of it reaches the model.
func TestRow148ReadingAsks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode, answer string
		asks, reads  bool
	}{
		{"ask", "allow_once", true, true},
		{"ask", "reject_once", true, false},
		{"accept-edits", "reject_once", true, false},
		{"read-only", "allow_once", true, true},
		{"auto", "reject_once", false, true},
	}
	for _, file := range []string{"outside", "a link out", "secret"} {
		for _, tt := range tests {
			t.Run(file+" "+tt.mode+" "+tt.answer, func(t *testing.T) {
				t.Parallel()
				e := newEditor(t)
				path := e.file("elsewhere/notes.txt", "the walrus\n")
				at := path
				switch file {
				case "a link out":
					at = filepath.Join(e.cwd, "notes.txt")
					if err := os.Symlink(path, at); err != nil {
						t.Fatal(err)
					}
				case "secret":
					path = e.seed(".env", "the walrus\n")
					at = path
				}
				key := attach.ResourceKey("file://" + at)
				e.acp("--model", "script:"+e.file("script.jsonl", steps(step("read-context", object{"keys": []any{key}}))), "--mode", tt.mode)
				s := e.open(nil)
				e.allow(tt.answer)
				e.gives(s, textBlock("go"), linkBlock("file://"+at, "notes"))
				asked := e.questions()
				if (len(asked) == 1) != tt.asks || len(asked) > 1 {
					t.Fatalf("%d questions, want one: %v", len(asked), tt.asks)
				}
				if tt.asks {
					var q frameIn
					for _, f := range e.heard() {
						if f.Method == "session/request_permission" {
							q = f
						}
					}
					if !strings.Contains(q.Raw, path) {
						t.Errorf("the question does not name %s: %s", path, q.Raw)
					}
				}
				if got := e.results(s)[0]; strings.Contains(got.Text, "the walrus") != tt.reads || got.IsError == tt.reads {
					t.Errorf("result = %+v, want the file: %v", got, tt.reads)
				}
				lacks(t, "the first request", fmt.Sprint(e.requests(s)[0]), "the walrus")
			})
		}
	}
}

// Row 148 (R-PROMPT-52, C-22): a model without tools gets the bodies, as much as its
// window allows, with a mark where one is cut; a linked file of the workspace too,
// but none outside and none that may hold passwords.
func TestRow148WithoutTools(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("all work and no play. ", 10000) + "the end of it"
	blocks := func(e *editor) []any {
		return []any{
			textBlock("Compare"), embedBlock("file:///w/small.txt", "small body\u200b"), embedBlock("file:///w/large.txt", large),
			linkBlock("file://"+e.seed("linked.go", "package linked\n"), "linked.go"), linkBlock("file://"+e.seed(".env", "KEY=walrus\n"), ".env"),
			linkBlock("file://"+e.file("elsewhere", "another walrus\n"), "elsewhere"), blobBlock("file:///w/x.pdf", "application/pdf", pdf),
		}
	}
	tests := []struct {
		name    string
		prepare func(e *editor)
		choose  func(e *editor, session string)
		tokens  int // for all bodies, of 4 bytes each
	}{
		{"said of the model", func(e *editor) {
			e.file(".config/lorimer/models.toml", "[models.\"script:*\"]\ntool_usage = 0\nwindow = 8000\n")
		}, func(*editor, string) {}, 2000},
		{"tools off", func(*editor) {}, func(e *editor, s string) { e.set(s, "tools", "off") }, 32000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			tt.prepare(e)
			e.acp("--model", "script:"+e.file("script.jsonl", always))
			s := e.open(nil)
			tt.choose(e, s)
			e.gives(s, blocks(e)...)
			r := e.lastRequest(s)
			if len(r.Tools) > 0 || len(e.questions()) > 0 {
				t.Errorf("tools %q are offered, %d questions asked, want none", r.Tools, len(e.questions()))
			}
			_, rows, behind := tableOf(t, r.user()[0].text())
			if len(rows) != 6 {
				t.Errorf("rows = %q, want 6", rows)
			}
			holds(t, "what follows the table", behind, "reference data", "small body<U+200B>", "all work and no play.", "Cut here", "bytes are missing", "package linked")
			lacks(t, "what follows the table", behind, "walrus", "%PDF", "the end of it", "read-context")
			if n := strings.Count(behind, "say that you could not read it"); n != 3 {
				t.Errorf("%d attachments are told to be unread, want 3:\n%.2000s", n, behind)
			}
			const frame = 1500 // tags, marks, and what is said of the others
			if n := len(behind); n > 4*tt.tokens+frame || n < 4*tt.tokens {
				t.Errorf("%d bytes are given, want those of about %d tokens", n, tt.tokens)
			}
		})
	}
}

// Row 148 (R-HARN-26): what is attached to a message is given anew with the answer, as
// the model at that time can take it.
func TestRow148GivenAnew(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("all work and no play. ", 1000)
	e := edit(t, always)
	s := e.open(nil)
	linked := "file://" + e.seed("linked.go", "package linked\n")
	e.gives(s, textBlock("Compare"), linkBlock(linked, "linked.go"), embedBlock("file:///w/large.txt", large))
	for _, tools := range []string{"off", "on"} {
		e.set(s, "tools", tools)
		e.prompt(s, "/retry")
		users := e.lastRequest(s).user()
		if len(users) != 1 {
			t.Fatalf("%d messages of the user, want the one", len(users))
		}
		_, rows, behind := tableOf(t, users[0].text())
		inline := strings.Contains(behind, large) && strings.Contains(behind, "package linked")
		if len(rows) != 2 || inline != (tools == "off") {
			t.Errorf("with tools %s: rows %q, bodies in full: %v", tools, rows, inline)
		}
	}
}
