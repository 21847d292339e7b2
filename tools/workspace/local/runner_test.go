//go:build unix

package local_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

// run runs line in an empty directory and returns what it printed.
func run(t *testing.T, ctx context.Context, o local.RunnerOptions, line string, limit time.Duration) (string, workspace.Exit, error) {
	t.Helper()
	var out bytes.Buffer
	exit, err := local.NewRunner(o).Run(ctx, workspace.Command{
		Line: line, Dir: t.TempDir(), Timeout: limit,
		Output: func(p []byte) { out.Write(p) },
	})
	return out.String(), exit, err
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, line, out string
		code            int
	}{
		{"output and error keep their order", "echo a; echo b >&2; echo c", "a\nb\nc\n", 0},
		{"exit code", "exit 7", "", 7},
		{"C075 cat has nothing to read", "cat", "", 0},
		{"C075 read ends at once", `read x; echo "got $x"`, "got \n", 0},
		{"C079 nothing printed, failure", "false", "", 1},
		{"C079 nothing printed, success", "true", "", 0},
		{"C077 there is no terminal to ask at", "{ echo x > /dev/tty; } 2>/dev/null", "", 1},
		{"what runs behind a closed output is ended", "sleep 1000 >/dev/null 2>&1 & echo on", "on\n", 0},
		{"who keeps the output open does not hold up", "sleep 1000 & echo on", "on\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, exit, err := run(t, t.Context(), local.RunnerOptions{Drain: 50 * time.Millisecond}, tt.line, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if out != tt.out || exit.Code != tt.code || exit.TimedOut {
				t.Errorf("%s: output %q, exit %+v; want %q, code %d", tt.line, out, exit, tt.out, tt.code)
			}
		})
	}
}

// pids returns the process numbers in a file.
func pids(t *testing.T, file string) []int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, f := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// running reports whether the process runs, which one that waits for its
// parent to notice its end does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !exists("/proc/self")
	}
	return !bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z"))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestNoSurvivors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line string }{
		{"C081 grandchildren", `bash -c 'sleep 1000 & echo $! >> pids; echo $$ >> pids; echo part; sleep 1000'`},
		{"C081 a trap on TERM", `trap '' TERM; sh -c 'trap "" TERM; echo $$ >> pids; echo part; while :; do sleep 0.1; done' & wait`},
		{"a group of its own", `set -m; sleep 1000 & echo $! >> pids; echo part; wait`},
		{"stopped", `sh -c 'echo $$ >> pids; echo part; kill -STOP $$'`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			t.Run("by time limit", func(t *testing.T) { endByLimit(t, tt.line) })
			t.Run("by cancel", func(t *testing.T) { endByCancel(t, tt.line) })
		})
	}
}

// endByLimit checks that the time limit ends line, which prints "part" after it
// has written the numbers of its processes to the file pids.
func endByLimit(t *testing.T, line string) {
	dir, out := t.TempDir(), &bytes.Buffer{}
	exit, err := local.NewRunner(local.RunnerOptions{Grace: 100 * time.Millisecond}).Run(t.Context(), workspace.Command{
		Line: line, Dir: dir, Timeout: time.Second,
		Output: func(p []byte) { out.Write(p) },
	})
	if err != nil || !exit.TimedOut {
		t.Errorf("Run = %+v, %v; want timed out", exit, err)
	}
	checkEnded(t, dir, out.String())
}

// endByCancel checks that a cancel ends line, which is as in endByLimit.
func endByCancel(t *testing.T, line string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	dir, out := t.TempDir(), &bytes.Buffer{}
	exit, err := local.NewRunner(local.RunnerOptions{Grace: 100 * time.Millisecond}).Run(ctx, workspace.Command{
		Line: line, Dir: dir,
		Output: func(p []byte) { out.Write(p); cancel() },
	})
	if !errors.Is(err, context.Canceled) || exit.TimedOut {
		t.Errorf("Run = %+v, %v; want canceled", exit, err)
	}
	checkEnded(t, dir, out.String())
}

