package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/export"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/tools"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// stored returns a store with a thread of the given entries, a minute apart.
func stored(t testing.TB, id string, bodies ...thread.Body) *memory.Threads {
	t.Helper()
	s := memory.New(nil)
	at := time.Date(2026, 11, 30, 9, 15, 0, 123456000, time.UTC)
	var entries []thread.Entry
	for i, b := range append([]thread.Body{thread.Created{Cwd: "/home/ann/a`b", Roots: []string{"/more"}}}, bodies...) {
		entries = append(entries, thread.Entry{Seq: int64(i) + 1, Time: at.Add(time.Duration(i) * time.Minute), Body: b})
	}
	if err := s.Restore(t.Context(), id, entries); err != nil {
		t.Fatal(err)
	}
	return s
}

// whole is a thread with all that one can have.
func whole() []thread.Body {
	call := thread.Call{ID: "c1", WireID: "w1", Name: "bash", Args: `{"command":"ls"}`}
	left := thread.Call{ID: "c2", WireID: "w2", Name: "read", Args: `{}`, Provider: "p/m", Extra: json.RawMessage(`{"thought_signature":"sealed"}`)}
	return []thread.Body{
		thread.Options{Values: map[string]string{"model": "p/m"}},
		thread.Bound{Project: "pro", Workspace: "work`s"},
		thread.User{
			MessageID: "u1",
			Attached:  []thread.Attached{{Key: "document:0123456789abcdef", Name: "a.go", URI: "file:///home/ann/a.go", Type: "text/x-go"}},
			Blocks: []event.Block{
				{Text: "# Not a heading\n\n```` and\n## Sources"},
				{MIME: "image/png", Data: []byte{1, 2, 3}},
				{Name: "a.go", URI: "file:///home/ann/a.go", MIME: "text/x-go", Text: "package a"},
			},
			Sent: []thread.Part{{Text: "sent"}, {Image: &tools.Image{MIME: "image/png", Data: []byte{1, 2, 3}}}},
		},
		thread.Assistant{
			MessageID: "m1", Model: "p/m", Usage: model.Usage{Input: 1, Output: 2, Known: true}, Stop: model.StopTools,
			Parts: []thread.Part{
				{ID: "t1", Reasoning: &thread.Reasoning{Text: "secret thought", Provider: "p/m", Signature: "sig"}},
				{ID: "m1", Text: "I look.\n```\nnever closed", Signed: &thread.Signed{Provider: "p/m", Content: json.RawMessage(`"sealed"`)}},
				{Call: &call}, {Call: &left}, {Signed: &thread.Signed{Provider: "p/m", Content: json.RawMessage(`"sealed"`)}},
			},
		},
		thread.Result{
			CallID: "c1", Text: "a.go", Told: []string{"/home/ann/AGENTS.md"},
			Answers: []tools.Answer{{Question: "Which *one*?", Chosen: []string{"<this>", "that"}}, {Question: "And then?"}},
			Shown:   event.ToolCall{ID: "c1", Name: "bash", Title: "ls `x`", Status: event.Completed, Output: json.RawMessage(`{"n":12345678901234567890}`)},
		},
		thread.Note{Text: "a nudge"},
		thread.Assistant{
			MessageID: "m2", Model: "p/m",
			Parts: []thread.Part{{ID: "m2", Text: "Rome is old.[2] "}, {ID: "m2", Text: "So is Athens.[1]"}},
			Meta:  json.RawMessage(`{"sources":[{"index":1,"url":"https://a.example/x>y","title":"On [Athens]","extra":1},{"index":2,"url":"doc:rome","title":"Rome"}],"citations":[{"offset":12,"sources":[{"index":2,"url":"doc:rome","title":"Rome"}]}]}`),
		},
		thread.User{MessageID: "u2", Blocks: []event.Block{{Text: "Again, please."}}, Sent: []thread.Part{{Text: "Again, please."}}},
		thread.Assistant{MessageID: "m3", Parts: []thread.Part{{ID: "m3", Text: "A bad answer"}}, Partial: true},
		thread.Retried{
			User: 9, Sent: []thread.Part{{Text: "sent anew"}, {Image: &tools.Image{MIME: "image/png"}}},
			Attached: []thread.Attached{{Key: "resource:0123456789ab", Name: "b", URI: "file:///b"}},
		},
		thread.Assistant{MessageID: "m4", Parts: []thread.Part{{ID: "m4", Text: "A shown attempt"}}, Partial: true, Void: true},
		thread.Assistant{MessageID: "m5", Parts: []thread.Part{{ID: "m5", Text: "A good answer"}}},
		thread.Title{Text: "Cities <of> *old*", User: true},
		thread.Archived{On: true},
		thread.User{MessageID: "u3", Blocks: []event.Block{{Text: "The power went off here."}}},
		thread.Withdrawn{},
		thread.Moved{Cwd: "/elsewhere"},
	}
}

