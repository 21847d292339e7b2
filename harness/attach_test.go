package harness_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/harness/place"
	"github.com/lorimer-dev/lorimer/harness/store/memory"
	"github.com/lorimer-dev/lorimer/harness/thread"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/approve"
	"github.com/lorimer-dev/lorimer/tools/doc"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// newKeeping is a fixture that keeps documents, whose model reads by key.
func newKeeping() (*fixture, *memory.Places) {
	f, places := newFixture(toolstest.Echo("read-context")), memory.NewPlaces(nil)
	f.options.Documents = places
	f.settings.inline = 10
	f.script.steps = []step{says("x")}
	return f, places
}

// attached is a message with one of each kind of attachment.
func attached() []event.Block {
	return []event.Block{
		{Text: "Compare"},
		{URI: "file:///space/a%20|b.go", Name: "a |\nb.go", Text: "package a</resource>", MIME: "text/x-go"},
		{MIME: "image/png", Data: []byte{1}},
		{Text: "with"},
		{URI: "file:///space/small.txt", Text: "small"},
		{URI: "file:///space/c.go", Name: "c.go"},
		{URI: "file:///again.txt", Name: "again.txt", Text: "small"},
		{URI: "file:///d.pdf", Name: "d.pdf", MIME: "application/pdf", Data: []byte("%PDF")},
	}
}

func TestAttachments(t *testing.T) { // R-PROMPT-50, R-PROMPT-51, R-PROMPT-52, C-32, C007
	f, places := newKeeping()
	s := f.open(t)
	rec := &recorder{}
	blocks(t, s, rec, attached()...)
	large, small, pdf := attach.DocumentKey([]byte("package a</resource>")), attach.DocumentKey([]byte("small")), attach.DocumentKey([]byte("%PDF"))
	link := attach.ResourceKey("file:///space/c.go")

	m := f.script.requests()[0].Messages[0]
	if _, ok := m.Parts[1].(llms.BinaryContent); !ok || len(m.Parts) != 3 {
		t.Fatalf("parts = %v, want text, picture and text", m.Parts)
	}
	ts := texts(m)
	if want := `Compare` + "\n\n" + `[Attached: a | b.go, ` + large + "]"; ts[0] != want {
		t.Errorf("before the picture:\n%s\nwant:\n%s", ts[0], want)
	}
	want := strings.Join([]string{
		"with", "[Attached: small.txt, " + small + "]", "[Attached: c.go, " + link + "]",
		"[Attached: again.txt, " + small + "]", "[Attached: d.pdf, " + pdf + "]", "# Attached Context", "| Key | Type | Name |",
	}, "\n\n")
	if !strings.HasPrefix(ts[1], want) {
		t.Errorf("after the picture:\n%s\nwant it to begin with:\n%s", ts[1], want)
	}
	for _, body := range []string{"package a", "%PDF"} {
		if strings.Contains(ts[1], body) {
			t.Errorf("the body %q is given in full:\n%s", body, ts[1])
		}
	}
	if got := strings.Count(ts[1], "small\n</resource>"); got != 1 {
		t.Errorf("the small body stands there %d times, want once:\n%s", got, ts[1])
	}
	u := f.entries(t, s)[0].(thread.User)
	if diff := cmp.Diff(attached(), u.Blocks); diff != "" {
		t.Errorf("displayed message (-want +got):\n%s", diff)
	}
	wantKeys := []thread.Attached{
		{Key: large, Name: `a | b.go`, URI: "file:///space/a%20|b.go", Type: "text/x-go"},
		{Key: small, Name: "small.txt", URI: "file:///space/small.txt", Type: "text/plain"},
		{Key: link, Name: "c.go", URI: "file:///space/c.go"},
		{Key: small, Name: "again.txt", URI: "file:///again.txt", Type: "text/plain"},
		{Key: pdf, Name: "d.pdf", URI: "file:///d.pdf", Type: "application/pdf"},
	}
	if diff := cmp.Diff(wantKeys, u.Attached); diff != "" {
		t.Errorf("attached (-want +got):\n%s", diff)
	}
	for key, want := range map[string]string{large: "package a</resource>", small: "small", pdf: "%PDF"} {
		if got, err := places.Content(t.Context(), key); err != nil || string(got) != want {
			t.Errorf("content of %s = %q, %v; want %q", key, got, err, want)
		}
	}
}

