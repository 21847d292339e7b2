package prompt_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/prompt"
)

// render returns the stable part of a registry whose only text is the persona.
func render(t *testing.T, persona string, vars ...prompt.Variable) (string, error) {
	t.Helper()
	r, err := prompt.New(prompt.Options{Persona: persona})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(r.Hook(only(prompt.PersonaName)))
	for _, v := range vars {
		must(t)(r.Variable(v))
	}
	p, _, err := r.Parts(prompt.Context{Model: "m1"}, noon)
	return p.Stable, err
}

// only returns a hook that keeps the sections called names.
func only(names ...string) prompt.Hook {
	return func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		var kept []prompt.Entry
		for _, e := range a.Sections {
			for _, name := range names {
				if e.Name == name {
					kept = append(kept, e)
				}
			}
		}
		a.Sections = kept
		return next(a)
	}
}

// must fails the test when a registration fails.
func must(t *testing.T) func(dispose func(), err error) func() {
	return func(dispose func(), err error) func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return dispose
	}
}

var noon = time.Date(2026, time.March, 5, 12, 0, 0, 0, time.UTC)

// TestInterpolation is R-PROMPT-13 with the vectors of the specification. The
// variable cwd has no value.
func TestInterpolation(t *testing.T) {
	note := prompt.Variable{Name: "note", Text: "{{sneaky}}"}
	tests := []struct {
		text  string
		want  string
		fault prompt.Fault
	}{
		{text: "use {{model}}.", want: "use m1."},
		{text: "{{model}}{{model}}", want: "m1m1"},
		{text: "{{model}}}", want: "m1}"},
		{text: "{{ model }}", fault: prompt.Malformed},
		{text: "{{Model}}", fault: prompt.Malformed},
		{text: "{{}}", fault: prompt.Malformed},
		{text: "{{9x}}", fault: prompt.Malformed},
		{text: "{{{model}}}", fault: prompt.Malformed},
		{text: "x {{a{b}} y {{model}}", fault: prompt.Malformed},
		{text: "x {{a}b}} y", fault: prompt.Malformed},
		{text: "{{ and {{model}}", fault: prompt.Malformed},
		{text: "shell ${X:-{{fallback} stays", want: "shell ${X:-{{fallback} stays"},
		{text: "a }} b", want: "a }} b"},
		{text: "}} {{model}} }}", want: "}} m1 }}"},
		{text: "{{model}} and {{", want: "m1 and {{"},
		{text: "{{model}} {{ {{", want: "m1 {{ {{"},
		{text: "{{constructor}}", fault: prompt.Unknown},
		{text: "{{nope}}", fault: prompt.Unknown},
		{text: "{{cwd}}", fault: prompt.Valueless},
		{text: "{{note}}", want: "{{sneaky}}"},
		{text: "{{date}}", fault: prompt.Varying},
		{text: "no braces", want: "no braces"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := render(t, tt.text, note)
			if tt.fault == "" {
				if err != nil || got != tt.want {
					t.Errorf("rendered %q, %v; want %q", got, err, tt.want)
				}
				return
			}
			fault, ok := errors.AsType[*prompt.Error](err)
			if !ok || fault.Fault != tt.fault || fault.Section != prompt.PersonaName {
				t.Errorf("error = %#v, want %s in the persona", err, tt.fault)
			}
		})
	}
}

func TestInterpolationMessages(t *testing.T) {
	tests := []struct{ text, want string }{
		{"{{nope}}", `prompt section "deployment:persona": no variable "nope"; known: cwd, date, model`},
		{"{{cwd}}", `prompt section "deployment:persona": variable "cwd" has no value here; give it one, or take it out`},
		{"ab {{ Some long and wrong name }}", `prompt section "deployment:persona": "{{ Some long and" is no placeholder;` +
			` write {{name}} with a lower-case name and no spaces`},
		{"{{date}}", `prompt section "deployment:persona": variable "date" differs between sends, and the section is stable; take it out`},
	}
	for _, tt := range tests {
		if _, err := render(t, tt.text); err == nil || err.Error() != tt.want {
			t.Errorf("rendering %q: error = %v, want %s", tt.text, err, tt.want)
		}
	}
}

// FuzzInterpolation: a text that renders is the text with each placeholder
// replaced once, whatever the value holds, but for line ends around it; a text
// without an opener always does.
func FuzzInterpolation(f *testing.F) {
	for _, text := range []string{"a {{v}} b", "{{v}}{{", "{{{v}}}", "}}{{v}}", "{{V}}", "{{v}} {{w", "}}", "{{{{v}}}}"} {
		f.Add(text, "x")
		f.Add(text, "{{v}}")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		got, err := render(t, text, prompt.Variable{Name: "v", Text: value})
		if err != nil {
			if !strings.Contains(text, "{{") || !strings.Contains(text, "}}") {
				t.Errorf("rendering %q without a placeholder: %v", text, err)
			}
			return
		}
		want := strings.Trim(strings.NewReplacer("{{v}}", value, "{{model}}", "m1").Replace(text), "\r\n")
		if strings.TrimSpace(want) == "" {
			want = ""
		}
		if got != want {
			t.Errorf("rendered %q with v=%q as %q, want %q", text, value, got, want)
		}
	})
}
