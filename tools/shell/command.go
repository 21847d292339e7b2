package shell

import (
	"slices"
	"strings"
)

// Programs by what they do with their arguments.
var (
	shells = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish"}

	// wrappers run a command that is given as their arguments.
	wrappers = []string{
		"sudo", "doas", "su", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "chrt", "taskset", "time",
		"timeout", "stdbuf", "setsid", "xargs", "parallel", "busybox", "toybox", "chroot", "unbuffer", "script",
		"watch", "strace", "flock", "systemd-run", "unshare", "nsenter", "runuser",
	}

	// readers change no file that is named in their arguments.
	readers = []string{
		"cat", "head", "tail", "less", "more", "bat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "ls", "tree", "stat",
		"file", "wc", "diff", "cmp", "comm", "cut", "tr", "echo", "printf", "test", "[", "true", "false", ":", "pwd",
		"cd", "which", "type", "du", "df", "md5sum", "sha1sum", "sha256sum", "jq", "od", "hexdump", "strings", "basename",
		"dirname", "realpath", "readlink", "sleep", "exit", "return", "git",
	}
)

func isShell(name string) bool { return slices.Contains(shells, name) }

// run reads one simple command; words[0] is the program. A command that runs
// another has it among its words, which count anew.
func (r *reader) run(words []string) {
	if !r.spend(len(words)) {
		return
	}
	r.touch(words)
	switch n := name(words[0]); {
	case n == "xargs" || n == "parallel":
		r.wrapped(slices.Concat(words[1:], r.piped))
	case slices.Contains(wrappers, n):
		r.wrapped(words[1:])
	case isShell(n):
		if i := slices.IndexFunc(words, hasC); i > 0 {
			r.commandString(words[i+1:])
		}
	case n == "eval":
		r.nestedHere(strings.Join(words[1:], " "))
	case n == "trap" && len(words) > 1:
		r.nestedHere(words[1])
	case n == "cd", n == "pushd":
		r.cd(words[1:])
	case n == "rm":
		r.rm(words[1:])
	case n == "find":
		r.find(words[1:])
	case n == "git":
		r.git(words[1:])
	}
}

// hasC reports whether an option of a shell is or ends in -c.
func hasC(w string) bool {
	return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c")
}

// commandString reads what follows the -c of a shell: more options, the line and
// its parameters from $0 on.
func (r *reader) commandString(words []string) {
	for i, w := range words {
		if w == "--" {
			words = words[i+1:]
			break
		}
		if len(w) < 2 || w[0] != '-' && w[0] != '+' {
			words = words[i:]
			break
		}
	}
	if len(words) > 0 {
		r.nested(words[0], words[1:]...)
	}
}

// nestedHere reads a line in this very shell.
func (r *reader) nestedHere(line string) {
	if strings.ContainsRune(line, unknown) {
		return
	}
	r.depth++
	r.line(line)
	r.depth--
}

// wrapped reads the command that a wrapper runs. Which arguments are the
// wrapper's own is not looked up: the first that names a program that matters
// here starts the command.
func (r *reader) wrapped(words []string) {
	for i, w := range words {
		n := name(w)
		switch {
		case (w == "-c" || w == "-S" || w == "--command" || w == "--split-string") && i+1 < len(words):
			r.nested(words[i+1])
			return
		case isShell(n), slices.Contains(wrappers, n), n == "rm", n == "find", n == "git", n == "eval":
			r.run(words[i:])
			return
		}
	}
}

// touch notes the files that a command may change: all that its arguments name,
// unless it is known for only reading them.
func (r *reader) touch(words []string) {
	n := name(words[0])
	switch {
	case n == "sed":
		if !slices.ContainsFunc(words, inPlace) {
			return
		}
	case n == "find":
		if !slices.ContainsFunc(words, func(w string) bool { return w == "-delete" || strings.HasPrefix(w, "-exec") }) {
			return
		}
	case slices.Contains(readers, n):
		return
	}
	for _, w := range words[1:] {
		if _, v, ok := strings.Cut(w, "="); ok { // of=FILE, --output=FILE
			r.write(v)
		}
		if !strings.HasPrefix(w, "-") {
			r.write(w)
		}
	}
}

// inPlace reports whether an argument of sed makes it change its files.
func inPlace(w string) bool {
	short, ok := strings.CutPrefix(w, "-")
	return strings.HasPrefix(w, "--in-place") || ok && strings.HasPrefix(strings.TrimLeft(short, "nErsuz"), "i")
}

// cd follows a change of directory.
func (r *reader) cd(args []string) {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return len(a) > 1 && a[0] == '-' })
	from := r.dir
	switch {
	case len(args) == 0:
		r.dir = r.home
	case args[0] == "-":
		r.dir = r.before
	case strings.ContainsRune(args[0], star):
		r.dir = ""
	default:
		r.dir = r.abs(args[0])
	}
	r.before = from
}

