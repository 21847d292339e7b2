package prompt_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/prompt"
)

func named(names ...string) []prompt.ToolSchema {
	var tools []prompt.ToolSchema
	for _, n := range names {
		tools = append(tools, prompt.ToolSchema{Name: n, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return tools
}

func toolNames(tools []prompt.ToolSchema) []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// TestToolOrder is R-PROMPT-20 with the vectors of the specification.
func TestToolOrder(t *testing.T) {
	const rest = prompt.Unlisted
	tests := []struct {
		name  string
		order []string // nil is absent
		tools []string
		known []string
		want  []string
		load  bool // the fault shows when the list is loaded
		fault prompt.Fault
		words []string
	}{
		{name: "absent", want: []string{"bash", "echo_a", "echo_b", "todo_write"}},
		{name: "rest in the middle", order: []string{"todo_write", rest, "bash"}, want: []string{"todo_write", "echo_a", "echo_b", "bash"}},
		{name: "no marker", order: []string{"bash"}, load: true, fault: prompt.Invalid, words: []string{"tool_order", rest}},
		{name: "empty", order: []string{}, load: true, fault: prompt.Invalid, words: []string{"tool_order", rest}},
		{name: "two markers", order: []string{rest, rest}, load: true, fault: prompt.Duplicate, words: []string{rest}},
		{name: "twice", order: []string{"x", "x", rest}, load: true, fault: prompt.Duplicate, words: []string{`"x"`}},
		{name: "unknown", order: []string{"zzz", rest}, fault: prompt.Unknown,
			words: []string{"tool_order", "zzz", "bash, echo_a, echo_b, todo_write"}},
		{name: "unknown without tools", order: []string{"zzz", rest}, tools: []string{}, fault: prompt.Unknown, words: []string{"zzz", "none"}},
		{name: "known but hidden", order: []string{"write", rest}, known: []string{"write"},
			want: []string{"bash", "echo_a", "echo_b", "todo_write"}},
		{name: "tool named as the marker", tools: []string{rest}, fault: prompt.Invalid, words: []string{rest}},
		{name: "tool named as the marker in an order", order: []string{rest}, tools: []string{rest}, fault: prompt.Invalid},
		{name: "bytes, not letters", tools: []string{"b", "a", "_", "B", "é"}, want: []string{"B", "_", "a", "b", "é"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var order *[]string
			if tt.order != nil {
				order = &tt.order
			}
			if tt.tools == nil {
				tt.tools = []string{"bash", "echo_b", "todo_write", "echo_a"}
			}
			r, err := prompt.New(prompt.Options{ToolOrder: order})
			if tt.load {
				checkFault(t, err, tt.fault, tt.words...)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a fault fails every assembly
				a, err := r.Assemble(prompt.Context{Tools: named(tt.tools...), Known: tt.known})
				if tt.fault != "" {
					checkFault(t, err, tt.fault, tt.words...)
					continue
				}
				if err != nil || !slices.Equal(toolNames(a.Tools), tt.want) {
					t.Errorf("tools = %q, %v; want %q", toolNames(a.Tools), err, tt.want)
				}
			}
		})
	}
}

// R-MCP-16, C-03: what a server may have that nobody has reached is no mistake in an
// order, but its prefix alone is, and so is what only looks like it.
func TestToolOrderOfUnseenServers(t *testing.T) {
	tests := []struct {
		name  string
		known bool
	}{
		{"dead_tool", true},
		{"dead_", false},
		{"dead", false},
		{"deadly_tool", false},
		{"Dead_tool", false},
	}
	for _, tt := range tests {
		r := newRegistry(t, prompt.Options{ToolOrder: &[]string{tt.name, prompt.Unlisted}})
		a, err := r.Assemble(prompt.Context{Tools: named("bash"), Prefixes: []string{"other_", "dead_"}})
		if !tt.known {
			checkFault(t, err, prompt.Unknown, tt.name)
		} else if err != nil || !slices.Equal(toolNames(a.Tools), []string{"bash"}) {
			t.Errorf("%s: tools = %q, %v", tt.name, toolNames(a.Tools), err)
		}
	}
}

// TestToolOrderOfFacts: the order of the send stands in for that of the registry.
func TestToolOrderOfFacts(t *testing.T) {
	r := newRegistry(t, prompt.Options{ToolOrder: &[]string{"b", prompt.Unlisted}})
	c := prompt.Context{Tools: named("a", "b", "c")}
	if got, want := toolNames(assemble(t, r, c).Tools), []string{"b", "a", "c"}; !slices.Equal(got, want) {
		t.Errorf("tools = %q, want %q", got, want)
	}
	c.Facts.ToolOrder = &[]string{prompt.Unlisted, "a"}
	if got, want := toolNames(assemble(t, r, c).Tools), []string{"b", "c", "a"}; !slices.Equal(got, want) {
		t.Errorf("tools = %q, want %q", got, want)
	}
	c.Facts.ToolOrder = &[]string{}
	_, err := r.Assemble(c)
	checkFault(t, err, prompt.Invalid, "tool_order")
}

// TestToolProviders is R-PROMPT-09 and R-PROMPT-20g: global providers always,
// scoped ones in their scope, and equal names in the order of collection.
func TestToolProviders(t *testing.T) {
	r := newRegistry(t, prompt.Options{ToolOrder: &[]string{prompt.Unlisted, "late"}})
	s, err := r.OpenScope("s")
	if err != nil {
		t.Fatal(err)
	}
	offer := func(known []string, tools ...prompt.ToolSchema) prompt.ToolProvider {
		return func(prompt.Context) (prompt.ToolSet, error) { return prompt.ToolSet{Tools: tools, Known: known}, nil }
	}
	must(t)(r.Tools(offer([]string{"late"}, prompt.ToolSchema{Name: "x", Description: "global"})))
	must(t)(s.Tools(offer(nil, prompt.ToolSchema{Name: "x", Description: "scoped"}, prompt.ToolSchema{Name: "a"})))

	if got, want := toolNames(assemble(t, r, prompt.Context{}).Tools), []string{"x"}; !slices.Equal(got, want) {
		t.Errorf("tools without scope = %q, want %q", got, want)
	}
	a := assemble(t, r, prompt.Context{Scope: "s"})
	if got, want := toolNames(a.Tools), []string{"a", "x", "x"}; !slices.Equal(got, want) {
		t.Fatalf("tools in scope = %q, want %q", got, want)
	}
	if got := a.Tools[1].Description + a.Tools[2].Description; got != "globalscoped" {
		t.Errorf("descriptions = %q, want the global one first", got)
	}

	broken := errors.New("unreachable")
	must(t)(r.Tools(func(prompt.Context) (prompt.ToolSet, error) { return prompt.ToolSet{}, broken }))
	_, err = r.Assemble(prompt.Context{})
	checkFault(t, err, prompt.Provider)
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want it to wrap that of the provider", err)
	}
}

// TestProviderSnapshot is R-PROMPT-10.
func TestProviderSnapshot(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	var once bool
	must(t)(r.Tools(func(prompt.Context) (prompt.ToolSet, error) {
		if !once {
			once = true
			must(t)(r.Tools(func(prompt.Context) (prompt.ToolSet, error) {
				return prompt.ToolSet{Tools: named("second")}, nil
			}))
		}
		return prompt.ToolSet{Tools: named("first")}, nil
	}))
	for _, want := range [][]string{{"first"}, {"first", "second"}} {
		if got := toolNames(assemble(t, r, prompt.Context{}).Tools); !slices.Equal(got, want) {
			t.Errorf("tools = %q, want %q", got, want)
		}
	}
}

// TestAssembly is R-PROMPT-11: placeholders are still there, every variable is
// listed, and nothing is shared with later assemblies.
func TestAssembly(t *testing.T) {
	r := newRegistry(t, prompt.Options{Persona: "on {{model}}"})
	schemas := named("t")
	must(t)(r.Tools(func(prompt.Context) (prompt.ToolSet, error) { return prompt.ToolSet{Tools: schemas}, nil }))
	c := prompt.Context{Model: "m1", Tools: named("u")}
	a := assemble(t, r, c)
	if got := sectionText(a, prompt.PersonaName); got != "on {{model}}" {
		t.Errorf("persona = %q, want its placeholder kept", got)
	}
	want := map[string]prompt.Value{"model": {Text: "m1", Set: true}, "cwd": {}, "date": {Volatile: true}}
	if diff := cmp.Diff(want, a.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	for i := range a.Tools {
		copy(a.Tools[i].Schema, "XXXX")
		a.Tools[i].Name = "changed"
	}
	a.Variables["model"] = prompt.Value{}
	b := assemble(t, r, c)
	for _, tool := range b.Tools {
		if string(tool.Schema) != `{"type":"object"}` || tool.Name == "changed" {
			t.Errorf("tool = %+v, want it untouched by the earlier result", tool)
		}
	}
	if b.Variables["model"].Text != "m1" || string(schemas[0].Schema) != `{"type":"object"}` || string(c.Tools[0].Schema) != `{"type":"object"}` {
		t.Error("a change of the result reached its source")
	}
}

// TestHooks is R-PROMPT-18.
func TestHooks(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	s, err := r.OpenScope("s")
	if err != nil {
		t.Fatal(err)
	}
	appends := func(name string) prompt.Hook {
		return func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
			a.Sections = append(a.Sections, prompt.Entry{Name: name, Order: -1000})
			a.Tools = append(a.Tools, prompt.ToolSchema{Name: "a-" + name})
			return next(a)
		}
	}
	var seen []string
	must(t)(r.Hook(func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		seen = toolNames(a.Tools)
		return next(a)
	}))
	must(t)(s.Hook(appends("scoped")))
	must(t)(r.Hook(appends("global")))
	stop := must(t)(r.Hook(func(_ prompt.Context, a prompt.Assembly, _ func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		return a, nil
	}))
	must(t)(r.Hook(appends("behind")))

	for _, tt := range []struct {
		scope string
		want  []string
	}{
		{"", []string{prompt.IdentityName, prompt.PersonaName, "global"}},
		{"s", []string{prompt.IdentityName, prompt.PersonaName, "scoped", "global"}},
	} {
		a := assemble(t, r, prompt.Context{Scope: tt.scope, Tools: named("z", "b")})
		if got := sectionNames(a); !slices.Equal(got, tt.want) {
			t.Errorf("scope %q: sections = %q, want %q", tt.scope, got, tt.want)
		}
		if want := []string{"b", "z"}; !slices.Equal(seen, want) || !slices.Equal(toolNames(a.Tools)[:2], want) {
			t.Errorf("scope %q: the hook saw %q, the result is %q; want both to begin with %q", tt.scope, seen, toolNames(a.Tools), want)
		}
	}
	stop()
	if got := sectionNames(assemble(t, r, prompt.Context{})); !slices.Contains(got, "behind") {
		t.Errorf("sections = %q, want the hook behind the stopped one to run", got)
	}

	broken := errors.New("out of order")
	must(t)(r.Hook(func(prompt.Context, prompt.Assembly, func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		return prompt.Assembly{}, broken
	}))
	_, err = r.Assemble(prompt.Context{})
	checkFault(t, err, prompt.Provider, "hooks")
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want it to wrap that of the hook", err)
	}
}

