//go:build unix

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
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

// lookAtBoth is a turn that reads a text and a picture at once, after a thought. The
// model says who it is.
func lookAtBoth(thought, by string) []modeltest.Reply {
	return []modeltest.Reply{
		{Think: []string{thought}, Text: []string{"I read both", " as " + by + "."}, Tools: []modeltest.Tool{
			tool("read", object{"path": "a.txt"}), tool("read", object{"path": "img.png"})}},
		{Text: []string{"Seen", " by " + by + "."}},
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
			e := newEditor(t).reaches(m)
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

// C123 (R-PROMPT-20, R-HARN-14), as far as there are no servers: tools have one
// order in every session and process, and what a process has sent the next one
// sends again, byte for byte, before it adds to it.
func TestC123NothingIsRewritten(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			file, _ := picture(t)
			m := modeltest.New(t)
			e := newEditor(t).reachesAll(m)
			e.seed("a.txt", "the walrus\n")
			e.seed("img.png", file)
			e.acp("--model", p.model, "--clock", "2026-11-30T09:15:00Z")
			s := e.open(nil)
			for i, day := range []string{"2026-12-01", "2026-12-02"} {
				for range 2 - i {
					m.Add(lookAtBoth("two files", "it")...)
					if stop := e.prompt(s, fmt.Sprint("turn ", i)); stop != "end_turn" {
						t.Fatalf("stop reason = %s, want end_turn", stop)
					}
				}
				e = e.restart("--model", p.model, "--clock", day+"T10:00:00Z")
				e.load(s)
			}
			m.Add(modeltest.Reply{Text: []string{"fine"}, Repeat: -1})
			e.prompt(s, "go on")
			e.checkReuse(m, p, s, 7)
			e.prompt(e.session(), "another session")
			e.choose(s, "mode", "read-only") // other tools, the same history
			e.prompt(s, "and read only")
			requests := e.requests(s)
			for _, r := range e.requests("") {
				want := allTools()
				if r.Session == s && len(r.Tools) == len(readingTools()) {
					want = readingTools()
				}
				if !slices.Equal(r.Tools, want) {
					t.Errorf("tools = %q, want %q", r.Tools, want)
				}
			}
			last, before := requests[len(requests)-1].Messages, requests[len(requests)-2].Messages
			if diff := cmp.Diff(before, last[:len(before)]); diff != "" || len(requests[len(requests)-1].Tools) != len(readingTools()) {
				t.Errorf("the messages changed with the tools (-before +after):\n%s", diff)
			}
			if got := m.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
		})
	}
}

// C125 (R-HARN-07, R-HARN-15): instructions that change rebuild the harness; only
// the head of the request is another one. Results and pictures are all there, and
// the files are as they were.
func TestC125RebuildKeepsResultsAndPictures(t *testing.T) {
	t.Parallel()
	for _, p := range allProviders() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			file, encoded := picture(t)
			m := modeltest.New(t)
			for range 3 {
				m.Add(lookAtBoth("two files", "it")...)
			}
			m.Add(modeltest.Reply{Text: []string{"It was an animal."}, Repeat: -1})
			const rules = "section = [{name = \"house\", order = 120, text = \"Rules of the house.\"}]"
			e := newEditor(t).reachesAll(m, rules)
			e.seed("a.txt", "the walrus\n")
			e.seed("img.png", file)
			e.acp("--model", p.model)
			s := e.open(nil)
			for range 3 {
				e.prompt(s, "look")
			}
			before := e.lastRequest(s)
			e.file(configFile, configAll(m, strings.Replace(rules, "Rules", "Other rules", 1)))
			e.prompt(s, "what was in the file that you read?")
			after := e.lastRequest(s)
			if diff := cmp.Diff(before.Messages, after.Messages[:len(before.Messages)]); diff != "" {
				t.Errorf("the messages changed with the instructions (-before +after):\n%s", diff)
			}
			if got, want := after.System, strings.Replace(before.System, "Rules of the house.", "Other rules of the house.", 1); got != want || got == before.System {
				t.Errorf("the instructions (-want +got):\n%s", cmp.Diff(want, got))
			}
			if got := e.turns(s); got[3].Harness != "rebuilt" || !slices.Equal(got[3].Changed, []string{"stablePrompt"}) {
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
		})
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
