package workspace

import (
	"bytes"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// An ignores is the patterns of one .gitignore file, and the files above it.
type ignores struct {
	base  string // directory of the file, relative to the workspace; "" is its top
	rules []ignoreRule
	above *ignores // nil at the top
}

// An ignoreRule is one line of a .gitignore file.
type ignoreRule struct {
	pattern string // for doublestar
	name    bool   // it is matched with the name alone, at any depth
	plain   bool   // it has nothing but literal text
	dirs    bool   // only directories
	keep    bool   // what matches is not ignored after all
}

// parseIgnores reads a .gitignore file of the directory base.
func parseIgnores(base string, data []byte, above *ignores) *ignores {
	list := &ignores{base: base, above: above}
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		if r, ok := parseIgnore(strings.TrimRight(string(line), "\r\n")); ok {
			list.rules = append(list.rules, r)
		}
	}
	if len(list.rules) == 0 {
		return above
	}
	return list
}

// parseIgnore reads one line, and reports whether it has a rule that can match.
func parseIgnore(line string) (ignoreRule, bool) {
	line = trimBlanks(line)
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var r ignoreRule
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.dirs = strings.CutSuffix(line, "/")
	line, rooted := strings.CutPrefix(line, "/")
	if rest, ok := strings.CutPrefix(line, "**/"); ok && !strings.Contains(rest, "/") {
		line, rooted = rest, false
	}
	r.name = !rooted && !strings.Contains(line, "/")
	if strings.HasSuffix(line, "/**") {
		line += "/*" // all that is in a directory, not the directory
	}
	r.plain = !strings.ContainsAny(line, `*?[\{}`)
	// Braces are literal in these files and not for doublestar.
	r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)
	return r, line != "" && doublestar.ValidatePattern(r.pattern)
}

// trimBlanks removes the blanks at the end of a line, but not one that a
// backslash keeps.
func trimBlanks(line string) string {
	for strings.HasSuffix(line, " ") {
		cut := line[:len(line)-1]
		slashes := len(cut) - len(strings.TrimRight(cut, `\`))
		if slashes%2 == 1 {
			break
		}
		line = cut
	}
	return line
}

// match reports whether the file or directory at path, relative to the
// workspace, is ignored. The last rule that matches decides, and a file further
// down before one above it. Whoever asks must not go into a directory that is
// ignored: what is in it cannot be taken back.
func (l *ignores) match(path, name string, dir bool) bool {
	for ; l != nil; l = l.above {
		rel := path
		if l.base != "" {
			rel = path[len(l.base)+1:]
		}
		for i := len(l.rules) - 1; i >= 0; i-- {
			if r := &l.rules[i]; r.matches(rel, name, dir) {
				return !r.keep
			}
		}
	}
	return false
}

func (r *ignoreRule) matches(rel, name string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	subject := rel
	if r.name {
		subject = name
	}
	if r.plain {
		return r.pattern == subject
	}
	ok, err := doublestar.Match(r.pattern, subject)
	return ok && err == nil
}
