//go:build unix

package stdio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/stdio"
)

// running reports whether a process runs. One that has ended and waits for a parent
// that does not look counts as gone.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return runtime.GOOS != "linux"
	}
	rest := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
	return !strings.HasPrefix(rest, " Z") && !strings.HasPrefix(rest, " X")
}

// await waits until a process has ended.
func await(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); running(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d is left", pid)
		}
	}
}

func TestEnds(t *testing.T) {
	tests := []struct {
		name, mode string
		want       string // the error, a pattern
	}{
		{"at the start", "die-at-start", `^the program has ended \(exit status 1\): fatal: missing API_KEY$`},
		{"at the first request", "die-in-init", `^the program has ended \(exit status 2\): fatal: cannot connect to database$`},
		{"while nobody asks", "die-idle", `^the program has ended \(exit status 7\): fatal: lost the database$`},
		{"in a call", "die-midcall", `^the program has ended \(exit status 3\): panic: runtime error$`},
		{"in an answer", "half-line", `^the program has ended \(exit status 4\): panic: out of memory$`},
		{"with a child that holds its output", "grandchild-die", `^the program has ended \(exit status 0\): it left a process behind`},
		{"with a child that serves", "launcher", `^the program has ended \(exit status 0\): it left a process behind`},
		{"without its output", "close-stdout", `^the program has ended \(signal: killed\): it closed its standard output$`},
		{"for a line without an end", "infinite-line", `^the program has ended \(signal: killed\): it wrote a line that is too long$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, stdio.Options{MaxLine: 8 << 20}, "-mode", tt.mode, "-delay", "1ms")
			c.begin() // fails for some
			_, callErr := c.call("add", `{"a":1,"b":2}`)
			gone := c.gone()
			if !regexp.MustCompile(tt.want).MatchString(gone.Error()) {
				t.Errorf("error = %q, want %q", gone, tt.want)
			}
			if callErr != nil && !errors.Is(callErr, transport.ErrGone) {
				t.Errorf("the call: %v, want that the server is gone", callErr)
			}
			if _, err := c.call("add", `{}`); !errors.Is(err, transport.ErrGone) || !errors.Is(err, transport.ErrUnsent) {
				t.Errorf("the next call: %v, want that the server is gone and nothing was sent", err)
			} else if err.Error() != gone.Error() {
				t.Errorf("the next call: %q, want %q: that nothing was sent is no word for users", err, gone)
			}
			for _, e := range c.events() {
				await(t, e.PID)
				if e.Child != 0 {
					await(t, e.Child)
				}
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestClose(t *testing.T) {
	tests := []struct {
		name, mode string
		limit      time.Duration // of the context
		within     time.Duration
		state      string
		signal     bool
	}{
		{"at the end of the input", "good", time.Minute, time.Second, "exit status 0", false},
		{"with a child", "grandchild", time.Minute, time.Second, "exit status 0", false},
		{"at a signal", "never-exit", time.Minute, 3 * time.Second, "exit status 143", true},
		{"at a signal, in little time", "never-exit", 500 * time.Millisecond, time.Second, "exit status 143", true},
		{"by force", "ignore-term", time.Second, 2 * time.Second, "signal: killed", true},
		{"by force at once", "ignore-term", 0, time.Second, "signal: killed", false},
		{"while it does not read", "stop-reading", 500 * time.Millisecond, time.Second, "exit status 143", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, stdio.Options{}, "-mode", tt.mode)
			if err := c.begin(); err != nil {
				t.Fatal(err)
			}
			if tt.mode == "stop-reading" {
				if _, err := c.ask("tools/list", `{}`); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
			defer cancel()
			begin := time.Now()
			if err := c.Close(ctx); err != nil {
				t.Error(err)
			}
			if took := time.Since(begin); took > tt.within+2*time.Second { // a busy machine
				t.Errorf("closed in %v, want %v", took, tt.within)
			}
			if gone := c.gone(); gone.State != tt.state {
				t.Errorf("state = %q, want %q", gone.State, tt.state)
			}
			if got := c.has("signal"); tt.limit > 0 && got != tt.signal {
				t.Errorf("it got a signal: %t, want %t", got, tt.signal)
			}
			for _, e := range c.events() {
				if running(e.PID) {
					t.Errorf("%+v is left", e)
				}
				if e.Child != 0 {
					await(t, e.Child) // killed, but it ends when the system gets to it
				}
			}
			if err := c.Close(ctx); err != nil {
				t.Errorf("closing again: %v", err)
			}
		})
	}
}

// What runs when the transport is closed ends: a call with an error, and the handler
// with its context.
func TestCloseInACall(t *testing.T) {
	asked, answered := make(chan bool), make(chan error, 1)
	c := dialWith(t, listener{request: func(ctx context.Context, method string) (json.RawMessage, error) {
		close(asked)
		<-ctx.Done()
		answered <- ctx.Err()
		return nil, ctx.Err()
	}}, stdio.Options{})
	got := make(chan error, 1)
	go func() {
		_, err := c.call("ask", `{}`)
		got <- err
	}()
	<-asked
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case <-answered:
	default:
		t.Error("Close has not waited for the handler")
	}
	if err := <-got; !errors.Is(err, transport.ErrGone) || errors.Is(err, transport.ErrUnsent) || err.Error() != "the program has ended (exit status 0): it was closed" {
		t.Errorf("the call: %v", err)
	}
}

// A program that does not read costs a call its time and no more.
func TestStopsReading(t *testing.T) {
	c := dial(t, stdio.Options{}, "-mode", "stop-reading")
	if err := c.begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ask("tools/list", `{}`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := c.Call(ctx, transport.Request{Method: "tools/call", Params: []byte(`{"text":"` + strings.Repeat("a", 1<<20) + `"}`)})
	if took := time.Since(begin); err == nil || took > 2*time.Second {
		t.Errorf("error = %v after %v", err, took)
	}
	if gone := c.gone(); !strings.Contains(gone.Error(), "in the middle of a message") {
		t.Errorf("error = %v", gone)
	}
}

// The last words are bounded and plain, and hold no secret.
func TestLastWords(t *testing.T) {
	script := `i=0; while [ $i -lt 5000 ]; do echo "line $i of many"; i=$((i+1)); done >&2; printf '\033[31mkey sk-0123456789 is wrong\033[0m\n' >&2; exit 9`
	tr := stdio.New(stdio.Options{Command: "/bin/sh", Args: []string{"-c", script}, Secrets: []string{"sk-0123456789"}})
	if err := tr.Start(t.Context(), listener{}); err != nil {
		t.Fatal(err)
	}
	c := &client{tr, t, ""}
	gone := c.gone()
	if want := "the program has ended (exit status 9): key [secret] is wrong"; gone.Error() != want {
		t.Errorf("error = %q, want %q", gone, want)
	}
	if n := len(gone.Stderr); n < 4000 || n > 8<<10 || !strings.Contains(gone.Stderr, "line 4999 of many\n") {
		t.Errorf("%d bytes of standard error were kept: %.100q", n, gone.Stderr)
	}
}

// Some write their last words to where messages belong.
func TestLastWordsOnTheOutput(t *testing.T) {
	tr := stdio.New(stdio.Options{Command: "/bin/sh", Args: []string{"-c", "echo Error: no such project; exit 1"}})
	if err := tr.Start(t.Context(), listener{}); err != nil {
		t.Fatal(err)
	}
	if gone := (&client{tr, t, ""}).gone(); gone.Error() != "the program has ended (exit status 1): Error: no such project" {
		t.Errorf("error = %q", gone)
	}
}

// A process that has left the group and holds the output keeps nobody waiting.
func TestStrangerHoldsTheOutput(t *testing.T) {
	setsid, err := exec.LookPath("setsid")
	if err != nil {
		t.Skip("there is no setsid to leave the group with")
	}
	pid := filepath.Join(t.TempDir(), "pid")
	script := setsid + ` sh -c 'echo $$ > ` + pid + `.part; mv ` + pid + `.part ` + pid + `; exec sleep 60' & while [ ! -e ` + pid + ` ]; do sleep 0.01; done; exit 3`
	tr := stdio.New(stdio.Options{Command: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err := tr.Start(t.Context(), listener{}); err != nil {
		t.Fatal(err)
	}
	gone := (&client{tr, t, ""}).gone()
	if gone.State != "exit status 3" {
		t.Errorf("error = %v", gone)
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	syscall.Kill(stranger, syscall.SIGKILL)
}

// After many contacts of every kind there are as many goroutines and files as before.
func TestNothingIsLeft(t *testing.T) {
	session := func(mode string) {
		c := dial(t, stdio.Options{}, "-mode", mode)
		c.begin()
		c.call("add", `{"a":1,"b":2}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		c.Call(ctx, transport.Request{Method: "tools/call", Params: []byte(`{"name":"sleep","arguments":{"ms":10000}}`)})
		cancel()
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", mode, err)
		}
	}
	session("good")
	files, routines := openFiles(t), runtime.NumGoroutine()
	for _, mode := range []string{"good", "die-at-start", "die-midcall", "crash-on-discover", "grandchild", "elicit", "half-line", "junk"} {
		session(mode)
	}
	for _, command := range []string{"no-such-program", "/dev/null"} {
		if err := stdio.New(stdio.Options{Command: command}).Start(t.Context(), listener{}); err == nil {
			t.Errorf("%s was started", command)
		}
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > routines && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // those that have done their work end in their own time
	}
	if got := runtime.NumGoroutine(); got > routines {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before:\n%s", got, routines, stacks[:runtime.Stack(stacks, true)])
	}
	if got := openFiles(t); got > files {
		t.Errorf("%d files are open, %d before", got, files)
	}
}

