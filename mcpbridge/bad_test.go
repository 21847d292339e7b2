package mcpbridge_test

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/tools/server"
)

var legal = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// All kinds of bad servers beside a good one: the send gets the tools of the good one in
// time, nothing hangs at the end, and no program is left.
func TestBadServersCostOnlyThemselves(t *testing.T) { // R-MCP-09, R-MCP-10, C093, C094, ACCEPTANCE 87
	log := filepath.Join(t.TempDir(), "log")
	bad := strings.Fields(`
		die-at-start die-in-init die-in-list die-idle grandchild-die launcher sleeper ignore-term never-exit stop-reading
		close-stdout junk glued pretty batch crlf bom split string-id float-id null-id wrong-id dup no-jsonrpc error-string
		error-null ping-first never never-init slow-init crash-on-discover silent-discover discover-empty discover-zero
		future-version odd-version no-tools list-hang list-error cursor-loop cursor-same pages change-storm late-tools
		tools:type-array tools:schema-missing tools:null-tool tools:name-dots tools:name-long tools:name-digit tools:tools-null`)
	var servers []mcpbridge.Server
	for _, mode := range bad {
		servers = append(servers, stub(t, mode, "-log", log, "-mode", mode))
	}
	servers = append(servers, stub(t, "fine", "-log", log))
	p := realPool(t)
	b := p.Open(t.Context(), mcpbridge.Session{ID: "s", Dir: t.TempDir()}, servers)
	got := message(t, b)
	if got.Took > 7*time.Second || !slices.Contains(got.Names, "fine_echo") {
		t.Errorf("the send took %v and has %q", got.Took, got.Names)
	}
	for _, s := range b.Status() {
		t.Logf("%-18s %-12s %2d tools  %s", s.Name, s.State, len(s.Tools), s.LastError)
		if s.State == server.Connected && s.LastError != "" {
			t.Errorf("%s is connected, and yet %s", s.Name, s.LastError)
		}
		if s.State != server.Connected && s.State != server.Connecting && s.LastError == "" {
			t.Errorf("%s is %s for no reason", s.Name, s.State)
		}
	}
	for _, name := range got.Names {
		if !legal.MatchString(name) {
			t.Errorf("the name %q is not legal", name)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	start := time.Now()
	if err := b.Close(ctx); err != nil {
		t.Errorf("Close() = %v after %v", err, time.Since(start))
	}
	for _, e := range journal(t, log, "start") {
		if pid, ok := e["pid"].(float64); ok && alive(int(pid)) {
			t.Errorf("a program is left: %v", e["args"])
		}
	}
}
