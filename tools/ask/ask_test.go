package ask_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/ask"
)

// askerFunc is a function as an [ask.Asker].
type askerFunc func(ctx context.Context, callID string, qs []ask.Question) (ask.Reply, error)

func (f askerFunc) Ask(ctx context.Context, callID string, qs []ask.Question) (ask.Reply, error) {
	return f(ctx, callID, qs)
}

// reveal writes out the one character that does not show in these tests.
func reveal(s string) string { return strings.ReplaceAll(s, "\u200b", "<U+200B>") }

// answering asks nobody: everybody answers with answers.
func answering(answers ...[]string) askerFunc {
	return func(context.Context, string, []ask.Question) (ask.Reply, error) {
		return ask.Reply{Asked: true, Answers: answers}, nil
	}
}

// run calls the tool as the harness does.
func run(t *testing.T, a ask.Asker, in string) (tools.Result, error) {
	t.Helper()
	r, err := tools.NewRegistry(nil, ask.New(a, reveal))
	if err != nil {
		t.Fatal(err)
	}
	input, err := r.Check("ask_user", json.RawMessage(in))
	if err != nil {
		return tools.Result{}, err
	}
	tool, _ := r.Lookup("ask_user")
	if _, err := tool.Plan(t.Context(), input); err != nil {
		return tools.Result{}, err
	}
	return tool.Run(t.Context(), tools.Call{ID: "c1", Input: input})
}

func TestAnswers(t *testing.T) {
	const (
		one  = `{"questions":[{"question":"Which?","options":["a","b"]}]}`
		many = `{"questions":[{"question":"Which?","options":["a","b","c"],"multiple":true}]}`
		free = `{"questions":[{"question":"Why?"}]}`
	)
	long := strings.Repeat("ü", ask.MaxText)
	tests := []struct {
		name  string
		in    string
		given [][]string
		want  []string // of the first question
	}{
		{"a choice", one, [][]string{{"b"}}, []string{"b"}},
		{"a choice that was not offered", one, [][]string{{"c"}}, nil},
		{"two choices where one is asked", one, [][]string{{"a", "b"}}, nil},
		{"a choice with more around it", one, [][]string{{"a "}}, nil},
		{"none", one, [][]string{{}}, nil},
		{"no answers at all", one, nil, nil},
		{"several, in the order offered", many, [][]string{{"c", "a"}}, []string{"a", "c"}},
		{"several, once each", many, [][]string{{"b", "b"}}, []string{"b"}},
		{"several, some not offered", many, [][]string{{"x", "b"}}, []string{"b"}},
		{"a text", free, [][]string{{" because\n of it "}}, []string{"because\n of it"}},
		{"a text of nothing", free, [][]string{{" \n\t"}}, nil},
		{"a text with hidden characters", free, [][]string{{"a\u200bb"}}, []string{"a\u200bb"}},
		{"a text at the limit", free, [][]string{{long}}, []string{long}},
		{"a text over the limit", free, [][]string{{long + "x"}}, []string{long + " [cut]"}},
		{"multiple without options", `{"questions":[{"question":"Why?","multiple":true}]}`, [][]string{{"so"}}, []string{"so"}},
		{"no options but a list", `{"questions":[{"question":"Why?","options":[]}]}`, [][]string{{"so"}}, []string{"so"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := run(t, answering(tt.given...), tt.in)
			if err != nil || r.IsError || len(r.Answers) != 1 {
				t.Fatalf("result = %+v, %v; want one answer", r, err)
			}
			if diff := cmp.Diff(tt.want, r.Answers[0].Chosen); diff != "" {
				t.Errorf("chosen (-want +got):\n%s", diff)
			}
			if got := strings.Contains(r.Text, "(no response)"); got != (tt.want == nil) {
				t.Errorf("text = %q", r.Text)
			}
		})
	}
}

