package prompt_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/prompt"
)

// changes returns a hook that changes the sections and goes on.
func changes(f func([]prompt.Entry) []prompt.Entry) prompt.Hook {
	return func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		a.Sections = f(a.Sections)
		return next(a)
	}
}

// changesAfter returns a hook that changes the sections after all others.
func changesAfter(f func([]prompt.Entry) []prompt.Entry) prompt.Hook {
	return func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		a, err := next(a)
		if err == nil {
			a.Sections = f(a.Sections)
		}
		return a, err
	}
}

// adds returns a change that puts e at the end.
func adds(e prompt.Entry) func([]prompt.Entry) []prompt.Entry {
	return func(all []prompt.Entry) []prompt.Entry { return append(all, e) }
}

// edits returns a change of the section called name.
func edits(name string, f func(*prompt.Entry)) func([]prompt.Entry) []prompt.Entry {
	return func(all []prompt.Entry) []prompt.Entry {
		for i := range all {
			if all[i].Name == name {
				f(&all[i])
			}
		}
		return all
	}
}

// TestHookResult: what a hook leaves is checked like what is registered, and the
// error names its section (R-PROMPT-12, R-PROMPT-29).
func TestHookResult(t *testing.T) {
	tests := []struct {
		name   string
		change func([]prompt.Entry) []prompt.Entry
		want   prompt.Fault // "" is none
		word   string
	}{
		{"a second section of a name", adds(prompt.Entry{Name: "Context", Order: 300, Text: "x"}), prompt.Duplicate, "Context"},
		{"no name", adds(prompt.Entry{Text: "x"}), prompt.Invalid, "name"},
		{"no number", adds(prompt.Entry{Name: "odd", Order: math.NaN(), Text: "x"}), prompt.Invalid, "odd"},
		{"a literal at the end", adds(prompt.Entry{Name: "mine", Text: "{{x}}", Literal: true}), prompt.UserLast, "mine"},
		{"a user's text at the end", adds(prompt.Entry{Name: "mine", Text: "x", User: true}), prompt.UserLast, "mine"},
		{"a user's value at the end", adds(prompt.Entry{Name: "mine", Text: "for {{user_name}}"}), prompt.UserLast, "mine"},
		{"the style before a user's text", func(all []prompt.Entry) []prompt.Entry {
			i := slices.IndexFunc(all, func(e prompt.Entry) bool { return e.Name == "Context" })
			return append(slices.Concat(all[:i], all[i+1:]), all[i])
		}, prompt.UserLast, "Context"},
		{"the date", adds(prompt.Entry{Name: "mine", Text: "{{date}}"}), prompt.Varying, "mine"},
		{"an unknown variable", adds(prompt.Entry{Name: "mine", Text: "{{nope}}"}), prompt.Unknown, "mine"},
		{"a template at the end", adds(prompt.Entry{Name: "mine", Text: "by {{model}}"}), "", ""},
		{"an empty literal at the end", adds(prompt.Entry{Name: "mine", Text: "\n", Literal: true}), "", ""},
		{"nothing", func([]prompt.Entry) []prompt.Entry { return nil }, "", ""},
	}
	c := prompt.Context{Model: "m1", Facts: prompt.Facts{Name: "Ada"}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, h := range []prompt.Hook{changes(tt.change), changesAfter(tt.change)} {
				r := standard(t)
				must(t)(r.Hook(h))
				_, _, err := r.Parts(c, noon)
				if tt.want != "" {
					checkFault(t, err, tt.want, tt.word)
				} else if err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestIdentityStays is R-PROMPT-61: no declared hook takes the identity away, and
// code may.
func TestIdentityStays(t *testing.T) {
	id := prompt.IdentityName
	tests := []struct {
		name   string
		change func([]prompt.Entry) []prompt.Entry
		ok     bool
	}{
		{"dropped", func(all []prompt.Entry) []prompt.Entry { return all[1:] }, false},
		{"all dropped", func([]prompt.Entry) []prompt.Entry { return nil }, false},
		{"replaced", edits(id, func(e *prompt.Entry) { e.Text = "You are Eliza." }), false},
		{"emptied", edits(id, func(e *prompt.Entry) { e.Text = "" }), false},
		{"made literal", edits(id, func(e *prompt.Entry) { e.Literal = true }), false},
		{"renamed", edits(id, func(e *prompt.Entry) { e.Name = "other" }), false},
		{"appended to", edits(id, func(e *prompt.Entry) { e.Text += "\n\nMore." }), true},
		{"moved", func(all []prompt.Entry) []prompt.Entry { return append(slices.Clone(all[1:]), all[0]) }, true},
		{"another one changed", edits("Context", func(e *prompt.Entry) { e.Text = "" }), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, h := range []prompt.Hook{changes(tt.change), changesAfter(tt.change)} {
				r := standard(t)
				_, err := r.Assemble(prompt.Context{Facts: prompt.Facts{Extras: []prompt.Extra{{Hooks: []prompt.Hook{h}}}}})
				if tt.ok && err != nil {
					t.Error(err)
				} else if !tt.ok {
					checkFault(t, err, prompt.Invalid, id, "declared hook")
				}
				must(t)(r.Hook(h))
				if _, err := r.Assemble(prompt.Context{}); err != nil {
					t.Errorf("the same hook in code: %v", err)
				}
			}
		})
	}
}

// TestIdentityChangedByCode: a declared hook is not blamed for what a hook of code
// does, before it or behind it.
func TestIdentityChangedByCode(t *testing.T) {
	replace := edits(prompt.IdentityName, func(e *prompt.Entry) { e.Text = "You are Eliza." })
	passes := changes(func(all []prompt.Entry) []prompt.Entry { return all })
	for _, h := range []prompt.Hook{changes(replace), changesAfter(replace)} {
		r := standard(t)
		must(t)(r.Hook(h))
		// The hooks of the facts run inside of those that are registered; a second
		// one has the first behind it.
		c := prompt.Context{Facts: prompt.Facts{Extras: []prompt.Extra{{Hooks: []prompt.Hook{passes, passes}}}}}
		a, err := r.Assemble(c)
		if err != nil || sectionText(a, prompt.IdentityName) != "You are Eliza." {
			t.Errorf("identity = %q, %v; want that of the code", sectionText(a, prompt.IdentityName), err)
		}
	}
}

// TestDeclaredHookErrors: an error of a hook behind a declared one is passed on.
func TestDeclaredHookErrors(t *testing.T) {
	broken := errors.New("out of order")
	fails := func(prompt.Context, prompt.Assembly, func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		return prompt.Assembly{}, broken
	}
	passes := changes(func(all []prompt.Entry) []prompt.Entry { return all })
	f := prompt.Facts{Extras: []prompt.Extra{{Hooks: []prompt.Hook{passes}}, {Hooks: []prompt.Hook{fails}}}}
	_, err := standard(t).Assemble(prompt.Context{Facts: f})
	checkFault(t, err, prompt.Provider, "hooks")
	if !errors.Is(err, broken) || strings.Contains(err.Error(), prompt.IdentityName) {
		t.Errorf("error = %v, want that of the hook behind", err)
	}
}
