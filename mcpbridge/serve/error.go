package serve

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/lorimer-dev/lorimer/tools"
)

// ErrUnfinished tells that requests did not end although they were cancelled, or that
// output could not be written in time.
var ErrUnfinished = errors.New("left before all requests had ended")

// A fault is an error of the protocol.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func faultf(code int, format string, args ...any) *fault {
	return &fault{Code: code, Message: fmt.Sprintf(format, args...)}
}

// refusal is a fault for an error of a prompter or a library.
func refusal(err error, none *fault) *fault {
	if errors.Is(err, ErrNone) {
		return none
	}
	if _, ok := errors.AsType[*tools.PublicError](err); ok {
		return faultf(mcp.INVALID_PARAMS, "%s", tools.ErrorText(err))
	}
	return faultf(mcp.INTERNAL_ERROR, "%s", tools.ErrorText(err))
}

// unsupported refuses a revision, naming those that there are.
func unsupported(requested string) *fault {
	return &fault{
		Code: mcp.UNSUPPORTED_PROTOCOL_VERSION, Message: "Unsupported protocol version",
		Data: struct {
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{revisions(), requested},
	}
}

// encode returns the fault as JSON. Its data is of texts, which can be encoded.
func (f *fault) encode() json.RawMessage {
	data, err := marshal(f)
	if err != nil {
		return json.RawMessage(`{"code":-32603,"message":"internal error"}`)
	}
	return data
}
