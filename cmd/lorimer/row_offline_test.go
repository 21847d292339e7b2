//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A saying is a request to the offline model and what comes of it.
type saying struct {
	prompt string
	calls  []string // the tools that are called, in order
	asked  []string // what the user is asked about
	text   string   // a part of the answer
	file   string   // what work.txt holds afterwards; "" is as before
}

const work = "one\ntwo words\n"

// Row 232 (R-CMD-14): each request that "help" lists, and other ways to say it,
// is answered through the tools of the session, with the questions of its mode.
// There are no tools yet for the web, for tasks and of servers; asking for them
// says so.
func TestRow232OfflineModel(t *testing.T) {
	t.Parallel()
	tests := []saying{
		{"list files", []string{"glob"}, nil, "sub/deep.txt", ""},
		{"list the files here", []string{"glob"}, nil, "work.txt", ""},
		{"ls sub", []string{"glob"}, nil, "deep.txt", ""},
		{"Please list the files in `sub`.", []string{"glob"}, nil, "deep.txt", ""},
		{"read work.txt", []string{"read"}, nil, "two words", ""},
		{"show work.txt", []string{"read"}, nil, "two words", ""},
		{"cat \"sub/deep.txt\"", []string{"read"}, nil, "depth", ""},
		{"read missing.txt", []string{"read"}, nil, "did not do it", ""},
		{"find words", []string{"grep"}, nil, "work.txt:2:two words", ""},
		{"find depth in sub", []string{"grep"}, nil, "deep.txt:1:depth", ""},
		{"search for depth in files", []string{"grep"}, nil, "deep.txt:1:depth", ""},
		{"grep nowhere-to-be-found", []string{"grep"}, nil, "grep", ""},
		{"run echo $((40+2))", []string{"bash"}, []string{"echo $((40+2))"}, "42", ""},
		{"$ echo $((40+3))", []string{"bash"}, []string{"echo $((40+3))"}, "43", ""},
		{"execute exit 3", []string{"bash"}, []string{"exit 3"}, "3", ""},
		{"write new.txt: hello", []string{"glob", "write"}, []string{"new.txt"}, "new.txt", ""},
		{"create file work.txt with fresh", []string{"glob", "read", "write"}, []string{"work.txt"}, "work.txt", "fresh\n"},
		{"write work.txt:\n```\na\nb\n```", []string{"glob", "read", "write"}, []string{"work.txt"}, "work.txt", "a\nb\n"},
		{"write work.txt:\nplain\nlines", []string{"glob", "read", "write"}, []string{"work.txt"}, "work.txt", "plain\nlines\n"},
		{"edit work.txt: replace two with 2", []string{"read", "edit"}, []string{"work.txt"}, "work.txt", "one\n2 words\n"},
		{"replace one with 1 in work.txt", []string{"read", "edit"}, []string{"work.txt"}, "work.txt", "1\ntwo words\n"},
		{"in work.txt replace words by letters", []string{"read", "edit"}, []string{"work.txt"}, "work.txt", "one\ntwo letters\n"},
		{"edit work.txt: replace three with 3", []string{"read", "edit"}, nil, "did not do it", ""},
		{`call glob with {"pattern": "*.txt"}`, []string{"glob"}, nil, "work.txt", ""},
		{`use tool bash with {"command": "echo hi"}`, []string{"bash"}, []string{"echo hi"}, "hi", ""},
		{"fetch http://127.0.0.1:9/page", nil, nil, "`fetch_content`", ""},
		{"search the web for lorimers", nil, nil, "`search`", ""},
		{"call stub_echo with {}", nil, nil, "`stub_echo`", ""},
		{"show a plan", nil, nil, "1. ", ""},
		{"plan a holiday", nil, nil, "a holiday", ""},
		{"think about bridles", nil, nil, "bridles", ""},
		{"stream 5 words", nil, nil, "word1 word2 word3 word4 word5", ""},
		{"say 3 words", nil, nil, "word1 word2 word3", ""},
		{"help", nil, nil, "| `list files` |", ""},
		{"?", nil, nil, "no language model", ""},
		{"what is the meaning of it all?", nil, nil, "no language model", ""},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.seed("work.txt", work)
			e.seed("sub/deep.txt", "depth\n")
			e.allow("allow_once")
			e.acp("--model", "offline")
			s := e.open(nil)
			if stop := e.prompt(s, tt.prompt); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			var calls []string
			for _, u := range e.updates(s) {
				if u.Update.Kind == "tool_call" {
					calls = append(calls, u.Update.Name)
				}
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.asked, e.subjects()); diff != "" {
				t.Errorf("asked about (-want +got):\n%s", diff)
			}
			if got := e.text(s); !strings.Contains(got, tt.text) {
				t.Errorf("answer = %q, want %q in it", got, tt.text)
			}
			want := tt.file
			if want == "" {
				want = work
			}
			if got := e.disk("work.txt"); got != want {
				t.Errorf("work.txt holds %q, want %q", got, want)
			}
		})
	}
}

// Row 232: the manual of the model and the test above name the same requests.
func TestRow232Documented(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.acp("--model", "offline")
	s := e.open(nil)
	e.prompt(s, "help")
	var verbs []string
	for line := range strings.Lines(e.text(s)) {
		if request, ok := strings.CutPrefix(line, "| `"); ok {
			verb, _, _ := strings.Cut(request, " ")
			verbs = append(verbs, strings.TrimRight(verb, "`"))
		}
	}
	want := []string{"list", "read", "find", "run", "write", "edit", "fetch", "search", "call", "show", "think", "stream", "help"}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("documented requests (-want +got):\n%s", diff)
	}
}

// Row 232: a refusal is respected, and thoughts are told as thoughts.
func TestRow232RefusedAndThought(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.allow("reject_once")
	e.acp("--model", "offline")
	s := e.open(nil)
	e.prompt(s, "run touch ran")
	if _, err := os.Stat(e.cwd + "/ran"); err == nil || !strings.Contains(e.text(s), "did not do it") {
		t.Errorf("answer = %q (%v), want it to say that nothing was done", e.text(s), err)
	}
	e.prompt(s, "think about bridles")
	var thoughts string
	for _, u := range e.updates(s) {
		if u.Update.Kind == "agent_thought_chunk" {
			thoughts += string(u.Update.Content)
		}
	}
	if !strings.Contains(thoughts, "bridles") {
		t.Errorf("thoughts = %s, want the topic in them", thoughts)
	}
}

// Row 232: a model that answers the same way each time: two agents, the same
// frames but for what identifies them.
func TestRow232Deterministic(t *testing.T) {
	t.Parallel()
	var answers []string
	for range 2 {
		e := newEditor(t)
		e.seed("work.txt", work)
		e.acp("--model", "offline")
		s := e.open(nil)
		for _, text := range []string{"list files", "read work.txt", "stream 20 words", "help"} {
			e.prompt(s, text)
		}
		answers = append(answers, e.text(s))
	}
	if answers[0] != answers[1] || answers[0] == "" {
		t.Errorf("two agents answer differently:\n%s", cmp.Diff(answers[0], answers[1]))
	}
}