// TestValues is R-PROMPT-60.
func TestValues(t *testing.T) {
	type project struct{ name string }
	type branch string
	v := prompt.With(prompt.With(prompt.Values{}, project{"old"}), branch("main"))
	v = prompt.With(v, project{"lorimer"})
	if got, ok := prompt.ValueOf[project](v); !ok || got.name != "lorimer" {
		t.Errorf("project = %v, %v; want lorimer", got, ok)
	}
	if got, ok := prompt.ValueOf[branch](v); !ok || got != "main" {
		t.Errorf("branch = %q, %v; want main", got, ok)
	}
	if got, ok := prompt.ValueOf[int](v); ok || got != 0 {
		t.Errorf("int = %d, %v; want none", got, ok)
	}

	r := newRegistry(t, prompt.Options{})
	must(t)(r.Section(prompt.Section{Name: "project", Render: func(c prompt.Context) (string, error) {
		p, _ := prompt.ValueOf[project](c.Values)
		return p.name, nil
	}}))
	a := assemble(t, r, prompt.Context{Values: v})
	if got := sectionText(a, "project"); got != "lorimer" {
		t.Errorf("section = %q, want lorimer", got)
	}
	if got, ok := prompt.ValueOf[branch](a.Values); !ok || got != "main" {
		t.Errorf("branch of the assembly = %q, %v; want main", got, ok)
	}
	assemble(t, r, prompt.Context{}) // tolerated without
	_, err := r.Assemble(prompt.Context{Agent: 1})
	checkFault(t, err, prompt.Invalid, "scope")
}

