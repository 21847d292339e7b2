package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/lorimer-dev/lorimer/harness/model/modeltest"
)

// TestMain builds the programs that the tests run, and puts them first on the path: a
// test that runs "lorimer" runs the finished program. The test binary could be it too,
// but starts three times as long, for what it links.
func TestMain(m *testing.M) {
	code, err := withPrograms(m.Run, ".", "../mcpstub")
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the programs under test:", err)
		code = 1
	}
	os.Exit(code)
}

// withPrograms calls run while the programs of the packages are on the path.
func withPrograms(run func() int, packages ...string) (code int, err error) {
	dir, err := os.MkdirTemp("", "lorimer-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"build", "-buildvcs=false", "-o", dir + string(filepath.Separator)}
	if underRace {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, packages...)...).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return 0, err
	}
	return run(), nil
}

// TestScript runs the user's view of each command.
func TestScript(t *testing.T) { runScripts(t, "testdata/script") }

// TestAcceptance runs the rows that need no conversation; the file is named
// after the row.
func TestAcceptance(t *testing.T) { runScripts(t, "testdata/acceptance") }

// raceOptions is the variable that sets up the race detector of a program that a
// test runs: one that it finds nothing in need not linger for a second at its end.
func raceOptions() string {
	return strings.TrimSpace("GORACE=atexit_sleep_ms=0 " + os.Getenv("GORACE"))
}

func runScripts(t *testing.T, dir string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("NO_COLOR", "1")
			env.Setenv("OLLAMA_HOST", "127.0.0.1:9") // nobody listens there, whatever runs on this machine
			name, value, _ := strings.Cut(raceOptions(), "=")
			env.Setenv(name, value)
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"frame": frame,
			"json":  isJSON,
			"model": modelServer,
		},
	})
}

// exits CODE COMMAND... runs a command like exec, which has to end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Check(err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// frame FILE JSON reports whether FILE, of JSON lines, has a line that contains
// JSON: each member of an object and each element of an array, in order, is
// there; the string "*" stands for any value. FILE may be stdout.
func frame(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: frame FILE JSON")
	}
	var want any
	if err := unmarshal([]byte(args[1]), &want); err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	lines := bufio.NewScanner(bytes.NewReader([]byte(ts.ReadFile(args[0]))))
	lines.Buffer(nil, 128<<20)
	found := false
	for lines.Scan() {
		var got any
		if err := unmarshal(lines.Bytes(), &got); err != nil {
			ts.Fatalf("%s: a line is not JSON: %v", args[0], err)
		}
		found = found || contains(got, want)
	}
	if found == neg {
		ts.Fatalf("%s: a line that contains %s: %v, want %v\n%s", args[0], args[1], found, !neg, ts.ReadFile(args[0]))
	}
}

// json FILE JSON reports whether FILE is one JSON value that contains JSON, as
// frame has it.
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json FILE JSON")
	}
	var got, want any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &got))
	ts.Check(json.Unmarshal([]byte(args[1]), &want))
	if !contains(got, want) {
		ts.Fatalf("%s does not contain %s\n%s", args[0], args[1], ts.ReadFile(args[0]))
	}
}

// modelServer FILE starts a server that speaks the providers' protocols and
// answers with the replies of FILE, JSON objects, in order; the variables of the
// base URLs point to it.
func modelServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	s, err := modeltest.Open()
	ts.Check(err)
	ts.Defer(func() { s.Close() })
	dec := json.NewDecoder(bytes.NewReader([]byte(ts.ReadFile(args[0]))))
	dec.DisallowUnknownFields()
	for dec.More() {
		var r modeltest.Reply
		ts.Check(dec.Decode(&r))
		s.Add(r)
	}
	ts.Setenv("OPENAI_BASE_URL", s.OpenAI())
	ts.Setenv("ANTHROPIC_BASE_URL", s.Anthropic())
}

func unmarshal(p []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(p))
	dec.UseNumber()
	return dec.Decode(v)
}

// contains reports whether got has all that want names.
func contains(got, want any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		for k, v := range w {
			if member, there := g[k]; !there || !contains(member, v) {
				return false
			}
		}
		return ok
	case []any:
		g, ok := got.([]any)
		i := 0
		for _, v := range g {
			if i < len(w) && contains(v, w[i]) {
				i++
			}
		}
		return ok && i == len(w)
	case string:
		return w == "*" || got == want
	default:
		return got == want
	}
}
