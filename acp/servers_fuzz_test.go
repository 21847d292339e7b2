package acp

import (
	"encoding/json"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge"
)

// Whatever a client sends, a server that is taken has a kind and what that needs, and
// anything else is a mistake in a field.
func FuzzServers(f *testing.F) {
	f.Add(`[{"name":"a","command":"b","args":["c"],"env":[{"name":"K","value":"v"}]}]`)
	f.Add(`[{"name":"a","type":"http","url":"https://x","headers":[{"name":"K","value":"v"}]},{"type":"sse"}]`)
	f.Add(`[{"name":"a","type":"stdio","command":"b","args":null,"env":{}}]`)
	f.Add(`[[],null,1,"x",{"name":"\ud800","type":"acp"}]`)
	f.Fuzz(func(t *testing.T, list string) {
		if !json.Valid([]byte(list)) {
			return
		}
		all, err := readServers(object{"mcpServers": json.RawMessage(list)})
		if err != nil {
			if all != nil {
				t.Errorf("%d servers beside the error %v", len(all), err)
			}
			return
		}
		for _, s := range all {
			program := s.Kind == mcpbridge.Stdio && s.Command != "" && s.URL == "" && s.Headers == nil
			address := (s.Kind == mcpbridge.HTTP || s.Kind == mcpbridge.SSE) && s.URL != "" && s.Command == "" && s.Env == nil
			if program == address {
				t.Errorf("%s is read as %+v", list, s)
			}
		}
	})
}