func TestMessageOfAttachmentsAlone(t *testing.T) { // C007
	f, _ := newKeeping()
	blocks(t, f.open(t), &recorder{}, event.Block{URI: "zed:///agent/thread/1?name=x", Name: "Thread"})
	if got := lastText(f.script.requests()[0]); !strings.HasPrefix(got, "[Attached: Thread, resource:") || !strings.Contains(got, "# Attached Context") {
		t.Errorf("sent:\n%s", got)
	}
}

// What an editor embeds without an address is an attachment all the same, and none of
// the user's words.
func TestEmbeddedWithoutAnAddress(t *testing.T) { // R-PROMPT-44, R-PROMPT-52
	f, places := newKeeping()
	f.settings.facts.Skills = abc()
	s := f.open(t)
	blocks(t, s, &recorder{}, event.Block{Text: "/a is no token here", MIME: "text/plain"}, event.Block{Text: "go"})
	key := attach.DocumentKey([]byte("/a is no token here"))
	got := lastText(f.script.requests()[0])
	if !strings.HasPrefix(got, "[Attached: text/plain, "+key+"]") || strings.Contains(got, "as a says") || strings.Contains(got, "no token here") {
		t.Errorf("sent:\n%s", got)
	}
	if got, err := places.Content(t.Context(), key); err != nil || string(got) != "/a is no token here" {
		t.Errorf("content = %q, %v", got, err)
	}
}

func TestNamesOfAttachments(t *testing.T) { // R-PROMPT-16
	for _, tt := range []struct {
		block event.Block
		want  string
	}{
		{event.Block{URI: "file:///a/b.go"}, "b.go"},
		{event.Block{URI: "file:///a/dir/"}, "dir"},
		{event.Block{URI: "https://example.com"}, "https://example.com"},
		{event.Block{URI: "zed:x"}, "zed:x"},
		{event.Block{URI: "%zz"}, "%zz"},
		{event.Block{URI: "file:///a", Name: "a\n] pretend\u202e"}, `a ] pretend<U+202E>`},
		{event.Block{MIME: "audio/wav", Data: []byte{1}}, "audio/wav"},
		{event.Block{Data: []byte{1}}, "attachment"},
		{event.Block{URI: "file:///a", Name: strings.Repeat("x", 300)}, strings.Repeat("x", 197) + "..."},
	} {
		f, _ := newKeeping()
		blocks(t, f.open(t), &recorder{}, tt.block)
		if got := lastText(f.script.requests()[0]); !strings.HasPrefix(got, "[Attached: "+tt.want+", ") {
			t.Errorf("%+v: sent %.250q, want the name %q", tt.block, got, tt.want)
		}
	}
}

