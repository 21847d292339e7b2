package web

import (
	"bytes"
	"encoding/json"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/internal/rpc"
)

// parse reads a message, or an array of them as revision 2025-03-26 has it. What is
// neither has none.
func parse(data []byte) []rpc.Frame {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil
	}
	var all []rpc.Frame
	switch data[0] {
	case '[':
		if json.Unmarshal(data, &all) != nil {
			return nil
		}
	case '{':
		all = make([]rpc.Frame, 1)
		if json.Unmarshal(data, &all[0]) != nil {
			return nil
		}
	}
	messages := all[:0]
	for _, f := range all {
		if f.Says() {
			messages = append(messages, f)
		}
	}
	return messages
}
