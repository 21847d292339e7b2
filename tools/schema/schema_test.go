package schema_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/tools/schema"
)

// check returns the faults of value under the schema, one a line.
func check(t testing.TB, text, value string) []string {
	t.Helper()
	s, err := schema.Compile(json.RawMessage(text))
	if err != nil {
		t.Fatalf("Compile(%s): %v", text, err)
	}
	v, err := schema.Parse([]byte(value))
	if err != nil {
		t.Fatalf("Parse(%s): %v", value, err)
	}
	var faults []string
	for _, f := range s.Check(v) {
		faults = append(faults, f.String())
	}
	return faults
}

func TestCheck(t *testing.T) {
	const tree = `{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["v"]}}}`
	tests := []struct {
		schema, value string
		want          string // the faults, joined by "; "
	}{
		{``, `1`, ""},
		{`true`, `1`, ""},
		{`false`, `1`, "nothing is allowed here"},
		{`{"type":"string"}`, `"a"`, ""},
		{`{"type":"string"}`, `1`, "got integer, want string"},
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"type":"integer"}`, `1e2`, ""},
		{`{"type":"integer"}`, `1.5`, "got number, want integer"},
		{`{"type":"number"}`, `1`, ""},
		{`{"type":["string","null"]}`, `null`, ""},
		{`{"type":["string","null"]}`, `true`, "got boolean, want string or null"},
		{`{"type":"integer"}`, `123456789012345678901234567890`, ""},

		{`{"enum":["a",1,null]}`, `1.0`, ""},
		{`{"enum":["a","b"]}`, `"c"`, `want one of "a", "b"`},
		{`{"enum":[]}`, `1`, "want one of "},
		{`{"const":{"a":[1]}}`, `{"a":[1.0]}`, ""},
		{`{"const":"x"}`, `"y"`, `want "x"`},
		{`{"enum":[9007199254740993]}`, `9007199254740992`, "want 9007199254740993"},

		{`{"properties":{"a":{"type":"string"}}}`, `{"a":1,"b":2}`, "a: got integer, want string"},
		{`{"required":["a","b"]}`, `{"a":1}`, "missing property 'b'"},
		{`{"properties":{"a":{"required":true}}}`, `{}`, ""},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"b":2}`, "unknown property 'b', known are a"},
		{`{"additionalProperties":{"type":"string"}}`, `{"b":2}`, "b: got integer, want string"},
		{`{"patternProperties":{"^x":{"type":"string"}},"additionalProperties":false}`, `{"xa":1,"b":2}`, "unknown property 'b'; xa: got integer, want string"},
		{`{"patternProperties":{"(?=x)":{}},"additionalProperties":false}`, `{"b":2}`, ""},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, "the name 'ab': number of characters is 2, want at most 1"},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "missing property 'b', which 'a' needs"},
		{`{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, `{"a":1,"c":1}`, "missing property 'b', which 'a' needs; missing property 'd'"},
		{`{"dependentSchemas":{"a":{"maxProperties":1}}}`, `{"a":1,"b":1}`, "number of properties is 2, want at most 1"},
		{`{"minProperties":1}`, `{}`, "number of properties is 0, want at least 1"},
		{`{"properties":{"a":{"type":"string"}}}`, `[1]`, ""},

		{`{"items":{"type":"string"}}`, `["a",1]`, "1: got integer, want string"},
		{`{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}`, `[1,"a"]`, "0: got integer, want string; 1: got string, want integer"},
		{`{"items":[{"type":"string"}],"additionalItems":false}`, `["a",1]`, "1: nothing is allowed here"},
		{`{"minItems":2}`, `[1]`, "number of items is 1, want at least 2"},
		{`{"maxItems":1.0}`, `[1,2]`, "number of items is 2, want at most 1"},
		{`{"uniqueItems":true}`, `[1,{"a":1},1.0]`, "items 0 and 2 are equal"},
		{`{"contains":{"type":"string"}}`, `[1]`, "number of items of the required kind is 0, want at least 1"},

		{`{"contains":{"type":"string"},"minContains":0,"maxContains":1}`, `["a","b"]`, "number of items of the required kind is 2, want at most 1"},
		{`{"enum":[9007199254740992]}`, `9007199254740992.0`, ""},

		{`{"minLength":2}`, `"é"`, "number of characters is 1, want at least 2"},
		{`{"pattern":"^a+$"}`, `"b"`, "does not match the pattern ^a+$"},
		{`{"pattern":"(?<=a)b"}`, `"c"`, ""},
		{`{"minimum":1,"maximum":3}`, `0`, "got 0, want at least 1"},
		{`{"minimum":1,"maximum":3}`, `4`, "got 4, want at most 3"},
		{`{"exclusiveMinimum":1}`, `1`, "got 1, want more than 1"},
		{`{"minimum":1,"exclusiveMinimum":true}`, `1`, "got 1, want more than 1"},
		{`{"minimum":1,"exclusiveMinimum":false}`, `1`, ""},
		{`{"multipleOf":0.1}`, `0.3`, ""},
		{`{"multipleOf":2}`, `3`, "got 3, want a multiple of 2"},
		{`{"maximum":1}`, `1e999999999`, "got 1e999999999, want at most 1"},

		{`{"allOf":[{"type":"string"},{"minLength":1}]}`, `""`, "number of characters is 0, want at least 1"},
		{`{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}`, `{}`, "missing property 'a'"},
		{`{"anyOf":[{"type":"string"},{"properties":{"a":{"type":"string"}},"type":"object"}]}`, `{"a":1}`, "a: got integer, want string"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `null`, ""},
		{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, `1`, "fits 2 of the alternatives, want exactly one"},
		{`{"oneOf":[{"type":"integer"},{"type":"string"}]}`, `"a"`, ""},
		{`{"not":{"type":"string"}}`, `"a"`, "is what is not allowed here"},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, "missing property 'b'"},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, "missing property 'c'"},

		{tree, `{"v":1,"kids":[{"v":2,"kids":[{"v":"x"}]}]}`, "kids.0.kids.0.v: got string, want integer"},
		{`{"$ref":"#/definitions/a~1b%20c","definitions":{"a/b c":{"type":"string"}}}`, `1`, "got integer, want string"},
		{`{"properties":{"a":{"$ref":"#/properties/b"},"b":{"type":"string"}}}`, `{"a":1}`, "a: got integer, want string"},
		{`{"anyOf":[{"type":"null"},{"type":"string"}],"$ref":"#/anyOf/1"}`, `"x"`, ""},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","$id":"http://x/","format":"date","title":1}`, `"x"`, ""},
	}
	for _, tt := range tests {
		if got := strings.Join(check(t, tt.schema, tt.value), "; "); got != tt.want {
			t.Errorf("%s under %s: %q, want %q", tt.value, tt.schema, got, tt.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, text := range []string{
		`{`, `1`, `"x"`, `[]`, `{} {}`,
		`{"type":"strnig"}`, `{"type":1}`, `{"enum":1}`, `{"properties":[]}`, `{"required":[1]}`,
		`{"properties":{"a":1}}`, `{"minLength":"x"}`, `{"multipleOf":0}`, `{"minimum":"1"}`,
		`{"$ref":"#/nowhere"}`, `{"$ref":"#/type/9","type":["string"]}`, `{"$ref":"#anchor"}`,
		`{"$ref":"http://127.0.0.1/x"}`, `{"$ref":"file:///etc/passwd"}`, `{"$ref":"#/%zz"}`,
	} {
		if _, err := schema.Compile(json.RawMessage(text)); err == nil {
			t.Errorf("Compile(%s) worked", text)
		}
	}
}

// A schema in a circle, or one that doubles its work at every step, ends, and
// what cannot be decided fits.
func TestEndless(t *testing.T) {
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	for _, text := range []string{
		`{"$ref":"#"}`,
		`{"not":{"$ref":"#"}}`,
		`{"oneOf":[{"$ref":"#"},true]}`,
		`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		`{"anyOf":[{"not":{"$ref":"#"}},{"oneOf":[{"$ref":"#"},{"$ref":"#"}]}]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
	} {
		for _, value := range []string{`1`, `{}`, deep} {
			if got := check(t, text, value); len(got) > 0 {
				t.Errorf("%.20s under %s: %q, want no fault", value, text, got)
			}
		}
	}
	if got := check(t, `{"items":{"$ref":"#"},"contains":{"$ref":"#"}}`, deep); len(got) > 0 {
		t.Errorf("a value beyond the depth that is looked at: %q, want no fault", got)
	}
}

// manyOf returns n entries of a JSON array or object, %d in each its number.
func manyOf(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = strings.ReplaceAll(entry, "%d", fmt.Sprint(i))
	}
	return strings.Join(entries, ",")
}

// cost fails the test if f takes more time or memory than a hostile schema may
// have of us.
func cost(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 30*time.Second || used > 512 {
		t.Errorf("took %v and %d MiB", took, used)
	}
}

func TestCompileIsBounded(t *testing.T) {
	nest := func(n int) string { return strings.Repeat(`{"not":`, n) + "{}" + strings.Repeat("}", n) }
	long := strings.Repeat("x", 200_000)
	chain := func(n int) string {
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, `"%d":{"$ref":"#/$defs/%d"},`, i, i+1)
		}
		return fmt.Sprintf(`{"$ref":"#/$defs/0","$defs":{%s"%d":{}}}`, s.String(), n)
	}
	tests := []struct{ name, schema string }{
		{"deep", nest(2000)},
		{"many", `{"anyOf":[` + manyOf(20_000, "{}") + `]}`},
		{"many below a long name", `{"properties":{"` + long + `":{"anyOf":[` + manyOf(20_000, "{}") + `]}}}`},
		{"a chain of references", chain(600)},
		{"large patterns", `{"allOf":[` + manyOf(100, `{"pattern":"`+strings.Repeat("(.{30}){33}", 80)+`"}`) + `]}`},
		{"large", `{"title":"` + strings.Repeat(long, 170) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cost(t, func() {
				if _, err := schema.Compile(json.RawMessage(tt.schema)); err == nil {
					t.Error("Compile worked")
				}
			})
		})
	}
	for name, text := range map[string]string{
		"100 schemas deep":         nest(100),
		"a chain of 100":           chain(100),
		"500 properties":           `{"properties":{` + manyOf(500, `"p%d":{"type":"string","pattern":"^[a-z]{1,20}$"}`) + `}}`,
		"1000 references in 100 k": `{"allOf":[` + manyOf(1000, `{"$ref":"#/$defs/d%d"}`) + `],"$defs":{` + manyOf(1000, `"d%d":{"title":"`+strings.Repeat("x", 80)+`"}`) + `}}`,
	} {
		if _, err := schema.Compile(json.RawMessage(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckIsBounded(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := []struct{ name, schema, value string }{
		{"missing properties", `{"items":{"required":[` + manyOf(10_000, `"r%d"`) + `]}}`, "[" + manyOf(10_000, "{}") + "]"},
		{"faults", `{"items":{"type":"string"}}`, "[" + manyOf(200_000, "1") + "]"},
		{"faults below a long name", `{"additionalProperties":{"items":{"type":"string"}}}`, `{"` + long + `":[` + manyOf(100_000, "1") + `]}`},
		{"long names", `{"required":["` + long + `"],"properties":{"` + long + `1":{}},"additionalProperties":false}`, `{` + manyOf(1000, `"b%d":1`) + `}`},
		{"a long enum", `{"items":{"enum":[` + manyOf(10_000, `"e%d"`) + `]}}`, "[" + manyOf(10_000, `"x"`) + "]"},
		{"large values of an enum", `{"anyOf":[` + manyOf(1000, `{"enum":[[%d]]}`) + `]}`, "[" + manyOf(20_000, "1") + "]"},
		{"items that must differ", `{"allOf":[` + manyOf(1000, `{"uniqueItems":true}`) + `]}`, "[" + manyOf(10_000, "%d") + "]"},
		{"patterns", `{"allOf":[` + manyOf(100, `{"pattern":"(x+x+)+y%d"}`) + `]}`, `"` + long + `"`},
		{"patterns of names", `{"patternProperties":{` + manyOf(1000, `"x{1,50}y%d":false`) + `}}`, `{` + manyOf(1000, `"`+strings.Repeat("x", 500)+`%d":1`) + `}`},
		{"long numbers", `{"allOf":[` + manyOf(5000, `{"minimum":%d}`) + `]}`, strings.Repeat("9", 100_000)},
		{"alternatives with many faults", `{"anyOf":[` + manyOf(500, `{"required":[`+manyOf(300, `"r%d"`)+`]}`) + `]}`, "{}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := schema.Compile(json.RawMessage(tt.schema))
			if err != nil {
				t.Fatal(err)
			}
			v, err := schema.Parse([]byte(tt.value))
			if err != nil {
				t.Fatal(err)
			}
			cost(t, func() {
				faults := s.Check(v)
				if len(faults) > 100 {
					t.Errorf("%d faults", len(faults))
				}
				for _, f := range faults {
					if len(f.String()) > 1000 {
						t.Errorf("a fault of %d bytes", len(f.String()))
					}
				}
			})
		})
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		`{"a`:      "it ends at byte 3, before the value is complete",
		``:         "it ends at byte 0, before the value is complete",
		`{"a":x}`:  "invalid character 'x' looking for beginning of value at byte 6",
		`{} {}`:    "more text follows the first value at byte 2",
		`{"a":1}]`: "more text follows the first value at byte 7",
	} {
		if _, err := schema.Parse([]byte(text)); fmt.Sprint(err) != want {
			t.Errorf("Parse(%s): error = %v, want %s", text, err, want)
		}
	}
}

// Checking ends, gives the same answer twice, and takes what a schema lists.
func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":1}}`)
	f.Add(`{"enum":[1,"a",{"b":[null]}]}`, `{"b":[null]}`)
	f.Add(`{"oneOf":[{"minimum":1},{"items":[{}],"additionalItems":false}]}`, `[1,2]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			return
		}
		v, err := schema.Parse([]byte(value))
		if err != nil {
			return
		}
		if first, second := s.Check(v), s.Check(v); !slices.Equal(first, second) {
			t.Errorf("%s under %s: %v, then %v", value, text, first, second)
		}
		if got := check(t, `{"enum":[`+value+`]}`, value); len(got) > 0 {
			t.Errorf("%s does not fit itself: %v", value, got)
		}
	})
}

func BenchmarkCompile(b *testing.B) {
	text := json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"]}}},"required":["path","edits"]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(text); err != nil {
			b.Fatal(err)
		}
	}
}