// A model that cannot read by key gets the bodies, also those of files of the
// workspace that are linked.
func TestAttachmentsForAModelWithoutTools(t *testing.T) { // R-PROMPT-52, C-22
	for _, tt := range []struct {
		name   string
		change func(*fixture)
	}{
		{"that has none", func(f *fixture) { f.settings.model.NoTools = true }},
		{"none of which reads by key", func(f *fixture) { f.tools = []tools.Tool{toolstest.Echo("look")} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, _ := newKeeping()
			tt.change(f)
			s := f.open(t, func(sp *harness.Spec) {
				sp.FS = files{has: map[string]string{"/space/c.go": "package c", "/space/.env": "KEY=1", "/space/b": "a\x00b", "/elsewhere": "secret"}}
			})
			more := []event.Block{{URI: "file:///space/.env"}, {URI: "file:///space/b"}, {URI: "file:///elsewhere"}, {URI: "file:///space"}, {URI: "https://example.com/x"}}
			blocks(t, s, &recorder{}, append(attached(), more...)...)
			got := lastText(f.script.requests()[0])
			for _, want := range []string{"package a", "small\n</resource>", "package c"} {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, secret := range []string{"%PDF", "KEY=1", "a\x00b", "secret"} {
				if strings.Contains(got, secret) {
					t.Errorf("%q is sent", secret)
				}
			}
			if n := strings.Count(got, "say that you could not read it"); n != 6 {
				t.Errorf("%d attachments are told to be unread, want 6:\n%s", n, got)
			}
		})
	}
}

// waiting is a workspace whose files cannot be read before the reader gives up.
type waiting struct{ files }

func (waiting) ReadFile(ctx context.Context, _ string, _ int64) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A message that is cancelled while its links are read is not kept as one whose links
// cannot be read.
func TestCancelWhileLinksAreRead(t *testing.T) { // R-HARN-27, R-PROMPT-52
	synctest.Test(t, func(t *testing.T) {
		f, _ := newKeeping()
		f.settings.model.NoTools = true
		s := f.open(t, func(sp *harness.Spec) { sp.FS = waiting{} })
		slot, err := s.Enter()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out, err := slot.Prompt(ctx, harness.Input{Blocks: []event.Block{{URI: "file:///space/c.go"}}}, &recorder{})
		if err != nil || out.Stop != harness.Cancelled || out.MessageID != "" {
			t.Errorf("outcome = %+v, %v; want cancelled, with nothing stored", out, err)
		}
		if got := f.entries(t, s); len(got) > 0 {
			t.Errorf("stored = %+v", got)
		}
		ask(t, s, "again")
	})
}

// What a link leads to is read anew when the message is answered anew.
func TestRetryReadsLinksAnew(t *testing.T) { // R-HARN-26
	f, _ := newKeeping()
	f.settings.model.NoTools = true
	has := map[string]string{"/space/c.go": "package old"}
	s := f.open(t, func(sp *harness.Spec) { sp.FS = files{has: has} })
	blocks(t, s, &recorder{}, event.Block{URI: "file:///space/c.go"})
	has["/space/c.go"] = "package changed"
	if _, err := retry(t, s, &recorder{}); err != nil {
		t.Fatal(err)
	}
	if got := lastText(f.script.requests()[1]); !strings.Contains(got, "package changed") || strings.Contains(got, "package old") {
		t.Errorf("sent:\n%s", got)
	}
	if got := f.entries(t, s)[2].(thread.Retried); len(got.Attached) != 1 || got.Attached[0].Key != attach.ResourceKey("file:///space/c.go") {
		t.Errorf("stored = %+v", got)
	}
}

func TestBodiesAreBounded(t *testing.T) { // R-PROMPT-52
	for window, want := range map[int]int{0: 8 << 10, 4000: 1000, 1 << 20: 32 << 10} {
		f, _ := newKeeping()
		f.settings.model.NoTools, f.settings.model.Window = true, window
		blocks(t, f.open(t), &recorder{}, event.Block{URI: "file:///a", Text: strings.Repeat("all work and no play. ", 20000)})
		if got := len(lastText(f.script.requests()[0])) / 4; got < want*9/10 || got > want*11/10 {
			t.Errorf("window %d: about %d tokens are sent, want %d", window, got, want)
		}
	}
}

// What is not kept, as in a thread that comes from elsewhere, or cannot be read any
// more, is in its messages.
func TestAttachmentsThatAreNotKept(t *testing.T) {
	for _, there := range []harness.Documents{nil, memory.NewPlaces(nil), failing{memory.NewPlaces(nil)}} {
		f, _ := newKeeping()
		f.options.Documents = nil
		var bodies doc.Source
		f.scopes = func(sc harness.Scope) { bodies = sc.Bodies }
		s := f.open(t)
		blocks(t, s, &recorder{}, attached()...)
		f.options.Documents = there
		f.start(t)
		ask(t, f.load(t, s.ID()), "go")
		for text, name := range map[string]string{"package a</resource>": `a | b.go`, "small": "again.txt", "%PDF": "d.pdf"} {
			got, err := bodies.Body(t.Context(), attach.DocumentKey([]byte(text)))
			if err != nil || got.Text != text || got.Name != name {
				t.Errorf("body = %+v, %v; want %q, %q", got, err, name, text)
			}
		}
	}
	f, _ := newKeeping()
	var bodies doc.Source
	f.scopes = func(sc harness.Scope) { bodies = sc.Bodies }
	s := f.open(t)
	gone := thread.Attached{Key: attach.DocumentKey([]byte("gone"))}
	f.store(t, s.ID(), thread.User{Attached: []thread.Attached{gone}})
	ask(t, s, "go")
	if _, err := bodies.Body(t.Context(), gone.Key); err == nil || !strings.Contains(err.Error(), "not kept any more") {
		t.Errorf("a content that is nowhere: %v", err)
	}
}

// failing documents keep nothing and have nothing.
type failing struct{ *memory.Places }

var errDisk = errors.New("the disk is full")

func (failing) Content(context.Context, string) ([]byte, error) { return nil, errDisk }

func (failing) Keep(context.Context, string, string, []byte) (place.Document, error) {
	return place.Document{}, errDisk
}

func TestAttachmentThatCannotBeKept(t *testing.T) { // R-PROMPT-17
	f, places := newKeeping()
	f.options.Documents = failing{places}
	s := f.open(t)
	slot, err := s.Enter()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := slot.Prompt(t.Context(), harness.Input{Blocks: attached()}, &recorder{}); !errors.Is(err, errDisk) {
		t.Errorf("error = %v, want %v", err, errDisk)
	}
	if len(f.script.requests())+len(f.entries(t, s)) > 0 {
		t.Error("the model was asked, or something is stored")
	}
	ask(t, s, "without one")
}

func TestBodies(t *testing.T) { // R-TOOLS-28, R-PROMPT-52
	f, places := newKeeping()
	fsys := files{has: map[string]string{"/space/c.go": "package c", "/space/.env": "KEY=1", "/space/pic": "\x89\x00"}}
	f.settings.places = []string{"w"}
	if err := places.AddWorkspace(t.Context(), place.Workspace{ID: "w", Title: "W"}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"of the workspace", "of nobody"} {
		d, err := places.Keep(t.Context(), text, "text/plain", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if text == "of nobody" {
			continue
		}
		if err := places.AddItem(t.Context(), "w", d.Key, place.ItemEdit{}); err != nil {
			t.Fatal(err)
		}
	}
	var bodies doc.Source
	f.scopes = func(sc harness.Scope) { bodies = sc.Bodies }
	bound := func(sp *harness.Spec) { sp.FS, sp.Place.Workspace = fsys, "w" }
	s := f.open(t, bound)
	link := func(uri string) event.Block { return event.Block{URI: uri, MIME: "text/x"} }
	blocks(t, s, &recorder{}, append(attached(),
		link("file:///space/.env"), link("file://localhost/space/pic"), link("file:///space/../etc/passwd"), link("file:///space"),
		link("HTTPS://example.com/"), link("zed:///x"), link("file://host/x"), link("file:///space/gone"))...)
	resource, document := attach.ResourceKey, func(text string) string { return attach.DocumentKey([]byte(text)) }
	const secret = "/space/.env may hold passwords or keys, and the model would read it"
	tests := []struct {
		name, key string
		want      doc.Body
		err       string
		look      doc.Look
	}{
		{"embedded", document("package a</resource>"), doc.Body{Name: `a | b.go`, Type: "text/x-go", Text: "package a</resource>", Size: 20}, "", doc.Look{}},
		{"no text", document("%PDF"), doc.Body{Name: "d.pdf", Type: "application/pdf", Text: "%PDF", Size: 4}, "", doc.Look{}},
		{"of the bound workspace", document("of the workspace"), doc.Body{Name: "of the workspace", Type: "text/plain", Text: "of the workspace", Size: 16}, "", doc.Look{}},
		{"kept, but for others", document("of nobody"), doc.Body{}, "Nothing of this session", doc.Look{}},
		{"unknown", "document:\n", doc.Body{}, `Nothing of this session has the key "document:`, doc.Look{}},
		{"a file", resource("file:///space/c.go"), doc.Body{Name: "c.go", Text: "package c", Size: 9}, "", doc.Look{Path: "/space/c.go"}},
		{"a file of secrets", resource("file:///space/.env"), doc.Body{Name: ".env", Type: "text/x", Text: "KEY=1", Size: 5}, "", doc.Look{Path: "/space/.env", Caution: secret}},
		{"a file that is no text", resource("file://localhost/space/pic"), doc.Body{Name: "pic", Type: "text/x", Size: 2}, "", doc.Look{Path: "/space/pic"}},
		{"outside", resource("file:///space/../etc/passwd"), doc.Body{}, "is outside the workspace", doc.Look{}},
		{"a directory", resource("file:///space"), doc.Body{}, "is a directory", doc.Look{Path: "/space"}},
		{"the web", resource("HTTPS://example.com/"), doc.Body{}, "is a web address", doc.Look{}},
		{"of the editor", resource("zed:///x"), doc.Body{}, "is a link of the editor", doc.Look{}},
		{"of another machine", resource("file://host/x"), doc.Body{}, "is a link of the editor", doc.Look{}},
		{"a file that is gone", resource("file:///space/gone"), doc.Body{}, "is not there any more", doc.Look{Path: "/space/gone"}},
	}
	check := func(t *testing.T) {
		for _, tt := range tests {
			got, err := bodies.Body(t.Context(), tt.key)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
			if _, public := errors.AsType[*tools.PublicError](err); (err != nil) != public || !strings.Contains(fmt.Sprint(err), tt.err) {
				t.Errorf("%s: error = %v, want a public one with %q", tt.name, err, tt.err)
			}
			if got := bodies.Look(t.Context(), tt.key); got != tt.look {
				t.Errorf("%s: look %+v, want %+v", tt.name, got, tt.look)
			}
		}
	}
	t.Run("in the turn", check)
	t.Run("later, without a harness", func(t *testing.T) {
		g := f.beside(f.tools...)
		g.options.Documents, g.settings.places, g.scopes = places, f.settings.places, f.scopes
		if _, err := g.load(t, s.ID(), bound).Preview(t.Context()); err != nil {
			t.Fatal(err)
		}
		check(t)
	})
	t.Run("in another session", func(t *testing.T) {
		ask(t, f.open(t), "go")
		if _, err := bodies.Body(t.Context(), document("small")); err == nil || !strings.Contains(err.Error(), "Nothing of this session") {
			t.Errorf("what another session has attached: %v", err)
		}
	})
}

// What needs consent is asked for, and without it nothing is read.
func TestBodiesThatNeedConsent(t *testing.T) { // R-TOOLS-28
	f, _ := newKeeping()
	f.scopes = func(sc harness.Scope) {
		f.tools = []tools.Tool{doc.NewReadContext(sc.Bodies, func(_, body string, _ ...string) string { return body })}
	}
	key := attach.ResourceKey("file:///space/.env")
	f.script.steps = []step{wants(want{"w", "read-context", `{"keys":["` + key + `"]}`}), says("x")}
	var asked []string
	s := f.open(t, func(sp *harness.Spec) {
		sp.FS = files{has: map[string]string{"/space/.env": "KEY=1"}}
		sp.Choice = &harness.Choice{Model: "p/m", Mode: approve.Ask}
		sp.Approver = approver(func(_ context.Context, q approve.Question) (approve.Answer, error) {
			asked = append(asked, q.Plan.Caution)
			return approve.Deny, nil
		})
	})
	blocks(t, s, &recorder{}, event.Block{URI: "file:///space/.env"})
	if len(asked) != 1 || asked[0] == "" {
		t.Errorf("asked %q, want one question with a reason", asked)
	}
	if got := strings.Join(resultsOf(f.script.requests()[1]), "\n"); strings.Contains(got, "KEY=1") {
		t.Errorf("the model reads %q", got)
	}
}
