package client_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lorimer-dev/lorimer/mcpbridge/client"
)

// tools returns the list that p gives.
func tools(t *testing.T, p client.Peer) []client.Tool {
	t.Helper()
	list, err := p.Tools(t.Context())
	if err != nil {
		t.Fatalf("Tools() = %v", err)
	}
	return list
}

// What is wrong with a tool costs no more than the wrong part, and never the tools
// beside it.
func TestToolShapes(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	const object = `{"type":"object"}`
	tests := []struct {
		name string
		tool string
		want *client.Tool // nil is left out
	}{
		{"type is an array", `{"name":"t","inputSchema":{"type":["object","null"],"properties":{}}}`,
			&client.Tool{Name: "t", Input: raw(`{"type":["object","null"],"properties":{}}`)}},
		{"properties is an array", `{"name":"t","inputSchema":{"type":"object","properties":[]}}`,
			&client.Tool{Name: "t", Input: raw(`{"type":"object","properties":[]}`)}},
		{"required is null", `{"name":"t","inputSchema":{"type":"object","required":null}}`,
			&client.Tool{Name: "t", Input: raw(`{"type":"object","required":null}`)}},
		{"required is true", `{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string","required":true}},"required":true}}`,
			&client.Tool{Name: "t", Input: raw(`{"type":"object","properties":{"a":{"type":"string","required":true}},"required":true}`)}},
		{"schema is true", `{"name":"t","inputSchema":true}`, &client.Tool{Name: "t"}},
		{"schema is null", `{"name":"t","inputSchema":null}`, &client.Tool{Name: "t"}},
		{"schema is missing", `{"name":"t"}`, &client.Tool{Name: "t"}},
		{"schema is empty", `{"name":"t","inputSchema":{}}`, &client.Tool{Name: "t", Input: raw(`{}`)}},
		{"annotations is null", `{"name":"t","inputSchema":{"type":"object"},"annotations":null}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"annotations is an array", `{"name":"t","inputSchema":{"type":"object"},"annotations":[]}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"description is null", `{"name":"t","description":null,"inputSchema":{"type":"object"}}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"description is an array", `{"name":"t","description":["a"],"inputSchema":{"type":"object"}}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"output schema is null", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":null}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"output schema is that of an array", `{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"string"}}}`,
			&client.Tool{Name: "t", Input: raw(object), Output: raw(`{"type":"array","items":{"type":"string"}}`)}},
		{"icons is an object", `{"name":"t","inputSchema":{"type":"object"},"icons":{}}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"_meta is a string", `{"name":"t","inputSchema":{"type":"object"},"_meta":"x"}`, &client.Tool{Name: "t", Input: raw(object)}},
		{"execution is a string", `{"name":"t","execution":"required"}`, &client.Tool{Name: "t"}},
		{"null", `null`, nil},
		{"a string", `"t"`, nil},
		{"name is a number", `{"name":7,"inputSchema":{"type":"object"}}`, nil},
		{"name is empty", `{"name":"","inputSchema":{"type":"object"}}`, nil},
		{"name has 2000 bytes", `{"name":"` + strings.Repeat("n", 2000) + `"}`, nil},
		{"name is another member in capitals", `{"NAME":"no","name":"t","Name":"no"}`, &client.Tool{Name: "t"}},
		{"keywords at the top", `{"name":"t","inputSchema":{"type":"object","description":"top","oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"string"}},"minProperties":1,"$schema":"http://json-schema.org/draft-07/schema#","dependentRequired":{"a":["b"]},"if":{},"not":{}}}`,
			&client.Tool{Name: "t", Input: raw(`{"type":"object","description":"top","oneOf":[{"required":["a"]},{"required":["b"]}],"properties":{"a":{"type":"string"}},"patternProperties":{"^x":{"type":"string"}},"minProperties":1,"$schema":"http://json-schema.org/draft-07/schema#","dependentRequired":{"a":["b"]},"if":{},"not":{}}`)}},
		{"a reference at the top", `{"name":"t","inputSchema":{"$ref":"#/definitions/T","definitions":{"T":{"type":"object"}}}}`,
			&client.Tool{Name: "t", Input: raw(`{"$ref":"#/definitions/T","definitions":{"T":{"type":"object"}}}`)}},
		{"large integers, and an order", `{"name":"t","inputSchema":{"z": 9223372036854775807, "a": -9223372036854775808}}`,
			&client.Tool{Name: "t", Input: raw(`{"z": 9223372036854775807, "a": -9223372036854775808}`)}},
		{"bytes that are no UTF-8", "{\"name\":\"t\",\"description\":\"a\xffb\",\"inputSchema\":{\"title\":\"a\xffb\"}}",
			&client.Tool{Name: "t", Description: "a\uFFFDb", Input: raw("{\"title\":\"a\uFFFDb\"}")}},
		{"everything", `{"name":"t","title":"The\n Tool","description":"does","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},
			"annotations":{"title":"no","readOnlyHint":true,"destructiveHint":false,"idempotentHint":"true","openWorldHint":null},
			"icons":[7,{"src":"http://a/b.png"},{"src":"https://a/b.png"}],"execution":{"taskSupport":"required"}}`,
			&client.Tool{Name: "t", Title: "The Tool", Description: "does", Input: raw(object), Output: raw(object),
				Hints: client.Hints{ReadOnly: new(true), Destructive: new(false)}, Icon: "https://a/b.png", Task: true}},
		{"a title among the annotations", `{"name":"t","annotations":{"title":"Tool"}}`, &client.Tool{Name: "t", Title: "Tool"}},
		{"a task that is not required", `{"name":"t","execution":{"taskSupport":"optional"}}`, &client.Tool{Name: "t"}},
		{"a long description", `{"name":"t","description":"` + strings.Repeat("é", 3000) + `"}`,
			&client.Tool{Name: "t", Description: strings.Repeat("é", 2048) + "…"}},
		{"a large schema", `{"name":"t","inputSchema":{"description":"` + strings.Repeat("x", 64<<10) + `"}}`,
			&client.Tool{Name: "t", Input: raw(object)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"tools/list": says(`{"tools":[{"name":"first"},` + tt.tool + `,{"name":"last"}]}`)})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				want := []client.Tool{{Name: "first"}, {Name: "last"}}
				if tt.want != nil {
					want = []client.Tool{{Name: "first"}, *tt.want, {Name: "last"}}
				}
				if diff := cmp.Diff(want, tools(t, p)); diff != "" {
					t.Errorf("Tools() (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestLists(t *testing.T) {
	endless := func() reply {
		n := 0
		return func(_ ctx, _ *fake, _ request) (string, error) {
			n++
			return fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":"c%d"}`, n, n), nil
		}
	}
	tests := []struct {
		name  string
		list  reply
		want  int    // tools
		pages int    // asked for
		err   string // in part; "" is none
	}{
		{"no page", refuses(-32601, "Method not found"), 0, 1, ""},
		{"null", says(`{"tools":null}`), 0, 1, ""},
		{"an empty object", says(`{}`), 0, 1, ""},
		{"two pages", inTurn(says(`{"tools":[{"name":"a"}],"nextCursor":"2"}`), says(`{"tools":[{"name":"b"}],"nextCursor":""}`)), 2, 2, ""},
		{"a cursor that is a number", inTurn(says(`{"tools":[{"name":"a"}],"nextCursor":2}`), says(`{"tools":[{"name":"b"}],"nextCursor":null}`)), 2, 2, ""},
		{"a name twice", says(`{"tools":[{"name":"a"},{"name":"a"},{"name":"b"}]}`), 2, 1, ""},
		{"a name again on another page", inTurn(says(`{"tools":[{"name":"a"}],"nextCursor":"2"}`), says(`{"tools":[{"name":"a"}]}`)), 1, 2, ""},
		{"a cursor that comes again", says(`{"tools":[{"name":"a"}],"nextCursor":"c"}`), 1, 2, ""},
		{"always another cursor", endless(), 100, 100, ""},
		{"too many tools", says(`{"tools":[` + manyTools(2500) + `],"nextCursor":"c"}`), 2000, 1, ""},
		{"no list", says(`{"tools":{"a":{}}}`), 0, 1, "tools/list: the server's list is none"},
		{"no object", says(`[]`), 0, 1, "tools/list: the server's answer is no JSON object"},
		{"no JSON", says(`{"tools":[{]}`), 0, 1, "tools/list: the server's answer is no JSON object"},
		{"an error", refuses(-32000, "no network"), 0, 1, "no network (-32000)"},
		{"an error on the second page", inTurn(says(`{"tools":[{"name":"a"}],"nextCursor":"2"}`), refuses(-32601, "gone")), 0, 2, "gone (-32601)"},
		{"no answer", silent, 0, 1, "no list after 30s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"tools/list": tt.list})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				list, err := p.Tools(t.Context())
				if len(list) != tt.want {
					t.Errorf("%d tools, want %d", len(list), tt.want)
				}
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("error = %v, want %q", err, tt.err)
				}
				if got := len(f.methods()) - 2; got != tt.pages {
					t.Errorf("%d pages, want %d", got, tt.pages)
				}
			})
		})
	}
}

// The cursor goes back to the server as it came.
func TestCursor(t *testing.T) {
	f := handshake(map[string]reply{"tools/list": inTurn(says(`{"nextCursor":"a/\u00e9"}`), says(`{}`))})
	bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
		tools(t, p)
		if got, want := string(f.last(t, "tools/list").Params), `{"cursor":"a/\u00e9"}`; got != want {
			t.Errorf("second page asked for with %s, want %s", got, want)
		}
	})
}

// A list that a server says it has not is not asked for, unless it says nothing.
func TestListsOfOthers(t *testing.T) {
	tests := []struct {
		name         string
		capabilities string
		want         []string
	}{
		{"only prompts", `{"prompts":{}}`, []string{"prompts/list"}},
		{"only tools", `{"tools":{}}`, []string{"tools/list"}},
		{"only resources", `{"resources":{}}`, []string{"resources/list", "resources/templates/list"}},
		{"nothing said", `{}`, []string{"tools/list"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := handshake(map[string]reply{"initialize": says(`{"protocolVersion":"2025-11-25","capabilities":` + tt.capabilities + `}`)})
			bubble(t, f, client.Options{}, func(t *testing.T, p client.Peer) {
				tools(t, p)
				if _, err := p.Prompts(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := p.Resources(t.Context()); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(tt.want, f.methods()[2:]); diff != "" {
					t.Errorf("asked for (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func manyTools(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"tool_%d"}`, i)
	}
	return strings.Join(list, ",")
}