// TestExtras is R-CMD-10.
func TestExtras(t *testing.T) {
	r := newRegistry(t, prompt.Options{})
	must(t)(r.Section(prompt.Section{Name: "own", Order: 120, Text: "own"}))
	f := prompt.Facts{Extras: []prompt.Extra{
		{
			Sections:  []prompt.Section{{Name: "one", Order: 120, Text: "{{team}}"}, {Name: "two", Order: 120, Text: "x"}},
			Variables: []prompt.Variable{{Name: "team", Text: "red"}},
		},
		{
			Scope:     "s",
			Sections:  []prompt.Section{{Name: "own", Order: 120, Text: "scoped"}},
			Variables: []prompt.Variable{{Name: "team", Text: "blue"}},
			Hooks:     []prompt.Hook{only(prompt.IdentityName, "one", "own")},
		},
	}}
	if err := r.Check(f); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ scope, want string }{
		{"", "own\n\nred\n\nx"},
		{"s", "scoped\n\nblue"},
	} {
		p, _, err := r.Parts(prompt.Context{Scope: tt.scope, Facts: f}, noon)
		if err != nil || !strings.HasSuffix(p.Stable, "\n\n"+tt.want) {
			t.Errorf("scope %q: stable = %q, %v; want it to end with %q", tt.scope, p.Stable, err, tt.want)
		}
	}
	if got := sectionNames(assemble(t, r, prompt.Context{})); len(got) != 3 {
		t.Errorf("sections = %q, want nothing of the extras to stay", got)
	}

	bad := []struct {
		name string
		x    prompt.Extra
		want prompt.Fault
	}{
		{"registered name", prompt.Extra{Sections: []prompt.Section{{Name: "own"}}}, prompt.Duplicate},
		{"same name twice", prompt.Extra{Sections: []prompt.Section{{Name: "a"}, {Name: "a"}}}, prompt.Duplicate},
		{"identity", prompt.Extra{Sections: []prompt.Section{{Name: prompt.IdentityName}}}, prompt.Duplicate},
		{"identity in a scope", prompt.Extra{Scope: "q", Sections: []prompt.Section{{Name: prompt.IdentityName}}}, prompt.Duplicate},
		{"built-in variable", prompt.Extra{Variables: []prompt.Variable{{Name: "model"}}}, prompt.Duplicate},
		{"variable in a scope", prompt.Extra{Scope: "q", Variables: []prompt.Variable{{Name: "Q"}}}, prompt.Invalid},
	}
	for _, tt := range bad {
		t.Run(tt.name, func(t *testing.T) {
			f := prompt.Facts{Extras: []prompt.Extra{tt.x}}
			checkFault(t, r.Check(f), tt.want)
			_, err := r.Assemble(prompt.Context{Scope: tt.x.Scope, Facts: f})
			checkFault(t, err, tt.want)
		})
	}
}

