package workspace_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lorimer-dev/lorimer/tools"
	"github.com/lorimer-dev/lorimer/tools/workspace"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

// A runnerFunc is a function as a [workspace.Runner].
type runnerFunc func(ctx context.Context, c workspace.Command) (workspace.Exit, error)

func (f runnerFunc) Run(ctx context.Context, c workspace.Command) (workspace.Exit, error) {
	return f(ctx, c)
}

// prints is a runner whose command prints the pieces and succeeds.
func prints(pieces ...string) workspace.Runner {
	return runnerFunc(func(_ context.Context, c workspace.Command) (workspace.Exit, error) {
		for _, p := range pieces {
			c.Output([]byte(p))
		}
		return workspace.Exit{}, nil
	})
}

// openTree returns the file system of a new directory with the files in it.
func openTree(t testing.TB, files map[string]string) *local.FS {
	t.Helper()
	dir := t.TempDir()
	made := map[string]bool{}
	for name, text := range files {
		name = filepath.Join(dir, name)
		if parent := filepath.Dir(name); !made[parent] {
			if err := os.MkdirAll(parent, 0o755); err != nil {
				t.Fatal(err)
			}
			made[parent] = true
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	fsys, err := local.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fsys.Close(); err != nil {
			t.Error(err)
		}
	})
	return fsys
}

// call runs a tool with the input, given as pairs of a name and a value.
func call(t testing.TB, tool tools.Tool, input ...any) tools.Result {
	t.Helper()
	res, err := tool.Run(t.Context(), tools.Call{ID: "1", Input: object(t, input...)})
	if err != nil {
		t.Fatalf("%s: %v", tool.Info().Name, err)
	}
	return res
}

func object(t testing.TB, pairs ...any) json.RawMessage {
	t.Helper()
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBash(t *testing.T) {
	tool := workspace.NewBash(openTree(t, nil), local.NewRunner(local.RunnerOptions{}), workspace.BashOptions{})
	tests := []struct {
		name, command, want string
	}{
		{"C079 nothing printed, success", "true", "(no output)\n[exit code 0]"},
		{"C079 nothing printed, failure", "false", "(no output)\n[exit code 1]"},
		{"C082 a failure on standard error alone", "echo wrong >&2; exit 3", "wrong\n[exit code 3]"},
		{"C083 colours, progress, control bytes", `printf '\033[31mred\033[0m\n1%%\r2%%\r100%%\nbell\007nul\000\n\377\n'`, "red\n100%\nbellnul\n\ufffd\n[exit code 0]"},
		{"no line end at the end", "printf x", "x\n[exit code 0]"},
		{"C075 nothing to read", "cat; read x; echo \"got $x\"", "got \n[exit code 0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, tool, "command", tt.command)
			if got.Text != tt.want || got.IsError {
				t.Errorf("result = %q (error %v), want %q", got.Text, got.IsError, tt.want)
			}
		})
	}
	t.Run("C081 timed out with what was printed", func(t *testing.T) {
		got := call(t, tool, "command", `echo part; bash -c "sleep 1000 & sleep 1000"`, "timeout", 1)
		if want := "part\n[timed out after 1s]"; got.Text != want || !got.IsError {
			t.Errorf("result = %q (error %v), want the error %q", got.Text, got.IsError, want)
		}
	})
	t.Run("C077 a password cannot be asked for", func(t *testing.T) {
		got := call(t, tool, "command", `read -s -p "Password: " p </dev/tty || echo refused`, "timeout", 60)
		if !strings.HasSuffix(got.Text, "refused\n[exit code 0]") {
			t.Errorf("result = %q", got.Text)
		}
	})
	t.Run("ended by a signal", func(t *testing.T) {
		if got, want := call(t, tool, "command", "kill -KILL $$"), "(no output)\n[ended by signal SIGKILL]"; got.Text != want || !got.IsError {
			t.Errorf("result = %q, want %q", got.Text, want)
		}
	})
}

func TestBashCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tool := workspace.NewBash(openTree(t, nil), runnerFunc(func(ctx context.Context, c workspace.Command) (workspace.Exit, error) {
		c.Output([]byte("part"))
		cancel()
		return workspace.Exit{Code: -1, Signal: "SIGTERM"}, ctx.Err()
	}), workspace.BashOptions{})
	got, err := tool.Run(ctx, tools.Call{Input: object(t, "command", "x")})
	if want := "part\n[cancelled]"; err != nil || got.Text != want || !got.IsError {
		t.Errorf("Run = %q, %v; want %q", got.Text, err, want)
	}
}

