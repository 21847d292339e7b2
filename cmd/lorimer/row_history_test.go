//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// picture returns a small picture as the bytes of a file, and as they are written
// in JSON.
func picture(t *testing.T) (file string, encoded string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 64, 64))); err != nil {
		t.Fatal(err)
	}
	return b.String(), base64.StdEncoding.EncodeToString(b.Bytes())
}

// onBoth prepares an editor whose agent reaches the server by the protocols of
// both providers.
func onBoth(t *testing.T, m *modeltest.Server) *editor {
	t.Helper()
	e := newEditor(t)
	e.env = []string{"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + m.OpenAI(),
		"ANTHROPIC_API_KEY=sk-test-0123456789", "ANTHROPIC_BASE_URL=" + m.Anthropic()}
	return e
}

// models of the two providers that read pictures.
const (
	gpt    = "openai/gpt-5.2"
	claude = "anthropic/claude-sonnet-5"
)

// tool is a call in an answer of a provider.
func tool(name string, args object) modeltest.Tool {
	return modeltest.Tool{Name: name, Args: modeltest.JSON(args)}
}

// lookAtBoth is a turn that reads a text and a picture at once, after a thought.
func lookAtBoth(thought string) []modeltest.Reply {
	return []modeltest.Reply{
		{Think: []string{thought}, Text: []string{"I read both."}, Tools: []modeltest.Tool{
			tool("read", object{"path": "a.txt"}), tool("read", object{"path": "img.png"})}},
		{Text: []string{"Seen."}},
	}
}

// checkOnce checks that each of the texts is in exactly one message of a request,
// in their order.
func checkOnce(t *testing.T, r requestLine, texts []string) {
	t.Helper()
	place := 0
	for _, want := range texts {
		var at []int
		for i, m := range r.Messages {
			for range strings.Count(m.text(), want) {
				at = append(at, i)
			}
		}
		if len(at) != 1 || at[0] < place {
			t.Errorf("%q is in the messages %v of the request, want it once, from %d on:\n%+v", want, at, place, r.Messages)
			return
		}
		place = at[0]
	}
}

// Row 37 (R-HARN-07, R-HARN-08): the history is kept by a harness that is used
// again, and by one that is built anew for whatever reason: the next request
// holds the earlier turns once each, with their calls.
func TestRow037History(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(e *editor, session string) *editor
		want   string // of the harness of the next turn
	}{
		{"nothing", func(e *editor, _ string) *editor { return e }, "reused"},
		{"the mode", func(e *editor, s string) *editor { e.choose(s, "mode", "read-only"); return e }, "reused"},
		{"the model", func(e *editor, s string) *editor { e.choose(s, "model", "house/m2"); return e }, "rebuilt"},
		{"the provider", func(e *editor, s string) *editor { e.choose(s, "model", claude); return e }, "rebuilt"},
		{"the thinking", func(e *editor, s string) *editor { e.choose(s, "thinking", "high"); return e }, "rebuilt"},
		{"the tools", func(e *editor, s string) *editor { e.choose(s, "tools", "off"); return e }, "rebuilt"},
		{"the persona", func(e *editor, _ string) *editor {
			text, err := os.ReadFile(filepath.Join(e.home, configFile))
			if err != nil {
				e.t.Fatal(err)
			}
			e.file(configFile, "persona = \"You are terse.\"\n"+string(text))
			return e
		}, "rebuilt"},
		{"the process", func(e *editor, s string) *editor { e = e.restart(); e.load(s); return e }, "built"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Text: []string{"answer one"}},
				modeltest.Reply{Text: []string{"I look."}, Tools: []modeltest.Tool{tool("read", object{"path": "a.txt"}), tool("glob", object{"pattern": "*"})}},
				modeltest.Reply{Text: []string{"answer two"}},
				modeltest.Reply{Text: []string{"answer three"}}, modeltest.Reply{Text: []string{"answer four"}})
			e := onBoth(t, m)
			e.seed("a.txt", "the walrus\n")
			e.file(configFile, house{Model: gpt, Usual: "m2", BaseURL: m.OpenAI(), KeyFile: "key"}.toml())
			e.file(".config/lorimer/key", "sk-test-0123456789")
			e.acp()
			s := e.open(nil)
			e.prompt(s, "question one")
			e.prompt(s, "question two")
			e = tt.change(e, s)
			for _, text := range []string{"question three", "question four"} {
				if stop := e.prompt(s, text); stop != "end_turn" {
					t.Fatalf("stop reason = %s, want end_turn", stop)
				}
			}
			if diff := cmp.Diff([]string{"built", "reused", tt.want, "reused"}, e.harnesses(s)); diff != "" {
				t.Errorf("harnesses (-want +got):\n%s", diff)
			}
			requests := e.requests(s)
			last := requests[len(requests)-1]
			all := []string{"question one", "answer one", "question two", "I look.", "the walrus", "answer two", "question three", "answer three", "question four"}
			checkOnce(t, requests[len(requests)-2], all[:7])
			checkOnce(t, last, all)
			if len(last.Tools) > 0 { // else calls are told in words
				checkResults(t, last)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("the provider rejected %q", got)
			}
		})
	}
}

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

