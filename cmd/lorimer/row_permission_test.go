//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A question is a session/request_permission.
type question struct {
	ToolCall struct {
		ToolCallID string
		Title      string
		RawInput   struct{ Command, Path string }
		Content    json.RawMessage
	}
	Options []struct{ OptionID, Kind, Name string }
}

// subject is the command or the path that the question is about.
func (q question) subject() string { return q.ToolCall.RawInput.Command + q.ToolCall.RawInput.Path }

// options returns the ids of the options in their order.
func (q question) options() (ids []string) {
	for _, o := range q.Options {
		ids = append(ids, o.OptionID)
	}
	return ids
}

// questions returns the permission questions so far.
func (e *editor) questions() []question {
	e.t.Helper()
	var all []question
	for _, f := range e.heard() {
		if f.Method != "session/request_permission" {
			continue
		}
		var q question
		if err := json.Unmarshal(f.Params, &q); err != nil {
			e.t.Fatal(err)
		}
		all = append(all, q)
	}
	return all
}

// subjects returns what was asked about.
func (e *editor) subjects() []string {
	e.t.Helper()
	var all []string
	for _, q := range e.questions() {
		all = append(all, q.subject())
	}
	return all
}

func bash(command string) string { return step("bash", object{"command": command}) }

func selected(option string) object {
	return object{"outcome": object{"outcome": "selected", "optionId": option}}
}

// Row 184 (R-ACP-40): what each mode asks about, refuses and lets run.
func TestRow184Modes(t *testing.T) {
	t.Parallel()
	calls := []struct{ name, call string }{
		{"read", step("read", object{"path": "in.txt"})},
		{"grep", step("grep", object{"pattern": "in"})},
		{"write", step("write", object{"path": "new.txt", "content": "x\n"})},
		{"run", bash("touch ran")},
		{"hook", step("write", object{"path": ".git/hooks/pre-commit", "content": "#!/bin/sh\n"})},
		{"editor settings", step("write", object{"path": ".vscode/tasks.json", "content": "{}\n"})},
		{"reset", bash("git reset --hard")},
		{"everything", bash("rm -rf ./*  ; rm -fr .")},
		{"everything by name", bash(`cd /; rm --recursive --force "$HOME"`)},
	}
	tests := []struct {
		mode    string
		asked   []string
		refused []string // whatever the user says
	}{
		{"ask", []string{"write", "run", "hook", "editor settings", "reset"}, []string{"everything", "everything by name"}},
		{"accept-edits", []string{"run", "hook", "editor settings", "reset"}, []string{"everything", "everything by name"}},
		{"auto", []string{"hook", "editor settings", "reset"}, []string{"everything", "everything by name"}},
		{"read-only", nil, []string{"write", "run", "hook", "editor settings", "reset", "everything", "everything by name"}},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			e.seed("in.txt", "in\n")
			git := exec.Command("git", "init", "-q")
			git.Dir = e.cwd
			if out, err := git.CombinedOutput(); err != nil {
				t.Fatalf("git init: %v\n%s", err, out)
			}
			var script []string
			for _, c := range calls {
				script = append(script, c.call)
			}
			e.allow("allow_once")
			e.acp("--mode", tt.mode, "--model", "script:"+e.file("script.jsonl", steps(script...)))
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" && tt.mode != "read-only" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			got := e.results(s)
			subjects := e.subjects()
			var asked, refused []string
			for i, c := range calls {
				if i < len(got) && got[i].IsError && c.name != "reset" { // which has no commit to go back to
					refused = append(refused, c.name)
				}
				if slices.ContainsFunc(subjects, func(s string) bool { return strings.Contains(c.call, fmt.Sprintf("%q", s)) }) {
					asked = append(asked, c.name)
				}
			}
			if tt.mode == "read-only" {
				// After three steps of calls to tools that are not offered the answer
				// is asked for without tools.
				tt.refused = tt.refused[:len(refused)]
			}
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Errorf("asked about (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.refused, refused); diff != "" || len(refused) < 2 {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
			if got := e.disk("in.txt"); got != "in\n" {
				t.Errorf("in.txt holds %q, want it untouched", got)
			}
			wantRan := map[bool]string{true: "-", false: ""}[tt.mode == "read-only"]
			if got := e.disk("ran"); got != wantRan {
				t.Errorf("the command left %q, want %q", got, wantRan)
			}
		})
	}
}

