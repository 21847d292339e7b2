//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A damage is something that is wrong with the state directory.
type damage struct {
	name string
	do   func(t *testing.T, state string) // to a directory with a good database
	want string                           // a part of what is said of it
}

func damages() []damage {
	change := func(edit func(p []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, state string) {
			t.Helper()
			file := filepath.Join(state, "lorimer.db")
			p, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, edit(p), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []damage{
		{"a text", change(func([]byte) []byte { return []byte(strings.Repeat("this is no database. ", 500)) }), "lorimer.db"},
		{"half of it", change(func(p []byte) []byte { return p[:len(p)/2] }), "lorimer.db"},
		{"noise", change(func(p []byte) []byte {
			for i := 100; i < len(p); i++ {
				p[i] ^= 0x5a
			}
			return p
		}), "lorimer.db"},
		{"a newer schema", change(func(p []byte) []byte { return append(append(p[:60:60], 0, 0, 0, 99), p[64:]...) }), "newer"},
		{"a directory in its place", func(t *testing.T, state string) {
			t.Helper()
			file := filepath.Join(state, "lorimer.db")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "lorimer.db"},
		{"a pipe in its place", func(t *testing.T, state string) {
			t.Helper()
			file := filepath.Join(state, "lorimer.db")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(file, 0o644); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if info, err := os.Stat(file); err != nil || info.Mode() != fs.ModeNamedPipe|0o644 {
					t.Errorf("the pipe is %v (%v), want it as it was", info.Mode(), err)
				}
			})
		}, "not a regular file"},
		{"a file in place of the directory", func(t *testing.T, state string) {
			t.Helper()
			if err := os.RemoveAll(state); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(state, []byte("a file\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "state"},
	}
}

// Row 233 (R-STORE-01, R-STORE-03, R-ACP-15): a database that cannot be used is
// named in one line with a way out, it stays as it is, and the agent goes on
// serving what needs none.
func TestRow233Damage(t *testing.T) {
	t.Parallel()
	for _, d := range damages() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			state := filepath.Join(e.home, "state")
			script := e.file("script.jsonl", always)
			e.acp("--state", state, "--model", "script:"+script)
			s := e.open(nil)
			e.prompt(s, "hello")
			e.leave()
			d.do(t, state)
			before := files(t, e.home)

			other := e.another()
			other.acp("--state", state, "--model", "script:"+script)
			other.call("initialize", object{"protocolVersion": 1}, nil)
			load := object{"sessionId": s, "cwd": e.cwd, "mcpServers": []any{}}
			for method, params := range map[string]object{"session/load": load, "session/list": {}, "session/new": {"cwd": e.cwd, "mcpServers": []any{}}} {
				f := other.wait(other.send(method, params))
				if f.Error == nil || f.Error.Code != -32603 || !strings.Contains(f.Raw, d.want) {
					t.Errorf("%s: %s, want -32603 with %q", method, f.Raw, d.want)
				}
			}
			if code := other.leave(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
			said := e.fails("session", "list", "--state", state)
			if strings.Count(said, "\n") != 1 || !strings.Contains(said, d.want) {
				t.Errorf("lorimer session list says %q, want one line with %q", said, d.want)
			}
			if diff := cmp.Diff(before, files(t, e.home)); diff != "" {
				t.Errorf("the files have changed (-before +after):\n%.2000s", diff)
			}
		})
	}
}

// Row 33 (R-HARN-01): an id that could name something else is refused by every
// method and every command, and nothing is made of it.
func TestRow033BadIDsEverywhere(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	state := filepath.Join(e.home, "state")
	e.acp("--state", state, "--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	before := files(t, state)
	for _, id := range []string{"../../etc/x", "..", "a/b", "", "a\x00b", strings.Repeat("x", 201)} {
		opening := object{"sessionId": id, "cwd": e.cwd, "mcpServers": []any{}}
		for method, params := range map[string]object{
			"session/load": opening, "session/resume": opening, "session/fork": opening,
			"session/delete": {"sessionId": id}, "session/close": {"sessionId": id}, "session/status": {"sessionId": id},
			"session/archive": {"sessionId": id}, "session/unarchive": {"sessionId": id},
			"session/set_title": {"sessionId": id, "title": "x"}, "session/set_mode": {"sessionId": id, "modeId": "ask"},
			"session/set_config_option": {"sessionId": id, "configId": "mode", "value": "ask"}, "session/prompt": say(id, "x"),
		} {
			f := e.wait(e.send(method, params))
			if f.Error == nil || f.Error.Code != -32602 && f.Error.Code != -32002 {
				t.Errorf("%s with id %q: %s, want -32602 or -32002", method, id, f.Raw)
			}
		}
		wish := object{"sessionId": s, "cwd": e.cwd, "mcpServers": []any{}, "_meta": namespaced("sessionId", id)}
		if f := e.wait(e.send("session/fork", wish)); id != "" && (f.Error == nil || f.Error.Code != -32602) {
			t.Errorf("session/fork that wishes %q: %s, want -32602", id, f.Raw)
		}
	}
	after := files(t, state)
	for name := range after {
		if _, there := before[name]; !there {
			t.Errorf("%s was made in the state directory", name)
		}
	}
	nowhere := filepath.Join(e.home, "nowhere")
	for _, args := range [][]string{
		{"show"}, {"export"}, {"delete"}, {"fork"}, {"title", "x"}, {"archive"}, {"unarchive"},
	} {
		e.refuses(nowhere, append([]string{"session", args[0], "../../etc/x"}, args[1:]...)...)
	}
	e.refuses(nowhere, "session", "fork", s, "--id", "../../etc/x")
	e.refuses(nowhere, "session", "import", e.file("import.json", "{}"), "--id", "../../etc/x")
	e.refuses(nowhere, "run", "--session", "../../etc/x", "hello")
	e.refuses(nowhere, "prompt", "render", "--session", "../../etc/x")
}

// refuses runs a command that must end with 2 and one line, before it has made
// the state directory.
func (e *editor) refuses(state string, args ...string) {
	e.t.Helper()
	args = append(args, "--state", state, "--model", "offline")
	out, err := e.run(args...)
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() != 2 || strings.Count(string(exit.Stderr), "\n") != 1 || len(out) > 0 {
		e.t.Errorf("lorimer %q: %v with %q, want exit code 2 and one line of error", args, err, out)
	}
	if _, err := os.Stat(state); err == nil {
		e.t.Errorf("lorimer %q made %s", args, state)
	}
}

// C021 of the cases, as far as the store goes: a session whose directory is gone
// is still listed and shown, is not opened there, and is opened elsewhere.
func TestRow188DirectoryGone(t *testing.T) {
	t.Parallel()
	e := newEditor(t)
	e.acp("--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	e.prompt(s, "from a directory that goes")
	e.leave()
	if err := os.RemoveAll(e.cwd); err != nil {
		t.Fatal(err)
	}
	gone := e.cwd
	e.cwd = t.TempDir() // for the commands
	if out := e.prints("session", "show", s); !strings.Contains(out, "from a directory that goes") {
		t.Errorf("lorimer session show prints %q, want the message", out)
	}
	next := e.another()
	next.home = e.home
	next.acp("--model", "script:"+filepath.Join(e.home, "script.jsonl"))
	next.call("initialize", object{"protocolVersion": 1}, nil)
	if got := next.list(object{"cwd": gone}); len(got) != 1 || got[0] != s {
		t.Errorf("sessions of the directory = %q, want %s", got, s)
	}
	f := next.wait(next.send("session/load", object{"sessionId": s, "cwd": gone, "mcpServers": []any{}}))
	if f.Error == nil || f.Error.Code != -32602 || !strings.Contains(f.Raw, gone) {
		t.Errorf("session/load in the directory: %s, want -32602 that names it", f.Raw)
	}
	if r := next.load(s); len(r.said) != 1 {
		t.Errorf("messages of the user after a load elsewhere = %q, want one", r.said)
	}
	if stop := next.prompt(s, "and on"); stop != "end_turn" {
		t.Errorf("stop reason = %s, want end_turn", stop)
	}
}

// Row 233: a database that was moved away while it is open takes no more prompts,
// which would be lost with it, until it is back.
func TestRow233Moved(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	e := edit(t, always, "--state", state)
	s := e.open(nil)
	e.prompt(s, "before")
	if err := os.Rename(state, state+".away"); err != nil {
		t.Fatal(err)
	}
	for method, params := range map[string]object{
		"session/prompt": say(s, "meanwhile"), "session/new": {"cwd": e.cwd, "mcpServers": []any{}},
	} {
		f := e.wait(e.send(method, params))
		if f.Error == nil || !strings.Contains(f.Error.Message, state) || !strings.Contains(f.Error.Message, "put it back") {
			t.Errorf("%s: %s, want an error that names %s and says what to do", method, f.Raw, state)
		}
	}
	if err := os.Rename(state+".away", state); err != nil {
		t.Fatal(err)
	}
	if stop := e.prompt(s, "after"); stop != "end_turn" {
		t.Errorf("stop reason of a prompt after the way back = %s, want end_turn", stop)
	}
	next := e.restart("--state", state, "--model", "script:"+filepath.Join(e.home, "script.jsonl"))
	if r := next.load(s); !slices.Equal(r.said, []string{"before", "after"}) {
		t.Errorf("messages that the next process reads = %q, want the two that were answered", r.said)
	}
}
