package shell

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// git reads the arguments of git.
func (r *reader) git(args []string) {
	dir := r.dir
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		takes := slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"}, args[0])
		if !takes || len(args) == 1 {
			args = args[1:]
			continue
		}
		if args[0] == "-C" {
			in := reader{dir: dir}
			dir = in.abs(args[1])
		}
		args = args[2:]
	}
	if len(args) == 0 {
		return
	}
	sub, args := args[0], args[1:]
	if sub == "config" {
		r.gitConfig(dir, args)
	}
	if what, tree := gitLoses(sub, args); what != "" {
		r.report.Git = append(r.report.Git, Git{What: what, Dir: dir, Tree: tree})
	}
}

// gitLoses names what a git command loses, and whether that is only what the
// work tree holds. "" is nothing.
func gitLoses(sub string, args []string) (what string, tree bool) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return option(a, names) })
	}
	switch sub {
	case "reset":
		if has("--hard", "--merge", "--keep") {
			return "git reset --hard", true
		}
	case "clean":
		args = withoutPatterns(args)
		if has("-f", "--force") && !has("-n", "--dry-run") {
			// A tree whose ignored files go, too, looks clean with them.
			return "git clean -f", !has("-x", "-X")
		}
	case "checkout":
		if has("-f", "--force", "--") || !has("-b", "-B", "--orphan", "--track") && namesFiles(args) {
			return "git checkout of files", true
		}
	case "switch":
		if has("-f", "--force", "--discard-changes") {
			return "git switch --discard-changes", true
		}
	case "restore":
		if !has("-S", "--staged") || has("-W", "--worktree") {
			return "git restore", true
		}
	case "rm":
		if has("-f", "--force") {
			return "git rm -f", true
		}
	case "stash":
		if len(args) > 0 && (args[0] == "drop" || args[0] == "clear") {
			return "git stash " + args[0], false
		}
	case "push":
		if has("-f", "--force", "--force-with-lease", "--mirror", "-d", "--delete", "--prune") ||
			slices.ContainsFunc(args, func(a string) bool { return len(a) > 1 && (a[0] == '+' || a[0] == ':') }) {
			return "git push --force", false
		}
	case "branch", "tag":
		if has("-D", "-d", "--delete") && (sub == "tag" || has("-D", "-f", "--force")) {
			return "git " + sub + " -D", false
		}
	case "filter-branch", "filter-repo":
		return "git " + sub, false
	case "reflog":
		if len(args) > 0 && (args[0] == "expire" || args[0] == "delete") {
			return "git reflog " + args[0], false
		}
	case "worktree":
		if len(args) > 0 && args[0] == "remove" && has("-f", "--force") {
			return "git worktree remove -f", false
		}
	}
	return "", false
}

// withoutPatterns returns the arguments of git clean without those of -e, whose
// letters are no options.
func withoutPatterns(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if e := strings.IndexByte(a, 'e'); e > 0 && a[0] == '-' && a[1] != '-' {
			if e == len(a)-1 {
				i++
			}
			a = a[:e]
		}
		out = append(out, a)
	}
	return out
}

// namesFiles reports whether git checkout seems to be given files: a second
// name after that of a commit, or something that looks like the name of a file.
func namesFiles(args []string) bool {
	names := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	return len(names) > 1 || slices.ContainsFunc(names, func(n string) bool {
		ext := strings.TrimPrefix(path.Ext(n), ".")
		return n == "." || n == ".." || strings.Trim(ext, "0123456789") != ""
	})
}

// option reports whether an argument is one of the options: a long one, whole or
// cut short as git takes it, with or without a value, or a short one, alone or
// among others.
func option(arg string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		switch {
		case arg == n:
			return true
		case strings.HasPrefix(n, "--"):
			long, _, _ := strings.Cut(arg, "=")
			return len(long) > 2 && strings.HasPrefix(n, long)
		}
		return len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && strings.Contains(arg[1:], n[1:])
	})
}

// gitConfig notes the file that a git config command writes.
func (r *reader) gitConfig(dir string, args []string) {
	reads := []string{"-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "list", "get"}
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(reads, a) }) {
		return
	}
	operands := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	edits := len(operands) < len(args) && slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "--unset") || strings.HasPrefix(a, "--re") || a == "-e" || a == "--edit"
	})
	if len(operands) < 2 && !edits {
		return
	}
	switch {
	case slices.Contains(args, "--global"):
		if r.home != "" {
			r.write(filepath.Join(r.home, ".gitconfig"))
		}
	case dir != "":
		r.write(filepath.Join(dir, ".git", "config"))
	}
}
