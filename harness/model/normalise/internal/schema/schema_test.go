package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/harness/model/normalise/internal/schema"
)

var dialects = map[string]schema.Dialect{
	"compatible": schema.Compatible, "openai": schema.OpenAI, "anthropic": schema.Anthropic, "google": schema.Google,
}

// compact is s without white space, so that rows may have lines.
func compact(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	return b.String()
}

func TestLower(t *testing.T) {
	const c099 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,"required":["n","gone","n"],"properties":{
		"n":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10},"f":{"type":"number","exclusiveMinimum":0.5,"multipleOf":0.5},
		"c":{"const":"x","title":"C","default":"x","examples":["x"]},"u":{"type":["string","null"],"format":"uri"},
		"a":{"description":"d","anyOf":[{"type":"object","additionalProperties":false,"properties":{"k":{"const":"v"}}},{"type":"null"}]},
		"l":{"type":"array","uniqueItems":true,"minItems":1}}}`
	const strings1 = `{"type":"object","properties":{"x":{"type":"string"}}}`
	const some = `{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"}]}`
	const anything = `{"anyOf":[{"type":"string"},{"type":"number"},{"type":"boolean"},{"type":"object"},{"type":"array","items":` + some + `}]}`
	const described = `{"anyOf":[{"type":"string","description":"d"},{"type":"number","description":"d"},{"type":"boolean","description":"d"},{"type":"object","description":"d"},
		{"type":"array","description":"d","items":` + some + `}]}`
	tests := []struct {
		name string
		in   string
		want map[string]string // by dialect; "others" is for those that are not named
	}{
		{"nothing wrong", `{"type":"object","properties":{"a":{"type":"string","default":"<\u00e9>","x-own":[1.0,{"b":1,"a":2}]}},"required":["a"],"additionalProperties":false}`, map[string]string{
			"others": `{"type":"object","properties":{"a":{"type":"string","default":"<\u00e9>","x-own":[1.0,{"b":1,"a":2}]}},"required":["a"],"additionalProperties":false}`,
			"google": `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`,
		}},
		{"nothing wrong for Google either", strings1, map[string]string{"others": strings1}},
		{"no schema", ``, map[string]string{"others": `{"type":"object","properties":{}}`, "google": `{"type":"object"}`}},
		{"null", `null`, map[string]string{"others": `{"type":"object","properties":{}}`, "google": `{"type":"object"}`}},
		{"true", ` true `, map[string]string{"others": `{"type":"object","properties":{}}`, "google": `{"type":"object"}`}},
		{"a list", `[1]`, map[string]string{"others": `{"type":"object","properties":{}}`, "google": `{"type":"object"}`}},
		{"no object", `{"type":["string","null"],"properties":[]}`, map[string]string{"others": `{"type":"object","properties":{}}`, "google": `{"type":"object"}`,
			"anthropic": `{"type":"object","properties":{}}`}},
		{"no type", `{"properties":{"x":{"type":"string"}}}`, map[string]string{"others": strings1}},
		{"no properties", `{"type":"object","required":["a"]}`, map[string]string{
			"others": `{"type":"object","properties":{}}`, "anthropic": `{"type":"object"}`, "google": `{"type":"object"}`}},
		{"C099 what Google does not know", c099, map[string]string{
			"others": `{"type":"object","additionalProperties":false,"required":["n"],"properties":{
				"n":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10},"f":{"type":"number","exclusiveMinimum":0.5,"multipleOf":0.5},
				"c":{"const":"x","title":"C","default":"x","examples":["x"]},"u":{"type":["string","null"],"format":"uri"},
				"a":{"description":"d","anyOf":[{"type":"object","additionalProperties":false,"properties":{"k":{"const":"v"}}},{"type":"null"}]},
				"l":{"type":"array","uniqueItems":true,"minItems":1,"items":{}}}}`,
			"anthropic": `{"type":"object","additionalProperties":false,"required":["n"],"properties":{
				"n":{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":10},"f":{"type":"number","exclusiveMinimum":0.5,"multipleOf":0.5},
				"c":{"const":"x","title":"C","default":"x","examples":["x"]},"u":{"format":"uri","anyOf":[{"type":"string"},{"type":"null"}]},
				"a":{"description":"d","anyOf":[{"type":"object","additionalProperties":false,"properties":{"k":{"const":"v"}}},{"type":"null"}]},
				"l":{"type":"array","uniqueItems":true,"minItems":1}}}`,
			"google": `{"type":"object","properties":{
				"n":{"type":"integer","minimum":1,"maximum":9},"f":{"type":"number","minimum":0.5},
				"c":{"type":"string","enum":["x"]},"u":{"type":"string","nullable":true},
				"a":{"type":"object","description":"d","nullable":true,"properties":{"k":{"type":"string","enum":["v"]}}},
				"l":{"type":"array","items":` + anything + `,"minItems":1}},"required":["n"]}`,
		}},
		{"C100 references", `{"type":"object","$defs":{"I":{"type":"string","description":"d"}},"properties":{"i":{"$ref":"#/$defs/I"},"j":{"anyOf":[{"$ref":"#/$defs/I"},{"type":"integer"}],"description":"e"}}}`, map[string]string{
			"others": `{"type":"object","$defs":{"I":{"type":"string","description":"d"}},"properties":{"i":{"$ref":"#/$defs/I"},"j":{"anyOf":[{"$ref":"#/$defs/I"},{"type":"integer"}],"description":"e"}}}`,
			"google": `{"type":"object","properties":{"i":{"type":"string","description":"d"},"j":{"anyOf":[{"type":"string","description":"d"},{"type":"integer","description":"e"}]}}}`,
		}},
		{"C100 recursion from the root", `{"$defs":{"T":{"type":"object","properties":{"c":{"$ref":"#/$defs/T"}}}},"$ref":"#/$defs/T"}`, map[string]string{
			"others": `{"$defs":{"T":{"type":"object","properties":{"c":{"$ref":"#/$defs/T"}}}},"type":"object","properties":{"c":{"$ref":"#/$defs/T"}}}`,
			"google": `{"type":"object","properties":{"c":{"type":"object","properties":{"c":{"type":"object","properties":{"c":{"type":"object","properties":{"c":{"type":"object"}}}}}}}}}`,
		}},
		{"C100 recursion in a list", `{"type":"object","properties":{"t":{"type":"array","items":{"$ref":"#/properties/t"}}}}`, map[string]string{
			"others": `{"type":"object","properties":{"t":{"type":"array","items":{"$ref":"#/properties/t"}}}}`,
			"google": `{"type":"object","properties":{"t":{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"array","items":{"type":"array","items":` + anything + `}}}}}}}`,
		}},
		{"references in a circle, and to nothing but the root", `{"type":"object","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"properties":{"x":{"description":"d","$ref":"#/$defs/a"},"r":{"$ref":"#"}}}`, map[string]string{
			"others": `{"type":"object","$defs":{"a":{},"b":{}},"properties":{"x":{"description":"d"},"r":{"$ref":"#"}}}`,
			"google": `{"type":"object","properties":{"x":` + described + `,
				"r":{"type":"object","properties":{"x":` + described + `,
				"r":{"type":"object","properties":{"x":` + described + `,
				"r":{"type":"object","properties":{"x":` + described + `,
				"r":{"type":"object"}}}}}}}}}`,
		}},
		{"references to elsewhere, by address and by anchor", `{"$id":"https://x/s","type":"object","properties":{"a":{"$ref":"https://y/z","description":"d"},"b":{"$ref":"https://x/s#/$defs/B"},"c":{"$ref":"#here"}},
			"$defs":{"B":{"type":"string","$anchor":"here"}}}`, map[string]string{
			"others": `{"type":"object","properties":{"a":{"description":"d"},"b":{"$ref":"#/$defs/B"},"c":{"$ref":"#here"}},"$defs":{"B":{"type":"string","$anchor":"here"}}}`,
			"google": `{"type":"object","properties":{"a":` + described + `,
				"b":{"type":"string"},"c":{"type":"string"}}}`,
		}},
		{"comments, but not properties of their names", `{"type":"object","$comment":"c","properties":{"$id":{"type":"string","$comment":"c"},"$schema":{"type":"string","enum":["$id"]}}}`, map[string]string{
			"others": `{"type":"object","properties":{"$id":{"type":"string"},"$schema":{"type":"string","enum":["$id"]}}}`,
		}},
		{"flags and lists of required", `{"type":"object","required":true,"properties":{"a":{"type":"string","required":true},"o":{"type":"object","required":["x","y","x",1],"properties":{"x":{"type":"string"}}}}}`, map[string]string{
			"others": `{"type":"object","properties":{"a":{"type":"string"},"o":{"type":"object","required":["x"],"properties":{"x":{"type":"string"}}}}}`,
			"google": `{"type":"object","properties":{"a":{"type":"string"},"o":{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}}}`,
		}},
		{"earlier drafts", `{"type":"object","properties":{"n":{"type":"int","minimum":0,"exclusiveMinimum":true,"exclusiveMaximum":false},"t":{"type":"list","items":[{"type":"str"},{"type":"number"}],"additionalItems":false}}}`, map[string]string{
			"others":    `{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":0},"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":{"not":{}}}}}`,
			"anthropic": `{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":0},"t":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":false}}}`,
			"google":    `{"type":"object","properties":{"n":{"type":"integer","minimum":1},"t":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}}}}`,
		}},
		{"keywords of a wrong form", `{"type":"object","description":1,"properties":{"a":{"type":"any","description":[],"enum":{},"minimum":"1","minLength":{},"anyOf":[],"pattern":2},"b":true,"c":null},"$defs":[],"oneOf":{}}`, map[string]string{
			"others":    `{"type":"object","properties":{"a":{},"b":{},"c":{}}}`,
			"anthropic": `{"type":"object","properties":{"a":{},"b":true,"c":{}}}`,
			"google":    `{"type":"object","properties":{"a":` + anything + `,"b":` + anything + `,"c":` + anything + `}}`,
		}},
		{"one of several groups of arguments", `{"type":"object","description":"d","properties":{"k":{"type":"string"}},"required":["k"],"oneOf":[{"$ref":"#/$defs/F"},{"properties":{"url":{"type":"string"},"k":{"const":"u"}},"required":["url","k","n"]},{"type":"null"}],
			"$defs":{"F":{"properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path","n"]}}}`, map[string]string{
			"compatible": `{"type":"object","description":"d","properties":{"k":{"type":"string"}},"required":["k"],"oneOf":[{"$ref":"#/$defs/F"},{"properties":{"url":{"type":"string"},"k":{"const":"u"}},"required":["url","k","n"]},{"type":"null"}],
			"$defs":{"F":{"properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path","n"]}}}`,
			"others": "{\"type\":\"object\",\"description\":\"d\\nGive the arguments of exactly one of these groups: `path`, `n`; `url`, `k` = \\\"u\\\", `n`.\"," + `"properties":{"k":{"type":"string"},"path":{"type":"string"},"n":{"type":"integer"},"url":{"type":"string"}},"required":["k","n"],
			"$defs":{"F":{"properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path","n"]}}}`,
			"google": "{\"type\":\"object\",\"description\":\"d\\nGive the arguments of exactly one of these groups: `path`, `n`; `url`, `k` = \\\"u\\\", `n`.\"," + `"properties":{"k":{"type":"string"},"path":{"type":"string"},"n":{"type":"integer"},"url":{"type":"string"}},"required":["k","n"]}`,
		}},
		{"at least one argument", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["z"]}}`, map[string]string{
			"compatible": `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["z"]}}`,
			"anthropic":  "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}},\"not\":{\"required\":[\"z\"]},\"description\":\"Give the arguments of at least one of these groups: `a`; `b`.\"}",
			"openai":     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}},\"description\":\"Give the arguments of at least one of these groups: `a`; `b`.\"}",
			"google":     "{\"type\":\"object\",\"description\":\"Give the arguments of at least one of these groups: `a`; `b`.\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"string\"}}}",
		}},
		{"all of several", `{"allOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false},{"properties":{"a":{"minLength":1}},"required":["b"]}]}`, map[string]string{
			"compatible": `{"type":"object","allOf":[{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false},{"properties":{"a":{"minLength":1}},"required":["b"]}],"properties":{}}`,
			"others":     `{"type":"object","properties":{"a":{"allOf":[{"type":"string"},{"minLength":1}]},"b":{"type":"string"}},"required":["a","b"]}`,
			"google":     `{"type":"object","properties":{"a":{"type":"string","minLength":1},"b":{"type":"string"}},"required":["a","b"]}`,
		}},
		{"alternatives of one property", `{"type":"object","anyOf":[{"properties":{"v":{"type":"string"}},"required":["v"]},{"properties":{"v":{"type":"integer"}},"required":["v"]}]}`, map[string]string{
			"compatible": `{"type":"object","anyOf":[{"properties":{"v":{"type":"string"}},"required":["v"]},{"properties":{"v":{"type":"integer"}},"required":["v"]}],"properties":{}}`,
			"others":     `{"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"required":["v"]}`,
		}},
		{"values that are no words", `{"type":"object","properties":{"i":{"type":"integer","enum":[1,2]},"m":{"enum":["a",1]},"w":{"enum":["a","",null]},"b":{"const":false,"description":"d"},"o":{"oneOf":[{"const":"x"},{"const":"y"}],"description":"d"}}}`, map[string]string{
			"others": `{"type":"object","properties":{"i":{"type":"integer","enum":[1,2]},"m":{"enum":["a",1]},"w":{"enum":["a","",null]},"b":{"const":false,"description":"d"},"o":{"oneOf":[{"const":"x"},{"const":"y"}],"description":"d"}}}`,
			"google": `{"type":"object","properties":{"i":{"type":"integer","description":"One of: 1, 2."},
				"m":{"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","description":"One of: 1."}]},
				"w":{"type":"string","description":"One of: \"a\", \"\".","nullable":true},"b":{"type":"boolean","description":"d\nOne of: false."},"o":{"type":"string","description":"d","enum":["x","y"]}}}`,
		}},
		{"anything, and what ends as anything", `{"type":"object","$defs":{"V":{"anyOf":[{"type":"string"},{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}}}]}},
			"properties":{"a":{"anyOf":[{"type":"null"},true],"description":"d"},"k":{"type":["string","any"]},"v":{"$ref":"#/$defs/V"}}}`, map[string]string{
			"others": `{"type":"object","$defs":{"V":{"anyOf":[{"type":"string"},{"type":"object","properties":{"v":{"$ref":"#/$defs/V"}}}]}},
				"properties":{"a":{"anyOf":[{"type":"null"},true],"description":"d"},"k":{},"v":{"$ref":"#/$defs/V"}}}`,
			"google": `{"type":"object","properties":{"a":{"anyOf":[{"type":"string","description":"d","nullable":true},{"type":"number","description":"d","nullable":true},{"type":"boolean","description":"d","nullable":true},
				{"type":"object","description":"d","nullable":true},{"type":"array","description":"d","nullable":true,"items":` + some + `}]},"k":` + anything + `,
				"v":{"anyOf":[{"type":"string"},{"type":"object","properties":{"v":{"anyOf":[{"type":"string"},{"type":"object","properties":{
				"v":{"anyOf":[{"type":"string"},{"type":"object","properties":{"v":` + anything + `}}]}}}]}}}]}}}`,
		}},
		{"a key that is there twice", `{"type":"object","type":"object","properties":{}}`, map[string]string{"others": `{"type":"object","properties":{}}`, "google": `{"type":"object"}`}},
		{"half a character", `{"type":"object","properties":{"a":{"type":"string","description":"\ud83d"}}}`, map[string]string{"others": `{"type":"object","properties":{"a":{"type":"string","description":"` + "\ufffd" + `"}}}`}},
	}
	for _, tt := range tests {
		for name, d := range dialects {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				want, ok := tt.want[name]
				if !ok {
					want = tt.want["others"]
				}
				got, err := schema.Lower(json.RawMessage(tt.in), d)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(compact(t, want), compact(t, string(got))); diff != "" {
					t.Errorf("(-want +got):\n%s\n%s", diff, got)
				}
			})
		}
	}
}

