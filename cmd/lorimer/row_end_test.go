//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A lifeline is a pipe that commands hold open. It ends when the last of them
// has gone, whoever their parents are.
type lifeline struct {
	t    *testing.T
	path string
	open chan *os.File
	r    *bufio.Reader
	f    *os.File
}

// holding is a shell command that takes hold of a lifeline, leaves a child
// behind in the background and waits for ever.
const holding = "exec 3>lifeline; (exec sleep 1000000) & sh -c 'sleep 1000000 & wait' & echo up >&3; wait"

// lifeline makes the pipe for the command [holding].
func (e *editor) lifeline() *lifeline {
	e.t.Helper()
	l := &lifeline{t: e.t, path: filepath.Join(e.cwd, "lifeline"), open: make(chan *os.File, 1)}
	if err := syscall.Mkfifo(l.path, 0o600); err != nil {
		e.t.Fatal(err)
	}
	// The goroutine ends when a command opens the pipe, or with the test binary
	// after the test has failed.
	go func() {
		if f, err := os.Open(l.path); err == nil {
			l.open <- f
		}
	}()
	return l
}

// held waits until the command runs.
func (l *lifeline) held() {
	l.t.Helper()
	select {
	case l.f = <-l.open:
	case <-time.After(patience):
		l.t.Fatal("no command took hold of the lifeline")
	}
	l.t.Cleanup(func() { l.f.Close() })
	l.f.SetReadDeadline(time.Now().Add(patience))
	l.r = bufio.NewReader(l.f)
	if line, err := l.r.ReadString('\n'); line != "up\n" {
		l.t.Fatalf("lifeline: %q, %v", line, err)
	}
}

// gone checks that nobody holds on any more, or will soon.
func (l *lifeline) gone() {
	l.t.Helper()
	if _, err := io.ReadAll(l.r); err != nil {
		l.t.Errorf("a child of the agent is left: %v", err)
	}
}

// exits waits until the agent has closed its output without being asked to, and
// returns its exit code.
func (e *editor) exits() int {
	e.t.Helper()
	late := time.AfterFunc(patience, func() { e.cmd.Process.Kill() })
	defer late.Stop()
	e.readers.Wait()
	return e.leave()
}

// stopReason returns the stop reason in the answer to a prompt.
func stopReason(t *testing.T, f frameIn) string {
	t.Helper()
	var r struct{ StopReason string }
	if f.Error != nil {
		t.Errorf("prompt: %s", f.Raw)
	} else if err := json.Unmarshal(f.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r.StopReason
}

// Row 189 (R-ACP-05, R-HARN-10): an editor that goes away in the middle of a turn
// leaves no process, and no noise.
func TestRow189EditorGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		leave func(e *editor)
	}{
		{"both ends", func(e *editor) { e.out.Close(); e.in.Close() }},
		{"input first", func(e *editor) { e.in.Close(); e.out.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(bash(holding)), "--mode", "auto").breaks()
			l := e.lifeline()
			s := e.open(nil)
			e.send("session/prompt", say(s, "go"))
			l.held()
			tt.leave(e)
			if code := e.exits(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			l.gone()
			if n := strings.Count(e.stderr.String(), "\n"); n > 5 {
				t.Errorf("%d lines on standard error, want a few", n)
			}
		})
	}
}

// Row 189, C086: a launcher between the editor and the agent hides the agent from
// the editor's kill; the end of the input ends it.
func TestRow189Launcher(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"lorimer acp; true", "lorimer acp & wait"} {
		e := newEditor(t).breaks()
		in, hold, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		out, agent, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "exec 3<&0; "+strings.Replace(shell, "acp", "acp <&3", 1))
		cmd.Dir, cmd.Stdin, cmd.Stdout = e.cwd, in, agent
		cmd.Env = []string{"HOME=" + e.home, "PATH=" + os.Getenv("PATH"), raceOptions()}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		agent.Close()
		io.WriteString(hold, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
		r := bufio.NewReader(out)
		if _, err := r.ReadString('\n'); err != nil {
			t.Fatalf("%s: no answer: %v", shell, err)
		}
		cmd.Process.Kill()
		cmd.Wait() // it was killed
		hold.Close()
		out.SetReadDeadline(time.Now().Add(patience))
		if _, err := io.ReadAll(r); err != nil { // the agent holds the other end while it lives
			t.Errorf("%s: the agent is left: %v", shell, err)
		}
		out.Close()
	}
}

