package cli

import (
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/tools/server"
)

// A server whose name has no end does not push the states of all out of sight.
func TestPrintServersStaysNarrow(t *testing.T) {
	long := strings.Repeat("a", 500)
	var b strings.Builder
	if err := printServers(&b, []server.Status{{Name: long, Prefix: long, State: server.Connected}, {Name: "b", Prefix: "b", State: server.Failed}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > 200 {
			t.Errorf("a line has %d bytes: %.80q…", len(line), line)
		}
	}
	if !strings.Contains(b.String(), "connected") {
		t.Errorf("the state is missing in %q", b.String())
	}
}
