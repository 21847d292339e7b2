package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mount returns a command that runs another one in a mount namespace of its own,
// where sh has run with the directory as $0. It skips the test where that is not
// allowed.
func mount(t *testing.T, dir, sh string) []string {
	t.Helper()
	within := []string{"unshare", "--map-root-user", "--mount", "sh", "-c", sh + ` && exec "$@"`, dir}
	if out, err := exec.Command(within[0], append(within[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("NOT RUN: no mount namespace for a file system of its own: %v: %s", err, out)
	}
	return within
}

// Row 188: a disk that is full fails the prompt with a line that says so. What was
// answered before is there, and is there for the next process.
func TestRow188DiskFull(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	e := newEditor(t)
	e.within = mount(t, state, `mount -t tmpfs -o size=4m,mode=700 none "$0"`)
	e.acp("--state", state, "--model", "script:"+e.file("script.jsonl", always))
	s := e.open(nil)
	big, answered := strings.Repeat("0123456789abcdef", 1<<14), 0
	var fault frameIn
	for round := range 100 {
		fault = e.wait(e.send("session/prompt", say(s, fmt.Sprint(round, " ", big))))
		if fault.Error != nil {
			break
		}
		answered++
	}
	if fault.Error == nil || !strings.Contains(fault.Raw, "full") || !strings.Contains(fault.Raw, state) {
		t.Errorf("prompt on a full disk: %.500s, want an error that says so and names the place", fault.Raw)
	}
	if answered == 0 {
		t.Error("no prompt was answered before the disk was full")
	}
	e.call("session/close", object{"sessionId": s}, nil)
	if r := e.load(s); len(r.said) != answered && len(r.said) != answered+1 {
		t.Errorf("%d messages are left, want the %d that were answered, and at most the last one", len(r.said), answered)
	}
	if code := e.leave(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// Row 233: a state directory that cannot be written fails what needs it with one
// line that names it.
func TestRow233ReadOnly(t *testing.T) {
	t.Parallel()
	for name, sh := range map[string]string{
		"an empty one":        `mount -t tmpfs -o ro,mode=700 none "$0"`,
		"one with a database": `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEditor(t)
			state, script := filepath.Join(e.home, "state"), "script:"+e.file("script.jsonl", always)
			e.acp("--state", state, "--model", script)
			e.prompt(e.open(nil), "hello")
			e.leave()
			other := e.another()
			other.within = mount(t, state, sh)
			other.acp("--state", state, "--model", script)
			other.call("initialize", object{"protocolVersion": 1}, nil)
			f := other.wait(other.send("session/new", object{"cwd": e.cwd, "mcpServers": []any{}}))
			if f.Error == nil || f.Error.Code != -32603 || !strings.Contains(f.Raw, state) {
				t.Errorf("session/new: %s, want -32603 that names %s", f.Raw, state)
			}
			if code := other.leave(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
		})
	}
}
