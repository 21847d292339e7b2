package tools_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

func tool(name string, e tools.Effect, schema string) tools.Tool {
	return &toolstest.Tool{Describe: tools.Info{Name: name, Effect: e, Schema: json.RawMessage(schema)}}
}

func registry(t *testing.T, gate tools.Gate, ts ...tools.Tool) *tools.Registry {
	t.Helper()
	r, err := tools.NewRegistry(gate, ts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(infos []tools.Info) []string {
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
	}
	return names
}

var family = []tools.Tool{
	tool("write", tools.Edits, ""),
	tool("bash", tools.Reads|tools.Edits|tools.Executes, ""),
	tool("web_search", tools.Fetches, ""),
	tool("read", tools.Reads, ""),
	tool("Zeta", tools.Reads|tools.Acts, ""),
}

func TestGate(t *testing.T) {
	tests := []struct {
		name string
		gate tools.Gate
		want []string
	}{
		{"nil gate admits all, in byte order", nil, []string{"Zeta", "bash", "read", "web_search", "write"}},
		{"only reads", tools.Allow(tools.Reads), []string{"read"}},
		{"one forbidden effect is enough", tools.Allow(tools.Executes), nil},
		{"several effects", tools.Allow(tools.Reads | tools.Fetches), []string{"read", "web_search"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := registry(t, tt.gate, family...)
			if got := names(r.Infos()); !slices.Equal(got, tt.want) {
				t.Errorf("Infos() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUndeclaredEffect(t *testing.T) {
	undeclared := tools.Define(tools.Info{Name: "x"}, nil, nilRun)
	if got := registry(t, tools.Allow(tools.Reads|tools.Executes), undeclared).Infos(); len(got) > 0 {
		t.Errorf("a gate without Acts admits a tool that declares nothing: %v", got)
	}
	if !tools.Effect(0).Mutates() {
		t.Error("an undeclared effect does not count as mutating")
	}
}

// R-TOOLS-08: what is withheld is neither described, found nor run, but known.
func TestWithheld(t *testing.T) {
	r := registry(t, tools.Allow(tools.Reads), family...)
	if _, ok := r.Lookup("write"); ok {
		t.Error("Lookup finds a withheld tool")
	}
	if _, err := r.Check("write", nil); err == nil || !strings.Contains(err.Error(), "not available now") {
		t.Errorf("Check for a withheld tool: error = %v", err)
	}
	if got, want := r.Known(), []string{"Zeta", "bash", "read", "web_search", "write"}; !slices.Equal(got, want) {
		t.Errorf("Known() = %q, want %q", got, want)
	}
	if got, ok := r.Lookup("read"); !ok || got.Info().Name != "read" {
		t.Errorf("Lookup(read) = %v, %v", got, ok)
	}
}

func TestNewRegistryRefuses(t *testing.T) {
	tests := []struct {
		name string
		ts   []tools.Tool
		want string
	}{
		{"two of a name", []tools.Tool{tool("a", tools.Reads, ""), tool("a", tools.Reads, "")}, "two tools are named a"},
		{"two of a name, one withheld", []tools.Tool{tool("a", tools.Reads, ""), tool("a", tools.Acts, "")}, "two tools are named a"},
		{"no name", []tools.Tool{tool("", tools.Reads, "")}, "no name"},
		{"R-TOOLS-44 cacheable and mutating", []tools.Tool{&toolstest.Tool{Describe: tools.Info{Name: "a", Effect: tools.Edits, Cacheable: true}}}, "cacheable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tools.NewRegistry(tools.Allow(tools.Reads), tt.ts...)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("NewRegistry: error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// C114
func TestSuggest(t *testing.T) {
	r := registry(t, tools.Allow(tools.Reads|tools.Fetches),
		tool("read", tools.Reads, ""), tool("web_search", tools.Fetches, ""), tool("grep", tools.Reads, ""),
		tool("github_list_issues", tools.Reads, ""), tool("write", tools.Edits, ""))
	tests := []struct {
		name string
		want []string
	}{
		{"read_file", []string{"read"}},
		{"Read", []string{"read"}},
		{"raed", nil}, // half of the letters differ
		{"reed", []string{"read"}},
		{"grepp", []string{"grep"}},
		{"web-search", []string{"web_search"}},
		{"search", []string{"web_search"}},
		{"github_get_issues", []string{"github_list_issues"}},
		{"wrlte", nil}, // what is withheld is not suggested
		{"", nil},
		{strings.Repeat("x", 1<<20), nil},
	}
	for _, tt := range tests {
		if got := r.Suggest(tt.name); !slices.Equal(got, tt.want) {
			t.Errorf("Suggest(%.20q) = %q, want %q", tt.name, got, tt.want)
		}
	}
	for name, want := range map[string]string{
		"read_file": `there is no tool "read_file"; near it are: read`,
		"":          `there is no tool ""; the tools are: github_list_issues, grep, read, web_search`,
	} {
		if _, err := r.Check(name, nil); err == nil || err.Error() != want {
			t.Errorf("Check(%q): error = %v, want %q", name, err, want)
		}
	}
	if _, err := registry(t, nil).Check("x", nil); err == nil || !strings.Contains(err.Error(), "no tools are available") {
		t.Errorf("Check without tools: error = %v", err)
	}
}

const personSchema = `{
	"type": "object",
	"properties": {
		"name": {"type": "string", "minLength": 1},
		"age": {"type": "integer", "minimum": 0},
		"tags": {"type": "array", "items": {"type": "string"}},
		"maybe": {"type": ["string", "null"]}
	},
	"required": ["name"],
	"additionalProperties": false
}`

func TestCheck(t *testing.T) {
	r := registry(t, nil, tool("person", tools.Reads, personSchema), tool("any", tools.Reads, `{"type":"object"}`))
	tests := []struct {
		name, tool, input, want string
	}{
		{"fits", "person", `{"name":"a","age":3}`, `{"name":"a","age":3}`},
		{"space around it", "person", " {\"name\":\"a\"}\n", `{"name":"a"}`},
		{"C102 nothing", "any", ``, `{}`},
		{"C102 blanks", "any", "  ", `{}`},
		{"C102 null", "any", `null`, `{}`},
		{"null for what may be absent", "person", `{"name":"a","age":null}`, `{"name":"a"}`},
		{"null that is allowed", "person", `{"name":"a","maybe":null}`, `{"name":"a","maybe":null}`},
		{"large numbers keep their digits", "any", `{"n":12345678901234567890}`, `{"n":12345678901234567890}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Check(tt.tool, json.RawMessage(tt.input))
			if err != nil || string(got) != tt.want {
				t.Errorf("Check(%s) = %s, %v; want %s", tt.input, got, err, tt.want)
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	r := registry(t, nil, tool("person", tools.Reads, personSchema))
	tests := []struct {
		name, input, want string
	}{
		{"C101 cut off", `{"name":"a`, "not valid JSON: it ends at byte 10"},
		{"C101 no JSON", `{name: 1}`, "at byte 2"},
		{"C102 an array", `[]`, "is an array; send an object"},
		{"C102 a string", `"x"`, "is a string"},
		{"C102 a number", `1`, "is a number"},
		{"C102 a boolean", `true`, "is a boolean"},
		{"C102 two objects", `{"name":"a"}{"name":"b"}`, "more text follows the first value at byte 12"},
		{"C102 nothing, where something is required", ``, "missing property 'name'"},
		{"wrong type", `{"name":1}`, "name: got integer, want string"},
		{"null for what is required", `{"name":null}`, "name: got null, want string"},
		{"place in an array", `{"name":"a","tags":["x",1]}`, "tags.1: got integer, want string"},
		{"unknown member", `{"name":"a","nick":"b"}`, "unknown property 'nick', known are age, maybe, name, tags"},
		{"two faults", `{"name":"","age":-1}`, "age: got -1, want at least 0; name: number of characters is 0, want at least 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := r.Check("person", json.RawMessage(tt.input))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Check(%s) = %s, %v; want an error with %q", tt.input, got, err, tt.want)
			}
			if text := tools.ErrorText(err); text != err.Error() || !strings.Contains(text, "person") || strings.Contains(text, "\n") {
				t.Errorf("ErrorText = %q, want one line, public, that names the tool", text)
			}
		})
	}
	t.Run("C102 a large input is not repeated", func(t *testing.T) {
		input, err := json.Marshal(map[string]any{"name": 1, strings.Repeat("k", 1<<20): strings.Repeat("v", 1<<20)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = r.Check("person", input); err == nil || len(err.Error()) > 1000 {
			t.Errorf("error of %d bytes, want one of at most 1000", len(fmt.Sprint(err)))
		}
	})
}

// A schema of somebody else that cannot be compiled leaves the check to its
// tool, and never loads anything.
func TestForeignSchema(t *testing.T) {
	for _, schema := range []string{
		`{"$ref":"file:///etc/passwd"}`,
		`{"$ref":"http://127.0.0.1:1/schema"}`,
		`{"type":"nonsense"}`,
		`not JSON`,
	} {
		r := registry(t, nil, tool("foreign", tools.Acts, schema))
		if got, err := r.Check("foreign", json.RawMessage(`{"a":1}`)); err != nil || string(got) != `{"a":1}` {
			t.Errorf("Check with the schema %s = %s, %v; want the input", schema, got, err)
		}
		if _, err := r.Check("foreign", json.RawMessage(`[]`)); err == nil {
			t.Errorf("Check with the schema %s takes an array", schema)
		}
	}
	lookbehind := registry(t, nil, tool("p", tools.Reads, `{"properties":{"a":{"pattern":"(?<=x)y"},"b":{"pattern":"^z$"}}}`))
	if _, err := lookbehind.Check("p", json.RawMessage(`{"a":"n"}`)); err != nil {
		t.Errorf("a pattern that Go does not know refuses: %v", err)
	}
	if _, err := lookbehind.Check("p", json.RawMessage(`{"b":"n"}`)); err == nil {
		t.Error("a pattern beside one that Go does not know is not checked")
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{``, `null`, `{"name":"a"}`, `{"name":null,"age":1.0}`, `[`, `{"a":1}{`, "\x00"} {
		f.Add(s)
	}
	r, err := tools.NewRegistry(nil, tool("person", tools.Reads, personSchema))
	if err != nil {
		f.Fatal(err)
	}
	// What has passed passes again as it is, and is an object.
	f.Fuzz(func(t *testing.T, input string) {
		got, err := r.Check("person", json.RawMessage(input))
		if err != nil {
			if len(err.Error()) > 1500 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil || object == nil {
			t.Errorf("Check(%q) = %q, not an object (%v)", input, got, err)
		}
		if again, err := r.Check("person", got); err != nil || string(again) != string(got) {
			t.Errorf("Check of its own result %q = %q, %v", got, again, err)
		}
	})
}

func BenchmarkNewRegistry(b *testing.B) {
	var ts []tools.Tool
	for i := range 60 {
		ts = append(ts, tool(fmt.Sprintf("tool%02d", i), tools.Reads, personSchema))
	}
	for b.Loop() {
		if _, err := tools.NewRegistry(nil, ts...); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	r, err := tools.NewRegistry(nil, tool("person", tools.Reads, personSchema))
	if err != nil {
		b.Fatal(err)
	}
	input := json.RawMessage(`{"name":"a","age":3,"tags":["x","y"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Check("person", input); err != nil {
			b.Fatal(err)
		}
	}
}
