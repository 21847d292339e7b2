// Command bare is the least agent that answers initialize: the floor that the
// start of lorimer is measured against. It uses encoding/json alone.
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

type response struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result"`
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		var r request
		if json.Unmarshal(line, &r) == nil && r.Method == "initialize" {
			answer := response{"2.0", r.ID, map[string]any{
				"protocolVersion":   1,
				"agentCapabilities": map[string]any{},
				"authMethods":       []any{},
			}}
			if out.Encode(answer) != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