func checkEnded(t *testing.T, dir, out string) {
	t.Helper()
	if out != "part\n" {
		t.Errorf("output = %q, want %q", out, "part\n")
	}
	for _, pid := range pids(t, filepath.Join(dir, "pids")) {
		if running(pid) {
			t.Errorf("process %d is still there", pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func TestRunSignal(t *testing.T) {
	_, exit, err := run(t, t.Context(), local.RunnerOptions{}, "kill -SEGV $$", 0)
	if err != nil || exit.Code != -1 || exit.Signal != "SIGSEGV" {
		t.Errorf("Run = %+v, %v; want SIGSEGV", exit, err)
	}
}

func TestRunAfterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := run(t, ctx, local.RunnerOptions{}, "echo ran", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

func TestRunNoDirectory(t *testing.T) {
	_, err := local.NewRunner(local.RunnerOptions{}).Run(t.Context(), workspace.Command{Line: "true", Dir: filepath.Join(t.TempDir(), "no")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v, want one that the directory does not exist", err)
	}
}

func TestEnvironment(t *testing.T) {
	o := local.RunnerOptions{
		Env:  []string{"PATH=" + os.Getenv("PATH"), "HOME=/h", "ANTHROPIC_API_KEY=sk-1", "OPENAI_API_KEY=sk-2", "TERM=xterm", "KEPT=yes"},
		Drop: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"},
	}
	out, _, err := run(t, t.Context(), o, "env", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out, "\n")
	t.Run("C133 keys of providers are not there", func(t *testing.T) {
		if strings.Contains(out, "sk-") || strings.Contains(out, "API_KEY") {
			t.Errorf("environment = %s", out)
		}
	})
	for _, want := range []string{"HOME=/h", "KEPT=yes", "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never"} {
		if !slices.Contains(lines, want) {
			t.Errorf("environment has no %s", want)
		}
	}
}

// shell writes an executable script and returns its path.
func shell(t *testing.T, script string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "shell")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLoginPath(t *testing.T) {
	t.Parallel()
	count := filepath.Join(t.TempDir(), "count")
	login := "echo run >> " + count + "; echo Welcome; PATH=/opt/tools:$PATH; while [ \"$1\" != -c ]; do shift; done; eval \"$2\"; echo; echo Bye"
	tests := []struct {
		name, script string
		env          []string
		want         string
	}{
		{"a desktop has the shell's PATH first", login, nil, "/opt/tools:/usr/bin:/bin"},
		{"a terminal keeps its own", login, []string{"SHLVL=1", "TERM=xterm"}, "/usr/bin:/bin"},
		{"a shell that fails", "echo no; exit 1", nil, "/usr/bin:/bin"},
		{"a shell that hangs", "sleep 1000", nil, "/usr/bin:/bin"},
		{"a shell that is not there", "", []string{"SHELL=/does/not/exist"}, "/usr/bin:/bin"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			os.Remove(count)
			env := append([]string{"PATH=/usr/bin:/bin", "SHELL=" + shell(t, tt.script)}, tt.env...)
			o := local.RunnerOptions{Env: env, Login: local.NewLoginPath(env)}
			for range 2 {
				out, _, err := run(t, t.Context(), o, `printf %s "$PATH"`, time.Minute)
				if err != nil || out != tt.want {
					t.Errorf("PATH = %q, %v; want %q", out, err, tt.want)
				}
			}
			if got := o.Login.Environ(t.Context()); !slices.Contains(got, "PATH="+tt.want) || len(got) != len(env) {
				t.Errorf("Environ() = %q, want the variables of the process with PATH %q", got, tt.want)
			}
			if runs, err := os.ReadFile(count); err == nil && strings.Count(string(runs), "run") > 1 {
				t.Errorf("the shell was asked %d times", strings.Count(string(runs), "run"))
			}
		})
	}
}