// Row 184: read-only offers no tool that changes something.
func TestRow184ReadOnlyOffer(t *testing.T) {
	t.Parallel()
	e := edit(t, always, "--mode", "read-only")
	s := e.open(nil)
	e.prompt(s, "hello")
	if diff := cmp.Diff(readingTools(), slices.Sorted(slices.Values(e.lastRequest(s).Tools))); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	e.call("session/set_mode", object{"sessionId": s, "modeId": "ask"}, nil)
	e.prompt(s, "hello")
	if tools := e.lastRequest(s).Tools; !slices.Contains(tools, "bash") {
		t.Errorf("tools in mode ask = %q, want bash too", tools)
	}
}

// Row 184 (R-ACP-41, R-ACP-42) and C034: only a yes that was offered is a yes.
func TestRow184Answers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		result any
		fail   *rpcError
		runs   bool
	}{
		{"allow", selected("allow_once"), nil, true},
		{"allow always", selected("allow_always"), nil, true},
		{"reject", selected("reject_once"), nil, false},
		{"cancelled", object{"outcome": object{"outcome": "cancelled"}}, nil, false},
		{"C034 deny", selected("deny"), nil, false},
		{"C034 made up", selected("allow_everything"), nil, false},
		{"C034 other case", selected("ALLOW_ONCE"), nil, false},
		{"no option", object{"outcome": object{"outcome": "selected"}}, nil, false},
		{"an outcome of its own", object{"outcome": object{"outcome": "approved", "optionId": "allow_once"}}, nil, false},
		{"no object", "allow_once", nil, false},
		{"error", nil, &rpcError{Code: -32603, Message: "no window"}, false},
		{"no such method", nil, &rpcError{Code: -32601, Message: "no such method"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(bash("echo ran >> log")))
			e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) { return tt.result, tt.fail })
			s := e.open(nil)
			if stop := e.prompt(s, "go"); stop != "end_turn" || e.text(s) != "done" {
				t.Errorf("prompt: %s with %q, want end_turn with done", stop, e.text(s))
			}
			want := map[bool]string{true: "ran\n", false: "-"}[tt.runs]
			if got := e.disk("log"); got != want || len(e.questions()) != 1 {
				t.Errorf("the log is %q after %d questions, want %q after one", got, len(e.questions()), want)
			}
			r := e.results(s)
			if len(r) != 1 || r[0].IsError == tt.runs {
				t.Fatalf("results = %+v, want an error: %v", r, !tt.runs)
			}
			if !tt.runs && !strings.Contains(r[0].Text, "ask") { // R-ACP-41: stop and ask, do not try another way
				t.Errorf("the model reads %q, want to be told to ask", r[0].Text)
			}
		})
	}
}

// Row 184 and C037, C039, C040, C043: "always" holds for what its label says.
func TestRow184Always(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		first string
		more  []string
		asked []string // of more
	}{
		{
			"C037 a command", bash("echo status"),
			[]string{bash("echo status"), bash("  echo   status "), bash("echo status --force"), bash("/bin/echo status"), bash("echo statusfoo")},
			[]string{"echo status --force", "/bin/echo status", "echo statusfoo"},
		},
		{
			"C039 what is put around it", bash("echo status"),
			[]string{
				bash("echo status; touch p"), bash("echo status && touch p"), bash("echo status | sh"), bash("echo status $(touch p)"),
				bash("echo status `touch p`"), bash("echo status\ntouch p"), bash("echo status & touch p"), bash("echo status > p"), bash("cat <(touch p)"),
			},
			[]string{
				"echo status; touch p", "echo status && touch p", "echo status | sh", "echo status $(touch p)",
				"echo status `touch p`", "echo status\ntouch p", "echo status & touch p", "echo status > p", "cat <(touch p)",
			},
		},
		{
			"C040 wrappers", bash("env"),
			[]string{bash("env FOO=1 touch p"), bash("find . -name x -exec touch p {} +"), bash("git -c core.pager=touch log")},
			[]string{"env FOO=1 touch p", "find . -name x -exec touch p {} +", "git -c core.pager=touch log"},
		},
		{
			"C043 other commands, other tools", bash("ls"),
			[]string{bash("touch p"), step("write", object{"path": "q", "content": "x"})},
			[]string{"touch p", "q"},
		},
		{
			"edits in the workspace", step("write", object{"path": "a", "content": "x\n"}),
			[]string{step("write", object{"path": "b", "content": "x\n"}), bash("touch p"), step("write", object{"path": ".git/hooks/h", "content": "x"})},
			[]string{"touch p", ".git/hooks/h"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(append([]string{tt.first}, tt.more...)...))
			first := true
			e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) {
				defer func() { first = false }() // the editor answers one at a time
				return selected(map[bool]string{true: "allow_always", false: "reject_once"}[first]), nil
			})
			s := e.open(nil)
			e.prompt(s, "go")
			if diff := cmp.Diff(tt.asked, e.subjects()[1:]); diff != "" {
				t.Errorf("asked after always (-want +got):\n%s", diff)
			}
			if got := e.disk("p"); got != "-" {
				t.Error("something ran that was not allowed")
			}
			if r := e.results(s); len(r) != 1+len(tt.more) || r[0].IsError {
				t.Errorf("results = %+v, want one for each call", r)
			}
		})
	}
}

