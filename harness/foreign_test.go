package harness_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
	"github.com/lorimer-dev/lorimer/harness/model/normalise"
	"github.com/lorimer-dev/lorimer/tools/toolstest"
)

// foreign is a tool whose schema somebody else has written.
func foreign(name, schema string) *toolstest.Tool {
	t := toolstest.Echo(name)
	t.Describe.Schema = json.RawMessage(schema)
	return t
}

// at opens f with the model of a protocol on a server. What of the tools is left out
// goes into dropped.
func (f *fixture) at(server *modeltest.Server, protocol string, dropped *[]string) {
	d := f.settings.model
	d.Provider = protocol
	if protocol == "gemini" {
		d.ID = "gemini-3.5-flash"
	}
	if protocol == "responses" {
		d.ID = "gpt-5.6"
	}
	f.settings.model = d
	f.settings.open = func(context.Context) (model.Streamer, error) {
		return normalise.Wrap(providers(server)[protocol](d), d, normalise.Options{
			Dropped: func(tool string, why error) { *dropped = append(*dropped, tool+": "+why.Error()) },
		}), nil
	}
}

// declared returns the schemas of the tools in the body of a request, by name.
func declared(t *testing.T, body []byte) map[string]string {
	t.Helper()
	type function struct {
		Name        string
		Parameters  json.RawMessage
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var r struct {
		Tools []struct {
			function
			Function function
			Google   []function `json:"functionDeclarations"`
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, tool := range r.Tools {
		for _, f := range append(tool.Google, tool.function, tool.Function) {
			if f.Name != "" {
				out[f.Name] = string(f.Parameters) + string(f.InputSchema)
			}
		}
	}
	return out
}

// C099: a tool of somebody else's with all that Google does not know. Google is told of
// it in the words that it has, with the bound kept; the others as it is, less the
// dialect, and Claude a type that is one word. What the model calls it with is held
// against the schema itself.
func TestC099ForeignSchema(t *testing.T) {
	const rest = `"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer","exclusiveMinimum":0},"kind":{"const":"x"},`
	const where = `"where":{"anyOf":[{"type":"object","additionalProperties":false,"properties":{"uri":{"type":"string","format":"uri"}}},{"type":"array","items":{"type":"number","multipleOf":2}}]}}}`
	const plain = `{` + rest + `"name":{"type":["string","null"]},` + where
	want := map[string]string{
		"openai": plain, "responses": plain, "ollama": plain,
		"anthropic": `{` + rest + `"name":{"anyOf":[{"type":"string"},{"type":"null"}]},` + where,
		"gemini": `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"kind":{"type":"string","enum":["x"]},"name":{"type":"string","nullable":true},` +
			`"where":{"anyOf":[{"type":"object","properties":{"uri":{"type":"string"}}},{"type":"array","items":{"type":"number"}}]}},"required":["n"]}`,
	}
	for _, name := range protocols() {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t,
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "look", Args: `{"n":0}`}}},
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "look", Args: `{"n":1,"other":1}`}}},
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "look", Args: `{"n":1,"kind":"x","name":null,"where":{"uri":"file:///a"}}`}}},
				modeltest.Reply{Text: []string{"Done."}})
			look := foreign("look", `{"$schema":"http://json-schema.org/draft-07/schema#",`+plain[1:])
			f := newFixture(look)
			var dropped []string
			f.at(server, name, &dropped)
			s := f.open(t)
			if out, rec := ask(t, s, "go"); out.Stop != harness.EndTurn || rec.text() != "Done." {
				t.Errorf("turn = %+v with %q", out, rec.text())
			}
			if got := server.Rejected(); len(got) > 0 || len(dropped) > 0 {
				t.Errorf("rejected: %q, dropped: %q", got, dropped)
			}
			for i, r := range server.Requests() {
				if diff := cmp.Diff(want[name], declared(t, r.Body)["look"]); diff != "" {
					t.Errorf("schema in request %d (-want +got):\n%s", i+1, diff)
				}
			}
			texts := results(f.entries(t, s))
			for i, part := range []string{"more than 0", "other", `"kind":"x"`} {
				if len(texts) != 3 || !strings.Contains(texts[i], part) {
					t.Errorf("results = %q, want %q in number %d", texts, part, i+1)
				}
			}
			if got := len(look.Calls()); got != 1 {
				t.Errorf("the tool ran %d times, want once: two calls did not fit", got)
			}
		})
	}
}