// Row 228 (R-HARN-15): after a turn with parallel calls and pictures, of the user
// and of a tool, the provider is switched, the process ends, the next one switches
// back. The providers accept each request, and every one has all of it, typed.
func TestRow228SwitchAndResume(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{gpt, claude}, {claude, gpt}} {
		t.Run("from "+way[0], func(t *testing.T) {
			t.Parallel()
			file, encoded := picture(t)
			m := modeltest.New(t)
			e := onBoth(t, m)
			e.seed("a.txt", "the walrus\n")
			e.seed("img.png", file)
			e.acp("--model", way[0])
			s := e.open(nil)
			turn := func(text, by string) {
				t.Helper()
				m.Add(lookAtBoth("so thinks " + by)...)
				e.call("session/prompt", object{"sessionId": s, "prompt": []any{
					object{"type": "text", "text": text}, object{"type": "image", "mimeType": "image/png", "data": encoded},
				}}, nil)
			}
			turn("first", way[0])
			e.choose(s, "model", way[1])
			turn("second", way[1])
			e = e.restart("--model", way[0])
			e.load(s)
			turn("third", way[1]) // by the second still: that is stored
			e.choose(s, "model", way[0])
			turn("fourth", way[0])
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
			requests := m.Requests()
			var paths []string
			for _, r := range requests {
				paths = append(paths, r.Path)
			}
			if len(requests) != 8 {
				t.Fatalf("%d requests, want 8", len(requests))
			}
			if diff := cmp.Diff([]string{paths[0], paths[0], paths[2], paths[2], paths[2], paths[2], paths[0], paths[0]}, paths); diff != "" || paths[0] == paths[2] {
				t.Errorf("routes of the requests = %q, want the second provider in the middle", paths)
			}
			for i, r := range requests {
				other := way[1]
				if r.Path == paths[2] {
					other = way[0]
				}
				if bytes.Contains(r.Body, []byte("so thinks "+other)) {
					t.Errorf("request %d has a thought of the other provider (R-HARN-31)", i+1)
				}
				// Each turn has a picture of the user from its first request on, and one of a tool from its second.
				if got := bytes.Count(r.Body, []byte(encoded)); got != i+1 {
					t.Errorf("request %d has %d pictures, want %d", i+1, got, i+1)
				}
				if got, want := bytes.Count(r.Body, []byte("the walrus")), (i+1)/2; got != want {
					t.Errorf("request %d has %d texts of the file, want %d", i+1, got, want)
				}
			}
		})
	}
}

