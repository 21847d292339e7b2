package mcpbridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/tools/server"
)

// builds holds the stub once it is built, for all tests.
var builds struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if builds.dir != "" {
		_ = os.RemoveAll(builds.dir)
	}
	os.Exit(code)
}

// stub returns the declaration of the real stub with those flags.
func stub(t *testing.T, name string, flags ...string) mcpbridge.Server {
	t.Helper()
	if testing.Short() {
		t.Skip("runs programs")
	}
	builds.once.Do(func() {
		if builds.dir, builds.err = os.MkdirTemp("", "mcpstub"); builds.err != nil {
			return
		}
		if out, err := exec.Command("go", "build", "-o", filepath.Join(builds.dir, "mcpstub.exe"), "../cmd/mcpstub").CombinedOutput(); err != nil {
			builds.err = fmt.Errorf("building the stub: %w: %s", err, out)
		}
	})
	if builds.err != nil {
		t.Fatal(builds.err)
	}
	return mcpbridge.Server{Name: name, Kind: mcpbridge.Stdio, Command: filepath.Join(builds.dir, "mcpstub.exe"), Args: flags}
}

// realPool returns a pool that starts programs, with an environment that has a secret.
func realPool(t *testing.T) *mcpbridge.Pool {
	t.Helper()
	p := mcpbridge.NewPool(mcpbridge.Options{
		Name: "lorimer", Version: "1", Limit: 10000,
		Environ: func(context.Context) []string {
			return append(os.Environ(), "ANTHROPIC_API_KEY=marker-of-a-key", "LC_ALL=C", "XDG_CACHE_HOME=/c", "https_proxy=http://p", "LC=no")
		},
	})
	t.Cleanup(func() {
		if err := p.Close(background(t)); err != nil {
			t.Errorf("closing the pool: %v", err)
		}
	})
	return p
}

// journal returns the events of that kind in the log of a stub.
func journal(t *testing.T, file, event string) (events []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var e map[string]any
		if json.Unmarshal(s.Bytes(), &e) == nil && e["event"] == event {
			events = append(events, e)
		}
	}
	return events
}

func TestEnvironmentOfPrograms(t *testing.T) { // R-MCP-22, ACCEPTANCE 187
	s := stub(t, "stub")
	s.Env = map[string]string{"DECLARED": "yes", "PATH": "/mine"}
	b := realPool(t).Open(t.Context(), mcpbridge.Session{ID: "s", Dir: t.TempDir()}, []mcpbridge.Server{s})
	text := message(t, b).run(t, "stub_env", `{}`).Text
	var names []string
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	for _, want := range []string{"DECLARED=yes\n", "PATH=/mine\n", "LC_ALL=C\n", "XDG_CACHE_HOME=/c\n", "https_proxy=http://p\n"} {
		if !strings.Contains(text+"\n", want) {
			t.Errorf("%q is missing among %q", want, names)
		}
	}
	for _, name := range names {
		if name == "LC" || strings.Contains(name, "KEY") || strings.HasPrefix(name, "GO") {
			t.Errorf("the program got %s", name)
		}
	}
	if strings.Contains(text, "marker-of-a-key") {
		t.Error("the program got a key")
	}
}

func TestStubComesBack(t *testing.T) { // R-MCP-09, R-MCP-11, R-MCP-13, ACCEPTANCE 88
	dir := t.TempDir()
	s := stub(t, "stub", "-fail-starts", "2", "-state", filepath.Join(dir, "state"), "-log", filepath.Join(dir, "log"))
	b := realPool(t).Open(t.Context(), mcpbridge.Session{ID: "s", Dir: dir}, []mcpbridge.Server{s})
	first := message(t, b)
	absent := slices.DeleteFunc(slices.Clone(first.Notices), func(n string) bool { return strings.HasPrefix(n, "Waiting ") }) // where that takes long
	if first.Names != nil || len(absent) != 1 {
		t.Errorf("first send = %+v", first)
	}
	for status(t, b, "stub").State != server.Connected {
		if got, err := b.Probe(t.Context(), "stub"); err != nil || got.State != server.Connected && got.Attempts == 0 {
			t.Fatalf("Probe() = %+v, %v", got, err)
		}
	}
	if got := message(t, b).run(t, "stub_add", `{"a":1,"b":2}`); got.Text != "3" {
		t.Errorf("after the outage the tool gave %+v", got)
	}
	if got := len(journal(t, filepath.Join(dir, "log"), "start")); got != 3 {
		t.Errorf("%d starts, want 3", got)
	}
}