// openFiles counts the files that this process has open, where that can be known.
func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(files)
}

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("good", "#!/bin/sh\nexit 3\n", 0o755)
	plain := file("plain", "#!/bin/sh\n", 0o644)
	orphan := file("orphan", "#!/no/such/interpreter\n", 0o755)
	binary := file("binary", "\x00\x01", 0o755)
	env := []string{"PATH=relative:" + dir}
	tests := []struct {
		name string
		o    stdio.Options
		want string // error; "" is none
	}{
		{"in PATH", stdio.Options{Command: "good", Env: env}, ""},
		{"a path", stdio.Options{Command: filepath.Join(dir, "good")}, ""},
		{"a path from the directory", stdio.Options{Command: "./good", Dir: dir}, ""},
		{"none", stdio.Options{Command: " "}, "the server has no command; name the program that it is"},
		{"not in PATH", stdio.Options{Command: "uvx-none", Env: env}, `there is no program "uvx-none" in the PATH of servers (relative:` + dir + `); install it, make its full path the command, or set PATH in env`},
		{"with its arguments", stdio.Options{Command: "npx -y thing", Env: env}, `there is no program "npx -y thing" in the PATH of servers (relative:` + dir + `); make "npx" the command and the rest args`},
		{"no such path", stdio.Options{Command: "/no/such/thing"}, "there is no program /no/such/thing; correct the path in command"},
		{"no such directory", stdio.Options{Command: "good", Env: env, Dir: "/no/such"}, "there is no directory /no/such for the program to run in; correct cwd"},
		{"a directory", stdio.Options{Command: dir}, dir + " is a directory; name the program in it"},
		{"not executable", stdio.Options{Command: "plain", Env: env}, plain + " is not executable; run chmod +x on it, or make the program that interprets it the command"},
		{"no interpreter", stdio.Options{Command: orphan}, orphan + " cannot be run: the interpreter that its first line names is missing; install that"},
		{"not a program", stdio.Options{Command: binary}, binary + " is no program of this system; give it a first line that names its interpreter, or make that the command"},
		{"no package", stdio.Options{Command: "npx", Args: []string{"-y"}}, `npx is given no package to run, and would wait for one; add its name to args, such as "-y", "@modelcontextprotocol/server-everything"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := stdio.New(tt.o)
			err := tr.Start(t.Context(), listener{})
			if err == nil {
				if gone := (&client{tr, t, ""}).gone(); gone.State != "exit status 3" {
					t.Errorf("it ended with %v", gone)
				}
			}
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("error = %q, want %q", got, tt.want)
			}
		})
	}
}
