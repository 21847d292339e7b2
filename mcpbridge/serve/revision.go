package serve

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// revisions lists those that are served, the newest first.
func revisions() []string {
	return []string{
		mcp.ProtocolVersion20260728, mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618,
		mcp.ProtocolVersion20250326, mcp.ProtocolVersion20241105,
	}
}

// stateless reports whether a request says itself which revision it is of.
func stateless(revision string) bool { return revision >= mcp.ProtocolVersion20260728 }

// negotiated returns the revision of a connection whose client asks for one.
func negotiated(asked string) string {
	if slices.Contains(revisions(), asked) && !stateless(asked) {
		return asked
	}
	return mcp.ProtocolVersion20251125
}

// meta is what stands beside the parameters of a request.
type meta struct {
	Revision     json.RawMessage `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel     json.RawMessage `json:"io.modelcontextprotocol/logLevel"`
	Progress     json.RawMessage `json:"progressToken"`
}

// readMeta reads what a request says of itself. What is not an object says nothing.
func readMeta(params json.RawMessage) meta {
	var p struct {
		Meta json.RawMessage `json:"_meta"`
	}
	var m meta
	if json.Unmarshal(params, &p) == nil && json.Unmarshal(p.Meta, &m) != nil {
		return meta{}
	}
	if !isID(m.Progress) {
		m.Progress = nil
	}
	return m
}

// revisionOf returns the revision of a request, which is that of the handshake unless
// it names a newer one.
func revisionOf(m meta, handshake string) (string, *fault) {
	if m.Revision == nil {
		return handshake, nil
	}
	var named string
	if json.Unmarshal(m.Revision, &named) != nil {
		return "", faultf(mcp.INVALID_PARAMS, "_meta %s must be a string", mcp.MetaKeyProtocolVersion)
	}
	switch {
	case !slices.Contains(revisions(), named):
		return "", unsupported(named)
	case !stateless(named):
		return handshake, nil
	case len(m.Capabilities) == 0 || m.Capabilities[0] != '{':
		return "", faultf(mcp.INVALID_PARAMS, "_meta %s must be there, and an object", mcp.MetaKeyClientCapabilities)
	}
	return named, nil
}

// isID reports whether a value is a string or a number, as ids and tokens are.
func isID(v json.RawMessage) bool {
	return len(v) > 0 && (v[0] == '"' || v[0] == '-' || v[0] >= '0' && v[0] <= '9')
}

// keyOf returns what makes an id equal to another: the content of a string, the
// digits of a number.
func keyOf(id json.RawMessage) (string, bool) {
	if !isID(id) {
		return "", false
	}
	var s string
	if id[0] == '"' {
		err := json.Unmarshal(id, &s)
		return "s" + s, err == nil
	}
	return "n" + string(bytes.TrimSpace(id)), true
}
