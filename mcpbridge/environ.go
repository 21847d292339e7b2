package mcpbridge

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// base reports whether a program gets a variable of this process that nobody has declared
// for it: what programs need to find their way, and nothing that keys are in (R-MCP-22).
func base(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "SHELL", "TERM", "TZ",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy":
		return true
	case "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE",
		"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
		"PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS":
		return runtime.GOOS == "windows"
	}
	return strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// environ returns the environment of a program: what it needs of that of this process,
// and what was declared, which wins.
func environ(process []string, declared map[string]string) []string {
	var env []string
	for _, kv := range process {
		if name, _, ok := strings.Cut(kv, "="); ok && base(name) && !has(declared, name) {
			env = append(env, kv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		env = append(env, name+"="+declared[name])
	}
	return env
}

// has reports whether a variable is declared, by the rules of the system.
func has(declared map[string]string, name string) bool {
	if _, ok := declared[name]; ok || runtime.GOOS != "windows" {
		return ok
	}
	for d := range declared {
		if strings.EqualFold(d, name) {
			return true
		}
	}
	return false
}
