//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// toldOf returns the schemas of the tools that a request of any protocol declares, by
// their names.
func toldOf(t *testing.T, body []byte) map[string]string {
	t.Helper()
	type function struct {
		Name        string          `json:"name"`
		Parameters  json.RawMessage `json:"parameters"`
		InputSchema json.RawMessage `json:"input_schema"`
	}
	var r struct {
		Tools []struct {
			function
			Function function   `json:"function"`
			Google   []function `json:"functionDeclarations"`
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, tool := range r.Tools {
		for _, f := range append(tool.Google, tool.function, tool.Function) {
			if f.Name != "" {
				all[f.Name] = string(f.Parameters) + string(f.InputSchema)
			}
		}
	}
	return all
}

// C099 and C100, of a server: each provider is told of its tools in the words that it
// has, references are said in place or left as the provider takes them, and a broken tool
// is left out alone, with a note in the log. What the model calls them with is held
// against the schema of the server, and nobody asks for a schema in the net.
func TestC099C100SchemasOfServers(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	net := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Write([]byte(`{"type":"integer"}`))
	}))
	t.Cleanup(net.Close)
	const rest = `"type":"object","additionalProperties":false,"required":["n"],"properties":{"n":{"type":"integer","exclusiveMinimum":0},"kind":{"const":"x"},`
	const where = `"where":{"anyOf":[{"type":"object","additionalProperties":false,"properties":{"uri":{"type":"string","format":"uri"}}},{"type":"array","items":{"type":"number","multipleOf":2}}]}}}`
	const plain = `{` + rest + `"name":{"type":["string","null"]},` + where
	look := map[string]string{
		"openai": plain, "responses": plain, "ollama": plain,
		"anthropic": `{` + rest + `"name":{"anyOf":[{"type":"string"},{"type":"null"}]},` + where,
		"gemini": `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"kind":{"type":"string","enum":["x"]},"name":{"type":"string","nullable":true},` +
			`"where":{"anyOf":[{"type":"object","properties":{"uri":{"type":"string"}}},{"type":"array","items":{"type":"number"}}]}},"required":["n"]}`,
	}
	m := modeltest.New(t)
	e := newEditor(t).reachesAll(m)
	schema := func(name, text string) object {
		return object{"name": name, "description": "A tool.", "inputSchema": json.RawMessage(text)}
	}
	odd := e.stub("odd", e.scenario(
		schema("look", `{"$schema":"http://json-schema.org/draft-07/schema#",`+plain[1:]),
		schema("issue", `{"type":"object","$defs":{"Issue":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}},"properties":{"i":{"anyOf":[{"$ref":"#/$defs/Issue"},{"type":"null"}]}},"required":["i"]}`),
		schema("tree", `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/T"}},"next":{"$ref":"#/$defs/T"}}}}}`),
		schema("broken", `{"type":"object","properties":{"x":{"$ref":"#/$defs/gone"}}}`),
		schema("remote", `{"type":"object","properties":{"x":{"$ref":"`+net.URL+`/schema.json"}}}`),
	)...)
	e.acp("--mode", "auto", "--model", gpt)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(odd)
	deep := strings.Repeat(`{"next":`, 40) + `{"v":1}` + strings.Repeat("}", 40)
	calls := []struct {
		tool, args, want string
		failed           bool
	}{
		{"look", `{"n":0}`, "more than 0", true},
		{"look", `{"n":1,"other":1}`, "other", true},
		{"look", `{"n":1,"kind":"x","name":null,"where":{"uri":"file:///a"}}`, `"kind":"x"`, false},
		{"issue", `{"i":{}}`, "title", true},
		{"issue", `{"i":{"title":"x"}}`, `{"title":"x"}`, false},
		{"tree", deep, deep, false},
		{"tree", `{"next":{"next":{"v":"1"}}}`, "want integer", true},
		{"remote", `{"x":"whatever"}`, `{"x":"whatever"}`, false},
	}
	var called []modeltest.Tool
	for _, c := range calls {
		called = append(called, modeltest.Tool{Name: "odd_" + c.tool, Args: c.args})
	}
	for _, p := range allProviders() {
		e.set(s, "model", p.model)
		m.Add(modeltest.Reply{Tools: called}, modeltest.Reply{Text: []string{"Done."}})
		before := len(m.Requests())
		if stop := e.prompt(s, "go"); stop != "end_turn" {
			t.Errorf("%s: stop reason = %s, want end_turn", p.name, stop)
		}
		for _, r := range m.Requests()[before:] {
			told := toldOf(t, r.Body)
			if diff := cmp.Diff(look[p.name], told["odd_look"]); diff != "" {
				t.Errorf("%s: schema of look (-want +got):\n%s", p.name, diff)
			}
			if _, has := told["odd_broken"]; has || len(told) != len(allTools())+4 {
				t.Errorf("%s is told of %v, want all but the broken one", p.name, told)
			}
			if !strings.Contains(told["odd_issue"], `"title"`) || !strings.Contains(told["odd_tree"], `"kids"`) || len(told["odd_tree"]) > 8<<10 {
				t.Errorf("%s is not told what tools take: %v", p.name, told)
			}
			if p.name == "gemini" && strings.Contains(told["odd_issue"]+told["odd_tree"]+told["odd_remote"], "$") {
				t.Errorf("Google is told of references: %v", told)
			}
		}
		results := e.results(s)
		results = results[len(results)-len(calls):]
		for i, c := range calls {
			if !strings.Contains(results[i].Text, c.want) || results[i].IsError != c.failed {
				t.Errorf("%s: result of %s(%s) = %+v, want %q", p.name, c.tool, c.args, results[i], c.want)
			}
		}
	}
	if got := m.Rejected(); len(got) > 0 {
		t.Errorf("rejected: %q", got)
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("a schema was asked for in the net %d times", n)
	}
	e.leave()
	if log := e.stderr.String(); strings.Count(log, "tool left out") != len(allProviders()) || strings.Count(log, "tool=odd_broken") != len(allProviders()) {
		t.Errorf("the log does not tell once for each model what is left out:\n%s", log)
	}
}

