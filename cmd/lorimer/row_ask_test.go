//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A form is what a client is asked to show.
type form struct {
	N               int // its place in the stream
	Mode            string
	SessionID       string
	ToolCallID      string
	Message         string
	RequestedSchema struct {
		Type       string
		Properties map[string]formField
	}
}

type formField struct {
	Type, Title, Description string
	Enum                     []string
	Items                    struct {
		Type string
		Enum []string
	}
}

// forms returns the forms that the client was sent so far.
func (e *editor) forms() (all []form) {
	e.t.Helper()
	for _, f := range e.heard() {
		if f.Method != "elicitation/create" {
			continue
		}
		got := form{N: f.N}
		if err := json.Unmarshal(f.Params, &got); err != nil {
			e.t.Fatalf("%s: %v", f.Raw, err)
		}
		all = append(all, got)
	}
	return all
}

// form waits for the first form.
func (e *editor) form() frameIn {
	e.t.Helper()
	return e.until("form", func(f frameIn) bool { return f.Method == "elicitation/create" })
}

// answersLines returns the lines of the note about answers that the newest request
// of a session carries: in its last message, or in the system string of a request
// without tools.
func answersLines(e *editor, session string) (lines []string) {
	e.t.Helper()
	r := e.lastRequest(session)
	text := r.System
	if len(r.Tools) > 0 {
		text = r.Messages[len(r.Messages)-1].text()
	}
	_, notes := notesIn(text)
	for _, n := range notes {
		if n.Kind != "answers" {
			continue
		}
		for line := range strings.Lines(n.Text) {
			if item, ok := strings.CutPrefix(line, "- "); ok {
				lines = append(lines, strings.TrimSpace(item))
			}
		}
	}
	return lines
}

// asking is a script whose model asks the questions for a message with "ask me".
func asking(questions ...any) string {
	return `{"match": {"contains": "ask me"}, "repeat": true, ` +
		strings.TrimPrefix(step("ask_user", object{"questions": questions}), "{") + "\n" + always
}

func choice(question string, options ...string) object {
	return object{"question": question, "options": options}
}

// Row 29 (R-TOOLS-20, R-ACP-45, R-PROMPT-35): what the user answers in a form is
// told to the model as a result, and again with the next message: each question with
// what was chosen, or that there was no response. A model without tools is told it
// with every message.
func TestRow029AnswersAreReplayed(t *testing.T) {
	t.Parallel()
	database := choice("Which database?", "SQLite", "PostgreSQL", "MySQL")
	several := object{"question": "Which days?", "options": []string{"Monday", "Tuesday", "Friday"}, "multiple": true}
	text := object{"question": "Which name?"}
	accept := func(content any) object { return object{"action": "accept", "content": content} }
	tests := []struct {
		name      string
		questions []any
		answer    any
		fail      *rpcError
		want      []string // of each question, "" for no response
	}{
		{"one option", []any{database}, accept(object{"q1": "PostgreSQL"}), nil, []string{"PostgreSQL"}},
		{"several options", []any{several}, accept(object{"q1": []string{"Friday", "Monday"}}), nil, []string{"Monday; Friday"}},
		{"a text", []any{text}, accept(object{"q1": "{{model}} `x`"}), nil, []string{"{{model}} `x`"}},
		{"a text of two lines", []any{text}, accept(object{"q1": "one\n\ntwo"}), nil, []string{"one two"}},
		{"three questions", []any{database, several, text}, accept(object{"q1": "MySQL", "q2": []string{"Friday"}, "q3": "Ada"}), nil, []string{"MySQL", "Friday", "Ada"}},
		{"one left out", []any{database, text}, accept(object{"q2": "Ada"}), nil, []string{"", "Ada"}},
		{"declined", []any{database}, object{"action": "decline"}, nil, []string{""}},
		{"cancelled", []any{database}, object{"action": "cancel"}, nil, []string{""}},
		{"declined with content", []any{database}, object{"action": "decline", "content": object{"q1": "SQLite"}}, nil, []string{""}},
		{"an unknown action", []any{database}, object{"action": "yes", "content": object{"q1": "SQLite"}}, nil, []string{""}},
		{"an error", []any{database, text}, nil, &rpcError{Code: -32603, Message: "no window"}, []string{"", ""}},
		{"no content", []any{database}, object{"action": "accept"}, nil, []string{""}},
		{"a number", []any{database}, accept(object{"q1": 5}), nil, []string{""}},
		{"an option that was not offered", []any{database}, accept(object{"q1": "Oracle"}), nil, []string{""}},
		{"a list of content", []any{database}, accept([]any{"SQLite"}), nil, []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, asking(tt.questions...))
			if tt.fail != nil || tt.name == "an unknown action" || tt.name == "a number" || tt.name == "a list of content" {
				e.breaks() // of the client, which the protocol does not allow
			}
			s := e.open(elicits())
			e.on("elicitation/create", func(json.RawMessage) (any, *rpcError) { return tt.answer, tt.fail })
			e.prompt(s, "ask me")
			var want []string
			for i, chosen := range tt.want {
				question := tt.questions[i].(object)["question"].(string)
				if chosen == "" {
					want = append(want, question+" No response.")
				} else {
					want = append(want, question+" Answer: "+chosen)
				}
			}
			result := e.results(s)
			if len(result) != 1 || result[0].IsError {
				t.Fatalf("results = %+v, want one that is no error", result)
			}
			for i, chosen := range tt.want {
				for _, piece := range append(strings.Split(chosen, "; "), tt.questions[i].(object)["question"].(string)) {
					if chosen != "one two" && !strings.Contains(result[0].Text, piece) {
						t.Errorf("result = %q, want %q in it", result[0].Text, piece)
					}
				}
			}
			e.prompt(s, "go on")
			if diff := cmp.Diff(want, answersLines(e, s)); diff != "" {
				t.Errorf("answers told with the next message (-want +got):\n%s", diff)
			}
			e.prompt(s, "and on")
			if got := answersLines(e, s); got != nil {
				t.Errorf("told again with the message after it: %q", got)
			}
			e.set(s, "tools", "off")
			for range 2 {
				e.prompt(s, "without tools")
				if diff := cmp.Diff(want, answersLines(e, s)); diff != "" {
					t.Errorf("answers told to a model without tools (-want +got):\n%s", diff)
				}
			}
			other := e.session()
			e.prompt(other, "hello")
			if got := answersLines(e, other); got != nil {
				t.Errorf("told in another session: %q", got)
			}
			if diff := cmp.Diff([]string{"user ask me", "user go on"}, slices.DeleteFunc(e.shown(s), func(p string) bool {
				return !strings.HasPrefix(p, "user ")
			})[:2]); diff != "" {
				t.Errorf("messages that are shown (-want +got):\n%s", diff)
			}
		})
	}
}

