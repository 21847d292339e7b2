package discover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxEnvFile bounds a file of variables, in bytes.
const maxEnvFile = 64 << 10

// readEnvFile reads the file of variables of e.
func (e Entry) readEnvFile(v Vars) ([]byte, error) {
	x := expansion{vars: v}
	path := x.path("envFile", e.EnvFile)
	if x.trouble != "" {
		return nil, errors.New(x.trouble)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.Workspace, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("envFile: %w", err)
	case !info.Mode().IsRegular() || info.Size() > maxEnvFile:
		return nil, fmt.Errorf("envFile: %s is no file of at most %d KiB", path, maxEnvFile>>10)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("envFile: %w", err)
	}
	return data, nil
}

// envFile adds the variables of the file of e to env, which goes before it.
func (x *expansion) envFile(e Entry, env map[string]string) map[string]string {
	data, err := e.readEnvFile(x.vars)
	if err != nil {
		x.fail("%v", err)
		return env
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if name = strings.TrimSpace(name); !ok || !isName(name) {
			x.fail("envFile: line %d of %s is not NAME=value", n, e.EnvFile)
			return env
		}
		if _, declared := env[name]; !declared {
			env = put(env, name, unquoted(strings.TrimSpace(value)))
		}
	}
	return env
}

// unquoted takes the quotes off that stand around all of s.
func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