// C100: references, some of them into themselves, are told as far as each provider
// takes them, and a tool with one that leads nowhere is left out alone, with a note.
func TestC100ForeignReferences(t *testing.T) {
	const issue = `{"type":"object","$defs":{"Issue":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}},"properties":{"i":{"anyOf":[{"$ref":"#/$defs/Issue"},{"type":"null"}]}},"required":["i"]}`
	const tree = `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/T"}},"next":{"$ref":"#/$defs/T"}}}}}`
	const dangling = `{"type":"object","properties":{"x":{"$ref":"#/$defs/gone"}}}`
	nested := func(v string, levels int) string {
		return strings.Repeat(`{"next":`, levels) + `{"v":` + v + `}` + strings.Repeat("}", levels)
	}
	for _, name := range protocols() {
		t.Run(name, func(t *testing.T) {
			server := modeltest.New(t,
				modeltest.Reply{Tools: []modeltest.Tool{{Name: "issue", Args: `{"i":{}}`}, {Name: "issue", Args: `{"i":{"title":"x"}}`}, {Name: "tree", Args: nested("1", 40)}, {Name: "tree", Args: nested(`"1"`, 9)}}},
				modeltest.Reply{Text: []string{"Done."}})
			issues, trees, broken := foreign("issue", issue), foreign("tree", tree), foreign("broken", dangling)
			f := newFixture(issues, trees, broken, toolstest.Echo("ok"))
			var dropped []string
			f.at(server, name, &dropped)
			s := f.open(t)
			if out, rec := ask(t, s, "go"); out.Stop != harness.EndTurn || rec.text() != "Done." {
				t.Errorf("turn = %+v with %q", out, rec.text())
			}
			if diff := cmp.Diff([]string{`broken: the schema refers to "#/$defs/gone", which it does not have`}, dropped); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if got := server.Rejected(); len(got) > 0 {
				t.Errorf("rejected: %q", got)
			}
			for i, r := range server.Requests() {
				told := declared(t, r.Body)
				if _, has := told["broken"]; has || len(told) != 3 {
					t.Errorf("tools of request %d = %v, want all but the broken one", i+1, told)
				}
				if !strings.Contains(told["issue"], `"title"`) || !strings.Contains(told["tree"], `"kids"`) || len(told["tree"]) > 8<<10 {
					t.Errorf("request %d does not tell what tools take: %v", i+1, told)
				}
				if name == "gemini" && strings.Contains(told["issue"]+told["tree"], "$") {
					t.Errorf("Google is told of references: %v", told)
				}
			}
			texts := results(f.entries(t, s)) // as they came
			for _, part := range []string{"i: missing property 'title'", `{"title":"x"}`, nested("1", 40), "next.v: got string, want integer"} {
				if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, part) }) || len(texts) != 4 {
					t.Errorf("results = %q, want one with %q", texts, part)
				}
			}
		})
	}
}

// C102: no arguments, and null, count as the empty object for a tool that needs none,
// whatever protocol they come in.
func TestC102NoArguments(t *testing.T) {
	for _, name := range protocols() {
		t.Run(name, func(t *testing.T) {
			calls := []modeltest.Tool{{Name: "look", Args: ""}, {Name: "look", Args: " null\n"}}
			if name == "gemini" || name == "ollama" { // whose servers take arguments apart
				calls = calls[:1]
			}
			server := modeltest.New(t, modeltest.Reply{Tools: calls}, modeltest.Reply{Text: []string{"Done."}})
			look := toolstest.Echo("look")
			f := newFixture(look)
			var dropped []string
			f.at(server, name, &dropped)
			s := f.open(t)
			if out, _ := ask(t, s, "go"); out.Stop != harness.EndTurn || len(server.Rejected()) > 0 {
				t.Errorf("turn = %+v, rejected: %q", out, server.Rejected())
			}
			for _, c := range look.Calls() {
				if string(c.Input) != "{}" {
					t.Errorf("input = %s, want {}", c.Input)
				}
			}
			if got := len(look.Calls()); got != len(calls) {
				t.Errorf("the tool ran %d times, want %d", got, len(calls))
			}
		})
	}
}