// The model reads which question has which answer, and what to do where there is
// none.
func TestResult(t *testing.T) {
	const in = `{"questions":[{"question":"Which?","options":["a","b"]},{"question":"Why?"},{"question":"When?"}]}`
	r, err := run(t, answering([]string{"b"}, []string{"line\nline"}), in)
	if err != nil {
		t.Fatal(err)
	}
	want := "Which?\n- b\nWhy?\n- line\n  line\nWhen?\n- (no response)\n\nWhere there is no response, do not ask again."
	if !strings.HasPrefix(r.Text, want) {
		t.Errorf("text = %q, want it to begin with %q", r.Text, want)
	}
	if want := "Which?\n- b\nWhy?\n- line\n  line\nWhen?\n- (no response)"; r.Display != want {
		t.Errorf("the user sees %q, want %q", r.Display, want)
	}
	answers := []tools.Answer{{Question: "Which?", Chosen: []string{"b"}}, {Question: "Why?", Chosen: []string{"line\nline"}}, {Question: "When?"}}
	if diff := cmp.Diff(answers, r.Answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// M-11: where nobody can be asked the model asks in its answer, and nothing counts
// as asked.
func TestNobodyToAsk(t *testing.T) {
	cannot := askerFunc(func(context.Context, string, []ask.Question) (ask.Reply, error) { return ask.Reply{}, nil })
	for name, a := range map[string]ask.Asker{"no asker": nil, "one that cannot": cannot} {
		t.Run(name, func(t *testing.T) {
			r, err := run(t, a, `{"questions":[{"question":"Which?","options":["a","b"]},{"question":"Why?"}]}`)
			if err != nil || r.IsError || r.Answers != nil || !strings.Contains(r.Text, "into your answer") {
				t.Errorf("result = %+v, %v; want the advice to ask in the answer", r, err)
			}
			if want := "Which?\n- a\n- b\nWhy?"; r.Display != want {
				t.Errorf("the user sees %q, want %q", r.Display, want)
			}
		})
	}
}

// What is shown is what is asked: nothing hides in a question or an option.
func TestQuestions(t *testing.T) {
	var got []ask.Question
	var call string
	a := askerFunc(func(_ context.Context, id string, qs []ask.Question) (ask.Reply, error) {
		got, call = qs, id
		return ask.Reply{Asked: true}, nil
	})
	_, err := run(t, a, `{"questions":[{"question":" Two\nl\u200bines\u202e? ","options":["a\n b","x\u200by"],"multiple":true}]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := []ask.Question{{Text: "Two\nl<U+200B>ines\\u202e?", Options: []string{"a b", `x<U+200B>y`}, Multiple: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("questions (-want +got):\n%s", diff)
	}
	if call != "c1" {
		t.Errorf("call = %q, want c1", call)
	}
}

func TestBadInput(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"none", `{"questions":[]}`, "questions"},
		{"five", `{"questions":[{"question":"1"},{"question":"2"},{"question":"3"},{"question":"4"},{"question":"5"}]}`, "questions"},
		{"a blank one", `{"questions":[{"question":"a?"},{"question":" "}]}`, "question 2 is empty"},
		{"a blank option", `{"questions":[{"question":"a?","options":["x","\n"]}]}`, "an option of question 1 is empty"},
		{"an option twice", `{"questions":[{"question":"a?","options":["x y","x\ny"]}]}`, `the option "x y" twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, answering(), tt.in)
			if err == nil || !strings.Contains(tools.ErrorText(err), tt.want) {
				t.Errorf("error = %q, want one with %q", tools.ErrorText(err), tt.want)
			}
		})
	}
}

// The wait has no end but that of the context, and a second form waits for the
// first one.
func TestOneFormAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := 0
		a := askerFunc(func(ctx context.Context, _ string, _ []ask.Question) (ask.Reply, error) {
			open++
			defer func() { open-- }()
			<-ctx.Done()
			return ask.Reply{}, ctx.Err()
		})
		tool := ask.New(a, reveal)
		ctx, cancel := context.WithCancel(t.Context())
		errs := make(chan error)
		for range 2 {
			go func() {
				_, err := tool.Run(ctx, tools.Call{Input: json.RawMessage(`{"questions":[{"question":"a?"}]}`)})
				errs <- err
			}()
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if open != 1 {
			t.Errorf("%d forms are open, want 1", open)
		}
		cancel()
		for range 2 {
			if err := <-errs; !errors.Is(err, context.Canceled) {
				t.Errorf("error = %v, want that of the context", err)
			}
		}
	})
}
