package harness_test

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/event"
	"github.com/lorimer-dev/lorimer/prompt/attach"
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