func TestStubThatDiesInACall(t *testing.T) { // R-MCP-24, C091, ACCEPTANCE 218
	dir := t.TempDir()
	s := stub(t, "stub", "-log", filepath.Join(dir, "log"))
	b := realPool(t).Open(t.Context(), mcpbridge.Session{ID: "s", Dir: dir}, []mcpbridge.Server{s})
	before := message(t, b)
	if got := before.run(t, "stub_die", `{}`); !got.IsError || !strings.Contains(got.Text, "exit status 3") {
		t.Errorf("the call gave %+v", got)
	}
	if got := before.run(t, "stub_echo", `{"text":"here"}`); got.Text != "here" { // waits for the reconnect
		t.Errorf("the next call gave %+v", got)
	}
	if got := message(t, b).Names; !slices.Equal(got, before.Names) {
		t.Errorf("after the outage Tools() = %q, before %q", got, before.Names)
	}
	calls := 0
	for _, e := range journal(t, filepath.Join(dir, "log"), "message") {
		if m, _ := e["message"].(map[string]any); m["method"] == "tools/call" {
			calls++
		}
	}
	if starts := len(journal(t, filepath.Join(dir, "log"), "start")); starts != 2 || calls != 2 {
		t.Errorf("%d starts and %d calls, want 2 and 2", starts, calls)
	}
}

func TestStubGivesEveryKindOfResult(t *testing.T) { // R-MCP-17
	b := realPool(t).Open(t.Context(), mcpbridge.Session{ID: "s", Dir: t.TempDir(), Scratch: filepath.Join(t.TempDir(), "x")}, []mcpbridge.Server{stub(t, "stub")})
	s := message(t, b)
	if got := s.run(t, "stub_image", `{}`); len(got.Images) != 1 || got.Images[0].MIME != "image/png" {
		t.Errorf("image: %d images, text %q", len(got.Images), got.Text)
	}
	if got := s.run(t, "stub_kinds", `{}`); got.IsError || !strings.Contains(got.Text, "[something of type ") || !strings.Contains(got.Text, "[a sound (") {
		t.Errorf("kinds: %+v", got)
	}
	if got := s.run(t, "stub_fail", `{"text":"so it is"}`); !got.IsError || got.Text != "it went wrong: so it is" {
		t.Errorf("fail: %+v", got)
	}
	if got := s.run(t, "stub_big", `{"bytes":200000}`); !strings.Contains(got.Text, "The whole result is in ") || len(got.Text) > 66000 {
		t.Errorf("big: %d bytes", len(got.Text))
	}
	if got := s.run(t, "stub_structured", `{}`); got.Text == "" || strings.Count(got.Text, "{") > 1 {
		t.Errorf("structured: %q", got.Text)
	}
}

