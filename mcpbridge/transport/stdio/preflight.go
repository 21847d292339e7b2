package stdio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// preflight finds the program. Its error says in one line what is wrong with the
// declaration, and what to do.
func preflight(o Options) (path string, err error) {
	if strings.TrimSpace(o.Command) == "" {
		return "", errors.New("the server has no command; name the program that it is")
	}
	if o.Dir != "" {
		if info, err := os.Stat(o.Dir); err != nil || !info.IsDir() {
			return "", fmt.Errorf("there is no directory %s for the program to run in; correct cwd", o.Dir)
		}
	}
	if missing := missingPackage(o.Command, o.Args); missing != "" {
		return "", fmt.Errorf("%s is given no package to run, and would wait for one; add its name to args, such as %s", o.Command, missing)
	}
	return find(o)
}

// A runner is a program that fetches a package and runs it. Without one it opens a
// shell, or waits for something to run on its input.
type runner struct {
	words   []string // the command, and what comes before the package
	values  []string // flags that have a value behind them
	instead []string // flags in place of a package
	such    string   // what may come then
}

func runners() []runner {
	npm := runner{values: []string{"-p", "--package", "-w", "--workspace"}, instead: []string{"-c", "--call"}, such: `"-y", "@modelcontextprotocol/server-everything"`}
	uv := runner{values: []string{"--from", "--with", "--with-editable", "--with-requirements", "-p", "--python", "--index", "--index-url", "--extra-index-url", "-c", "--constraints", "--refresh-package", "--directory", "--project"}, such: `"mcp-server-time"`}
	as := func(r runner, words ...string) runner { r.words = words; return r }
	return []runner{
		as(npm, "npx"), as(npm, "npm", "exec"), as(npm, "npm", "x"), as(npm, "pnpx"), as(npm, "pnpm", "dlx"), as(npm, "yarn", "dlx"), as(npm, "bunx"), as(npm, "bun", "x"),
		as(uv, "uvx"), as(uv, "uv", "tool", "run"),
	}
}

// missingPackage returns what could be added where the command runs packages and is
// given none, and "" where nothing is wrong.
func missingPackage(command string, args []string) string {
	name := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, suffix := range []string{".exe", ".cmd", ".ps1"} {
		name = strings.TrimSuffix(name, suffix)
	}
	line := append([]string{name}, args...)
	for _, r := range runners() {
		if len(line) >= len(r.words) && slices.Equal(line[:len(r.words)], r.words) && !r.has(line[len(r.words):]) {
			return r.such
		}
	}
	return ""
}

// has reports whether there is a package among args.
func (r runner) has(args []string) bool {
	for i := 0; i < len(args); i++ {
		flag, _, joined := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return i+1 < len(args)
		case !strings.HasPrefix(flag, "-"), slices.Contains(r.instead, flag):
			return true
		case slices.Contains(r.values, flag) && !joined:
			i++
		}
	}
	return false
}

// find returns the path of the program: of a name in the PATH that the program is to
// have, which may be another than that of this process.
func find(o Options) (string, error) {
	if strings.ContainsAny(o.Command, `/\`) && (runtime.GOOS == "windows" || strings.Contains(o.Command, "/")) {
		path := o.Command
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Dir, path)
		}
		path, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		found, err := executable(path, o.Env)
		if err == nil {
			return found, nil
		}
		return "", notFound(o, fmt.Errorf("there is no program %s", o.Command), err)
	}
	var unusable error
	paths := variable(o.Env, "PATH")
	for _, dir := range filepath.SplitList(paths) {
		if !filepath.IsAbs(dir) {
			continue // what runs must not depend on the directory it runs in
		}
		found, err := executable(filepath.Join(dir, o.Command), o.Env)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			unusable = err
		}
	}
	return "", notFound(o, fmt.Errorf("there is no program %q in the PATH of servers (%s)", o.Command, shorten(paths, 160)), unusable)
}

// notFound says what to do where there is no program; unusable is what is wrong with
// a file that has its name.
func notFound(o Options, missing, unusable error) error {
	first, _, spaced := strings.Cut(o.Command, " ")
	switch {
	case unusable != nil && !errors.Is(unusable, fs.ErrNotExist):
		return unusable
	case spaced:
		return fmt.Errorf("%w; make %q the command and the rest args", missing, first)
	case strings.ContainsRune(o.Command, filepath.Separator):
		return fmt.Errorf("%w; correct the path in command", missing)
	}
	return fmt.Errorf("%w; install it, make its full path the command, or set PATH in env", missing)
}

// executable returns the path of the file at path that can be run.
func executable(path string, env []string) (string, error) {
	for _, suffix := range suffixes(path, env) {
		info, err := os.Stat(path + suffix)
		switch {
		case err != nil:
			continue
		case info.IsDir():
			return "", fmt.Errorf("%s is a directory; name the program in it", path)
		case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
			return "", fmt.Errorf("%s is not executable; run chmod +x on it, or make the program that interprets it the command", path)
		}
		return path + suffix, nil
	}
	return "", fs.ErrNotExist
}

// suffixes lists what can be missing at the end of a path.
func suffixes(path string, env []string) []string {
	if runtime.GOOS != "windows" {
		return []string{""}
	}
	known := variable(env, "PATHEXT")
	if known == "" {
		known = ".com;.exe;.bat;.cmd"
	}
	list := strings.Split(strings.ToLower(known), ";")
	if slices.Contains(list, strings.ToLower(filepath.Ext(path))) {
		return []string{""}
	}
	return list
}

// variable returns the value of a variable, the last one if it is there twice.
func variable(env []string, name string) (value string) {
	for _, e := range env {
		n, v, _ := strings.Cut(e, "=")
		if n == name || runtime.GOOS == "windows" && strings.EqualFold(n, name) {
			value = v
		}
	}
	return value
}

// shorten cuts text at n bytes.
func shorten(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return text[:n] + "…"
}

// startError says what to do where the system did not start the program at path.
func startError(path string, o Options, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was there a moment ago
		return fmt.Errorf("%s cannot be run: the interpreter that its first line names is missing; install that", path)
	case errors.Is(err, errNoExec):
		return fmt.Errorf("%s is no program of this system; give it a first line that names its interpreter, or make that the command", path)
	}
	return fmt.Errorf("starting %s: %w", o.Command, err)
}