// Row 184: an answer "always" ends with its session.
func TestRow184AlwaysOfOneSession(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(bash("touch a"))+"\n"+steps(bash("touch a")))
	e.allow("allow_always")
	first := e.open(nil)
	e.prompt(first, "go")
	e.prompt(e.session(), "go")
	if diff := cmp.Diff([]string{"touch a", "touch a"}, e.subjects()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// Row 184 and C032, C038: what the user reads says what will run, and fits on a
// button.
func TestRow184Labels(t *testing.T) {
	t.Parallel()
	long := "cat > big.txt <<'EOF'\n" + strings.Repeat("a line of a long text\n", 100) + "EOF"
	e := edit(t, steps(bash("rm -r build && make"), bash(long), bash("printf '\x1b[31m\u202e'"), step("write", object{"path": "new.txt", "content": "text\n"})))
	e.allow("reject_once")
	s := e.open(nil)
	e.prompt(s, "go")
	qs := e.questions()
	if len(qs) != 4 {
		t.Fatalf("%d questions, want 4", len(qs))
	}
	if got := qs[0].ToolCall.Title; !strings.Contains(got, "rm -r build && make") {
		t.Errorf("C032: title = %q, want the command in it", got)
	}
	if got := qs[1].ToolCall.RawInput.Command; got != long {
		t.Errorf("C032: the whole command is not in rawInput: %q", got)
	}
	if got := string(qs[3].ToolCall.Content); !strings.Contains(got, `"type":"diff"`) || !strings.Contains(got, `text\n`) {
		t.Errorf("C032: content of a write = %s, want a diff", got)
	}
	for _, q := range qs {
		kinds := map[string]bool{}
		texts := []string{q.ToolCall.Title}
		for _, o := range q.Options {
			if kinds[o.Kind] || o.Kind != o.OptionID {
				t.Errorf("option %+v: want an id that is its kind, once", o)
			}
			kinds[o.Kind] = true
			texts = append(texts, o.Name)
			if utf8.RuneCountInString(o.Name) >= 80 {
				t.Errorf("C038: label %q is longer than a button", o.Name)
			}
		}
		for _, text := range texts {
			if text == "" || strings.ContainsAny(text, "\n\x1b\u202e") {
				t.Errorf("label %q, want one line without control characters", text)
			}
		}
		if !kinds["allow_once"] || !kinds["reject_once"] {
			t.Errorf("options = %q, want to allow and to reject once", q.options())
		}
	}
}

// Row 184 and C041: what was rejected is asked about again on another route.
func TestRow184OtherRoutes(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.seed("x", "kept\n")
	e.allow("reject_once")
	e.acp("--model", "script:"+e.file("script.jsonl", steps(
		step("read", object{"path": "x"}), bash("rm x"), step("write", object{"path": "x", "content": ""}), bash("sh -c 'rm x'"), bash("rm x"))))
	s := e.open(nil)
	e.prompt(s, "go")
	if diff := cmp.Diff([]string{"rm x", "x", "sh -c 'rm x'", "rm x"}, e.subjects()); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if got := e.disk("x"); got != "kept\n" {
		t.Errorf("the file holds %q, want it kept", got)
	}
}

// Row 184 (R-ACP-42) and C022: a cancel ends the wait for an answer, in either
// form, and a yes that comes afterwards runs nothing.
func TestRow184CancelWhileAsking(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"session/cancel", "$/cancel_request"} {
		t.Run("C022 "+form, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(bash("echo ran >> log"))+"\n"+always)
			e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) { return nil, nil })
			s := e.open(nil)
			id := e.send("session/prompt", say(s, "go"))
			asked := e.until("question", func(f frameIn) bool { return f.Method == "session/request_permission" })
			params := object{"sessionId": s}
			if form == "$/cancel_request" {
				params = object{"requestId": id}
			}
			e.notify(form, params)
			e.cancelled(s, id)
			e.write(object{"jsonrpc": "2.0", "id": asked.ID, "result": selected("allow_once")})
			if stop := e.prompt(s, "and now?"); stop != "end_turn" {
				t.Errorf("stop reason of the next prompt = %s, want end_turn", stop)
			}
			if got := e.disk("log"); got != "-" {
				t.Errorf("the late answer ran the command: %q", got)
			}
		})
	}
}