func TestStubChangesItsList(t *testing.T) { // R-MCP-14, ACCEPTANCE 90, 217
	b := realPool(t).Open(t.Context(), mcpbridge.Session{ID: "s", Dir: t.TempDir()}, []mcpbridge.Server{stub(t, "stub", "-mode", "listchange")})
	s := message(t, b)
	s.run(t, "stub_change", `{"tools":["fresh.one"]}`)
	var got send
	soon(t, "the change", func() bool { // the server tells of it beside the result
		got = message(t, b)
		return slices.ContainsFunc(got.Names, func(n string) bool { return strings.HasPrefix(n, "stub_fresh_one_") })
	})
	if slices.Contains(got.Names, "stub_echo") {
		t.Errorf("after the change Tools() = %q", got.Names)
	}
	got.run(t, "stub_change", `{"tools":[],"fail":true}`)
	soon(t, "the list that fails", func() bool { return status(t, b, "stub").LastError != "" })
	if after := message(t, b); !slices.Equal(after.Names, got.Names) {
		t.Errorf("after a list that failed Tools() = %q, want %q", after.Names, got.Names)
	}
}

// soon waits for what another process is about to do.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for start := time.Now(); !done(); <-tick.C {
		if time.Since(start) > 20*time.Second {
			t.Fatalf("%s did not come", what)
		}
	}
}

func TestStubPromptsAndResources(t *testing.T) { // C-27
	b := realPool(t).Open(t.Context(), mcpbridge.Session{ID: "s", Dir: t.TempDir()}, []mcpbridge.Server{stub(t, "stub")})
	if got, err := b.Probe(t.Context(), "stub"); err != nil || got.Prompts == 0 || got.Resources == 0 || got.Revision != "2025-11-25" {
		t.Fatalf("Probe() = %+v, %v", got, err)
	}
	parts, err := b.Prompt(t.Context(), "stub_greet", map[string]string{"name": "Ada"})
	if err != nil || len(parts) == 0 || !strings.Contains(parts[0].Text, "Ada") {
		t.Errorf("Prompt() = %+v, %v", parts, err)
	}
	for _, uri := range []string{"memo://1", "memo://77"} {
		if parts, owned, err := b.Read(t.Context(), uri); err != nil || !owned || len(parts) == 0 || parts[0].Text == "" {
			t.Errorf("Read(%s) = %+v, %v, %v", uri, parts, owned, err)
		}
	}
}

// After a hundred sessions nothing is left of them: the figure of the issue.
func TestNothingIsLeftOfSessions(t *testing.T) { // C085, R-MCP-23
	log := filepath.Join(t.TempDir(), "log")
	p := realPool(t)
	servers := []mcpbridge.Server{stub(t, "stub", "-log", log), stub(t, "dead", "-mode", "die-at-start"), stub(t, "child", "-log", log, "-mode", "grandchild"), serve(t, &site{tools: []string{"x"}})}
	dir := t.TempDir()
	cycle := func(i int) {
		b := p.Open(t.Context(), mcpbridge.Session{ID: fmt.Sprint(i), Dir: dir}, servers)
		if got := message(t, b); len(got.Names) == 0 {
			t.Errorf("session %d has no tools", i)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Errorf("session %d: Close() failed: %v", i, err)
		}
	}
	cycle(0)
	goroutines, files := runtime.NumGoroutine(), openFiles()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range 100 {
		slots <- struct{}{}
		wg.Go(func() { cycle(i); <-slots })
	}
	wg.Wait()
	if err := p.Close(t.Context()); err != nil {
		t.Errorf("closing the pool: %v", err)
	}
	soon(t, "the end of all goroutines and files", func() bool { // of which the runtime tells late
		return runtime.NumGoroutine() <= goroutines && openFiles() <= files
	})
	starts := journal(t, log, "start")
	if len(starts) != 2*101 {
		t.Errorf("%d programs were started for 101 sessions", len(starts))
	}
	for _, e := range append(starts, journal(t, log, "grandchild")...) {
		for _, key := range []string{"pid", "child"} {
			if pid, ok := e[key].(float64); ok && alive(int(pid)) {
				t.Errorf("process %v is left", pid)
			}
		}
	}
}

// openFiles returns how many files this process has open, 0 where that is not known.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// alive reports whether a process runs, where /proc knows.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.Contains(stat, []byte("mcpstub")) && !bytes.Contains(stat, []byte(") Z "))
}
