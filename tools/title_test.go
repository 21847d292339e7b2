package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
)

func nilRun(context.Context, struct{}, tools.Call) (tools.Result, error) { return tools.Result{}, nil }

// R-TOOLS-02
func TestTitle(t *testing.T) {
	tests := []struct {
		name, verb, input, want string
	}{
		{"vector of the specification", "searching for {query}", `{"query":"go 1.26"}`, `Searching for "go 1.26"...`},
		{"missing value", "searching for {query}", `{}`, `Searching for...`},
		{"null value", "searching for {query}", `{"query":null}`, `Searching for...`},
		{"empty value", "searching for {query}", `{"query":""}`, `Searching for...`},
		{"blank value", "searching for {query}", `{"query":" \n"}`, `Searching for...`},
		{"empty list", "reading {keys}", `{"keys":[]}`, `Reading...`},
		{"missing value in the middle", "moving {a} to {b}", `{"b":"x"}`, `Moving to "x"...`},
		{"repeated spaces", "a   b {q}", `{"q":"x  y"}`, `A b "x y"...`},
		{"40 characters", "reading {q}", `{"q":"` + strings.Repeat("é", 40) + `"}`, `Reading "` + strings.Repeat("é", 40) + `"...`},
		{"41 characters", "reading {q}", `{"q":"` + strings.Repeat("é", 41) + `"}`, `Reading "` + strings.Repeat("é", 40) + `..."...`},
		{"number", "waiting {n}", `{"n":12345678901234567890}`, `Waiting "12345678901234567890"...`},
		{"boolean", "forcing {b}", `{"b":false}`, `Forcing "false"...`},
		{"object", "sending {o}", `{"o":{"a":1}}`, `Sending "{"a":1}"...`},
		{"a value is not a verb", "searching for {query}", `{"query":"{query}"}`, `Searching for "{query}"...`},
		{"first letter outside ASCII", "öffne {q}", `{"q":"x"}`, `Öffne "x"...`},
		{"ellipsis that is there already", "thinking...", `{}`, `Thinking...`},
		{"escape sequence", "reading {q}", `{"q":"a\u001b[31mb"}`, `Reading "a\x1b[31mb"...`},
		{"invalid input", "searching for {query}", `{"query":"go`, `Searching for...`},
		{"a verb of nothing but a missing value", "{query}", `{"a":1}`, `tool(a: 1)`},
		{"a verb of dots", "...", `{}`, `tool`},
		{"no verb", "", `{"b":2,"a":"x"}`, `tool(a: x, b: 2)`},
		{"no verb, no input", "", ``, `tool`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info := tools.Info{Name: "tool", Verb: tt.verb}
			if got := tools.Title(info, json.RawMessage(tt.input)); got != tt.want {
				t.Errorf("Title(%q, %s) = %q, want %q", tt.verb, tt.input, got, tt.want)
			}
		})
	}
}

// R-TOOLS-02, C032: the title is what will be run or touched.
func TestTitleOfCommandAndPath(t *testing.T) {
	tests := []struct {
		name  string
		kind  tools.Kind
		input string
		want  string
	}{
		{"command", tools.KindExecute, `{"command":"rm -r build && make"}`, `rm -r build && make`},
		{"path", tools.KindRead, `{"path":"a/b.go"}`, `a/b.go`},
		{"path of an edit", tools.KindEdit, `{"path":"a/b.go"}`, `a/b.go`},
		{"line breaks", tools.KindExecute, `{"command":"a\n\tb\r"}`, `a\n\tb`},
		{"control characters", tools.KindExecute, `{"command":"a\u001b[2Jb\u0007\u0085"}`, `a\x1b[2Jb\x07`},
		{"change of direction", tools.KindExecute, `{"command":"a\u202eb\u2028c\u200bd"}`, `a\u202eb\u2028c\u200bd`},
		{"200 characters", tools.KindExecute, `{"command":"` + strings.Repeat("x", 200) + `"}`, strings.Repeat("x", 200)},
		{"201 characters", tools.KindExecute, `{"command":"` + strings.Repeat("x", 201) + `"}`, strings.Repeat("x", 197) + "..."},
		{"search shows its verb", tools.KindSearch, `{"path":"x"}`, `Doing it...`},
		{"no command", tools.KindExecute, `{}`, `Doing it...`},
		{"command of another type", tools.KindExecute, `{"command":["a"]}`, `Doing it...`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			info := tools.Info{Name: "tool", Kind: tt.kind, Verb: "doing it"}
			if got := tools.Title(info, json.RawMessage(tt.input)); got != tt.want {
				t.Errorf("Title(%s) = %q, want %q", tt.input, got, tt.want)
			}
		})
	}
}