func TestLowerRefusesWhatIsBroken(t *testing.T) { // C100
	tests := []struct{ name, in, want string }{
		{"no JSON", `{`, "not JSON"},
		{"more than JSON", `{} {}`, "something follows"},
		{"too deep", strings.Repeat(`{"not":`, 600) + `{}` + strings.Repeat(`}`, 600), "levels deep"},
		{"a reference to nothing", `{"type":"object","properties":{"x":{"$ref":"#/$defs/Gone"}}}`, `"#/$defs/Gone"`},
		{"one behind another", `{"type":"object","properties":{"x":{"$ref":"#/$defs/A"}},"$defs":{"A":{"items":{"$ref":"#gone"}}}}`, `"#gone"`},
	}
	for _, tt := range tests {
		for name, d := range dialects {
			if got, err := schema.Lower(json.RawMessage(tt.in), d); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, %s: %s, %v, want an error with %s", tt.name, name, got, err, tt.want)
			}
		}
	}
}

func TestLowerIsBounded(t *testing.T) { // C100: recursion overflows no stack, and no request
	var wide strings.Builder
	for i := range 40 {
		fmt.Fprintf(&wide, `"p%d":{"$ref":"#/$defs/T"},`, i)
	}
	branches := strings.Repeat(`{"$ref":"#/$defs/T"},`, 50)
	deep := strings.Repeat(`{"type":"object","properties":{"x":`, 100) + `{}` + strings.Repeat(`}}`, 100)
	long := `{"type":"object","properties":{"a":{"type":"string","description":"` + strings.Repeat("x", 70<<10) + `"}}}`
	tests := map[string]string{
		"wide recursion":       `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{` + wide.String() + `"x":{}}}}}`,
		"recursion in choices": `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","anyOf":[` + branches + `{"properties":{"x":{}}}]}}}`,
		"recursion in all of":  `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","allOf":[` + branches + `{"properties":{"x":{}}}]}}}`,
		"deep":                 deep, "long": long,
	}
	for name, in := range tests {
		for dn, d := range dialects {
			got, err := schema.Lower(json.RawMessage(in), d)
			if err != nil || len(got) > 64<<10 {
				t.Errorf("%s, %s: %d bytes, %v, want at most 64 KiB", name, dn, len(got), err)
			}
			again, err := schema.Lower(got, d)
			if err != nil || string(again) != string(got) {
				t.Errorf("%s, %s: lowered again it is another one", name, dn)
			}
		}
	}
}