func TestBashNotStarted(t *testing.T) {
	fault := errors.New("no shell")
	tool := workspace.NewBash(openTree(t, nil), runnerFunc(func(context.Context, workspace.Command) (workspace.Exit, error) {
		return workspace.Exit{}, fault
	}), workspace.BashOptions{})
	if _, err := tool.Run(t.Context(), tools.Call{Input: object(t, "command", "x")}); !errors.Is(err, fault) {
		t.Errorf("error = %v, want %v", err, fault)
	}
}

func TestBashWithoutDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	fsys, err := local.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	tool := workspace.NewBash(fsys, local.NewRunner(local.RunnerOptions{}), workspace.BashOptions{})
	got, err := tool.Run(t.Context(), tools.Call{Input: object(t, "command", "pwd")})
	if err != nil || !got.IsError || !strings.Contains(got.Text, "the working directory") {
		t.Errorf("Run = %+v, %v; want a failure that names the reason", got, err)
	}
}

func TestBashTimeout(t *testing.T) {
	tests := []struct {
		name    string
		timeout any
		want    time.Duration
	}{
		{"left out", 0, 120 * time.Second},
		{"given", 5, 5 * time.Second},
		{"given as a number with a fraction of nothing", json.Number("5.0"), 5 * time.Second},
		{"above the limit", 5000, 600 * time.Second},
		{"above all", int64(1) << 62, 600 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got time.Duration
			tool := workspace.NewBash(openTree(t, nil), runnerFunc(func(_ context.Context, c workspace.Command) (workspace.Exit, error) {
				got = c.Timeout
				return workspace.Exit{}, nil
			}), workspace.BashOptions{})
			call(t, tool, "command", "x", "timeout", tt.timeout)
			if got != tt.want {
				t.Errorf("timeout = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestBashPlan(t *testing.T) {
	tool := workspace.NewBash(openTree(t, nil), prints(), workspace.BashOptions{})
	plan := func(t *testing.T, command string) tools.Plan {
		t.Helper()
		p, err := tool.Plan(t.Context(), object(t, "command", command))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("C032 the title is the command", func(t *testing.T) {
		if got, want := plan(t, "rm -r build && make").Title, "rm -r build && make"; got != want {
			t.Errorf("title = %q, want %q", got, want)
		}
		if got := plan(t, "echo a\necho \x1b[31mb").Title; strings.ContainsAny(got, "\n\x1b") {
			t.Errorf("title = %q, with control characters", got)
		}
		long := plan(t, strings.Repeat("é", 3000))
		if n := utf8.RuneCountInString(long.Title); n > tools.MaxTitle || len(long.Command) != 6000 {
			t.Errorf("title of %d characters for a command of %d bytes", n, len(long.Command))
		}
	})
	t.Run("C037 the same command, written differently, is one grant", func(t *testing.T) {
		status := plan(t, "git status").Always
		if got := plan(t, " git   status ").Always; got != status {
			t.Errorf("grant = %+v, want %+v", got, status)
		}
		for _, other := range []string{"git push --force", "git status; rm x", "/usr/bin/git status", "git status x"} {
			if got := plan(t, other).Always; got.Key == status.Key {
				t.Errorf("%q has the grant of git status", other)
			}
		}
	})
	t.Run("C038 the label is short, whatever the command", func(t *testing.T) {
		label := plan(t, "cat > f <<'E'\n"+strings.Repeat("a line\n", 40)+"E").Always.Label
		if len(label) == 0 || len(label) >= 80 || strings.Contains(label, "\n") {
			t.Errorf("label = %q", label)
		}
	})
	for _, bad := range []string{"", " \n", "echo \x00", strings.Repeat("x", 200<<10)} {
		if _, err := tool.Plan(t.Context(), object(t, "command", bad)); err == nil || tools.ErrorText(err) != err.Error() {
			t.Errorf("Plan of a command of %d bytes: %v, want a public error", len(bad), err)
		}
	}
}

var spilled = regexp.MustCompile(`in (\S+\.txt):`)

func TestBashFlood(t *testing.T) {
	line := strings.Repeat("字", 33) + "\n" // 100 bytes
	const lines = 20_000                   // 2 MB
	flood := runnerFunc(func(_ context.Context, c workspace.Command) (workspace.Exit, error) {
		block := []byte(strings.Repeat(line, 100))
		for range lines / 100 {
			c.Output(block[:4567]) // not at the border of a character
			c.Output(block[4567:])
		}
		return workspace.Exit{Code: 1}, nil
	})
	dir := filepath.Join(t.TempDir(), "made", "when", "needed")
	live := 0
	tool := workspace.NewBash(openTree(t, nil), flood, workspace.BashOptions{SpillDir: dir, MaxLive: 10_000})
	got, err := tool.Run(t.Context(), tools.Call{
		Input: object(t, "command", "x"),
		Output: func(p []byte) {
			live += len(p)
			if !utf8.Valid(p) {
				t.Errorf("live output is not UTF-8: %q", p)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Text) > 66<<10 || !utf8.ValidString(got.Text) {
		t.Errorf("result of %d bytes, UTF-8 %v", len(got.Text), utf8.ValidString(got.Text))
	}
	if live > 10_100 {
		t.Errorf("%d bytes of live output", live)
	}
	head, rest, _ := strings.Cut(got.Text, "\n[")
	if !strings.HasPrefix(line, head[strings.LastIndexByte(head, '\n')+1:]) {
		t.Errorf("the start ends with %q", head[len(head)-20:])
	}
	if !strings.HasSuffix(rest, line+"[exit code 1]") {
		t.Errorf("the end is %q", rest[len(rest)-120:])
	}
	m := spilled.FindStringSubmatch(got.Text)
	if m == nil {
		t.Fatalf("no file is named in %.300q", rest)
	}
	if !strings.Contains(rest, "bash") {
		t.Errorf("nothing tells how to read the file: %.300q", rest)
	}
	if info, err := os.Stat(m[1]); err != nil || info.Size() != lines*100 {
		t.Errorf("the file: %v, %v; want %d bytes", info, err, lines*100)
	}
}

func TestBashCut(t *testing.T) {
	fsys := openTree(t, nil)
	out := strings.Repeat("0123456789\n", 10)
	tests := []struct {
		name string
		o    workspace.BashOptions
		want string
	}{
		{"all fits", workspace.BashOptions{MaxOutput: len(out)}, out + "[exit code 0]"},
		{"no file wanted", workspace.BashOptions{MaxOutput: 20}, "0123456789\n[90 bytes in 9 lines left out here]\n123456789\n[exit code 0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size < 30; size++ {
				var pieces []string
				for p := out; p != ""; {
					n := min(size, len(p))
					pieces, p = append(pieces, p[:n]), p[n:]
				}
				got := call(t, workspace.NewBash(fsys, prints(pieces...), tt.o), "command", "x")
				if got.Text != tt.want {
					t.Fatalf("in pieces of %d: %q, want %q", size, got.Text, tt.want)
				}
			}
		})
	}
	t.Run("a file in the workspace is for read", func(t *testing.T) {
		o := workspace.BashOptions{MaxOutput: 20, SpillDir: filepath.Join(fsys.Dir(), "out")}
		got := call(t, workspace.NewBash(fsys, prints(out), o), "command", "x")
		m := spilled.FindStringSubmatch(got.Text)
		if m == nil || !strings.Contains(got.Text, "read it in parts") {
			t.Fatalf("result = %q", got.Text)
		}
		if data, err := os.ReadFile(m[1]); err != nil || string(data) != out {
			t.Errorf("the file has %q, %v", data, err)
		}
	})
	t.Run("a file has a limit", func(t *testing.T) {
		o := workspace.BashOptions{MaxOutput: 20, MaxSpill: 30, SpillDir: t.TempDir()}
		got := call(t, workspace.NewBash(fsys, prints(out), o), "command", "x")
		if !strings.Contains(got.Text, "The first 30 bytes of the output, as plain text, are in") {
			t.Errorf("result = %q", got.Text)
		}
	})
	t.Run("a file that cannot be made is no fault", func(t *testing.T) {
		o := workspace.BashOptions{MaxOutput: 20, SpillDir: "/dev/null/no"}
		got := call(t, workspace.NewBash(fsys, prints(out), o), "command", "x")
		if want := "0123456789\n[90 bytes in 9 lines left out here]\n123456789\n[exit code 0]"; got.Text != want {
			t.Errorf("result = %q, want %q", got.Text, want)
		}
	})
}

func TestBashLive(t *testing.T) {
	var live []string
	tool := workspace.NewBash(openTree(t, nil), prints("one\ntw", "o\r", "three\n\x1b[3", "1mred"), workspace.BashOptions{})
	if _, err := tool.Run(t.Context(), tools.Call{
		Input:  object(t, "command", "x"),
		Output: func(p []byte) { live = append(live, string(p)) },
	}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(live, "|"), "one\n|three\n|red"; got != want {
		t.Errorf("live output = %q, want %q", got, want)
	}
}