// C100: lists of tools that are a little off, of 38 servers at once. Every provider takes
// all that can be called, and each of it is called by its own name.
func TestC100OddLists(t *testing.T) {
	t.Parallel()
	m := modeltest.New(t)
	e := newEditor(t).reachesAll(m)
	odd := map[string]string{ // the tool beside echo
		"name-dots": "files.read/all", "name-space": " two words\n", "name-digit": "3d_render",
		"name-long": "files.read_every_single_every_single_every_single_every_single_every_single_every_single_z",
		"null-tool": "", "number-tool": "", "dup-name": "", "name-number": "", "name-empty": "",
	}
	for name := range strings.FieldsSeq(`type-array properties-array required-null required-bool schema-true schema-null schema-missing
		schema-empty schema-string schema-nested annotations-null annotations-array annotations-text description-null
		description-array description-huge output-null output-array-type icons-object meta-string oneof-top ref-top ref-remote
		ref-loop big-int header header-wrong`) {
		odd[name] = "t"
	}
	all := map[string]*stub{}
	var list []*stub
	for name := range odd {
		all[name] = e.stub(name, "-mode", "tools:"+name)
		list = append(list, all[name])
	}
	list = append(list, e.stub("tools-null", "-mode", "tools:tools-null"), e.stub("tools-object", "-mode", "tools:tools-object"))
	e.acp("--mode", "auto", "--model", gpt)
	e.call("initialize", object{"protocolVersion": 1}, nil)
	s := e.connects(list...)
	e.untilServers(s, "all servers whose list is one", func(all []serverStatus) bool {
		return !slices.ContainsFunc(all, func(s serverStatus) bool { return s.State != "connected" && s.Name != "tools-object" })
	})
	var offered []string
	for _, p := range allProviders() {
		e.set(s, "model", p.model)
		m.Add(modeltest.Reply{Text: []string{"Done."}})
		before := len(m.Requests())
		e.prompt(s, "go")
		offered = addsTo(e.lastRequest(s).Tools)
		told := toldOf(t, m.Requests()[before].Body)
		for _, name := range offered {
			if _, has := told[name]; !has {
				t.Errorf("%s is not told of %s", p.name, name)
			}
		}
	}
	if got := m.Rejected(); len(got) > 0 {
		t.Fatalf("rejected: %q", got)
	}
	var calls []modeltest.Tool
	for _, name := range offered {
		args := `{}`
		if name == "oneof_top_t" {
			args = `{"b":"x"}` // which it takes, and the program behind it does not
		}
		calls = append(calls, modeltest.Tool{Name: name, Args: args})
	}
	m.Add(modeltest.Reply{Tools: calls}, modeltest.Reply{Text: []string{"Done."}})
	e.prompt(s, "call them")
	for _, r := range e.results(s) {
		if r.IsError != (r.Name == "oneof_top_t") {
			t.Errorf("result = %+v", r)
		}
	}
	for name, tool := range odd {
		want := []string{"echo", tool}
		if tool == "" {
			want = want[:1]
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(all[name].called()))); diff != "" {
			t.Errorf("calls of %s (-want +got):\n%s", name, diff)
		}
	}
}
