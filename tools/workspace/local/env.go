package local

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// markName is the variable by which the processes of one command are found.
const markName = "LORIMER_COMMAND"

// unattended makes programs behave where nobody can answer them and no
// terminal shows their output (C077, C083).
var unattended = []string{
	"NO_COLOR=1",
	"TERM=dumb",
	"PAGER=cat",
	"GIT_PAGER=cat",
	"MANPAGER=cat",
	"GIT_TERMINAL_PROMPT=0",
	"GIT_EDITOR=true",
	"GIT_ASKPASS=",
	"SSH_ASKPASS=",
	"SSH_ASKPASS_REQUIRE=never",
	"SUDO_ASKPASS=",
	"DEBIAN_FRONTEND=noninteractive",
}

// env returns the environment of a command and the variable in it that marks
// the command's processes, as it stands there.
func (r *Runner) env(ctx context.Context) (env []string, mark string) {
	mark = markName + "=" + rand.Text()
	set := append(slices.Clone(unattended), mark)
	if r.o.Login != nil {
		if path := r.o.Login.path(ctx); path != "" {
			set = append(set, "PATH="+joinPaths(path, lookup(r.o.Env, "PATH")))
		}
	}
	drop := slices.Clone(r.o.Drop)
	for _, kv := range set {
		name, _, _ := strings.Cut(kv, "=")
		drop = append(drop, name)
	}
	for _, kv := range r.o.Env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(drop, func(d string) bool { return sameName(d, name) }) {
			env = append(env, kv)
		}
	}
	return append(env, set...), mark
}

func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// lookup returns the value of a variable in env, "" if it is not set.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// joinPaths returns the directories of a and then those of b, each once.
func joinPaths(a, b string) string {
	var dirs []string
	for _, d := range append(filepath.SplitList(a), filepath.SplitList(b)...) {
		if d != "" && !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	return strings.Join(dirs, string(os.PathListSeparator))
}

const (
	loginLimit = 2 * time.Second

	// loginMark stands around PATH in what a login shell prints, among whatever
	// its start-up files print.
	loginMark = "__lorimer_path__"
)

// A LoginPath is the PATH that the user's login shell sets up. An editor that
// was started from a desktop does not have it, and then its commands would not
// find what the user installed. The shell is asked once in the life of a
// LoginPath, when the first command needs it. It is safe for concurrent use.
type LoginPath struct {
	env  []string
	once sync.Once
	got  string
}

// NewLoginPath returns the login path for a process with that environment.
func NewLoginPath(env []string) *LoginPath { return &LoginPath{env: env} }

// Environ returns the environment of the process with that PATH before its own.
func (l *LoginPath) Environ(ctx context.Context) []string {
	path := l.path(ctx)
	if path == "" {
		return l.env
	}
	env := slices.DeleteFunc(slices.Clone(l.env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return sameName(name, "PATH")
	})
	return append(env, "PATH="+joinPaths(path, lookup(l.env, "PATH")))
}

// path returns the PATH, or "" when this process has it already or the shell
// does not tell.
func (l *LoginPath) path(ctx context.Context) string {
	l.once.Do(func() {
		if !l.needed() {
			return
		}
		// The answer is for later calls too, so a cancel of this one does not count.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loginLimit)
		defer cancel()
		l.got = l.ask(ctx)
	})
	return l.got
}

// needed reports whether this process was started by something else than a
// shell: shells count their depth, and what runs in a terminal knows its kind.
func (l *LoginPath) needed() bool {
	return runtime.GOOS != "windows" && filepath.IsAbs(lookup(l.env, "SHELL")) &&
		(lookup(l.env, "SHLVL") == "" || lookup(l.env, "TERM") == "")
}
