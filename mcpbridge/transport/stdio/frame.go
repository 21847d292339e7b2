package stdio

import (
	"encoding/json"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// parse reads a message; ok is false where data is none.
func parse(data []byte) (f rpc.Frame, ok bool) {
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &f) != nil {
		return rpc.Frame{}, false
	}
	return f, f.Says() || f.Versioned() && f.ID != nil
}