// Row 29: the form belongs to a call that the client knows, asks for no permission
// in any mode, and has a field for each question. Characters that do not show are
// made visible.
func TestRow029Form(t *testing.T) {
	t.Parallel()
	script := asking(choice("Which data\u202ebase?", "SQLite", "Postgre\u200bSQL"), object{"question": "Why?"},
		object{"question": "When?", "options": []string{"now", "later"}, "multiple": true})
	for _, mode := range []string{"ask", "read-only", "auto"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			e := edit(t, script, "--mode", mode)
			s := e.open(elicits())
			e.fills(object{"q1": "SQLite", "q2": "Because.", "q3": []string{"now"}})
			e.prompt(s, "ask me")
			forms := e.forms()
			if len(forms) != 1 || len(e.questions()) != 0 {
				t.Fatalf("%d forms and %d permissions were asked, want one form", len(forms), len(e.questions()))
			}
			f := forms[0]
			if f.Mode != "form" || f.SessionID != s || f.Message == "" || f.RequestedSchema.Type != "object" {
				t.Errorf("form = %+v, want one for the session with a message and an object", f)
			}
			for _, frame := range e.heard()[:f.N] {
				if strings.Contains(frame.Raw, f.ToolCallID) && strings.Contains(frame.Raw, `"pending"`) {
					f.ToolCallID = "announced"
				}
			}
			if f.ToolCallID != "announced" {
				t.Errorf("the form belongs to the call %q, which was not announced before", f.ToolCallID)
			}
			var q2, q3 formField
			q2.Type, q2.Title = "string", "Why?"
			q3.Type, q3.Title = "array", "When?"
			q3.Items.Type, q3.Items.Enum = "string", []string{"now", "later"}
			want := map[string]formField{
				"q1": {Type: "string", Title: `Which data<U+202E>base?`, Enum: []string{"SQLite", `Postgre<U+200B>SQL`}}, "q2": q2, "q3": q3,
			}
			if diff := cmp.Diff(want, f.RequestedSchema.Properties); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			live := lives(e, s)
			if len(live) != 1 || live[0].ended() == "" || !strings.HasPrefix(live[0].title, `Asking: Which data<U+202E>base?`) {
				t.Errorf("call = %+v, want one that has ended, with the question as its title", live)
			}
			told := e.record(s, len(e.heard()))
			checkReplay(t, told, e.restart("--mode", mode, "--model", "script:"+filepath.Join(e.home, "script.jsonl")).load(s))
		})
	}
}

