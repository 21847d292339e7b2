package config

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// Skills says where skills are looked for, beside those that are built in.
type Skills struct {
	Folder    string   `toml:"folder"`    // [Config.SkillFolder] says what it means
	Claude    bool     `toml:"claude"`    // .claude/skills counts as .agents/skills does
	Workspace bool     `toml:"workspace"` // those of the working directory count; default true
	Trusted   []string `toml:"trusted"`   // directories below which those of a workspace may replace the user's
	Disabled  []string `toml:"disabled"`  // names; "*" is all
}

// SkillFolder returns the absolute path of the user's own folder of skills: the
// configured one, as seen from the directory of the configuration file, else
// skills in that directory. It is "" where there is no such directory.
func (c *Config) SkillFolder() string {
	switch {
	case c.Skills.Folder != "":
		return c.beside(c.Skills.Folder)
	case c.homeless:
		return ""
	}
	return c.beside("skills")
}

// Trusts reports whether the skills of a workspace at dir may replace the user's.
func (c *Config) Trusts(dir string) bool {
	dir = resolved(dir)
	return slices.ContainsFunc(c.Skills.Trusted, func(above string) bool {
		rel, err := filepath.Rel(resolved(c.expand(above)), dir)
		return err == nil && filepath.IsLocal(rel)
	})
}

// resolved follows the links of a path that is there.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return filepath.Clean(path)
}

// checkTrusted refuses what depends on where the program was started.
func checkTrusted(dirs []string) error {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/") {
			return errors.New("write directories from the root, or from ~/")
		}
	}
	return nil
}
