package acp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// C021: only the protocol version is needed, and nothing of the rest can make
// the handshake fail.
func TestReadClient(t *testing.T) {
	tests := []struct {
		name, params string
		want         *client // nil is an error
	}{
		{"the least", `{"protocolVersion":1}`, &client{}},
		{"a later version", `{"protocolVersion":99}`, &client{}},
		{"nulls", `{"protocolVersion":1,"clientCapabilities":null,"clientInfo":null,"_meta":null}`, &client{}},
		{"capabilities of other types", `{"protocolVersion":1,"clientCapabilities":{"fs":true,"session":[],"elicitation":{"form":true},"_meta":{"terminal_output":"yes"}},"clientInfo":"me","_meta":{"lorimer.dev":{"locale":7}}}`, &client{}},
		{"another way to elicit", `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"form":null,"url":{}}}}`, &client{visits: true}},
		{"the key of another", `{"protocolVersion":1,"_meta":{"locale":"fr","other.dev":{"locale":"de"}}}`, &client{}},
		{"reads", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":null}}}`, &client{readFile: true}},
		{
			"all that is used",
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"session":{"notices":{}},"elicitation":{"form":{}},"_meta":{"terminal_output":true}},"clientInfo":{"name":"zed","title":"Zed","version":"1.2"},"_meta":{"lorimer.dev":{"locale":"pt-BR"}}}`,
			&client{name: "zed", version: "1.2", readFile: true, writeFile: true, notices: true, terminal: true, elicits: true, locale: "pt-BR"},
		},
		{"no version", `{}`, nil},
		{"no object", `[1]`, nil},
		{"a version that is no number", `{"protocolVersion":"2025-01-01"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readClient(json.RawMessage(tt.params))
			if (err != nil) != (tt.want == nil) {
				t.Fatalf("error = %v, want one: %t", err, tt.want == nil)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(client{})); diff != "" {
				t.Errorf("client (-want +got):\n%s", diff)
			}
		})
	}
}
