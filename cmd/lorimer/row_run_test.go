//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A runner is a "lorimer run" with what it wrote.
type runner struct {
	t   *testing.T
	cmd *exec.Cmd
	out bytes.Buffer
	err bytes.Buffer
}

// oneShot prepares "lorimer run" with a script model of the lines.
func oneShot(t *testing.T, script string, args ...string) *runner {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	file := filepath.Join(home, "script.jsonl")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &runner{t: t, cmd: exec.Command("lorimer", append([]string{"run", "--model", "script:" + file}, args...)...)}
	r.cmd.Dir = dir
	r.cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), raceOptions()}
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.err
	return r
}

// code runs it to its end and returns the exit code.
func (r *runner) code() int {
	r.t.Helper()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	return r.wait()
}

func (r *runner) wait() int {
	r.t.Helper()
	late := time.AfterFunc(patience, func() { r.cmd.Process.Kill() })
	defer late.Stop()
	r.cmd.Wait() // how it ended is in its state
	return r.cmd.ProcessState.ExitCode()
}

// Row 229 (R-CMD-11) and C154: what standard input adds to a prompt. A pipe that
// nobody closes never holds up a prompt that is there.
func TestRow229StandardInput(t *testing.T) {
	t.Parallel()
	hear := `{"match": {"contains": "the words"}, "text": "words alone"}` + "\n" + `{"text": "something else"}`
	both := `{"match": {"contains": "the words\n\nthe pipe"}, "text": "both"}` + "\n" + hear
	piped := `{"match": {"contains": "the pipe"}, "text": "the pipe alone"}` + "\n" + hear
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	silent, keep, err := os.Pipe() // keep stays open, so that silent never ends
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { silent.Close(); keep.Close() })
	big := strings.Repeat("30 MB of text, ", 30<<20/15)
	tests := []struct {
		name   string
		script string
		args   []string
		stdin  io.Reader
		code   int
		out    string
		err    string // a part of it
	}{
		{"words and /dev/null", hear, []string{"the", "words"}, null, 0, "words alone\n", ""},
		{"words and an open pipe", hear, []string{"the", "words"}, silent, 0, "words alone\n", "add - to wait for it"},
		{"words and piped text", both, []string{"the", "words"}, strings.NewReader("the pipe\n"), 0, "both\n", ""},
		{"words, piped text and -", both, []string{"the words", "-"}, strings.NewReader("the pipe"), 0, "both\n", ""},
		{"words and an empty pipe", hear, []string{"the words"}, strings.NewReader(""), 0, "words alone\n", ""},
		{"piped text alone", piped, nil, strings.NewReader("the pipe\n"), 0, "the pipe alone\n", ""},
		{"- alone", piped, []string{"-"}, strings.NewReader("the pipe"), 0, "the pipe alone\n", ""},
		{"neither, /dev/null", hear, nil, null, 2, "", "run needs a prompt"},
		{"neither, an empty pipe", hear, nil, strings.NewReader(" \n"), 2, "", "run needs a prompt"},
		{"30 MB piped in", hear, []string{"the words"}, strings.NewReader(big), 2, "", "16 MiB"},
		{"30 MB piped in alone", hear, nil, strings.NewReader(big), 2, "", "16 MiB"},
	}
	for _, tt := range tests {
		t.Run("C154 "+tt.name, func(t *testing.T) {
			t.Parallel()
			r := oneShot(t, tt.script, tt.args...)
			r.cmd.Stdin = tt.stdin
			if code := r.code(); code != tt.code || r.out.String() != tt.out || !strings.Contains(r.err.String(), tt.err) {
				t.Errorf("exit code %d with %q and %q, want %d with %q and %q", code, r.out.String(), r.err.String(), tt.code, tt.out, tt.err)
			}
			if n := strings.Count(r.err.String(), "\n"); n > 1 {
				t.Errorf("%d lines on standard error, want one at most:\n%s", n, r.err.String())
			}
		})
	}
	t.Run("C154 closed", func(t *testing.T) {
		t.Parallel()
		r := oneShot(t, hear, "the words")
		// The shell closes what the test cannot.
		r.cmd.Args = append([]string{"sh", "-c", `exec "$@" <&-`, "sh"}, r.cmd.Args...)
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Fatal(err)
		}
		r.cmd.Path = sh
		if code := r.code(); code != 0 || r.out.String() != "words alone\n" {
			t.Errorf("exit code %d with %q and %q, want 0 with the answer", code, r.out.String(), r.err.String())
		}
	})
}

// Row 229: an interrupt ends with 130, with what was said so far, and leaves no
// command running.
func TestRow229Interrupted(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json", "stream-json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := oneShot(t, `{"text": "I run it.", "tools": [{"name": "bash", "args": {"command": "`+holding+`"}}]}`, "--mode", "auto", "--format", format, "go")
			e := &editor{t: t, cwd: r.cmd.Dir}
			l := e.lifeline()
			if err := r.cmd.Start(); err != nil {
				t.Fatal(err)
			}
			l.held()
			if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if code := r.wait(); code != 130 {
				t.Errorf("exit code %d, want 130", code)
			}
			l.gone()
			want := map[string]string{"text": "I run it.\n", "json": `"stopReason": "cancelled"`, "stream-json": `"stopReason":"cancelled"`}[format]
			if !strings.Contains(r.out.String(), want) {
				t.Errorf("output = %q, want %q in it", r.out.String(), want)
			}
		})
	}
	t.Run("while it waits for input", func(t *testing.T) {
		t.Parallel()
		r := oneShot(t, always, "-")
		in, err := r.cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := r.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It takes no more than a pipe holds before it runs, so that it has begun
		// to read when all of this has been taken.
		if _, err := io.WriteString(in, strings.Repeat("never ending\n", 1<<20/13)); err != nil {
			t.Fatal(err)
		}
		if err := r.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if code := r.wait(); code != 130 || r.out.Len() > 0 {
			t.Errorf("exit code %d with %q, want 130 without an answer", code, r.out.String())
		}
	})
}

// Row 229: a reader that has gone ends the run.
func TestRow229OutputClosed(t *testing.T) {
	t.Parallel()
	r := oneShot(t, `{"text": [`+strings.Repeat(`"many words ", `, 5000)+`"end"], "delay_ms": 1}`, "go")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.Stdout = writer
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if _, err := io.ReadFull(reader, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	reader.Close()
	r.wait()
	if r.cmd.ProcessState.Success() {
		t.Error("the run ended with 0, although nobody read its answer")
	}
	if strings.Contains(r.err.String(), "goroutine") {
		t.Errorf("standard error:\n%s", r.err.String())
	}
}
