//go:build !race

// The race detector makes these tests slow, and they have nothing to race for.

package anthropic_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// An argument of 40 MB is no reason to fail; what never ends is.
func TestLongArgument(t *testing.T) {
	use := open(`{"type":"tool_use","id":"t","name":"write","input":{}}`)
	args := `{"c":"` + strings.Repeat("x", 40<<20) + `"}`
	piece := grow(`{"type":"input_json_delta","partial_json":` + strconv.Quote(args) + `}`)
	_, reply, err := modeltest.Collect(t.Context(), client(start, use, piece, closed, end("tool_use"), stop), modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := reply.Parts[0].(llms.ToolCall); !ok || c.FunctionCall.Arguments != args {
		t.Error("the arguments are not as they were sent")
	}
	_, _, err = modeltest.Collect(t.Context(), client(start, use, grow(`{"type":"input_json_delta","partial_json":"`+strings.Repeat("x", 65<<20)+`"}`)), modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Malformed || !e.Partial || e.Temporary() {
		t.Errorf("error = %v, want a partial, final one of kind %q", err, model.Malformed)
	}
}
