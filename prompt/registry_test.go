package prompt_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

func newRegistry(t *testing.T, o prompt.Options) *prompt.Registry {
	t.Helper()
	r, err := prompt.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func assemble(t *testing.T, r *prompt.Registry, c prompt.Context) prompt.Assembly {
	t.Helper()
	a, err := r.Assemble(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sectionNames(a prompt.Assembly) []string {
	var names []string
	for _, e := range a.Sections {
		names = append(names, e.Name)
	}
	return names
}

// sectionText returns the text of a section, or "" without one.
func sectionText(a prompt.Assembly, name string) string {
	for _, e := range a.Sections {
		if e.Name == name {
			return e.Text
		}
	}
	return ""
}

func checkFault(t *testing.T, err error, want prompt.Fault, words ...string) {
	t.Helper()
	fault, ok := errors.AsType[*prompt.Error](err)
	if !ok || fault.Fault != want {
		t.Fatalf("error = %v, want one of fault %q", err, want)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not name %q", err, w)
		}
	}
}

// TestOpeners is R-PROMPT-02 and R-PROMPT-03.
func TestOpeners(t *testing.T) {
	for _, tt := range []struct{ persona, want string }{
		{"", "identity m1"},
		{"You like {{model}}.", "identity m1\n\nYou like m1."},
	} {
		r := newRegistry(t, prompt.Options{Persona: tt.persona})
		a := assemble(t, r, prompt.Context{})
		if got, want := sectionNames(a), []string{prompt.IdentityName, prompt.PersonaName}; !slices.Equal(got, want) {
			t.Errorf("sections = %q, want %q", got, want)
		}
		s, err := r.OpenScope("s")
		if err != nil {
			t.Fatal(err)
		}
		must(t)(s.Section(prompt.Section{Name: prompt.IdentityName, Order: -100, Text: "identity {{model}}"}))
		p, _, err := r.Parts(prompt.Context{Scope: "s", Model: "m1"}, noon)
		if err != nil || p.Stable != tt.want {
			t.Errorf("persona %q: stable = %q, %v; want %q", tt.persona, p.Stable, err, tt.want)
		}
	}
}

// TestPersonaOfFacts: a faulty persona is mended by the configuration of the
// next send (R-PROMPT-17).
func TestPersonaOfFacts(t *testing.T) {
	r := newRegistry(t, prompt.Options{Persona: "{{nope}}"})
	_, _, err := r.Parts(prompt.Context{}, noon)
	checkFault(t, err, prompt.Unknown, prompt.PersonaName)

	mended := "Be kind."
	p, _, err := r.Parts(prompt.Context{Facts: prompt.Facts{Persona: &mended}}, noon)
	if err != nil || !strings.HasSuffix(p.Stable, "\n\nBe kind.") {
		t.Errorf("stable = %q, %v; want it to end with the persona", p.Stable, err)
	}
}

// TestRegistrationFaults is R-PROMPT-04, R-PROMPT-05 and R-PROMPT-15: the fault
// is found at registration, and leaves the registry as it was.
func TestRegistrationFaults(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	must(t)(r.Section(prompt.Section{Name: "first", Order: 1, Text: "one"}))
	must(t)(r.Variable(prompt.Variable{Name: "v", Text: "one"}))
	before := assemble(t, r, prompt.Context{})

	text := func(prompt.Context) (string, error) { return "", nil }
	sections := []struct {
		name string
		s    prompt.Section
		want prompt.Fault
	}{
		{"taken name", prompt.Section{Name: "first", Order: 2, Text: "two"}, prompt.Duplicate},
		{"identity", prompt.Section{Name: prompt.IdentityName}, prompt.Duplicate},
		{"persona", prompt.Section{Name: prompt.PersonaName}, prompt.Duplicate},
		{"no name", prompt.Section{Text: "x"}, prompt.Invalid},
		{"not a number", prompt.Section{Name: "n", Order: math.NaN()}, prompt.Invalid},
		{"infinite", prompt.Section{Name: "n", Order: math.Inf(1)}, prompt.Invalid},
		{"minus infinite", prompt.Section{Name: "n", Order: math.Inf(-1)}, prompt.Invalid},
		{"two texts", prompt.Section{Name: "n", Text: "x", Render: text}, prompt.Invalid},
	}
	for _, tt := range sections {
		t.Run("section/"+tt.name, func(t *testing.T) {
			_, err := r.Section(tt.s)
			checkFault(t, err, tt.want, tt.s.Name)
		})
	}
	for name, want := range map[string]prompt.Fault{
		"v": prompt.Duplicate, "model": prompt.Duplicate, "": prompt.Invalid, "V": prompt.Invalid,
		"a-b": prompt.Invalid, "9a": prompt.Invalid, "a b": prompt.Invalid, "ä": prompt.Invalid,
	} {
		t.Run("variable/"+name, func(t *testing.T) {
			_, err := r.Variable(prompt.Variable{Name: name, Text: "x"})
			checkFault(t, err, want, name)
		})
	}
	if diff := cmp.Diff(before, assemble(t, r, prompt.Context{}), ignoreValues); diff != "" {
		t.Errorf("a refused registration left something (-before +after):\n%s", diff)
	}
}

var ignoreValues = cmp.Comparer(func(a, b prompt.Values) bool { return true })

// TestSectionOrder is R-PROMPT-06.
func TestSectionOrder(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	for _, s := range []prompt.Section{
		{Name: "b", Order: 120}, {Name: "early", Order: -50}, {Name: "a", Order: 120},
		{Name: "middle", Order: 119.5}, {Name: "first", Order: -1e300},
	} {
		must(t)(r.Section(s))
	}
	want := []string{"first", prompt.IdentityName, "early", prompt.PersonaName, "middle", "b", "a"}
	if got := sectionNames(assemble(t, r, prompt.Context{})); !slices.Equal(got, want) {
		t.Errorf("sections = %q, want %q", got, want)
	}
}

// TestScopes is R-PROMPT-07 and R-PROMPT-08.
func TestScopes(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	var asked, askedValue int
	must(t)(r.Section(prompt.Section{Name: "a", Order: 10, Render: func(prompt.Context) (string, error) {
		asked++
		return "global a", nil
	}}))
	must(t)(r.Section(prompt.Section{Name: "b", Order: 10, Text: "global b"}))
	must(t)(r.Variable(prompt.Variable{Name: "v", Provide: func(prompt.Context) (string, bool, error) {
		askedValue++
		return "global", true, nil
	}}))
	open := func() *prompt.Scope {
		s, err := r.OpenScope("s1")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	must(t)(s.Section(prompt.Section{Name: "a", Order: 10, Text: "scoped a"}))
	must(t)(s.Section(prompt.Section{Name: "c", Order: 5, Text: "scoped c"}))
	must(t)(s.Variable(prompt.Variable{Name: "v", Text: "scoped"}))

	in := assemble(t, r, prompt.Context{Scope: "s1"})
	want := []string{prompt.IdentityName, prompt.PersonaName, "c", "a", "b"}
	if got := sectionNames(in); !slices.Equal(got, want) {
		t.Errorf("sections in scope = %q, want %q", got, want)
	}
	if got := sectionText(in, "a"); got != "scoped a" || asked != 0 {
		t.Errorf("a = %q after %d calls of the shadowed provider, want scoped a after none", got, asked)
	}
	if got := in.Variables["v"].Text; got != "scoped" || askedValue != 0 {
		t.Errorf("v = %q after %d calls of the shadowed provider, want scoped after none", got, askedValue)
	}
	for _, other := range []string{"", "s2"} {
		out := assemble(t, r, prompt.Context{Scope: other})
		if got := sectionText(out, "a") + sectionText(out, "c") + out.Variables["v"].Text; got != "global aglobal" {
			t.Errorf("scope %q sees %q, want nothing of s1", other, got)
		}
	}

	_, err := r.OpenScope("s1")
	checkFault(t, err, prompt.Duplicate, "s1")
	s.Dispose()
	s.Dispose()
	_, err = s.Section(prompt.Section{Name: "late"})
	checkFault(t, err, prompt.Disposed, "s1")
	next := open()
	if got := sectionText(assemble(t, r, prompt.Context{Scope: "s1"}), "a"); got != "global a" {
		t.Errorf("a = %q in the new scope, want global a", got)
	}
	must(t)(next.Section(prompt.Section{Name: "a", Text: "again"}))
	s.Dispose()
	if got := sectionText(assemble(t, r, prompt.Context{Scope: "s1"}), "a"); got != "again" {
		t.Errorf("a = %q after the old scope was disposed again, want again", got)
	}
}

// TestDispose is R-PROMPT-08: a second call of a disposer does not touch what
// has taken the name since.
func TestDispose(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	dispose := must(t)(r.Section(prompt.Section{Name: "a", Text: "old"}))
	dispose()
	must(t)(r.Section(prompt.Section{Name: "a", Text: "new"}))
	dispose()
	if got := sectionText(assemble(t, r, prompt.Context{}), "a"); got != "new" {
		t.Errorf("a = %q, want new", got)
	}
}

// TestOnChange is R-PROMPT-19.
func TestOnChange(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	var heard, deaf int
	var fail error
	r.OnChange(func() error { heard++; return nil })
	stop := r.OnChange(func() error { deaf++; return fail })
	steps := []struct {
		name string
		do   func()
		want int // calls of the first listener
	}{}
	s, err := r.OpenScope("s")
	if err != nil {
		t.Fatal(err)
	}
	var disposers []func()
	keep := func(d func(), err error) { disposers = append(disposers, must(t)(d, err)) }
	add := func(name string, want int, do func()) {
		steps = append(steps, struct {
			name string
			do   func()
			want int
		}{name, do, want})
	}
	add("section", 1, func() { keep(r.Section(prompt.Section{Name: "a"})) })
	add("variable", 1, func() { keep(r.Variable(prompt.Variable{Name: "a"})) })
	add("provider", 1, func() { keep(r.Tools(noTools)) })
	add("hook", 1, func() { keep(r.Hook(only("a"))) })
	add("scoped section", 1, func() { keep(s.Section(prompt.Section{Name: "a"})) })
	add("scoped provider", 1, func() { keep(s.Tools(noTools)) })
	add("disposal", 1, func() { disposers[0]() })
	add("second disposal", 0, func() { disposers[0]() })
	add("scoped disposal", 1, func() { disposers[4]() })
	add("disposal of the scope", 1, s.Dispose)
	add("disposer after its scope", 0, func() { disposers[5]() })
	for _, step := range steps {
		before, beforeDeaf := heard, deaf
		step.do()
		if heard-before != step.want || deaf-beforeDeaf != step.want {
			t.Errorf("%s: told %d and %d times, want %d", step.name, heard-before, deaf-beforeDeaf, step.want)
		}
	}

	fail = errors.New("no room")
	before := heard
	if _, err := r.Section(prompt.Section{Name: "refused"}); !errors.Is(err, fail) {
		t.Errorf("error = %v, want that of the listener", err)
	}
	if got := sectionNames(assemble(t, r, prompt.Context{})); slices.Contains(got, "refused") {
		t.Errorf("sections = %q, want the registration undone", got)
	}
	if heard-before != 2 {
		t.Errorf("the first listener heard %d changes, want the registration and its undoing", heard-before)
	}
	disposers[1]() // a failing listener does not stop a disposal
	if _, ok := assemble(t, r, prompt.Context{}).Variables["a"]; ok {
		t.Error("variable a is still there after its disposal")
	}
	stop()
	must(t)(r.Section(prompt.Section{Name: "refused"}))
}

func noTools(prompt.Context) (prompt.ToolSet, error) { return prompt.ToolSet{}, nil }

// TestConcurrentUse: sessions come and go while others assemble. The race
// detector judges; an assembly sees a scope whole or not at all.
func TestConcurrentUse(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	var wg sync.WaitGroup
	for i := range 4 {
		key := string(rune('a' + i))
		wg.Go(func() {
			for range 50 {
				s, err := r.OpenScope(key)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = s.Section(prompt.Section{Name: "mine", Order: 1, Text: key})
				a, assembleErr := r.Assemble(prompt.Context{Scope: key})
				if err != nil || assembleErr != nil || sectionText(a, "mine") != key {
					t.Errorf("scope %s: section %q, %v, %v", key, sectionText(a, "mine"), err, assembleErr)
				}
				s.Dispose()
			}
		})
	}
	wg.Wait()
	if got := sectionNames(assemble(t, r, prompt.Context{Scope: "a"})); slices.Contains(got, "mine") {
		t.Errorf("sections = %q after all scopes are disposed", got)
	}
}
