package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// acpx runs acpx with its one-shot command on the offline model.
func (p *peer) acpx(prompt string, flags ...string) (stdout, stderr string, code int) {
	p.t.Helper()
	main := abs(p.t, "node_modules/acpx/dist/cli.js")
	args := append([]string{main, "--agent", strings.Join(p.agent("--model", "offline"), " ")}, flags...)
	stdout, stderr, err := p.run(append(args, "exec", prompt)...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return stdout, stderr, exit.ExitCode()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return stdout, stderr, 0
}

// TestRow232OfflineThroughAcpx shows the requests that the offline model knows,
// with real calls and real questions, as far as their tools are there.
func TestRow232OfflineThroughAcpx(t *testing.T) {
	tests := []struct {
		name, prompt string
		flags        []string
		want         string                      // in the output
		code         int                         // of acpx: 5 is a refused permission
		check        func(t *testing.T, p *peer) // of the workspace; nil looks at nothing
	}{
		{name: "list files", prompt: "list the files here", want: "notes.txt"},
		{name: "read a file", prompt: "read notes.txt", want: "first line"},
		{name: "find text", prompt: "find second", want: "notes.txt:2"},
		{name: "run a command", prompt: "run echo hello-$((40+2))", flags: []string{"--approve-all"}, want: "hello-42"},
		{name: "run a command, refused", prompt: "run touch made", flags: []string{"--deny-all"}, code: 5, check: func(t *testing.T, p *peer) {
			if _, err := os.Stat(filepath.Join(p.cwd, "made")); err == nil {
				t.Error("the refused command ran")
			}
		}},
		{name: "write a file", prompt: "write new.txt: content of mine", flags: []string{"--approve-all"}, check: func(t *testing.T, p *peer) {
			if got := strings.TrimSpace(p.read("new.txt")); got != "content of mine" {
				t.Errorf("new.txt = %q", got)
			}
		}},
		{name: "edit a file", prompt: "edit notes.txt: replace first with 1st", flags: []string{"--approve-all"}, check: func(t *testing.T, p *peer) {
			if got := p.read("notes.txt"); got != "1st line\r\nsecond line\r\n" {
				t.Errorf("notes.txt = %q", got)
			}
		}},
		{name: "call a tool", prompt: `call grep with {"pattern": "second"}`, want: "notes.txt:2"},
		{name: "show a plan", prompt: "plan a holiday", want: "a holiday"},
		{name: "think", prompt: "think about horses", want: "thoughts about horses"},
		{name: "stream words", prompt: "stream 30 words", want: "word29 word30"},
		{name: "help", prompt: "help", want: "list files"},
		{name: "a search that is not offered", prompt: "search the web for bridles", want: "not offered here"},
		{name: "a page that is not offered", prompt: "fetch http://127.0.0.1:9/page", want: "not offered here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(t)
			p.file("notes.txt", "first line\r\nsecond line\r\n")
			out, diag, code := p.acpx(tt.prompt, tt.flags...)
			if code != tt.code || !strings.Contains(out, tt.want) {
				t.Errorf("acpx exec %q: code %d, want %d; output without %q:\n%s\n%s", tt.prompt, code, tt.code, tt.want, out, diag)
			}
			if tt.check != nil {
				tt.check(t, p)
			}
		})
	}
}