// Row 29: where the client has no form the model is told to put its questions into
// the answer and to end with it; the user sees them in any case, and nothing is
// replayed as if they had been answered.
func TestRow029WithoutForm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		caps  object
		forms int
	}{
		{"no capability", nil, 0},
		{"an empty one", object{"elicitation": object{}}, 0},
		{"addresses alone", object{"elicitation": object{"url": object{}}}, 0},
		{"no form", object{"elicitation": object{"form": nil}}, 0},
		{"a method that is not there after all", elicits(), 1}, // answered with -32601
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, asking(choice("Which database?", "SQLite", "PostgreSQL")))
			s := e.open(tt.caps)
			if stop := e.prompt(s, "ask me"); stop != "end_turn" {
				t.Errorf("stop reason = %s, want end_turn", stop)
			}
			if got := len(e.forms()); got != tt.forms || len(e.questions()) != 0 {
				t.Errorf("%d forms and %d permissions, want %d and none", got, len(e.questions()), tt.forms)
			}
			result := e.results(s)
			if len(result) != 1 || result[0].IsError || !strings.Contains(result[0].Text, "into your answer") || !strings.Contains(result[0].Text, "end your turn") {
				t.Errorf("results = %+v, want to be told to ask in the answer", result)
			}
			live := lives(e, s)
			if len(live) != 1 || !strings.Contains(live[0].shown, "Which database?") || !strings.Contains(live[0].shown, "PostgreSQL") {
				t.Errorf("call = %+v, want the question and the options shown", live)
			}
			e.prompt(s, "PostgreSQL")
			if got := answersLines(e, s); got != nil {
				t.Errorf("answers told = %q, want none", got)
			}
		})
	}
	t.Run("lorimer run", func(t *testing.T) {
		t.Parallel()
		r := oneShot(t, asking(choice("Which database?", "SQLite", "PostgreSQL")), "--format", "json", "ask me")
		if code := r.code(); code != 0 || !strings.Contains(r.out.String(), "fine") {
			t.Errorf("exit code %d: %s%s, want the answer of the model", code, r.out.String(), r.err.String())
		}
	})
}

// Row 29: answers hold beyond the process, go with the next message that the model
// gets, and are found anew when that is sent again. Those of an answer that was
// replaced do not count.
func TestRow029AnswersOfAThread(t *testing.T) {
	t.Parallel()
	const chose = "Which database? Answer: "
	t.Run("in the next process", func(t *testing.T) {
		t.Parallel()
		for _, tools := range []string{"on", "off"} {
			e := edit(t, asking(choice("Which database?", "SQLite", "PostgreSQL")))
			s := e.open(elicits())
			e.fills(object{"q1": "SQLite"})
			e.prompt(s, "ask me")
			e = e.restart("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
			e.load(s)
			e.set(s, "tools", tools)
			e.prompt(s, "go on")
			if got := answersLines(e, s); !slices.Equal(got, []string{chose + "SQLite"}) {
				t.Errorf("answers told with tools %s = %q, want what was answered before", tools, got)
			}
		}
	})
	t.Run("after a message that failed", func(t *testing.T) {
		t.Parallel()
		e := edit(t, `{"match": {"contains": "fail"}, "error": {"status": 400}}`+"\n"+asking(choice("Which database?", "SQLite", "PostgreSQL")))
		s := e.open(elicits())
		e.fills(object{"q1": "SQLite"})
		e.prompt(s, "ask me")
		if f := e.wait(e.send("session/prompt", say(s, "fail"))); f.Error == nil {
			t.Fatalf("prompt: %s, want an error", f.Raw)
		}
		e.prompt(s, "go on")
		told := 0
		for _, m := range e.lastRequest(s).Messages {
			told += strings.Count(m.text(), chose+"SQLite")
		}
		if told != 1 {
			t.Errorf("the answer is replayed %d times, want once: %+v", told, e.lastRequest(s).Messages)
		}
	})
	t.Run("in a fork", func(t *testing.T) {
		t.Parallel()
		e := edit(t, asking(choice("Which database?", "SQLite", "PostgreSQL")))
		s := e.open(elicits())
		e.fills(object{"q1": "SQLite"})
		e.prompt(s, "ask me")
		var fork struct{ SessionID string }
		e.call("session/fork", e.where(s), &fork)
		e.prompt(fork.SessionID, "go on")
		if got := answersLines(e, fork.SessionID); !slices.Equal(got, []string{chose + "SQLite"}) {
			t.Errorf("answers told in the fork = %q, want those of before", got)
		}
	})
	t.Run("sent again", func(t *testing.T) {
		t.Parallel()
		e := edit(t, asking(choice("Which database?", "SQLite", "PostgreSQL")))
		s := e.open(elicits())
		e.fills(object{"q1": "SQLite"})
		e.prompt(s, "ask me")
		e.fills(object{"q1": "PostgreSQL"})
		e.prompt(s, "/retry") // which asks again
		for _, text := range []string{"go on", "/retry"} {
			e.prompt(s, text)
			if got := answersLines(e, s); !slices.Equal(got, []string{chose + "PostgreSQL"}) {
				t.Errorf("answers told with %q = %q, want the last one", text, got)
			}
		}
		e.set(s, "tools", "off")
		e.prompt(s, "without tools")
		if got := answersLines(e, s); !slices.Equal(got, []string{chose + "PostgreSQL"}) {
			t.Errorf("answers told without tools = %q, want the last one", got)
		}
	})
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		var lines []string
		for i := range 25 {
			lines = append(lines, step("ask_user", object{"questions": []any{choice(fmt.Sprintf("Question %d?", i), "yes", "no")}}))
		}
		e := edit(t, strings.Join(lines, "\n")+"\n"+always)
		s := e.open(elicits())
		e.fills(object{"q1": "yes"})
		e.prompt(s, "go")
		e.set(s, "tools", "off")
		e.prompt(s, "without tools")
		got := answersLines(e, s)
		if len(got) != 20 || got[0] != "Question 5? Answer: yes" || got[19] != "Question 24? Answer: yes" {
			t.Errorf("answers told = %q, want the last 20", got)
		}
	})
}