// Row 189: an output that nobody reads any more ends the agent, also while its
// input stays open, and without a storm of log lines.
func TestRow189OutputClosed(t *testing.T) {
	t.Parallel()
	e := edit(t, `{"text": [`+strings.Repeat(`"many words ", `, 5000)+`"end"], "delay_ms": 1}`).breaks()
	s := e.open(nil)
	e.send("session/prompt", say(s, "go"))
	e.until("chunk", func(f frameIn) bool { return strings.Contains(f.Raw, "many words") })
	e.out.Close()
	if code := e.exits(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if n := strings.Count(e.stderr.String(), "\n"); n > 5 {
		t.Errorf("%d lines on standard error, want a few:\n%s", n, e.stderr.String())
	}
}

// Row 189 (R-ACP-37): the signals that clients end an agent with answer what runs
// as cancelled and leave no process.
func TestRow189Signals(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(bash(holding)), "--mode", "auto").breaks()
			l := e.lifeline()
			s := e.open(nil)
			id := e.send("session/prompt", say(s, "go"))
			l.held()
			if err := e.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if stop := stopReason(t, e.wait(id)); stop != "cancelled" {
				t.Errorf("stop reason = %s, want cancelled", stop)
			}
			if code := e.exits(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			l.gone()
			for _, u := range e.updates(s) {
				if u.Update.Status == "completed" {
					t.Errorf("the call is told as completed: %+v", u)
				}
			}
		})
	}
}

// Row 189 (R-ACP-37): some clients kill the agent, alone or with its group. What
// a command had started ends all the same.
func TestRow189Killed(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]func(pid int) int{
		"the agent": func(pid int) int { return pid },
		"its group": func(pid int) int { return -pid },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(bash("echo begun; "+holding)), "--mode", "auto").breaks()
			l := e.lifeline()
			e.send("session/prompt", say(e.open(nil), "go"))
			l.held()
			e.until("output of the command", func(f frameIn) bool { return strings.Contains(string(f.Params), `begun\n`) })
			if err := syscall.Kill(target(e.cmd.Process.Pid), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			l.gone()
		})
	}
}

// Row 189: an idle agent ends at once, whatever ends it.
func TestRow189Idle(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(e *editor){
		"end of input": func(e *editor) { e.in.Close() },
		"terminated":   func(e *editor) { e.cmd.Process.Signal(syscall.SIGTERM) },
		"hung up":      func(e *editor) { e.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := edit(t, always)
			s := e.open(nil)
			e.prompt(s, "hello")
			end(e)
			if code := e.exits(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
		})
	}
}

// Row 189 (R-ACP-07): while somebody reads, a turn that runs at the end of input
// finishes, and so do those that wait behind it.
func TestRow189TurnsFinish(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(bash("echo up > up; read x < pipe; echo $x"))+"\n"+`{"text": "second"}`, "--mode", "auto")
	pipe, up := e.fifo("pipe"), e.fifo("up")
	s := e.open(nil)
	first, second := e.send("session/prompt", say(s, "go")), e.send("session/prompt", say(s, "on"))
	up.get()
	e.in.Close()
	pipe.put("late")
	for _, id := range []int{first, second} {
		if stop := stopReason(t, e.wait(id)); stop != "end_turn" {
			t.Errorf("stop reason = %s, want end_turn", stop)
		}
	}
	if got := e.text(s); got != "donesecond" {
		t.Errorf("the turns said %q, want both answers", got)
	}
	if r := e.results(s); len(r) != 1 || !strings.Contains(r[0].Text, "late") {
		t.Errorf("results = %+v, want what the command read after the end of input", r)
	}
	if code := e.exits(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// Row 189 (R-ACP-07): a question that is open at the end of input counts as
// refused, and the turn goes on to its end.
func TestRow189OpenQuestion(t *testing.T) {
	t.Parallel()
	e := edit(t, steps(bash("touch ran"), bash("touch ran")))
	e.on("session/request_permission", func(json.RawMessage) (any, *rpcError) { return nil, nil })
	s := e.open(nil)
	id := e.send("session/prompt", say(s, "go"))
	e.until("question", func(f frameIn) bool { return f.Method == "session/request_permission" })
	e.in.Close()
	if stop := stopReason(t, e.wait(id)); stop != "end_turn" || e.text(s) != "done" {
		t.Errorf("prompt: %s with %q, want end_turn with done", stop, e.text(s))
	}
	r := e.results(s)
	if len(r) != 2 || !r[0].IsError || !r[1].IsError || e.disk("ran") != "-" {
		t.Errorf("results = %+v, want both refused", r)
	}
	if code := e.exits(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// Row 189 (R-ACP-07): what does not finish in the drain time is cancelled.
func TestRow189Drain(t *testing.T) {
	t.Parallel()
	for _, span := range []string{"0s", "50ms"} {
		t.Run(fmt.Sprintf("drain of %s", span), func(t *testing.T) {
			t.Parallel()
			e := edit(t, steps(bash(holding)), "--mode", "auto", "--drain", span).breaks()
			l := e.lifeline()
			s := e.open(nil)
			id := e.send("session/prompt", say(s, "go"))
			l.held()
			e.in.Close()
			if stop := stopReason(t, e.wait(id)); stop != "cancelled" {
				t.Errorf("stop reason = %s, want cancelled", stop)
			}
			if code := e.exits(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			l.gone()
		})
	}
}