// rm reads the arguments of rm. Options may come after operands.
func (r *reader) rm(args []string) {
	var operands []string
	recursive := false
	for i, a := range args {
		if a == "--" {
			operands = append(operands, args[i+1:]...)
			break
		}
		switch {
		case strings.HasPrefix(a, "--"):
			recursive = recursive || len(a) > 2 && strings.HasPrefix("--recursive", a)
		case len(a) > 1 && a[0] == '-':
			recursive = recursive || strings.ContainsAny(a, "rR")
		default:
			operands = append(operands, a)
		}
	}
	if !recursive {
		return
	}
	for _, o := range operands {
		r.delete(o)
	}
}

// find reads the arguments of find: with nothing that narrows it down, deleting
// what it finds is deleting where it starts.
func (r *reader) find(args []string) {
	starts, args := findStarts(args)
	all := findsAll(args)
	deep := !slices.Contains(args, "-maxdepth")
	deletes := false
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-delete":
			deletes = deletes || deep
		case "-exec", "-execdir", "-ok", "-okdir":
			command := findCommand(args[i:])
			i += len(command) + 1
			deletes = deletes || deep && slices.ContainsFunc(command, func(w string) bool { return name(w) == "rm" })
			found := []string{"{}"}
			if all {
				found = starts
			}
			for _, f := range found {
				words := []string{"env"}
				for _, w := range command {
					words = append(words, r.filled(w, f))
				}
				r.run(words)
			}
		}
	}
	if deletes && all {
		for _, s := range starts {
			r.delete(s)
		}
	}
}

// filled returns a word of the command of find with the found file in it.
func (r *reader) filled(word, file string) string {
	n := strings.Count(word, "{}")
	if size := len(word) + n*len(file); size > maxValue || n > 0 && !r.spend(size/perUnit) {
		return string(unknown)
	}
	return strings.ReplaceAll(word, "{}", file)
}

// findStarts parts the arguments of find into where it starts and what it looks
// for.
func findStarts(args []string) (starts, rest []string) {
	for len(args) > 0 && (slices.Contains([]string{"-H", "-L", "-P", "--"}, args[0]) || strings.HasPrefix(args[0], "-O")) {
		args = args[1:]
	}
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "(" && args[0] != "!" {
		starts, args = append(starts, args[0]), args[1:]
	}
	if len(starts) == 0 {
		starts = []string{"."}
	}
	return starts, args
}

// findsAll reports whether what find looks for is all that there is, or at least
// all at the top or all of a type.
func findsAll(args []string) bool {
	shallow, files := false, false
	for i := 0; i < len(args); i++ {
		a, value := args[i], ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch a {
		case "-exec", "-execdir", "-ok", "-okdir":
			i += len(findCommand(args[i:])) + 1
		case "-type":
			files = files || value != "d"
			i++
		case "-mindepth", "-maxdepth":
			shallow = shallow || a == "-maxdepth"
			i++
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex":
			if strings.Trim(value, "./*"+string(star)) != "" {
				return false
			}
			i++
		case "-delete", "-depth", "-d", "-xdev", "-mount", "-follow", "-noleaf", "-true":
		default:
			if !strings.HasPrefix(a, "-print") {
				return false
			}
		}
	}
	return !shallow || !files
}

// findCommand returns the command that follows args[0], the -exec of find.
func findCommand(args []string) []string {
	end := 1
	for end < len(args) && args[end] != ";" && args[end] != "+" {
		end++
	}
	return args[1:end]
}

// delete notes a recursive deletion.
func (r *reader) delete(target string) {
	target = holder(target)
	unsure := false
	if i := strings.LastIndexByte(target, unknown); i >= 0 {
		// Only a variable that is empty makes a root of what follows it.
		if rest := target[i+1:]; rest == "" || strings.Trim(rest, "/") != "" {
			return
		}
		target, unsure = "/", true
	}
	target = strings.ReplaceAll(target, string(star), "*")
	if path := r.abs(target); path != "" {
		r.report.Deletes = append(r.report.Deletes, Delete{Path: path, Unsure: unsure})
	}
}

// holder returns the directory that target is all of, as "build" is for
// "build/*", and else target.
func holder(target string) string {
	for {
		t := strings.TrimRight(target, "/")
		i := strings.LastIndexByte(t, '/')
		dir, last := t[:i+1], t[i+1:]
		// "?*" and ".??*" leave out next to nothing.
		some := strings.Trim(last, "?"+string(star))
		if !strings.ContainsRune(last, star) || some != "" && some != "." {
			return target
		}
		if dir == "" {
			return "."
		}
		target = dir
	}
}
