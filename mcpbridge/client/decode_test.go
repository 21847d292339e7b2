package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

func TestFields(t *testing.T) {
	tests := []struct {
		in   string
		want object
		ok   bool
	}{
		{`{}`, object{}, true},
		{" {\n} ", object{}, true},
		{`{"a":1}`, object{"a": json.RawMessage("1")}, true},
		{`{ "a" : [ 1 , {"b":"}"} ] , "c" : "\"\\" }`, object{"a": json.RawMessage(`[ 1 , {"b":"}"} ]`), "c": json.RawMessage(`"\"\\"`)}, true},
		{`{"\u0061":1,"a":2}`, object{"a": json.RawMessage("2")}, true},
		{`{"":null}`, object{"": json.RawMessage("null")}, true},
		{`[1]`, nil, false},
		{``, nil, false},
		{`{"a"`, nil, false},
		{`{"a":`, nil, false},
		{`{"a":"b`, nil, false},
		{`{"a":1 "b":2}`, nil, false},
		{`{"a":1,`, nil, false},
		{`{a:1}`, nil, false},
	}
	for _, tt := range tests {
		got, ok := fields(json.RawMessage(tt.in))
		if ok != tt.ok || !cmp.Equal(got, tt.want) && ok {
			t.Errorf("fields(%s) = %s, %v, want %s, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

// Taking a value apart gives what the library decodes, and never fails where that does
// not.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"}\\"}],"c":-1.5e3}`))
	f.Add([]byte(`[ [], {} , "\"" ,null]`))
	f.Add([]byte(`{"a":{"a":1},"a":2}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, isObject := fields(raw) // which must not panic on what is no JSON
		list, isArray := elements(raw)
		if !json.Valid(raw) {
			return
		}
		var want any
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Skip() // such as a number that no float64 holds
		}
		var got any
		switch {
		case isObject:
			members := map[string]any{}
			for name, value := range o {
				members[name] = decoded(t, value)
			}
			got = members
		case isArray:
			got = []any{}
			for _, value := range list {
				got = append(got.([]any), decoded(t, value))
			}
		default:
			if c := bytes.TrimSpace(raw)[0]; c == '{' || c == '[' {
				t.Fatalf("%s was not taken apart", raw)
			}
			return
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %v, want %v", raw, got, want)
		}
	})
}

func decoded(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return v
}

// Whatever is in a list, a tool that comes out of it can be offered and called, and
// those around it are there.
func FuzzTool(f *testing.F) {
	f.Add([]byte(`{"name":"t","inputSchema":{"type":["object","null"],"properties":[]},"annotations":[],"icons":{}}`))
	f.Add([]byte(`{"name":"t","description":"d","annotations":{"readOnlyHint":true,"title":"T"},"execution":{"taskSupport":"required"}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		items, _, err := decodePage("tools/list", "tools", fmt.Appendf(nil, `{"tools":[{"name":"a"},%s,{"name":"b"}]}`, raw))
		if err != nil || len(items) != 3 {
			t.Fatalf("%d items, %v", len(items), err)
		}
		tool, ok := decodeTool(items[1], zerolog.Nop())
		if !ok {
			return
		}
		if tool.Name == "" || len(tool.Description) > maxDescription+len("…") || !utf8.ValidString(tool.Name+tool.Title+tool.Description) {
			t.Errorf("%s became %+v", raw, tool)
		}
		for _, schema := range []json.RawMessage{tool.Input, tool.Output} {
			if _, isObject := fields(schema); schema != nil && (!isObject || !json.Valid(schema) || !utf8.Valid(schema) || len(schema) > 2*maxSchema) {
				t.Errorf("%s has the schema %s", raw, schema)
			}
		}
		o, _ := fields(items[1])
		if reduced, err := annotations(o["inputSchema"]); err == nil && reduced != nil && !json.Valid(reduced) {
			t.Errorf("%s wants the headers of %s", raw, reduced)
		}
	})
}

// Whatever a result is, it is decoded, and every word of a text that it has is there.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"hi"},{"type":"image","data":"aGk="},7],"isError":"true"}`))
	f.Add([]byte(`{"content":{"type":"resource","resource":{"uri":"a","blob":"-_="}},"structuredContent":[1]}`))
	f.Add([]byte(`{"toolResult":"x"}`))
	f.Add([]byte(`"hi"`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := decodeResult(raw)
		if valid := json.Valid(raw); valid != (err == nil) {
			t.Fatalf("%q: %v", raw, err)
		}
		if err == nil && r.Structured != nil && !json.Valid(r.Structured) {
			t.Errorf("%q has structured content %q", raw, r.Structured)
		}
		for _, b := range r.Blocks {
			if !utf8.ValidString(b.Text) || b.Raw != nil && !json.Valid(b.Raw) {
				t.Errorf("%q has the block %+v", raw, b)
			}
		}
		var plain struct{ Content string }
		if json.Unmarshal(raw, &plain) == nil && bytes.HasPrefix(raw, []byte(`{"content":"`)) && bytes.Count(raw, []byte(`"`)) == 4 &&
			(len(r.Blocks) != 1 || r.Blocks[0].Text != plain.Content) {
			t.Errorf("%q became %+v", raw, r)
		}
	})
}

// largeList is like the list of the largest server that was seen: 118 tools in 160 KB.
func largeList() json.RawMessage {
	var tools []string
	for i := range 118 {
		var properties []string
		for j := range 8 {
			properties = append(properties, fmt.Sprintf(`"parameter_%d":{"type":["string","null"],"description":"What the parameter number %d is for, in a few words with an \"escape\"."}`, j, j))
		}
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":%q,"inputSchema":{"type":"object","properties":{%s},"required":["parameter_0"],"$schema":"http://json-schema.org/draft-07/schema#"}}`,
			i, strings.Repeat("It does something. ", 10), strings.Join(properties, ",")))
	}
	return json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`)
}

func BenchmarkTools(b *testing.B) {
	raw := largeList()
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		items, _, err := decodePage("tools/list", "tools", raw)
		if err != nil {
			b.Fatal(err)
		}
		for _, item := range items {
			if _, ok := decodeTool(item, zerolog.Nop()); !ok {
				b.Fatalf("left out: %s", item)
			}
		}
	}
}

func BenchmarkResult(b *testing.B) {
	const size = 20 << 20
	contents := map[string]string{
		"text":    `{"content":[{"type":"text","text":"` + strings.Repeat("words ", size/6) + `"}]}`,
		"escapes": `{"content":[{"type":"text","text":"` + strings.Repeat(`line\n`, size/6) + `"}]}`,
		"image":   `{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(make([]byte, size/4*3)) + `"}]}`,
	}
	for name, content := range contents {
		b.Run(name, func(b *testing.B) {
			raw := json.RawMessage(content)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if r, err := decodeResult(raw); err != nil || len(r.Blocks) != 1 {
					b.Fatalf("%d blocks, %v", len(r.Blocks), err)
				}
			}
		})
	}
}
