package approve

import (
	"strings"
)

// Files and directories anywhere that settle which programs run later, without
// anybody asking again: hooks, start-up files of shells, settings of editors,
// files that grant access. All are lower case.
var (
	// protectedDirs are protected with everything in them.
	protectedDirs = []string{
		".git/hooks", ".husky", ".lorimer", ".idea", ".devcontainer",
		".ssh", ".gnupg", ".aws", ".config/fish", ".config/git", ".config/autostart", ".config/systemd",
		"/etc",
	}

	// protectedFiles are protected as they are; a directory among them only
	// when it is moved or removed as a whole.
	protectedFiles = []string{
		".git", ".git/config", ".git/config.worktree", ".git/info", ".git/info/attributes",
		".vscode", ".vscode/settings.json", ".vscode/tasks.json", ".vscode/launch.json",
		".zed", ".zed/settings.json", ".zed/tasks.json", ".zed/debug.json",
		".envrc", ".netrc", ".npmrc", ".pypirc", ".gitconfig", ".inputrc",
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login",
		".xprofile", ".xinitrc", ".xsessionrc", ".pam_environment",
	}
)

// programs returns the protected file or directory that path is or is in, ""
// if there is none. The path is absolute and folded, and may be a pattern.
func programs(path string) string {
	p := names(path)
	for _, d := range protectedDirs {
		q := names(d)
		last := len(p) - len(q)
		if strings.HasPrefix(d, "/") {
			last = min(last, 0)
		}
		for i := 0; i <= last; i++ {
			if match(p[i:i+len(q)], q) {
				return d
			}
		}
	}
	for _, f := range protectedFiles {
		q := names(f)
		if i := len(p) - len(q); i >= 0 && match(p[i:], q) {
			return f
		}
	}
	return ""
}