// C049 (R-HARN-08, R-ACP-52): the process is killed while a tool runs, so that the
// log ends with a call. The next process tells of it as failed, and each provider
// accepts what it is sent, now and later.
func TestC049ResumeAfterACutCall(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{claude, claude}, {gpt, gpt}, {gpt, claude}} {
		t.Run(way[0]+" then "+way[1], func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t, modeltest.Reply{Think: []string{"hm"}, Tools: []modeltest.Tool{
				tool("read", object{"path": "a.txt"}), tool("bash", object{"command": "echo up > up; read x < pipe"})}})
			e := onBoth(t, m).breaks()
			e.seed("a.txt", "the walrus\n")
			e.acp("--model", way[0], "--mode", "auto")
			s := e.open(nil)
			up := e.fifo("up")
			e.fifo("pipe")
			e.send("session/prompt", say(s, "work"))
			up.get()
			e.cmd.Process.Kill() // it runs
			e.leave()

			m.Add(modeltest.Reply{Text: []string{"fine"}, Repeat: 1})
			next := e.again()
			next.acp("--model", way[0], "--mode", "auto")
			next.call("initialize", object{"protocolVersion": 1}, nil)
			r := next.load(s)
			var ends []string
			for _, id := range r.order {
				if l := r.calls[id]; l != nil {
					ends = append(ends, l.name+" "+l.states[len(l.states)-1])
				}
			}
			if diff := cmp.Diff([]string{"read completed", "bash failed"}, ends); diff != "" {
				t.Errorf("calls in the replay (-want +got):\n%s", diff)
			}
			next.choose(s, "model", way[1])
			for _, text := range []string{"what happened?", "and now?"} {
				if stop := next.prompt(s, text); stop != "end_turn" {
					t.Errorf("stop reason = %s, want end_turn", stop)
				}
			}
			checkResults(t, next.lastRequest(s))
			checkOnce(t, next.lastRequest(s), []string{"work", "the walrus", "what happened?", "fine", "and now?"})
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// C050 (R-ACP-41, R-CMD-11): a call that is refused where nobody can be asked is
// stored with its result, so that the session goes on from the shell, in an
// editor, and with another provider.
func TestC050DeniedCallIsAPair(t *testing.T) {
	t.Parallel()
	for _, way := range [][]string{{claude, gpt}, {gpt, claude}} {
		t.Run("from "+way[0], func(t *testing.T) {
			t.Parallel()
			m := modeltest.New(t,
				modeltest.Reply{Text: []string{"I try."}, Tools: []modeltest.Tool{tool("bash", object{"command": "touch ran"})}},
				modeltest.Reply{Text: []string{"It was refused."}, Repeat: 2})
			e := onBoth(t, m)
			_, err := e.run("run", "--model", way[0], "do it")
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
				t.Fatalf("lorimer run: %v, want exit code 3 for a call that nobody could allow", err)
			}
			e.prints("run", "--continue", "and now?")
			e.acp("--model", way[0])
			e.call("initialize", object{"protocolVersion": 1}, nil)
			sessions := e.list(object{"cwd": e.cwd})
			if len(sessions) != 1 {
				t.Fatalf("sessions = %q, want one", sessions)
			}
			e.load(sessions[0])
			e.choose(sessions[0], "model", way[1])
			if stop := e.prompt(sessions[0], "in the editor"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			results := e.results(sessions[0])
			if len(results) != 1 || !results[0].IsError || !strings.HasPrefix(results[0].Text, "This call was not run") {
				t.Errorf("results = %+v, want the refusal", results)
			}
			checkResults(t, e.lastRequest(sessions[0]))
			if got := m.Rejected(); len(got) > 0 || len(m.Requests()) != 4 {
				t.Errorf("rejected: %q of %d requests, want none of 4", got, len(m.Requests()))
			}
			e.absent("ran")
		})
	}
}

// C123 (R-PROMPT-20, R-HARN-14), as far as there are no servers: tools have one
// order in every session and process, and what a process has sent the next one
// sends again, byte for byte, before it adds to it.
func TestC123NothingIsRewritten(t *testing.T) {
	t.Parallel()
	for _, model := range []string{gpt, claude} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			file, _ := picture(t)
			m := modeltest.New(t)
			e := onBoth(t, m)
			e.seed("a.txt", "the walrus\n")
			e.seed("img.png", file)
			e.acp("--model", model, "--clock", "2026-11-30T09:15:00Z")
			s := e.open(nil)
			for i, day := range []string{"2026-12-01", "2026-12-02", "2026-12-03"} {
				for range 2 {
					m.Add(lookAtBoth("two files")...)
					if stop := e.prompt(s, fmt.Sprint("turn ", i)); stop != "end_turn" {
						t.Fatalf("stop reason = %s, want end_turn", stop)
					}
				}
				e = e.restart("--model", model, "--clock", day+"T10:00:00Z")
				e.load(s)
			}
			for i, r := range m.Reuse() {
				if r.Ratio() != 1 {
					t.Errorf("request %d repeats %.4f of the one before it, want all: %+v", i+2, r.Ratio(), r)
				}
			}
			if got := m.Rejected(); len(got) > 0 || len(m.Reuse()) != 11 {
				t.Errorf("rejected: %q; %d requests follow another, want 11", got, len(m.Reuse()))
			}
			m.Add(modeltest.Reply{Text: []string{"fine"}, Repeat: 1})
			e.prompt(e.session(), "another session")
			e.choose(s, "mode", "read-only") // other tools, the same history
			e.prompt(s, "and read only")
			requests := e.requests(s)
			for _, r := range e.requests("") {
				want := []string{"bash", "edit", "glob", "grep", "read", "write"}
				if r.Session == s && len(r.Tools) == 3 {
					want = []string{"glob", "grep", "read"}
				}
				if !slices.Equal(r.Tools, want) {
					t.Errorf("tools = %q, want %q", r.Tools, want)
				}
			}
			last, before := requests[len(requests)-1].Messages, requests[len(requests)-2].Messages
			if diff := cmp.Diff(before, last[:len(before)]); diff != "" || len(requests[len(requests)-1].Tools) != 3 {
				t.Errorf("the messages changed with the tools (-before +after):\n%s", diff)
			}
		})
	}
}

