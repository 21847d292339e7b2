package stdio_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/stdio"
)

// TestMain builds the server that the tests drive, and is a process of its own that
// holds one where it is started as that.
func TestMain(m *testing.M) {
	if log := os.Getenv("STDIO_TEST_HOLDS"); log != "" {
		os.Exit(hold(log))
	}
	code, err := withStub(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the server under test:", err)
		code = 1
	}
	os.Exit(code)
}

// withStub calls run while mcpstub is on the path.
func withStub(run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "stdio-test-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "github.com/lorimer-dev/lorimer/cmd/mcpstub")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w\n%s", err, out)
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return 0, err
	}
	return run(), nil
}

// hold starts a program and holds it until it is killed.
func hold(log string) int {
	tr := stdio.New(stdio.Options{Command: "mcpstub", Args: []string{"-mode", "never-exit", "-log", log}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err := tr.Start(context.Background(), listener{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer tr.Close(ended())
	if _, err := tr.Call(context.Background(), transport.Request{Method: "ping"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return 0
}

// A client is a transport to mcpstub.
type client struct {
	*stdio.Transport
	t   testing.TB
	log string // that the server writes
}

// A listener hears what the server sends.
type listener struct {
	notify  func(method string)
	request func(ctx context.Context, method string) (json.RawMessage, error)
}

func (l listener) Notify(method string, _ json.RawMessage) {
	if l.notify != nil {
		l.notify(method)
	}
}

func (l listener) Request(ctx context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	if l.request != nil {
		return l.request(ctx, method)
	}
	return nil, &transport.Error{Code: transport.CodeMethodNotFound, Message: "method not found"}
}

// dial starts mcpstub with flags. Close is for the test, or for the end of it.
func dial(t testing.TB, o stdio.Options, flags ...string) *client {
	t.Helper()
	return dialWith(t, listener{}, o, flags...)
}

func dialWith(t testing.TB, l listener, o stdio.Options, flags ...string) *client {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	o.Command = "mcpstub"
	o.Args = append([]string{"-log", log}, flags...)
	o.Env = append(o.Env, "PATH="+os.Getenv("PATH"))
	c := &client{stdio.New(o), t, log}
	if err := c.Start(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(ended()) })
	return c
}

// ended returns a context that has ended, for those who want it to be quick.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// begin shakes hands.
func (c *client) begin() error {
	if _, err := c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{}}`); err != nil {
		return err
	}
	return c.Notify(c.t.Context(), "notifications/initialized", nil)
}

// ask sends a request that has half a minute.
func (c *client) ask(method, params string) (string, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	result, err := c.Call(ctx, transport.Request{Method: method, Params: json.RawMessage(params)})
	return string(result), err
}

// call calls a tool and returns its first text.
func (c *client) call(name, arguments string) (string, error) {
	result, err := c.ask("tools/call", `{"name":"`+name+`","arguments":`+arguments+`}`)
	if err != nil {
		return "", err
	}
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(result), &r); err != nil || len(r.Content) == 0 {
		return "", fmt.Errorf("result %.200s: %w", result, err)
	}
	return r.Content[0].Text, nil
}

// gone waits until the program is, and returns how.
func (c *client) gone() *transport.GoneError {
	c.t.Helper()
	select {
	case <-c.Done():
	case <-time.After(30 * time.Second):
		c.t.Fatal("the end of the program is not noticed")
	}
	gone, ok := errors.AsType[*transport.GoneError](c.Err())
	if !ok {
		c.t.Fatalf("error = %v, want a GoneError", c.Err())
	}
	return gone
}

// An event is what the server has written down.
type event struct {
	Event   string
	PID     int
	Child   int
	Signal  string
	Message struct{ Method string }
}

// events returns what the server has written down.
func (c *client) events() []event {
	c.t.Helper()
	data, err := os.ReadFile(c.log)
	if err != nil {
		c.t.Fatal(err)
	}
	var all []event
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			c.t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// has reports whether the server has written down an event.
func (c *client) has(name string) bool {
	for _, e := range c.events() {
		if e.Event == name {
			return true
		}
	}
	return false
}

// What programs write beside messages, or make of them, is understood.
func TestOddPrograms(t *testing.T) {
	for _, mode := range []string{
		"good", "junk", "junk-flood", "glued", "pretty", "batch", "crlf", "bom", "split", "string-id", "float-id", "wrong-id", "dup", "no-jsonrpc",
		"error-null", "ping-first", "ping-wait", "elicit", "ask-flood", "stderr-flood-start", "notif-flood",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := dial(t, stdio.Options{}, "-mode", mode)
			if err := c.begin(); err != nil {
				t.Fatal(err)
			}
			want := "3"
			if mode == "elicit" {
				want = "asked"
			}
			if got, err := c.call("add", `{"a":1,"b":2}`); err != nil || got != want {
				t.Errorf("1 + 2 = %q, %v", got, err)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if gone := c.gone(); gone.State != "exit status 0" {
				t.Errorf("closed: %v, want that it has ended by itself", gone)
			}
		})
	}
}

func TestBigResult(t *testing.T) {
	c := dial(t, stdio.Options{})
	const size = 5 << 20
	if got, err := c.call("big", fmt.Sprintf(`{"bytes":%d}`, size)); err != nil || len(got) != size {
		t.Errorf("%d bytes, %v, want %d", len(got), err, size)
	}
	text := strings.Repeat("a", 2<<20)
	if got, err := c.call("echo", `{"text":"`+text+`"}`); err != nil || got != text {
		t.Errorf("%d bytes, %v, want %d back", len(got), err, len(text))
	}
}

func TestCallsAtATime(t *testing.T) {
	c := dial(t, stdio.Options{})
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	const calls = 50
	for i := range calls {
		go func() {
			want := strings.Repeat("x", 1000*i)
			got, err := c.call("echo", `{"text":"`+want+`"}`)
			if err == nil && got != want {
				err = fmt.Errorf("%d bytes came back of %d", len(got), len(want))
			}
			errs <- err
		}()
	}
	for range calls {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// R-MCP-22: a program sees what it was declared with.
func TestEnvironmentAndDirectory(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-marker")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"A=1", "B=two words"}
	c := dial(t, stdio.Options{Env: env, Dir: dir})
	want := strings.Join(append(env, "PATH="+os.Getenv("PATH")), "\n")
	if got, err := c.call("env", `{}`); err != nil || got != want {
		t.Errorf("environment = %q, %v, want %q", got, err, want)
	}
	data, err := os.ReadFile(c.log)
	if err != nil || !strings.Contains(string(data), fmt.Sprintf(`"dir":%q`, dir)) {
		t.Errorf("the log does not name the directory %s (%v): %s", dir, err, data)
	}
}

// The end of the context of Start, or of a call, ends no program (R-MCP-23).
func TestContextOfStart(t *testing.T) {
	tr := stdio.New(stdio.Options{Command: "mcpstub", Env: []string{"PATH=" + os.Getenv("PATH")}})
	ctx, cancel := context.WithCancel(t.Context())
	if err := tr.Start(ctx, listener{}); err != nil {
		t.Fatal(err)
	}
	cancel()
	c := &client{tr, t, ""}
	if got, err := c.call("echo", `{"text":"here"}`); err != nil || got != "here" {
		t.Errorf("echo = %q, %v", got, err)
	}
	if err := tr.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := stdio.New(stdio.Options{Command: "mcpstub"}).Start(ctx, listener{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start with a context that has ended: %v", err)
	}
}

func TestOnlyOneStart(t *testing.T) {
	c := dial(t, stdio.Options{})
	if err := c.Start(t.Context(), listener{}); err == nil {
		t.Error("a second Start has no error")
	}
	never := stdio.New(stdio.Options{Command: "mcpstub"})
	if _, err := never.Call(t.Context(), transport.Request{Method: "ping"}); !errors.Is(err, transport.ErrUnsent) {
		t.Errorf("a call before Start: %v", err)
	}
	if err := never.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-never.Done()
	if err := never.Start(t.Context(), listener{}); !errors.Is(err, transport.ErrGone) {
		t.Errorf("Start after Close: %v", err)
	}
	if err := never.Notify(t.Context(), "x", nil); !errors.Is(err, transport.ErrGone) || !errors.Is(err, transport.ErrUnsent) {
		t.Errorf("a notification after Close: %v", err)
	}
}
