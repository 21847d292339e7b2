package harness_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/prompt"
	"github.com/lorimer-dev/lorimer/prompt/attach"
	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/doc"
)

// An empty file that came along is not looked for where it came from (R-PROMPT-52).
func TestEmbeddedIsEmpty(t *testing.T) {
	for _, noTools := range []bool{false, true} {
		f, places := newKeeping()
		f.settings.model.NoTools = noTools
		var bodies doc.Source
		f.scopes = func(sc harness.Scope) { bodies = sc.Bodies }
		s := f.open(t, func(sp *harness.Spec) { sp.FS = files{has: map[string]string{"/space/a.go": "on disk"}} })
		blocks(t, s, &recorder{}, event.Block{URI: "file:///space/a.go", MIME: "text/x-go", Embedded: true})
		key := attach.DocumentKey(nil)
		got := lastText(f.script.requests()[0])
		if !strings.HasPrefix(got, "[Attached: a.go, "+key+"]") || strings.Contains(got, "on disk") || strings.Contains(got, "resource:") {
			t.Errorf("sent:\n%s\nwant the empty document %s", got, key)
		}
		if content, err := places.Content(t.Context(), key); err != nil || len(content) > 0 {
			t.Errorf("content = %q, %v; want an empty one that is kept", content, err)
		}
		if noTools {
			continue
		}
		want := doc.Body{Name: "a.go", Type: "text/x-go"}
		if b, err := bodies.Body(t.Context(), key); err != nil || b != want {
			t.Errorf("body = %+v, %v; want %+v", b, err, want)
		}
	}
}

// In whatever the model reads of an attachment its name hides nothing (R-PROMPT-16).
func TestNamesOfAttachmentsAreRevealed(t *testing.T) {
	const want = "a<U+200B>b"
	for _, noTools := range []bool{false, true} {
		f, _ := newKeeping()
		f.settings.model.NoTools = noTools
		var bodies doc.Source
		f.scopes = func(sc harness.Scope) { bodies = sc.Bodies }
		blocks(t, f.open(t), &recorder{}, event.Block{URI: "file:///x", Name: "a\u200bb", Text: "text"})
		got := lastText(f.script.requests()[0])
		if !strings.HasPrefix(got, "[Attached: "+want+", ") || !strings.Contains(got, "| "+want+" |") {
			t.Errorf("sent:\n%s\nwant the name %s everywhere", got, want)
		}
		if strings.Contains(got, "\u200b") || strings.Contains(got, `\u200b`) {
			t.Errorf("sent:\n%q\nwant nothing hidden, nor written in another way", got)
		}
		if noTools {
			continue
		}
		read, err := doc.NewReadContext(bodies, prompt.Wrap).Run(t.Context(), tools.Call{Input: []byte(`{"keys":["` + attach.DocumentKey([]byte("text")) + `"]}`)})
		if err != nil || !strings.Contains(read.Text, `name="`+want+`"`) {
			t.Errorf("read-context tells %q (%v), want the name %s", read.Text, err, want)
		}
	}
}