func TestMarkdown(t *testing.T) {
	s := stored(t, "s1", whole()...)
	zone := time.FixedZone("HERE", 3600)
	for name, o := range map[string]export.Options{"plain": {}, "all": {Reasoning: true, Replaced: true, Zone: zone}} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := export.Markdown(t.Context(), &got, s, "s1", o); err != nil {
				t.Fatal(err)
			}
			golden(t, "testdata/"+name+".md", got.Bytes())
		})
	}
}

func TestJSON(t *testing.T) {
	s := stored(t, "s1", whole()...)
	golden(t, "testdata/whole.json", []byte(written(t, s, "s1", export.Options{Reasoning: true})))
	plain := written(t, s, "s1", export.Options{})
	for _, secret := range []string{"secret thought", `"sig"`, "sealed"} {
		if strings.Contains(plain, secret) {
			t.Errorf("the document has %s, which nobody has asked for", secret)
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func written(t testing.TB, s export.Source, id string, o export.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.JSON(t.Context(), &b, s, id, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip: what is read back is written again byte for byte.
func TestRoundTrip(t *testing.T) {
	s := stored(t, "s1", whole()...)
	for _, o := range []export.Options{{}, {Reasoning: true}} {
		first := written(t, s, "s1", o)
		doc, err := export.Read(strings.NewReader("\xef\xbb\xbf" + first + "\n"))
		if err != nil {
			t.Fatal(err)
		}
		back := memory.New(nil)
		if err := back.Restore(t.Context(), doc.ID, doc.Entries); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, written(t, back, "s1", o)); diff != "" {
			t.Errorf("with %+v the second document differs (-first +second):\n%s", o, diff)
		}
		info, err := back.Info(t.Context(), "s1")
		if err != nil || info.Title != "Cities <of> *old*" || !info.Archived || info.Messages != 3 || info.Cwd != "/elsewhere" ||
			info.Project != "pro" || info.Bound != "work`s" {
			t.Errorf("read back as %+v (%v)", info, err)
		}
	}
}

// TestReadLeavesTheModeOut: a document does not say what runs without a question,
// and what is left without it has its place in the thread.
func TestReadLeavesTheModeOut(t *testing.T) {
	s := stored(t, "s1",
		thread.Options{Values: map[string]string{"mode": "auto", "model": "p/m", "thinking": "high"}},
		thread.Options{Values: map[string]string{"mode": "auto"}},
	)
	doc, err := export.Read(strings.NewReader(written(t, s, "s1", export.Options{})))
	if err != nil {
		t.Fatal(err)
	}
	back := memory.New(nil)
	if err := back.Restore(t.Context(), doc.ID, doc.Entries); err != nil {
		t.Fatal(err)
	}
	info, err := back.Info(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"model": "p/m", "thinking": "high"}, info.Options); diff != "" || info.Last != 3 {
		t.Errorf("read back with %d entries, want 3, and options (-want +got):\n%s", info.Last, diff)
	}
	once := written(t, back, "s1", export.Options{})
	again, err := export.Read(strings.NewReader(once))
	if err != nil {
		t.Fatal(err)
	}
	last := memory.New(nil)
	if err := last.Restore(t.Context(), again.ID, again.Entries); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(once, written(t, last, "s1", export.Options{})); diff != "" {
		t.Errorf("the next document differs (-first +second):\n%s", diff)
	}
}

func TestWalk(t *testing.T) {
	s := stored(t, "s1", whole()...)
	info, err := s.Info(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = export.Walk(t.Context(), s, info, export.Options{}, func(p export.Piece) error {
		line := string(p.Kind) + " " + p.ID
		if p.Tool != nil {
			line += " " + string(p.Tool.State)
		}
		got = append(got, line)
		return nil
	})
	want := []string{
		"user u1", "assistant m1", "tool c1 completed", "tool c2 interrupted", "assistant m2",
		"user u2", "assistant m5", "user u3",
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("pieces (%v; -want +got):\n%s", err, diff)
	}

	enough := errors.New("enough")
	calls := 0
	err = export.Walk(t.Context(), s, info, export.Options{}, func(export.Piece) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("error = %v after %d calls, want the first one's", err, calls)
	}
}

// An empty file that was sent along is no link, in each of the forms.
func TestEmptyAttachment(t *testing.T) {
	s := stored(t, "s1", thread.User{MessageID: "u1", Blocks: []event.Block{
		{Name: "a", URI: "file:///a", MIME: "text/plain", Embedded: true}, {Name: "b", URI: "file:///b"},
	}})
	info, err := s.Info(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	var got []export.Attachment
	err = export.Walk(t.Context(), s, info, export.Options{}, func(p export.Piece) error {
		got = p.Attached
		return nil
	})
	want := []export.Attachment{{Name: "a", URI: "file:///a", MIME: "text/plain", Empty: true}, {Name: "b", URI: "file:///b"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("attached (%v; -want +got):\n%s", err, diff)
	}
	var md, js strings.Builder
	if err := errors.Join(export.Markdown(t.Context(), &md, s, "s1", export.Options{}), export.JSON(t.Context(), &js, s, "s1", export.Options{})); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(md.String(), ", 0 bytes"); n != 1 || strings.Count(js.String(), `"embedded":true`) != 1 {
		t.Errorf("exported:\n%s\n%s\nwant one attachment of 0 bytes", md.String(), js.String())
	}
}

// TestTerminals: no form steers the terminal that it is printed on.
func TestTerminals(t *testing.T) {
	const evil = "a\x1b[2J\u009b2J\x7f\u202eb\r\nc"
	call := thread.Call{ID: "c", Name: evil}
	s := stored(t, "s1",
		thread.User{MessageID: "u1", Blocks: []event.Block{{Text: evil}, {Name: evil, URI: evil}}},
		thread.Assistant{
			Parts: []thread.Part{{ID: "t", Reasoning: &thread.Reasoning{Text: evil}}, {ID: "m", Text: evil}, {Call: &call}},
			Meta:  json.RawMessage(`{"sources":[{"index":1,"url":"https://a.example/\u009bx","title":"\u009bx"}]}`),
		},
		thread.Result{CallID: "c", Text: evil, Shown: event.ToolCall{Title: evil}, Answers: []tools.Answer{{Question: evil, Chosen: []string{evil}}}},
	)
	o := export.Options{Reasoning: true}
	var text bytes.Buffer
	if err := export.Markdown(t.Context(), &text, s, "s1", o); err != nil {
		t.Fatal(err)
	}
	document := written(t, s, "s1", o)
	for _, got := range []string{text.String(), document} {
		if i := strings.IndexFunc(got, func(c rune) bool { return unicode.IsControl(c) && c != '\n' || c == '\u202e' }); i >= 0 {
			t.Errorf("%q is written in\n%s", got[i:min(i+10, len(got))], got)
		}
	}
	for _, want := range []string{"\n```text\na\\x1b[2J\\x9b2J\\x7f\\u202eb\nc\n```\n", "\n> a\\x1b[2J\\x9b2J\\x7f\\u202eb\n> c\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	doc, err := export.Read(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if got := doc.Entries[1].Body.(thread.User).Blocks[0].Text; got != evil {
		t.Errorf("read back as %q, want %q", got, evil)
	}
}

// TestGrowing: what is appended while a thread is read is no part of it.
func TestGrowing(t *testing.T) {
	s := stored(t, "s1", thread.User{MessageID: "u1", Blocks: []event.Block{{Text: "first"}}})
	var b bytes.Buffer
	if err := export.JSON(t.Context(), &b, growing{s}, "s1", export.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "later") {
		t.Errorf("the document has what came later:\n%s", b.String())
	}
}

// A growing source appends as soon as it was asked what there is.
type growing struct{ *memory.Threads }

func (g growing) Info(ctx context.Context, id string) (thread.Info, error) {
	info, err := g.Threads.Info(ctx, id)
	if err == nil {
		_, err = g.Append(ctx, id, "", thread.Note{Text: "later"})
	}
	return info, err
}

// TestOtherSystems: a thread may come from a machine of another kind.
func TestOtherSystems(t *testing.T) {
	for _, dir := range []string{"/w", `C:\\w`, "c:/w", `\\\\host\\w`} {
		file := `{"format":"lorimer-thread","version":1,"id":"a","entries":[{"seq":1,"time":"2026-11-30T09:15:00Z","kind":"created","body":{"cwd":"` + dir + `"}}]}`
		if _, err := export.Read(strings.NewReader(file)); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestMissing(t *testing.T) {
	s := memory.New(nil)
	if err := export.JSON(t.Context(), &bytes.Buffer{}, s, "nope", export.Options{}); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("JSON: %v, want ErrNotFound", err)
	}
	if err := export.Markdown(t.Context(), &bytes.Buffer{}, s, "nope", export.Options{}); !errors.Is(err, harness.ErrNotFound) {
		t.Errorf("Markdown: %v, want ErrNotFound", err)
	}
}

func TestReadMistakes(t *testing.T) {
	const made = `{"seq":1,"time":"2026-11-30T09:15:00Z","kind":"created","body":{"cwd":"/w"}}`
	doc := func(entries string) string {
		return "{\"format\":\"lorimer-thread\",\"version\":1,\"id\":\"a\",\n\"entries\":[" + entries + "]}"
	}
	then := func(kindsAndBodies ...string) string { // a document that goes on after its beginning
		entries := made
		for pair := range slices.Chunk(kindsAndBodies, 2) {
			entries += fmt.Sprintf(`,{"seq":%d,"time":"2026-11-30T09:15:00Z","kind":%q,"body":%s}`, strings.Count(entries, `"seq"`)+1, pair[0], pair[1])
		}
		return doc(entries)
	}
	tests := []struct{ name, file, want string }{
		{"nothing", "", "line 1: the document is empty"},
		{"half of it", doc(made)[:60], "line 2: the document ends in the middle"},
		{"no JSON", "# A title", "line 1: invalid character"},
		{"a mistake on a line", strings.Replace(doc(made), `"entries":[`, `"entries":{[`, 1), "line 2: invalid character"},
		{"two of them", doc(made) + "\n" + doc(made), "line 3: something follows the document"},
		{"another format", `{"format":"x","version":1}`, `not an exported thread: its format is not "lorimer-thread"`},
		{"an array", `[]`, "line 1: the whole must not be a JSON array"},
		{"a newer version", `{"format":"lorimer-thread","version":2,"news":1}`, "the document has version 2 and this lorimer knows 1; use a newer one"},
		{"no version", `{"format":"lorimer-thread"}`, "the version is 0, want 1"},
		{"a word for a version", `{"format":"lorimer-thread","version":"1"}`, "line 1: version must not be a JSON string"},
		{"a member too many", strings.Replace(doc(made), `"version"`, `"more":1,"version"`, 1), `unknown field "more"`},
		{"a path for an id", strings.Replace(doc(made), `"id":"a"`, `"id":"../../etc/x"`, 1), `invalid session id "../../etc/x"`},
		{"bytes that are no text", strings.Replace(doc(made), "/w", "\xff", 1), "line 2: not UTF-8"},
		{"no entries", doc(""), "there are no entries"},
		{"no beginning", doc(strings.Replace(made, "created", "note", 1)), "entry 1: the first entry does not create the thread"},
		{"no directory", doc(strings.Replace(made, "/w", "", 1)), `entry 1: its directory "" is not absolute`},
		{"a directory beside something", doc(strings.Replace(made, "/w", "../w", 1)), `entry 1: its directory "../w" is not absolute`},
		{"a title of two lines", doc(made + `,{"seq":2,"time":"2026-11-30T09:15:00Z","kind":"title","body":{"text":"a\nb"}}`), "entry 2: its title is not one line of at most 200 characters"},
		{"two beginnings", doc(made + "," + strings.Replace(made, `"seq":1`, `"seq":2`, 1)), "entry 2: a thread is created once"},
		{"a gap", doc(made + "," + strings.Replace(made, `"seq":1`, `"seq":3`, 1)), "entry 2: its number is 3, want 2"},
		{"no time", doc(strings.Replace(made, `"time":"2026-11-30T09:15:00Z",`, "", 1)), "entry 1: it has no time"},
		{"hardly a time", doc(strings.Replace(made, "2026-11-30T09:15:00Z", "0001-01-01T00:00:00.0000009Z", 1)), "entry 1: it has no time"},
		{"a time after the last year", doc(strings.Replace(made, "2026-11-30T09:15:00Z", "9999-12-31T23:59:59-01:00", 1)), "entry 1: its time 9999-12-31T23:59:59-01:00 is not of the years 0 to 9999 in UTC"},
		{"a time before the first year", doc(strings.Replace(made, "2026-11-30T09:15:00Z", "0000-01-01T00:00:00+01:00", 1)), "entry 1: its time 0000-01-01T00:00:00+01:00 is not of the years 0 to 9999 in UTC"},
		{"a time that is none", doc(strings.Replace(made, "2026-11-30T09:15:00Z", "yesterday", 1)), "entry 1: parsing time"},
		{"an unknown kind", doc(made + `,{"seq":2,"time":"2026-11-30T09:15:00Z","kind":"dance","body":{}}`), `entry 2: entry of the unknown kind "dance"`},
		{"a body of another form", doc(made + `,{"seq":2,"time":"2026-11-30T09:15:00Z","kind":"note","body":[]}`), "entry 2: "},
		{"no body", doc(made + `,{"seq":2,"time":"2026-11-30T09:15:00Z","kind":"note"}`), "entry 2: "},
		{"a retry of nothing", doc(made + `,{"seq":2,"time":"2026-11-30T09:15:00Z","kind":"retried","body":{"user":1}}`), "entry 2: it answers message 1 anew, which is not the last of the user"},
		{"a retry of no message", then("retried", `{"user":0}`), "entry 2: it answers message 0 anew"},
		{"a retry of an older message", then("user", "{}", "user", "{}", "retried", `{"user":2}`), "entry 4: it answers message 2 anew"},
		{"a call without an id", then("assistant", `{"parts":[{"call":{"name":"x"}}]}`), `entry 2: its call "" has no id of its own`},
		{"calls of one id", then("assistant", `{"parts":[{"call":{"id":"c"}}]}`, "assistant", `{"parts":[{"call":{"id":"c"}}]}`), `entry 3: its call "c" has no id of its own`},
		{"a project of two lines", then("bound", `{"project":"a\nb"}`), "entry 2: its project is not one line"},
		{"a workspace of two lines", then("bound", `{"workspace":"a\nb"}`), "entry 2: its workspace is not one line"},
		{"a key that is none", then("user", `{"attached":[{"key":"file:///etc/passwd"}]}`), `entry 2: its attachment has no key but "file:///etc/passwd"`},
		{"no key", then("user", `{}`, "retried", `{"user":2,"attached":[{"key":"document:"}]}`), `entry 3: its attachment has no key but "document:"`},
		{"a call that runs", then("result", `{"shown":{"status":"pending"}}`), `entry 2: its call is shown as "pending"`},
		{"a kind of call that there is not", then("result", `{"shown":{"kind":"evil"}}`), `entry 2: its call is of the unknown kind "evil"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := export.Read(strings.NewReader(tt.file))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("error = %v, want %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has more than a line: %q", err)
			}
		})
	}
}

// FuzzRead: whatever is accepted is a thread that a store takes, and it is written
// and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(written(f, stored(f, "s1", whole()...), "s1", export.Options{Reasoning: true})))
	f.Add([]byte(`{"format":"lorimer-thread","version":1,"id":"a","entries":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := export.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		s := memory.New(nil)
		if err := s.Restore(t.Context(), doc.ID, doc.Entries); err != nil {
			t.Fatal(err)
		}
		first := written(t, s, doc.ID, export.Options{Reasoning: true})
		again, err := export.Read(strings.NewReader(first))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		back := memory.New(nil)
		if err := back.Restore(t.Context(), again.ID, again.Entries); err != nil {
			t.Fatal(err)
		}
		if second := written(t, back, doc.ID, export.Options{Reasoning: true}); second != first {
			t.Errorf("written again it differs:\n%s\n%s", first, second)
		}
	})
}

// FuzzMarkdown: whatever was said, each line outside of fences and quotations is
// one of the document's own.
func FuzzMarkdown(f *testing.F) {
	f.Add("```\n## User", "```\n## Sources", "x`y", "t")
	f.Add("\r```\r", "a\r## b\n", "``", "<!--")
	f.Fuzz(func(t *testing.T, said, answered, titled, named string) {
		call := thread.Call{ID: "c", Name: named}
		s := stored(t, "s1",
			thread.User{Blocks: []event.Block{{Text: said}, {Name: named, URI: titled}}},
			thread.Assistant{Parts: []thread.Part{{Text: answered}, {Call: &call}}},
			thread.Result{CallID: "c", Shown: event.ToolCall{Title: titled}},
			thread.Title{Text: titled, User: true},
		)
		var b bytes.Buffer
		if err := export.Markdown(t.Context(), &b, s, "s1", export.Options{}); err != nil {
			t.Fatal(err)
		}
		fence := ""
		for l := range strings.FieldsFuncSeq(b.String(), func(c rune) bool { return c == '\n' || c == '\r' }) {
			ticks := l[:len(l)-len(strings.TrimLeft(l, "`"))]
			indented := strings.TrimRight(strings.TrimLeft(l, " "), " \t")
			switch {
			case fence != "":
				if len(l)-len(strings.TrimLeft(l, " ")) < 4 && strings.Trim(indented, "`") == "" && len(indented) >= len(fence) {
					fence = ""
				}
			case len(ticks) >= 3 && strings.TrimPrefix(l, ticks) == "text":
				fence = ticks
			case strings.HasPrefix(l, ">"), strings.HasPrefix(l, "- "), strings.HasPrefix(l, "# "):
			case strings.HasPrefix(l, "## User, 2026-"), strings.HasPrefix(l, "## Assistant, 2026-"):
			default:
				t.Errorf("a line of somebody else: %q in\n%s", l, b.String())
			}
		}
		if fence != "" {
			t.Errorf("a fence stays open:\n%s", b.String())
		}
	})
}