// Row 29: the user has one form at a time.
func TestRow029OneFormAtATime(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"match": {"contains": "ask me"}, "tools": [`+
		`{"name": "ask_user", "args": {"questions": [{"question": "First?"}]}}, {"name": "ask_user", "args": {"questions": [{"question": "Second?"}]}}]}`+"\n"+always)
	s := e.open(elicits())
	e.on("elicitation/create", func(json.RawMessage) (any, *rpcError) { return nil, nil })
	id := e.send("session/prompt", say(s, "ask me"))
	begun := make(map[string]bool)
	e.until("two calls that run", func(f frameIn) bool {
		var u update
		if f.Method == "session/update" && json.Unmarshal(f.Params, &u) == nil && u.Update.Status == "in_progress" {
			begun[u.Update.ToolCallID] = true
		}
		return len(begun) == 2
	})
	for i, word := range []string{"one", "two"} {
		seen := 0
		f := e.until("form", func(f frameIn) bool {
			if f.Method == "elicitation/create" {
				seen++
			}
			return seen == i+1
		})
		for range 5 {
			e.sync()
		}
		if n := len(e.forms()); n != i+1 {
			t.Fatalf("%d forms are open after %d answers, want one", n-i, i)
		}
		e.write(object{"jsonrpc": "2.0", "id": f.ID, "result": object{"action": "accept", "content": object{"q1": word}}})
	}
	e.wait(id)
	e.prompt(s, "go on")
	got := slices.Sorted(slices.Values(answersLines(e, s)))
	if len(got) != 2 || !strings.HasPrefix(got[0], "First? Answer: ") || !strings.HasPrefix(got[1], "Second? Answer: ") {
		t.Errorf("answers told = %q, want those of both", got)
	}
}

// Row 29: what is no question is an error that the model can act on, and no form.
func TestRow029BadQuestions(t *testing.T) {
	t.Parallel()
	five := make([]any, 5)
	for i := range five {
		five[i] = object{"question": fmt.Sprintf("Question %d?", i)}
	}
	tests := []struct {
		name string
		args object
		want string
	}{
		{"none", object{"questions": []any{}}, "questions"},
		{"five", object{"questions": five}, "questions"},
		{"of another type", object{"questions": "Which?"}, "questions"},
		{"blank", object{"questions": []any{object{"question": " \n"}}}, "question 1 is empty"},
		{"an option twice", object{"questions": []any{choice("Which?", "a", " a")}}, `option "a" twice`},
		{"a blank option", object{"questions": []any{choice("Which?", "a", " ")}}, "an option of question 1 is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(step("ask_user", tt.args)))
			s := e.open(elicits())
			e.fills(object{"q1": "a"})
			e.prompt(s, "go")
			got := e.results(s)
			if len(got) != 1 || !got[0].IsError || !strings.Contains(got[0].Text, tt.want) || len(e.forms()) != 0 {
				t.Errorf("results = %+v with %d forms, want an error with %q and no form", got, len(e.forms()), tt.want)
			}
		})
	}
}

// Row 29 (R-ACP-07): at the end of the input an open form has no response, and the
// turn goes on.
func TestRow029EndOfInput(t *testing.T) {
	t.Parallel()
	e := edit(t, asking(choice("Which database?", "SQLite", "PostgreSQL")))
	s := e.open(elicits())
	e.on("elicitation/create", func(json.RawMessage) (any, *rpcError) { return nil, nil })
	id := e.send("session/prompt", say(s, "ask me"))
	e.form()
	if code := e.leave(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if stop := stopReason(t, e.wait(id)); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
	if got := e.results(s); len(got) != 1 || !strings.Contains(got[0].Text, "no response") {
		t.Errorf("results = %+v, want no response", got)
	}
	checkCalls(e, s)
}
