//go:build unix

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Row 66 (R-HARN-26), as far as there is no budget: /retry asks the same anew
// under a revision of its own, which outlives the process. What was answered
// before is marked, and no part of what the model reads.
func TestRow066Retry(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "begin"}, "text": "begun"}
{"text": "old answer", "tools": [{"name": "read", "args": {"path": "a.txt"}}]}
{"text": "old end"}
{"text": "second answer"}
{"text": "third answer"}
`+always)
	e.seed("a.txt", "content\n")
	s := e.open(nil)
	e.prompt(s, "begin")
	e.prompt(s, "the question")
	for range 2 {
		if stop := e.prompt(s, "/retry"); stop != "end_turn" {
			t.Fatalf("stop reason of /retry = %s, want end_turn", stop)
		}
	}
	requests, turns := e.requests(s), e.turns(s)
	if len(requests) != 5 || len(turns) != 4 {
		t.Fatalf("%d requests in %d turns, want 5 in 4", len(requests), len(turns))
	}
	for i, r := range requests[3:] {
		want := requests[1]
		want.Signature = r.Signature
		if diff := cmp.Diff(want, r); diff != "" {
			t.Errorf("the request of /retry %d differs from that of the question (-question +retry):\n%s", i+1, diff)
		}
		if l := turns[2+i]; l.Harness != "rebuilt" || !slices.Equal(l.Changed, []string{"revision"}) || l.Signature == turns[1+i].Signature {
			t.Errorf("harness of /retry %d = %+v, want it rebuilt for the revision", i+1, l)
		}
	}
	want := []string{
		"user the question", "replaced assistant old answer", "replaced tool a.txt", "replaced assistant old end",
		"replaced assistant second answer", "assistant third answer",
	}
	if diff := cmp.Diff(want, e.shown(s, "--all")[2:]); diff != "" {
		t.Errorf("session show --all (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"user the question", "assistant third answer"}, e.shown(s)[2:]); diff != "" {
		t.Errorf("session show (-want +got):\n%s", diff)
	}

	next := e.restart("--model", "script:"+e.file("script.jsonl", always))
	r := next.load(s)
	var told []string
	for _, id := range r.order {
		told = append(told, r.texts[id])
	}
	if diff := cmp.Diff([]string{"begin", "begun", "the question", "third answer"}, told); diff != "" {
		t.Errorf("the replay (-want +got):\n%s", diff)
	}
	next.prompt(s, "go on")
	checkOnce(t, next.lastRequest(s), []string{"begin", "begun", "the question", "third answer", "go on"})
	if got := next.lastRequest(s); len(got.Messages) != 5 {
		t.Errorf("messages = %+v, want nothing of what was replaced", got.Messages)
	}
	turns = next.turns(s)
	if a, b := turns[3], turns[4]; b.Harness != "built" || a.Signature != b.Signature {
		t.Errorf("harness in the next process = %+v, want the revision of %+v", b, a)
	}
}

// Row 66 (R-HARN-26): an answer holds until another has taken its place. One that
// the model refuses to give anew is kept for the model, for who opens the session
// and in the next process.
func TestRow066RetryThatFails(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"text": "good answer"}`+"\n"+`{"error": {"status": 400}}`+"\n"+always)
	s := e.open(nil)
	e.prompt(s, "the question")
	if r := e.wait(e.send("session/prompt", say(s, "/retry"))); r.Error == nil {
		t.Fatalf("answer to /retry = %s, want the error of the model", r.Result)
	}
	if diff := cmp.Diff([]string{"user the question", "assistant good answer"}, e.shown(s)); diff != "" {
		t.Errorf("session show (-want +got):\n%s", diff)
	}
	e.prompt(s, "go on")
	checkOnce(t, e.lastRequest(s), []string{"the question", "good answer", "go on"})

	next := e.restart("--model", "script:"+e.file("script.jsonl", always))
	next.load(s)
	next.prompt(s, "and on")
	checkOnce(t, next.lastRequest(s), []string{"the question", "good answer", "go on", "fine", "and on"})
}

// shown runs "lorimer session show" and returns the pieces in short: whether
// replaced, the kind and the text, or the title of a call.
func (e *editor) shown(session string, flags ...string) (pieces []string) {
	e.t.Helper()
	var out struct {
		Pieces []struct {
			Kind, Text string
			Tool       struct{ Title string }
			Replaced   bool
		}
	}
	text := e.prints(append([]string{"session", "show", session, "--json"}, flags...)...)
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		e.t.Fatalf("%v: %s", err, text)
	}
	for _, p := range out.Pieces {
		mark := ""
		if p.Replaced {
			mark = "replaced "
		}
		pieces = append(pieces, mark+p.Kind+" "+p.Text+strings.TrimPrefix(p.Tool.Title, "Reading "))
	}
	return pieces
}

// Row 140 (R-COMP-01, R-STORE-02), as far as nothing is compacted: whatever is
// done to a session, what was written of it stays as it was, and shown as before.
func TestRow140OriginalsStay(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(step("write", object{"path": "a.txt", "content": "one\n"}), bash("cat a.txt"))+"\n"+always, "--mode", "auto")
	s := e.open(nil)
	e.prompt(s, "first")
	e.prompt(s, "second")
	unmarked := func() []string {
		var all []string
		for _, p := range e.shown(s, "--all") {
			all = append(all, strings.TrimPrefix(p, "replaced "))
		}
		return all
	}
	entries := func() string {
		text, _ := strings.CutSuffix(e.prints("session", "export", s, "--reasoning"), "\n]\n}\n")
		return text
	}
	for _, tt := range []struct {
		name string
		do   func()
	}{
		{"/retry", func() { e.prompt(s, "/retry") }},
		{"another model", func() { e.choose(s, "model", "offline"); e.prompt(s, "stream 3 words") }},
		{"a fork", func() { e.call("session/fork", e.where(s), nil) }},
		{"a title", func() { e.call("session/set_title", object{"sessionId": s, "title": "x"}, nil) }},
		{"a load", func() { e.load(s) }},
		{"a close", func() { e.call("session/close", object{"sessionId": s}, nil) }},
		{"an archive", func() { e.call("session/archive", object{"sessionId": s}, nil) }},
	} {
		stored, shown := entries(), unmarked()
		tt.do()
		if after := entries(); !strings.HasPrefix(after, stored) {
			t.Errorf("%s has changed what was stored (-before +after):\n%s", tt.name, cmp.Diff(stored, after))
		}
		after := unmarked()
		if len(after) < len(shown) || !slices.Equal(after[:len(shown)], shown) {
			t.Errorf("%s has changed what is shown (-before +after):\n%s", tt.name, cmp.Diff(shown, after))
		}
	}
	if got := len(unmarked()); got < 9 {
		t.Errorf("%d pieces in the end: too little was done", got)
	}
}
