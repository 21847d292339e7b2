package local

import (
	"bytes"
	"context"
	"os"
	"os/exec"

	"github.com/lorimer-dev/lorimer/tools/workspace"
)

// maxLogin bounds what is kept of what a login shell prints.
const maxLogin = 64 << 10

// ask runs the login shell. Its start-up files are the user's own; they may
// print, fail or hang, and then there is no answer.
func (l *LoginPath) ask(ctx context.Context) string {
	r := NewRunner(RunnerOptions{Env: l.env, Grace: loginLimit / 20})
	env, mark := r.env(ctx)
	cmd := exec.Command(lookup(l.env, "SHELL"), "-l", "-i", "-c",
		`printf '%s%s%s' `+loginMark+` "$PATH" `+loginMark)
	cmd.Dir, cmd.Env = os.TempDir(), env
	var out []byte
	_, err := r.run(ctx, cmd, mark, workspace.Command{Output: func(p []byte) {
		out = append(out, p[:min(len(p), maxLogin-len(out))]...)
	}})
	if err != nil {
		return ""
	}
	_, rest, ok := bytes.Cut(out, []byte(loginMark))
	path, _, ended := bytes.Cut(rest, []byte(loginMark))
	if !ok || !ended || bytes.ContainsAny(path, "\n\x00") {
		return ""
	}
	return string(path)
}