// C125 (R-HARN-07, R-HARN-15): instructions that change rebuild the harness; only
// the head of the request is another one. Results and pictures are all there, and
// the files are as they were.
func TestC125RebuildKeepsResultsAndPictures(t *testing.T) {
	t.Parallel()
	file, encoded := picture(t)
	m := modeltest.New(t)
	for range 3 {
		m.Add(lookAtBoth("two files")...)
	}
	m.Add(modeltest.Reply{Text: []string{"It was an animal."}, Repeat: -1})
	e := onBoth(t, m)
	e.seed("a.txt", "the walrus\n")
	e.seed("img.png", file)
	e.file(configFile, "section = [{name = \"house\", order = 120, text = \"Rules of the house.\"}]\n")
	e.acp("--model", claude)
	s := e.open(nil)
	for range 3 {
		e.prompt(s, "look")
	}
	before := e.lastRequest(s)
	e.file(configFile, "section = [{name = \"house\", order = 120, text = \"Other rules of the house.\"}]\n")
	e.prompt(s, "what was in the file that you read?")
	after := e.lastRequest(s)
	if diff := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); diff != "" {
		t.Errorf("the messages changed with the instructions (-before +after):\n%s", diff)
	}
	if got, want := after.System, strings.Replace(before.System, "Rules of the house.", "Other rules of the house.", 1); got != want || got == before.System {
		t.Errorf("the instructions (-want +got):\n%s", cmp.Diff(want, got))
	}
	if got := e.turns(s); got[3].Harness != "rebuilt" || !slices.Equal(got[3].Changed, []string{"stable"}) {
		t.Errorf("harness = %+v, want it rebuilt for the instructions", got[3])
	}
	requests := m.Requests()
	body := requests[len(requests)-1].Body
	if pictures, texts := bytes.Count(body, []byte(encoded)), bytes.Count(body, []byte("the walrus")); pictures != 3 || texts != 3 {
		t.Errorf("the request has %d pictures and %d results, want 3 each", pictures, texts)
	}
	if got := m.Rejected(); len(got) > 0 {
		t.Errorf("rejected: %q", got)
	}
	for name, want := range map[string]string{"a.txt": "the walrus\n", "img.png": file} {
		if got := e.disk(name); got != want {
			t.Errorf("%s has changed", name)
		}
	}
}

// Row 210 (R-HARN-11, R-HARN-13): a harness that nobody uses is dropped, but not
// while a turn runs, and the next send builds it again from the same history. One
// that is used in time is used again. What the model is sent is the same.
func TestRow210IdleHarness(t *testing.T) {
	t.Parallel()
	requests := map[string][]requestLine{}
	for _, tt := range []struct {
		idle string
		next turnLine // of each turn but the first
	}{
		{"1h", turnLine{Harness: "reused"}},
		{"1ms", turnLine{Harness: "rebuilt", Changed: []string{"idle"}}},
	} {
		e := newEditor(t)
		e.file(configFile, "[harness]\nidle = \""+tt.idle+"\"\n")
		e.acp("--model", "script:"+e.file("script.jsonl", strings.Repeat(steps(bash("echo $((40+2))"))+"\n", 3)), "--mode", "auto", "--clock", "2026-11-30T09:15:00Z")
		e.call("initialize", object{"protocolVersion": 1}, nil)
		const s = "s" // the same in both, like all that the model is sent
		e.call("session/new", object{"cwd": e.cwd, "_meta": namespaced("sessionId", s)}, nil)
		for _, text := range []string{"one", "two", "three"} {
			e.prompt(s, text)
			e.prints("version") // takes longer than a harness is kept, as the command did
		}
		for i, l := range e.turns(s) {
			want := tt.next
			if i == 0 {
				want = turnLine{Harness: "built"}
			}
			want.Session, want.Signature = s, l.Signature
			if diff := cmp.Diff(want, l); diff != "" {
				t.Errorf("turn %d with the limit %s (-want +got):\n%s", i+1, tt.idle, diff)
			}
		}
		for _, r := range e.requests(s) {
			r.System = strings.ReplaceAll(r.System, e.cwd, "DIR")
			r.Signature = ""
			requests[tt.idle] = append(requests[tt.idle], r)
		}
	}
	if diff := cmp.Diff(requests["1h"], requests["1ms"]); diff != "" || len(requests["1h"]) != 6 {
		t.Errorf("the requests of a harness that was kept and of one that was not (-kept +not):\n%s", diff)
	}
}