// Whatever a server sends, what a provider is sent is an object schema, which does
// not change if it is sent through again.
func FuzzLower(f *testing.F) {
	for _, s := range []string{
		``, `null`, `[]`, `{"$ref":"#"}`, `{"type":["object","null"],"required":["a"],"properties":{"a":{"$ref":"#/properties/a"}}}`,
		`{"anyOf":[{"properties":{"a":{"type":["array","string"]}}},{"allOf":[{"$ref":"#"}]}],"items":[{"const":1}]}`,
		`{"properties":{"a":{"oneOf":[{"enum":["x",null]},{"type":"array","items":[true,false]}],"nullable":true}},"allOf":[{"properties":{"a":{"exclusiveMinimum":1e3}}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, d := range dialects {
			got, err := schema.Lower(raw, d)
			if err != nil {
				continue
			}
			var root map[string]any
			if err := json.Unmarshal(got, &root); err != nil || root["type"] != "object" {
				t.Errorf("%s: %q became %s", name, raw, got)
			}
			again, err := schema.Lower(got, d)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("%s: %q became %s and then %s, %v", name, raw, got, again, err)
			}
		}
	})
}

func BenchmarkLower(b *testing.B) {
	in := json.RawMessage(`{"$schema":"x","type":"object","properties":{` +
		strings.Repeat(`"name":{"type":["string","null"],"description":"What it is called, in a few words."},"list":{"type":"array","items":{"$ref":"#/$defs/I"}},`, 8) +
		`"n":{"type":"integer","exclusiveMinimum":0}},"$defs":{"I":{"type":"object","properties":{"id":{"type":"string"},"tags":{"type":"array"}}}}}`)
	for name, d := range dialects {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := schema.Lower(in, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
