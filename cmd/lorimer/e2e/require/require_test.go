package require_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lorimer-dev/lorimer/cmd/lorimer/e2e/require"
)

// A verdict is a test that records how it ended.
type verdict struct {
	testing.TB
	skipped, failed string
}

func (v *verdict) Helper()      {}
func (v *verdict) Name() string { return "TestPeer" }

func (v *verdict) Skip(args ...any) {
	v.skipped = fmt.Sprint(args...)
	runtime.Goexit()
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestPeer(t *testing.T) {
	there, missing := t.TempDir(), filepath.Join(t.TempDir(), "missing")
	tests := []struct {
		name, env, path string
		skipped, failed bool
	}{
		{"there", "", there, false, false},
		{"there and required", "npm", there, false, false},
		{"missing", "", missing, true, false},
		{"missing and required", "npm", missing, false, true},
		{"missing and required among others", "postgres,npm", missing, false, true},
		{"missing while another is required", "postgres", missing, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(require.Variable, tt.env)
			v := &verdict{TB: t}
			var got string
			done := make(chan struct{})
			go func() {
				defer close(done)
				got = require.Peer(v, require.NPM, tt.path)
			}()
			<-done
			if (v.skipped != "") != tt.skipped || (v.failed != "") != tt.failed {
				t.Errorf("skipped %q, failed %q; want %v, %v", v.skipped, v.failed, tt.skipped, tt.failed)
			}
			if said := v.skipped + v.failed; said != "" && (!strings.Contains(said, missing) || !strings.Contains(said, "npm ci")) {
				t.Errorf("said %q, want the path and a way out", said)
			}
			if !tt.skipped && !tt.failed && got != tt.path {
				t.Errorf("Peer = %q, want %q", got, tt.path)
			}
		})
	}
}
