// Conformance runs the conformance suites of MCP against the client of the bridge and
// the server of mcp serve, and compares what they find with what is expected. It wants
// the packages of `npm ci` in its folder, and runs in the root of the repository.
//
// The suites speak HTTP alone, so the server stands behind the bridge supergateway. What
// is expected to fail, and why, is in expected.toml; anything else is an error.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

const folder = "cmd/lorimer/conformance"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// A suite is a run of a conformance program.
type suite struct {
	name    string
	program string   // package
	args    []string // beside those that name what is tested
	server  bool     // the server is tested, not the client
}

func suites() []suite {
	const first, next = "conformance", "conformance-next"
	return []suite{
		{"client 0.1.16", first, []string{"--suite", "all"}, false},
		{"client 2025-11-25", next, []string{"--requirements", "2025-11-25"}, false},
		{"client 2026-07-28", next, []string{"--requirements", "2026-07-28"}, false},
		{"server 0.1.16", first, []string{"--suite", "all"}, true},
		{"server 2025-11-25", next, []string{"--requirements", "2025-11-25"}, true},
		{"server 2026-07-28", next, []string{"--requirements", "2026-07-28"}, true},
	}
}

func run(ctx context.Context) error {
	node, err := filepath.Abs(filepath.Join(folder, "node_modules/.bin/node"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(node); err != nil {
		return fmt.Errorf("%w; \"npm ci\" in %s installs it", err, folder)
	}
	expected, err := readExpected(filepath.Join(folder, "expected.toml"))
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, name := range []string{"client", "server"} {
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", tmp+string(filepath.Separator), "./"+filepath.Join(folder, name)).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	g := &gateway{node: node, program: filepath.Join(tmp, "server")}
	defer g.stop()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SUITE\tSCENARIOS\tCHECKS PASSED\tFAILED\tAS EXPECTED")
	var wrong []string
	for _, s := range suites() {
		results, err := s.run(ctx, node, tmp, g)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		faults := expected.compare(s.name, results)
		wrong = append(wrong, faults...)
		passed, failed := 0, 0
		for _, r := range results {
			passed, failed = passed+r.passed, failed+len(r.failed)
		}
		verdict := "yes"
		if len(faults) > 0 {
			verdict = fmt.Sprintf("no (%d)", len(faults))
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\n", s.name, len(results), passed, failed, verdict)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return errors.New("not as expected:\n  " + strings.Join(wrong, "\n  "))
	}
	return nil
}

// run runs the suite and returns what it found, by scenario.
func (s suite) run(ctx context.Context, node, tmp string, g *gateway) (map[string]result, error) {
	out := filepath.Join(tmp, strings.ReplaceAll(s.name, " ", "-"))
	args := []string{filepath.Join(folder, "node_modules", s.program, "dist/index.js")}
	if s.server {
		url, err := g.start(ctx)
		if err != nil {
			return nil, err
		}
		args = append(args, "server", "--url", url)
	} else {
		args = append(args, "client", "--command", filepath.Join(tmp, "client"))
	}
	cmd := exec.CommandContext(ctx, node, append(append(args, s.args...), "-o", out)...)
	said, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed { // some scenario fails in most
		return nil, err
	}
	results, err := readResults(out)
	if err == nil && len(results) == 0 {
		err = fmt.Errorf("no results; the program says:\n%s", said)
	}
	return results, err
}