// A line is valid UTF-8 without control characters and no longer than asked.
func FuzzLine(f *testing.F) {
	f.Add("a\nb", 5)
	f.Add("\x1b[0m\xff\u202e�", 200)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(limit%300, 3)
		got := tools.Line(s, limit)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || utf8.RuneCountInString(got) > limit {
			t.Errorf("Line(%q, %d) = %q", s, limit, got)
		}
	})
}

// The name of a file need not be UTF-8.
func TestLineOfForeignBytes(t *testing.T) {
	if got, want := tools.Line(strings.Repeat("\x80", 1000), 12), `\x80\x80\...`; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
}

// R-TOOLS-06
func TestErrorText(t *testing.T) {
	secret := errors.New("GET https://user:pass@host/: /home/me/.config")
	const fault = "The tool met an internal error; the log has the details. Try another way."
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"none", nil, ""},
		{"fault", secret, fault},
		{"wrapped fault", fmt.Errorf("reading: %w", secret), fault},
		{"public", tools.Publicf("no file %q", "x"), `no file "x"`},
		{"public, wrapped", fmt.Errorf("at /home/me: %w", tools.Publicf("no file")), "no file"},
		{"public over a cause", &tools.PublicError{Text: "no access", Err: secret}, "no access"},
		{"cancelled", fmt.Errorf("running: %w", context.Canceled), "The call was cancelled before it finished."},
		{"timed out", context.DeadlineExceeded, "The call took too long and was ended."},
		{"timed out on a file", os.ErrDeadlineExceeded, "The call took too long and was ended."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tools.ErrorText(tt.err); got != tt.want {
				t.Errorf("ErrorText(%v) = %q, want %q", tt.err, got, tt.want)
			}
		})
	}
	if err := tools.Publicf("x: %w", secret); !errors.Is(err, secret) {
		t.Error("a public error hides its cause from the caller")
	}
}

func TestDefine(t *testing.T) {
	type in struct {
		A string `json:"a"`
	}
	d := tools.Define(tools.Info{Name: "d"},
		func(_ context.Context, v in) (tools.Plan, error) { return tools.Plan{Title: v.A}, nil },
		func(_ context.Context, v in, c tools.Call) (tools.Result, error) {
			return tools.Result{Text: c.ID + v.A}, nil
		})
	input := json.RawMessage(`{"a":"x","unknown":1}`)
	if got, err := d.Plan(t.Context(), input); err != nil || got.Title != "x" {
		t.Errorf("Plan = %+v, %v", got, err)
	}
	if got, err := d.Run(t.Context(), tools.Call{ID: "1", Input: input}); err != nil || got.Text != "1x" {
		t.Errorf("Run = %+v, %v", got, err)
	}
	if _, err := d.Run(t.Context(), tools.Call{Input: json.RawMessage(`{"a":1}`)}); tools.ErrorText(err) == "" || !strings.Contains(tools.ErrorText(err), "input of d") {
		t.Errorf("Run with another type: error = %v, want a public one", err)
	}
	bare := tools.Define(tools.Info{Name: "b"}, nil, nilRun)
	if _, err := bare.Plan(t.Context(), json.RawMessage(`[]`)); err != nil {
		t.Errorf("Plan without a plan: %v", err)
	}
}
