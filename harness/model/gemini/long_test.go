//go:build !race

// The race detector makes these tests slow, and they have nothing to race for.

package gemini_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/internal/streamtest"
	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// An argument of 40 MB is no reason to fail; what never ends is.
func TestLongArgument(t *testing.T) {
	args := `{"c":"` + strings.Repeat("x", 40<<20) + `"}`
	_, reply, err := modeltest.Collect(t.Context(), client(streamtest.Client(events(parts(`{"functionCall":{"name":"write","args":`+args+`}}`), end("STOP")))), modeltest.Ask("go"))
	if err != nil {
		t.Fatal(err)
	}
	if got := callsOf(reply); len(got) != 1 || got[0].Args != args {
		t.Errorf("%d calls, or arguments that are not as they were sent", len(got))
	}
	_, _, err = modeltest.Collect(t.Context(), client(streamtest.Client(events(parts(`{"functionCall":{"name":"write","args":{"c":"`+strings.Repeat("x", 65<<20)+`"}}}`)))), modeltest.Ask("go"))
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.Malformed || e.Temporary() {
		t.Errorf("error = %v, want a final one of kind %q", err, model.Malformed)
	}
}
