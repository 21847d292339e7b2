package approve

import (
	"path"
	"path/filepath"
	"strings"
)

// Paths in commands may be patterns, which the shell will replace by the names
// that are there. What is there is not looked up: to list what a pattern such as
// "/*/*/*/x" names could take minutes, and it can be different a moment later.

// namesAbove reports whether pattern can name dir or a directory that dir is in.
func namesAbove(pattern, dir string) bool {
	p, d := names(pattern), names(dir)
	return len(p) <= len(d) && match(p, d[:len(p)])
}

// namesBelow reports whether pattern can name dir or something in it.
func namesBelow(pattern, dir string) bool {
	p, d := names(pattern), names(dir)
	return len(p) >= len(d) && match(p[:len(d)], d)
}

// names returns the names that an absolute path is made of.
func names(p string) []string {
	p = strings.Trim(filepath.ToSlash(p), "/")
	if p == "" {
		return nil
	}
	return strings.Split(p, "/")
}

// match reports whether each pattern names the name at its place, by the rules
// of the shell, where a wildcard does not stand for the dot that a name begins
// with. A malformed pattern names only itself. Both have the same length.
func match(patterns, names []string) bool {
	for i, p := range patterns {
		if p == names[i] {
			continue
		}
		if strings.HasPrefix(names[i], ".") && !strings.HasPrefix(p, ".") {
			return false
		}
		if ok, err := path.Match(p, names[i]); !ok || err != nil {
			return false
		}
	}
	return true
}