// One of thousands of declared hooks, sections and scopes takes no longer than one of
// a few.
func TestThousandsOfExtras(t *testing.T) {
	const many = 10_000
	r := newRegistry(t, prompt.Options{})
	pass := func(_ prompt.Context, a prompt.Assembly, next func(prompt.Assembly) (prompt.Assembly, error)) (prompt.Assembly, error) {
		return next(a)
	}
	var f prompt.Facts
	for i := range many {
		name := "n" + strconv.Itoa(i)
		f.Extras = append(f.Extras,
			prompt.Extra{Sections: []prompt.Section{{Name: name, Order: 120, Text: "x"}}, Hooks: []prompt.Hook{pass}},
			prompt.Extra{Scope: name, Sections: []prompt.Section{{Name: name, Order: 120, Text: "y"}}})
	}
	if err := r.Check(f); err != nil {
		t.Fatal(err)
	}
	a := assemble(t, r, prompt.Context{Scope: "n7", Facts: f})
	if n := len(a.Sections); n != many+2 || sectionText(a, "n7") != "y" {
		t.Errorf("%d sections, of them n7 = %q", n, sectionText(a, "n7"))
	}
	f.Extras = append(f.Extras, prompt.Extra{Sections: []prompt.Section{{Name: "n7"}}})
	checkFault(t, r.Check(f), prompt.Duplicate, "n7")
}
