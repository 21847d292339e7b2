package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	workspaceFile    = ".lorimer/config.toml" // below the directory of the workspace
	maxWorkspaceFile = 64 << 10               // bytes
)

// Within returns c as it holds in the workspace at dir, whose own file may make
// the mode stricter, budgets smaller, and more calls ask or be refused. What
// else it says has no effect and is a warning. A file that cannot be understood
// is an error, since leaving it out could allow what it refuses.
func (c *Config) Within(dir string) (*Config, []Warning, error) {
	path := filepath.Join(dir, workspaceFile)
	data, err := readWorkspace(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil, nil
	case err != nil:
		return nil, nil, fmt.Errorf("reading the workspace's configuration: %w", err)
	}
	w := &Config{origin: newOrigins()}
	warnings, err := decode(w, w.origin, path, data)
	if err != nil {
		return nil, nil, err
	}
	t := tightening{file: path, from: w}
	for _, k := range keysOf(data) {
		if k.table || strict(k.name) || slices.ContainsFunc(warnings, func(w Warning) bool { return w.Line == k.line }) {
			continue
		}
		t.warnings = append(t.warnings, Warning{path, k.line, k.name + " cannot be set by a workspace and has no effect"})
	}
	out := *c
	out.origin = c.origin.clone()
	if err := t.apply(&out); err != nil {
		return nil, nil, err
	}
	return &out, append(warnings, t.warnings...), nil
}

// readWorkspace reads a file that somebody else may have made: a regular one of
// a reasonable size.
func readWorkspace(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxWorkspaceFile {
		return nil, fmt.Errorf("%s: not a file of at most %d KiB", path, maxWorkspaceFile>>10)
	}
	return os.ReadFile(path)
}

// strict reports whether a workspace may set key.
func strict(key string) bool {
	switch key {
	case "mode", "permissions.ask", "permissions.deny", "budget.day", "budget.month", "budget.thread":
		return true
	}
	return false
}

// A tightening carries what a workspace says into a configuration.
type tightening struct {
	file     string
	from     *Config
	warnings []Warning
}

func (t *tightening) warn(key, text string) {
	t.warnings = append(t.warnings, Warning{t.file, t.from.line(key), key + " " + text})
}

// take notes that key of c comes from the workspace.
func (t *tightening) take(c *Config, key string) { c.origin.set(key, t.from.origin.of(key)) }

func (t *tightening) apply(c *Config) error {
	if m := t.from.Mode; m != "" {
		if err := oneOf(m, modes()...); err != nil {
			return fmt.Errorf("%s: mode: %w", t.from.origin.of("mode"), err)
		}
		switch {
		case Stricter(m, c.Mode):
			c.Mode = m
			t.take(c, "mode")
		case m != c.Mode:
			t.warn("mode", fmt.Sprintf("%s would allow more than %s and has no effect", m, c.Mode))
		}
	}
	t.list(c, "permissions.ask", &c.Permissions.Ask, t.from.Permissions.Ask)
	t.list(c, "permissions.deny", &c.Permissions.Deny, t.from.Permissions.Deny)
	for _, b := range []struct {
		key  string
		have **int64
		ours *int64
	}{
		{"budget.day", &c.Budget.Day, t.from.Budget.Day},
		{"budget.month", &c.Budget.Month, t.from.Budget.Month},
		{"budget.thread", &c.Budget.Thread, t.from.Budget.Thread},
	} {
		if err := limit(b.ours); err != nil {
			return fmt.Errorf("%s: %s: %w", t.from.origin.of(b.key), b.key, err)
		}
		switch {
		case b.ours == nil:
		case *b.have == nil || *b.ours < **b.have:
			*b.have = b.ours
			t.take(c, b.key)
		case *b.ours > **b.have:
			t.warn(b.key, "is larger than the user's limit and has no effect")
		}
	}
	return nil
}

// list adds the patterns of the workspace to those of the user.
func (t *tightening) list(c *Config, key string, have *[]string, more []string) {
	if len(more) == 0 {
		return
	}
	origin := c.origin.of(key)
	*have = slices.Concat(*have, more)
	t.take(c, key)
	if origin != "default" {
		c.origin.set(key, origin+", "+t.from.origin.of(key))
	}
}
