package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

func members(raw string) map[string]string {
	m := make(map[string]string)
	for name, value := range wire.Members([]byte(raw)) {
		m[name] = string(value)
	}
	return m
}

func elements(raw string) []string {
	list := []string{}
	for value := range wire.Elements([]byte(raw)) {
		list = append(list, string(value))
	}
	return list
}

func TestMembers(t *testing.T) {
	tests := []struct {
		name, raw string
		want      map[string]string
	}{
		{"none", ` { } `, nil},
		{"all kinds", `{"a":1,"b":"x","c":[1,{"d":2}],"e":{"f":"}"},"g":null,"h":true}`, map[string]string{
			"a": "1", "b": `"x"`, "c": `[1,{"d":2}]`, "e": `{"f":"}"}`, "g": "null", "h": "true",
		}},
		{"white space", " {\t\"a\" : 1 ,\r\n\"b\":[ ] } ", map[string]string{"a": "1", "b": "[ ]"}},
		{"the last of a name counts", `{"a":1,"a":2}`, map[string]string{"a": "2"}},
		{"a name with an escape", `{"\u0061\/\"":1}`, map[string]string{`a/"`: "1"}},
		{"names that differ in case", `{"a":1,"A":2}`, map[string]string{"a": "1", "A": "2"}},
		{"an array", `[1]`, nil},
		{"a string", `"{}"`, nil},
		{"nothing", ``, nil},
		{"a mistake ends it", `{"a":1,b:2,"c":3}`, map[string]string{"a": "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == nil {
				tt.want = map[string]string{}
			}
			if diff := cmp.Diff(tt.want, members(tt.raw)); diff != "" {
				t.Errorf("Members(%s) (-want +got):\n%s", tt.raw, diff)
			}
		})
	}
}

// Whoever has found what it looked for pays nothing for the rest.
func TestMembersEndsEarly(t *testing.T) {
	raw := []byte(`{"id":"x","big":"` + strings.Repeat("x", 1<<20) + `"}`)
	allocs := testing.AllocsPerRun(10, func() {
		for name, value := range wire.Members(raw) {
			if name != "id" || string(value) != `"x"` {
				t.Errorf("first member is %s: %.20s", name, value)
			}
			break
		}
	})
	if allocs > 5 {
		t.Errorf("%v allocations for one member", allocs)
	}
}

// Members, Elements and Text say of valid JSON what package json says of it, and
// end with any other.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,"\ud83d\ude00\ud83d x\ude00","\u00e4\t\\"],"a":{"b":null}}`,
		` [ 1 , -2.5e3, [ ], {"x":"]"} , "\"," ]`, `"\uD800"`, `"\'"`, `{"a"`, `[1 2`, `[,,1]`, `"\u12`, `{"a":}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		gotMembers, gotList := members(string(raw)), elements(string(raw))
		wire.Text(raw)
		if !json.Valid(raw) || !utf8.Valid(raw) {
			return
		}
		raw = []byte(strings.Trim(string(raw), " \t\r\n"))
		gotText, gotOK := wire.Text(raw)
		var object map[string]json.RawMessage
		_ = json.Unmarshal(raw, &object) // of another kind of value it stays empty
		if diff := cmp.Diff(texts(object), gotMembers); diff != "" {
			t.Errorf("Members(%s) (-want +got):\n%s", raw, diff)
		}
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		if len(list) != len(gotList) {
			t.Errorf("Elements(%s) = %q, want %q", raw, gotList, list)
		}
		for i := range min(len(list), len(gotList)) {
			if string(list[i]) != gotList[i] {
				t.Errorf("Elements(%s)[%d] = %s, want %s", raw, i, gotList[i], list[i])
			}
		}
		var text string
		isText := raw[0] == '"'
		if isText {
			_ = json.Unmarshal(raw, &text)
		}
		if gotOK != isText || gotText != text {
			t.Errorf("Text(%s) = %q, %t, want %q, %t", raw, gotText, gotOK, text, isText)
		}
	})
}

func texts(m map[string]json.RawMessage) map[string]string {
	out := make(map[string]string)
	for name, value := range m {
		out[name] = string(value)
	}
	return out
}
